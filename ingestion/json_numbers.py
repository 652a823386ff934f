"""Parses JSON of others in which NaN or infinity may stand for a number, which JSON does not have."""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

# Texts, which stay as they are, and the spellings that JSON lacks, also of C and of Windows.
_TOKEN = re.compile(
    rb"""(?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+"?)|(?<![\w.])[-+]?(?:(?:nan|inf(?:inity)?)\b(?:\(\w*\))?|1\.#\w+)""",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class NotANumber:
    """What stands for a number and is none. No arithmetic and no reader of numbers takes it."""

    text: str

    def __str__(self) -> str:
        return self.text


def parse_json(content: bytes) -> Any:
    """Parse JSON, with a `NotANumber` for each NaN and infinity: the rest can be used.

    ValueError: it is not JSON, is cut off or is nested too deeply.
    """
    for whole in (content, _TOKEN.sub(_as_constant, content)):
        with suppress(ValueError, RecursionError):
            return json.loads(whole, parse_constant=NotANumber)
    raise ValueError("not JSON")


def _as_constant(token: re.Match[bytes]) -> bytes:
    return token[0] if token["text"] is not None else b"NaN"
