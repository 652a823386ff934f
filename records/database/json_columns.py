"""Stores dataclasses as JSON, checked against their fields on writing and reading."""

from functools import cache
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

from jobspec.fields import message
from records.database.ids import Corrupt

Document = TypeVar("Document")

CLOSED = ConfigDict(extra="forbid", allow_inf_nan=False)
"""The `__pydantic_config__` of a stored dataclass: no additional fields, and only finite numbers."""


def to_json(document: Any) -> Any:
    """Return a dataclass as a JSON value."""
    adapter = _adapter(cast(Any, type(document)))
    content = adapter.dump_python(document, mode="json", warnings="none")
    adapter.validate_python(content)
    return content


def from_json(kind: type[Document], content: object) -> Document:
    """Return the dataclass of a JSON value; errors quote no content."""
    adapter: TypeAdapter[Document] = _adapter(cast(Any, kind))
    try:
        return adapter.validate_python(content)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {message(fault)}" for fault in error.errors())
        raise Corrupt(
            f"A stored {kind.__name__} cannot be read ({faults}): it was changed by hand, or written by a newer "
            "Freshet."
        ) from None


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
