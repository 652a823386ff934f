"""Kinds of processor for the compiled recurrence, and the fingerprint of its sources."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


def fingerprint(folder: Path) -> int | None:
    """Return a number of 63 bits by the sources in a folder; None where there are none."""
    files = sorted([*folder.glob("*.cpp"), *folder.glob("*.h")])
    contents = [file.name.encode() + b"\0" + file.read_bytes() for file in files]
    digest = hashlib.sha256(b"\0".join(contents)).digest()
    return int.from_bytes(digest[:8], "big") >> 1 if files else None


class Variant(NamedTuple):
    """One library, `recurrence-<name>.so`, for a family of processors, `x86_64` or `aarch64`.

    `processor` is the oldest that runs it, as clang names it (`-mcpu`); the capabilities are required of it, as
    `torch.cpu.get_capabilities` names them.
    """

    name: str
    machine: str
    processor: str
    capabilities: tuple[str, ...]

    def lacking(self, capabilities: Mapping[str, object]) -> list[str]:
        """Return the required capabilities that a processor lacks."""
        return [name for name in self.capabilities if not capabilities.get(name)]


_AVX2 = ("avx2", "fma3", "f16c", "bmi", "bmi2", "lzcnt")
_AVX512 = (*_AVX2, "avx512_f", "avx512_bw", "avx512_cd", "avx512_dq", "avx512_vl")
_BF16 = (*_AVX512, "avx512_bf16")

VARIANTS = (
    Variant("amx", "x86_64", "x86_64_v4+avx512bf16+amx_tile+amx_bf16", (*_BF16, "amx_tile", "amx_bf16")),
    Variant("avx512-bf16", "x86_64", "x86_64_v4+avx512bf16", _BF16),
    Variant("avx512", "x86_64", "x86_64_v4", _AVX512),
    Variant("avx2", "x86_64", "x86_64_v3", _AVX2),
    Variant("neon", "aarch64", "baseline", ()),
)
"""The fastest first."""


def machine_of(name: str) -> str:
    """Return the family of processors at the end of a platform's name, such as `macosx-11.0-arm64`."""
    family = name.lower().rpartition("-")[2]
    return {"arm64": "aarch64", "amd64": "x86_64"}.get(family, family)


def built_for(machine: str) -> list[Variant]:
    """Return the variants of a family of processors, the fastest first."""
    return [variant for variant in VARIANTS if variant.machine == machine]
