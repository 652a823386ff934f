"""What is fuzzed: a reader, valid inputs to begin from, and words of its format."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

HOSTILE = (
    b"",
    b"\0" * 50,
    b"\xff\xfe",
    b"[" * 8000,
    b'{"a":' * 1600,
    b"1" * 5000,
    b"null",
    b"[null]",
    b"{}",
    b'{"\\ud800\\n": 1}',
    b'"\\ud800"',
)
"""What readers of many formats stumble over; every target begins from it too."""


@dataclass(frozen=True, slots=True)
class Target:
    """A reader of bytes from outside.

    Attributes:
        read: feeds bytes to the product's own reader; it may raise a `Problem`.
        seeds: gives small valid inputs.
        words: of the format, which the fuzzer may put into an input.
        longest: bytes of an input.
        in_c: whether a library in C reads the bytes. The product gives those a process of their own.
    """

    read: Callable[[bytes], object]
    seeds: Callable[[], Iterable[bytes]]
    words: tuple[str, ...] = ()
    longest: int = 8192
    in_c: bool = False


def scratch() -> Path:
    """Return the folder for files that are read by their paths: the current one."""
    return Path.cwd()


def laid_down(name: str, content: bytes) -> Path:
    """Write a file that a reader takes by its path."""
    path = scratch() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
