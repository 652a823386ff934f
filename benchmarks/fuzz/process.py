"""`python -m benchmarks.fuzz.process MODULE TARGET FOLDER SECONDS SCRATCH`: fuzz until the time is over, or it dies.

It dies of a hang, of memory without bound and of a crash in C; the input is left in the folder, for libFuzzer ends the
process. An exception is stored there, and the fuzzing goes on.
"""

import mmap
import os
import struct
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import atheris
import httpx2

from benchmarks.fuzz.target import HOSTILE, Target

SLOWEST = 20  # seconds for an input
MAX_MEMORY = 3072  # MiB of the process
_OURS = ["freshet", "hydrology", "ingestion", "jobspec", "models", "operations", "records"]
_BENEATH = ["csv", "json", "tomllib", "zipfile", "defusedxml", "croniter", "h11"]

with atheris.instrument_imports(include=[*_OURS, *_BENEATH]):
    from benchmarks.fuzz.findings import judged, store_finding
    from runtime.child_processes import end_with_parent

    TARGETS: dict[str, Target] = import_module(sys.argv[1]).TARGETS


class Count:
    """How many inputs were read, in a file that outlives the process."""

    def __init__(self, file: Path) -> None:
        if not file.exists():
            file.write_bytes(struct.pack("<Q", 0))
        with file.open("r+b") as opened:
            self._memory = mmap.mmap(opened.fileno(), 8)

    def up(self) -> None:
        """Count one more."""
        struct.pack_into("<Q", self._memory, 0, struct.unpack_from("<Q", self._memory)[0] + 1)


def main() -> None:
    """Fuzz."""
    _, name, place, seconds, scratch = sys.argv[1:]
    target, folder = TARGETS[name], Path(place).absolute()
    os.chdir(scratch)
    end_with_parent()
    # A client makes itself a context of TLS out of a hundred authorities, and none is needed here.
    httpx2.create_ssl_context = cache(httpx2.create_ssl_context)
    corpus, findings = folder / "corpus", folder / "findings"
    for created in (corpus, findings):
        created.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate([*target.seeds(), *HOSTILE]):
        (corpus / f"seed-{number}").write_bytes(seed)
    words = folder / "words"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
    count = Count(folder / "count")

    def read(content: bytes) -> None:
        count.up()
        try:
            judged(target.read, content)
        except Exception as error:  # noqa: BLE001 - every other one is a finding
            store_finding(findings, content, error)

    options = {
        "max_total_time": seconds,
        "max_len": target.longest,
        "timeout": SLOWEST,
        "report_slow_units": SLOWEST,
        "rss_limit_mb": MAX_MEMORY,
        "dict": words,
        "artifact_prefix": f"{findings}/",
        "print_final_stats": 1,
    }
    atheris.Setup([sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), str(corpus)], read)
    atheris.Fuzz()


def _escaped(word: str) -> str:
    """Return a word as libFuzzer's dictionaries have it."""
    letters = word.encode("latin-1")
    return "".join(
        chr(letter) if 32 <= letter < 127 and chr(letter) not in '"\\' else f"\\x{letter:02X}" for letter in letters
    )


if __name__ == "__main__":
    main()
