"""What a reader did that none may do, each kind of it once, with an input that shows it."""

import sys
import traceback
import unicodedata
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from hydrology.base.errors import Problem
from ingestion.feeds.http import Broken

MAX_SENTENCE = 4_000
"""Characters. A request may have ten faults, of 300 each."""
_PRODUCT = Path(__file__).parents[2]
_UNFIT = ("Cc", "Cs")  # control characters, and halves of characters, which cannot be written as UTF-8


class BadSentence(Exception):  # noqa: N818 - a finding
    """A refusal whose sentence is too long, or holds a character that no log should."""


def judged(read: Callable[[bytes], object], content: bytes) -> None:
    """Let a reader read.

    Raises:
        Exception: the reader did what none may do.
    """
    try:
        read(content)
    except (Problem, Broken) as problem:
        sentence = str(problem)
        if len(sentence) > MAX_SENTENCE:
            raise BadSentence(f"a sentence of {len(sentence)} characters: {sentence[:300]!r}") from problem
        if unfit := next((letter for letter in sentence if unicodedata.category(letter) in _UNFIT), None):
            raise BadSentence(f"a sentence with {unfit!r}: {sentence[:300]!r}") from problem


def store_finding(folder: Path, content: bytes, error: BaseException) -> None:
    """Store an input and its outcome, unless another shows the same."""
    frames = traceback.extract_tb((error.__cause__ or error).__traceback__)
    place = next((frame for frame in reversed(frames) if _is_ours(frame.filename)), frames[-1])
    kind = f"{type(error).__name__}-{Path(place.filename).stem}-{place.lineno}"
    path = folder / f"{kind}-{sha256(kind.encode()).hexdigest()[:6]}"
    if path.exists():
        return
    path.write_bytes(content)
    path.with_suffix(".txt").write_text("".join(traceback.format_exception(error)), errors="backslashreplace")


def _is_ours(file: str) -> bool:
    return file.startswith(str(_PRODUCT)) and not file.startswith((sys.prefix, str(Path(__file__).parent)))
