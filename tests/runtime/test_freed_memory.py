"""Freed memory that a process takes again without asking the system."""

import ctypes
import subprocess
import sys

import pytest

ROUNDS, BLOCKS, BLOCK_BYTES, PAGE = 20, 4, 10 << 20, 4096
PROGRAM = f"""
import resource
from runtime.process import hold_freed_memory
hold = {{hold}}
if hold:
    hold_freed_memory()
for _ in range({ROUNDS}):
    blocks = [bytearray({BLOCK_BYTES} + size) for size in range({BLOCKS})]
    del blocks
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
"""


def faults(*, hold: bool) -> int:
    """Return the page faults of a process that fills and frees some blocks again and again."""
    command = [sys.executable, "-c", PROGRAM.format(hold=hold)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library is not glibc")
def test_freed_blocks_are_mapped_once() -> None:
    pages_of_a_round = BLOCKS * BLOCK_BYTES // PAGE
    assert faults(hold=True) < 3 * pages_of_a_round < faults(hold=False)
