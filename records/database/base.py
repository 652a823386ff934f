"""The base of all tables, column types with the same meaning on SQLite and PostgreSQL, and data classes as JSON."""

import json
import math
import operator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from typing import Annotated, Any, ClassVar, Generic, TypeVar, cast, dataclass_transform

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Date,
    DateTime,
    Dialect,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    String,
    TypeDecorator,
)

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, as_date
from hydrology.base.errors import shown_part
from jobspec.fields import message
from records.database import array_codec
from records.database.checksums import Corrupt

Content = TypeVar("Content")

_CLOSED = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def document(content: type[Content]) -> type[Content]:
    """Declare a dataclass that is stored as JSON: without additional fields, and only with finite numbers."""
    declared = dataclass(frozen=True, slots=True, kw_only=True)(content)
    cast(Any, declared).__pydantic_config__ = _CLOSED
    return declared


def to_json(document: Any) -> Any:
    adapter = _adapter(cast(Any, type(document)))
    content = adapter.dump_python(document, mode="json", warnings="none")
    adapter.validate_python(content)
    return content


def from_json(kind: type[Content], content: object) -> Content:
    """Return the dataclass of a JSON value, without fields that it once had; errors quote no content."""
    adapter: TypeAdapter[Content] = _adapter(cast(Any, kind))
    retired: tuple[str, ...] = getattr(kind, "__retired__", ())
    if retired and isinstance(content, dict):
        content = {name: value for name, value in content.items() if name not in retired}
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


JsonObject = dict[str, Any]
JsonList = list[Any]


class Instant(TypeDecorator[datetime]):
    """An instant in UTC. SQLite stores no offset, so every instant is stored as UTC and read as aware."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"an instant needs its offset: {value!r}")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


class CalendarDay(TypeDecorator[Day]):
    """A day: `numpy.datetime64[D]` in Python, DATE in the database."""

    impl = Date
    cache_ok = True

    def process_bind_param(self, value: Day | None, dialect: Dialect) -> date | None:  # noqa: ARG002
        return None if value is None else as_date(value)

    def process_result_value(self, value: date | None, dialect: Dialect) -> Day | None:  # noqa: ARG002
        return None if value is None else np.datetime64(value, "D")


class Real(TypeDecorator[float]):
    """A finite number. SQLite would turn NaN into NULL and PostgreSQL would store it: so neither gets one."""

    impl = Double
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:  # noqa: ARG002
        if value is None:
            return None
        if not math.isfinite(value):
            raise ValueError(f"a stored number must be finite, not {value}: a missing one is null with a reason")
        return float(value)


class Whole(TypeDecorator[int]):
    """A whole number. The driver of SQLite would store numpy's integers as bytes."""

    impl = Integer
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        return None if value is None else operator.index(value)


class Long(Whole):
    """A whole number of up to 64 bits: a file's size, a seed."""

    impl = BigInteger
    cache_ok = True


class Document(TypeDecorator[Content], Generic[Content]):
    """A dataclass stored as JSON (`records.database.base`)."""

    impl = JSON
    cache_ok = True

    def __init__(self, content: type[Content]) -> None:
        super().__init__(none_as_null=True)
        self.content = content

    def process_bind_param(self, value: Content | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else to_json(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Content | None:  # noqa: ARG002
        return None if value is None else from_json(self.content, value)


class PrintableText(TypeDecorator[str]):
    """A free text. It is read without what does not show, such as in one that was stored before that was refused."""

    impl = String
    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else shown_part(value)


FreeText = Annotated[str, PrintableText()]
"""The type of columns whose texts are written by people, or in files from elsewhere."""


class AbsentReason(TypeDecorator[Absent]):
    """The reason why a value is missing: its code and parameters, as JSON text."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: Absent | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else json.dumps(to_json(value), ensure_ascii=False)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Absent | None:  # noqa: ARG002
        return None if value is None else from_json(Absent, json.loads(value))


class PackedDocument(TypeDecorator[Content], Generic[Content]):
    """A dataclass stored as packed JSON (`records.database.array_codec`)."""

    impl = LargeBinary
    cache_ok = True

    def __init__(self, content: type[Content]) -> None:
        super().__init__()
        self.content = content

    def process_bind_param(self, value: Content | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        return None if value is None else array_codec.pack_text(to_json(value))

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> Content | None:  # noqa: ARG002
        return None if value is None else from_json(self.content, array_codec.unpack_text(value))


class Base:
    """All tables, and the types of their columns."""

    metadata: ClassVar[MetaData] = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    # JSON, not JSONB: it preserves the order of keys.
    column_types: ClassVar[dict[Any, Any]] = {
        datetime: Instant(),
        Day: CalendarDay(),
        float: Real(),
        int: Whole(),
        bytes: LargeBinary(),
        Absent: AbsentReason(),
        str: String(),
        bool: Boolean(),
        JsonObject: JSON(none_as_null=True),
        JsonList: JSON(none_as_null=True),
        list[str]: JSON(none_as_null=True),
    }


def one_of(column: str, *allowed: str) -> CheckConstraint:
    words = ", ".join(f"'{word}'" for word in allowed)
    return CheckConstraint(f"{column} IN ({words})", name=column)
