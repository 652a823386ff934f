"""Loads the fastest library of the recurrence for this processor. `setup.py` builds one for each kind.

Where none fits, or it is not built, the networks run on torch's own operations, several times slower.
"""

import ctypes
import platform
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import structlog
import torch
from torch import Tensor

from models.nets.compiled.variants import Variant, built_for, fingerprint, machine_of

_CALL_SIZES = ("days", "blocks", "cells", "padded", "drivers_count", "rank", "tags", "occupied")
_CALL_POINTERS = (
    "weight", "weight_tiles", "factor", "factor_bias", "wetness", "fixed", "drivers", "mass", "cells_before", "storage",
    "outflow", "discharge", "d_storage", "d_outflow", "d_discharge", "d_weight", "d_factor", "d_factor_bias",
    "d_wetness", "d_fixed", "d_drivers", "d_mass", "d_cells", "tag_mass", "tag_cells", "tag_discharge", "tag_loss",
)  # fmt: skip


_BUCKETS_SIZES = ("days", "components", "samples", "delays", "tags")
_BUCKETS_POINTERS = (
    "drivers", "constants", "routing", "before", "storage", "discharge", "evapotranspiration", "leak", "inflow",
    "d_storage", "d_discharge", "d_evapotranspiration", "d_leak", "d_drivers", "d_constants", "d_routing", "d_before",
    "tag", "tagged", "tag_discharge", "tag_loss",
)  # fmt: skip


def _fields(sizes: Sequence[str], pointers: Sequence[str]) -> tuple[tuple[str, Any], ...]:
    return *((name, ctypes.c_int64) for name in sizes), *((name, ctypes.c_void_p) for name in pointers)


class Call(ctypes.Structure):
    """`Call` of library.cpp."""

    _fields_ = _fields(_CALL_SIZES, _CALL_POINTERS)


class BucketsCall(ctypes.Structure):
    """`BucketsCall` of buckets.h."""

    _fields_ = _fields(_BUCKETS_SIZES, _BUCKETS_POINTERS)


def require(
    arrays: Mapping[str, Tensor | None], axes: Mapping[str, str], sizes: Mapping[str, int], dtype: torch.dtype
) -> None:
    """Check the shape and the dtype of arrays in the processor's memory, where they are not None.

    `axes` has a letter for each axis of an array, `sizes` the size of each letter; anything else raises ValueError.
    """
    for name, values in arrays.items():
        wanted = tuple(sizes[axis] for axis in axes[name])
        if values is None or (values.shape == wanted and values.dtype == dtype and values.is_cpu):
            continue
        raise ValueError(
            f"{name} has the shape {tuple(values.shape)} and {values.dtype} on {values.device.type}; the compiled "
            f"program needs {wanted} and {dtype} on cpu: give all arrays for the same samples, days and cells, and of "
            "the dtype of the weights."
        )


FOLDER = Path(__file__).parent
PRECISIONS = ("double", "float", "half")
HALF_UNITS = (None, "vector unit", "matrix unit")
MEND = "install Freshet again, or in its sources run `python setup.py build_ext --inplace`"

log = structlog.get_logger()


class NoLibraryError(Exception):
    """The compiled recurrence is not available here; the message gives the reason."""


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled recurrence, or None where there is none (which is logged once)."""
    try:
        return load(choose())
    except NoLibraryError as problem:
        log.warning("recurrence.slow", reason=str(problem))
        return None


@cache
def half_unit() -> str | None:
    """Return the unit with which this processor multiplies bfloat16, if any. Matrix (AMX) or vector unit."""
    loaded = library()
    return None if loaded is None else HALF_UNITS[loaded.freshet_half_unit()]


def program() -> str:
    """Return the program that runs MC-LSTM on this processor. The name of a variant, or `torch`."""
    return "torch" if library() is None else choose().name


def choose() -> Variant:
    """Return the fastest variant that this processor can run."""
    variants, capabilities = built_for(machine_of(platform.machine())), torch.cpu.get_capabilities()
    for variant in variants:
        if not variant.lacking(capabilities):
            return variant
    if not variants:
        raise NoLibraryError(f"The recurrence is not built for processors of the kind {platform.machine()}.")
    raise NoLibraryError(f"The recurrence needs a processor with {', '.join(variants[-1].lacking(capabilities))}.")


def passed_over() -> dict[str, list[str]]:
    """Return the missing capabilities for each variant that this processor cannot run, by its name."""
    capabilities = torch.cpu.get_capabilities()
    variants = built_for(machine_of(platform.machine()))
    return {variant.name: lacking for variant in variants if (lacking := variant.lacking(capabilities))}


def load(variant: Variant) -> ctypes.CDLL:
    """Load the library of a variant; `NoLibraryError` where it was not built, or of other sources."""
    path = FOLDER / f"recurrence-{variant.name}.so"
    if not path.exists():
        raise NoLibraryError(f"{path} is missing: {MEND}.")
    try:
        loaded = ctypes.CDLL(str(path))
        loaded.freshet_sources.restype = ctypes.c_int64
        built_of_these = fingerprint(FOLDER) in (None, loaded.freshet_sources())  # None: installed without them
        sizes = loaded.freshet_call_bytes(), loaded.freshet_buckets_call_bytes()
        if not built_of_these or sizes != (ctypes.sizeof(Call), ctypes.sizeof(BucketsCall)):
            raise NoLibraryError(f"{path} was built of other sources: {MEND}.")
        for precision in PRECISIONS:
            function = getattr(loaded, f"freshet_{precision}")
            function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_int], ctypes.c_int
        for function in (loaded.freshet_buckets_double, loaded.freshet_buckets_float):
            function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_int], None
    except (OSError, AttributeError) as problem:
        raise NoLibraryError(f"{path} cannot be loaded ({problem}): {MEND}.") from problem
    return loaded
