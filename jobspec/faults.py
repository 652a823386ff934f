"""Describes the faults of a request, in words that are safe to show."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from hydrology.base.errors import printable

MAX_FAULTS = 10  # nobody reads thousands of sentences


def faults(error: ValidationError, request: object, name: Callable[[str], str] = str) -> str:
    """Describe each faulty field of a request, with its path; without one, the whole request."""
    details = error.errors(include_url=False)[:MAX_FAULTS]
    return "; ".join(
        ": ".join(filter(None, (name(path(detail["loc"], detail["type"], request)), _beginning(detail))))
        for detail in details
    )


def path(loc: Sequence[int | str], kind: str, value: Any) -> str:
    """Return a field's path as the request writes it, without pydantic's union tags."""
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


def message(detail: Mapping[str, Any]) -> str:
    """Describe the fault of a field, rewording pydantic's internal messages."""
    match detail["type"]:
        case "extra_forbidden":
            return "there is no such field"
        case "missing":
            return "it is needed"
        case "model_attributes_type" | "model_type" | "dict_type":
            return 'it must be a JSON object, {"name": value}'
        case "string_pattern_mismatch":
            words = words_of(detail["ctx"]["pattern"])
            return "it does not have the form that /docs gives" if words is None else f"it must be {words}"
        case "union_tag_invalid":
            tag, field, known = (detail["ctx"][name] for name in ("tag", "discriminator", "expected_tags"))
            return f"{field} must be one of {known}, not '{tag[:64]}'"
    return without_prefix(str(detail["msg"]))


def without_prefix(text: str) -> str:
    """Return a message without the words that pydantic puts before that of a `ValueError`."""
    return text.replace("Value error, ", "").replace("Assertion failed, ", "")


def _beginning(detail: ErrorDetails) -> str:
    text = message(detail).rstrip(".")
    # Pydantic repeats a union's tag exactly as the request gives it.
    return printable(text[:1].lower() + text[1:300])


def shown(text: str) -> str:
    """Return a name from a request in a form that is safe to show."""
    is_name = text.isidentifier() and text.isascii() and len(text) <= 64
    return text if is_name else ascii(text[:64])


_WORDS: dict[str, str] = {}


def form(pattern: str, words: str) -> str:
    """Return a pattern, and note its words with an example."""
    _WORDS[pattern] = words
    return pattern


def words_of(pattern: str) -> str | None:
    """Return the words of a pattern; None where it has none."""
    return _WORDS.get(pattern)
