"""Describes the faults of a request, in words that are safe to show."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from hydrology.base.errors import printable

MAX_FAULTS = 10  # nobody reads thousands of sentences


def faults(error: ValidationError, request: object) -> list[str]:
    """Return a sentence for each faulty field of a request, with its path."""
    details = error.errors(include_url=False, include_context=False)[:MAX_FAULTS]
    return [
        f"{path(detail['loc'], detail['type'], request) or 'the request'}: {_message(detail)}" for detail in details
    ]


def path(loc: Sequence[int | str], kind: str, value: Any) -> str:
    """Return a field's path as the request writes it, without pydantic's union tags.

    Args:
        loc: where pydantic found the fault.
        kind: pydantic's type of the fault.
        value: what was validated.
    """
    parts = []
    for at, part in enumerate(loc):
        inside = _holds(value, part)
        if inside:
            value = value[part]
        if inside or (kind == "missing" and at == len(loc) - 1):
            parts.append(shown(part) if isinstance(part, str) else str(part))
    return ".".join(parts)


def _holds(value: Any, part: int | str) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, dict) and part in value


def _message(detail: ErrorDetails) -> str:
    messages = {"extra_forbidden": "there is no such field", "missing": "it is needed"}
    message = messages.get(detail["type"], detail["msg"]).rstrip(".")
    # Pydantic repeats a union's tag exactly as the request gives it.
    return printable(message[:1].lower() + message[1:300])


def shown(text: str) -> str:
    """Return a name from a request in a form that is safe to show."""
    is_name = text.isidentifier() and text.isascii() and len(text) <= 64
    return text if is_name else ascii(text[:64])
