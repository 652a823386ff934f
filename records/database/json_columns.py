"""Dataclasses that are kept as JSON: checked against their fields when they are written and when they are read."""

from functools import cache
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

from records.database.ids import Corrupt

Document = TypeVar("Document")

CLOSED = ConfigDict(extra="forbid", allow_inf_nan=False)
"""What a kept dataclass sets as its `__pydantic_config__`: no other fields than its own, and only finite numbers."""


def to_json(document: Any) -> Any:
    """Return a dataclass as a JSON value.

    Raises:
        ValueError: it does not fit its own fields.
    """
    adapter = _adapter(cast(Any, type(document)))
    content = adapter.dump_python(document, mode="json", warnings="none")
    adapter.validate_python(content)
    return content


def from_json(kind: type[Document], content: object) -> Document:
    """Return the dataclass that a JSON value was made from.

    Raises:
        Corrupt: the value does not fit its fields; the sentence names them and quotes nothing.
    """
    adapter: TypeAdapter[Document] = _adapter(cast(Any, kind))
    try:
        return adapter.validate_python(content)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise Corrupt(
            f"A stored {kind.__name__} cannot be read ({faults}): it was changed by hand, or written by a newer "
            "Freshet."
        ) from None


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
