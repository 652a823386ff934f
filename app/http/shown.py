"""Data classes in answers: the schema of a field follows from the class of what it holds."""

import functools
import inspect
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import BaseModel, BeforeValidator, Field, GetCoreSchemaHandler, SerializationInfo, create_model
from pydantic_core import CoreSchema, core_schema

from app.http import base_schema
from app.http.base_schema import EXPLAINED, Missing, Model, as_json
from app.http.json_numbers import rounded
from hydrology.base.absent import Absent, text, texts
from hydrology.base.calendar import Day, Period
from hydrology.base.doc import Doc, Text, Why
from hydrology.base.units import Area

Value = TypeVar("Value")


@dataclass(frozen=True)
class As:
    """In a field's annotation: shows a data class as an object of the document.

    A field of the class is described by its `Doc`; one that may be an `Absent` is nullable, and an array is a list in
    which NaN is null. One that is nothing but an `Absent`, or a mapping of them, is shown as text. The answer holds the
    data class itself.

    Attributes:
        doc: what it is; by default the first paragraph of the class's docstring.
        parts: how data classes in its fields are shown, where that is not by their own names and all of their fields.
        exact: whether numbers are shown with all digits; else with 7.
        where_known: fields that are left out where they are None.
        missing: whether the object has `missing`, with the reasons of its own fields.
    """

    name: str | None = None
    doc: str | None = None
    omit: tuple[str, ...] = ()
    rename: tuple[tuple[str, str], ...] = ()
    exact: bool = False
    where_known: tuple[str, ...] = ()
    missing: bool = False
    parts: tuple[tuple[type, "As"], ...] = ()

    def of_part(self, part: Any) -> "As":
        """Return how a data class in a field is shown."""
        return dict(self.parts).get(part) or As(exact=self.exact, parts=self.parts)

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return a schema that takes an instance as it is, or the object that shows one, and writes the fields."""
        model = model_of(source, self)
        of_model = handler.generate_schema(model)

        def write(value: object, info: SerializationInfo) -> object:
            shown = self.model(value) if isinstance(value, source) else cast(Model, value)
            include: Any = info.include
            return shown if include is None else shown.model_dump(mode=info.mode, include=include, exclude_unset=True)

        written = core_schema.plain_serializer_function_ser_schema(write, info_arg=True)
        return core_schema.json_or_python_schema(
            of_model,
            core_schema.union_schema([core_schema.is_instance_schema(source), of_model]),
            serialization=written,
        )

    def may_lack(self, source: type) -> bool:
        """Return whether something in a value of a class may be absent."""
        return _may_lack(source)

    def model(self, value: Any) -> Model:
        """Return a value as the answer shows it."""
        source = cast(Any, type(value))
        model, values = model_of(source, self), self.values(value)
        if self.missing or _may_lack(source):
            return model(**values)
        return cast(Model, model.__pydantic_validator__.validate_python(values, self_instance=model.__new__(model)))

    def values(self, value: Any) -> dict[str, Any]:
        """Return the fields of a value as the answer shows them, by name."""
        source = cast(Any, type(value))
        names, reasons = _names(source, self), _reasons(source)
        return {
            shown: _texts(getattr(value, name)) if name in reasons else _plain(getattr(value, name), self)
            for name, shown in names.items()
            if name not in self.where_known or getattr(value, name) is not None
        }

    def __hash__(self) -> int:  # that of all the options takes longer than the caches save
        return hash((self.name, self.exact))


Shown = Annotated[Value, As()]
"""A data class in an answer, all of its fields."""


@cache
def model_of(source: Any, how: As) -> type[Model]:
    """Return the object of the document that shows a data class."""
    shown = shown_fields(source, how)
    if how.missing:
        shown["missing"] = (Missing, EXPLAINED)
    words = how.doc or inspect.cleandoc(source.__doc__ or "").partition("\n\n")[0]
    name = how.name or source.__name__
    return create_model(name, __base__=Model, __doc__=words, __module__=source.__module__, **shown)


def shown_fields(source: Any, how: As) -> dict[str, Any]:
    """Return the fields of the object that shows a data class, by name: the type and the description of each."""
    hints, reasons = _hints(source), _reasons(source)
    shown: dict[str, Any] = {}
    for name, renamed in _names(source, how).items():
        marks = _marks(hints[name])
        doc = next((mark for mark in marks if isinstance(mark, Doc)), None)
        type_ = Missing if renamed == "missing" else reasons.get(name) or _json_type(hints[name], how)
        for why in marks:
            type_ = Annotated[type_, why] if isinstance(why, Why) else type_
        default = None if name in how.where_known else ...
        about = Field(default=default, description=doc.text, examples=[*doc.examples] or None) if doc else default
        shown[renamed] = (type_, about)
    return shown


def extended(base: type[Model], **fields: Any) -> Any:
    """Return a model with more fields, as `shown_fields` gives them, after those of its base."""
    return create_model(base.__name__, __base__=base, **fields)


def item_model(items: Any) -> type[BaseModel] | None:
    """Return the model of a list's items; None where they have none."""
    for how in _marks(items):
        if isinstance(how, As):
            return model_of(items.__origin__, how)
    return items if inspect.isclass(items) and issubclass(items, BaseModel) else None


@cache
def _hints(source: Any) -> dict[str, Any]:
    """Return the types of a class's fields, and of the properties that it documents."""
    every = get_type_hints(source, include_extras=True)
    hints = {field.name: every[field.name] for field in fields(source)}
    for base in reversed(source.__mro__):
        for name, member in vars(base).items():
            if isinstance(member, property) and member.fget is not None:
                hint = get_type_hints(member.fget, include_extras=True).get("return")
                if any(isinstance(mark, Doc) for mark in _marks(hint)):
                    hints[name] = hint
    return hints


@cache
def _names(source: Any, how: As) -> dict[str, str]:
    renamed = dict(how.rename)
    return {name: renamed.get(name, name) for name in _hints(source) if name not in how.omit}


def _marks(hint: Any) -> tuple[Any, ...]:
    return getattr(hint, "__metadata__", ())


def _json_type(hint: Any, how: As) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        text_of = next((mark.kind for mark in parts[1:] if isinstance(mark, Text)), None)
        return _json_type(parts[0] if text_of is None else text_of, how)
    if origin in (Union, UnionType):
        return functools.reduce(operator.or_, (_json_type(part, how) for part in parts))
    if hint is Absent:
        return None
    if hint in _OWN:
        return _OWN[hint]
    if is_dataclass(hint):
        return model_of(cast(Any, hint), how.of_part(hint))
    if origin is np.ndarray or hint is np.ndarray:
        return list[float | None]
    if origin in (tuple, list) or (inspect.isclass(origin) and issubclass(origin, Sequence)):
        return list[_json_type(parts[0], how)]  # type: ignore[misc]
    if _is_mapping(origin):
        return dict[str, _json_type(parts[1], how)]  # type: ignore[misc]
    return hint


@cache
def _reasons(source: Any) -> Mapping[str, Any]:
    """Return the fields of a data class that are reasons, with the types of their texts."""
    types: dict[str, Any] = {}
    for name, hint in _hints(source).items():
        hint = get_args(hint)[0] if _marks(hint) else hint
        parts = get_args(hint) or (hint,)
        held = parts[1:] if _is_mapping(get_origin(hint)) else parts
        if Absent in held and set(held) <= {Absent, type(None)}:
            types[name] = dict[str, str] if held is not parts else str | None if type(None) in parts else str
    return types


@cache
def _may_lack(source: Any) -> bool:
    def in_hint(hint: Any) -> bool:
        if isinstance(hint, type) and is_dataclass(hint) and hint not in (Absent, *_OWN):
            return _may_lack(hint)
        return hint is Absent or isinstance(hint, Why) or any(map(in_hint, get_args(hint)))

    return any(map(in_hint, _hints(source).values()))


def _is_mapping(origin: Any) -> bool:
    return inspect.isclass(origin) and issubclass(origin, Mapping)


def _period(value: object) -> object:
    return as_json(Period.parse(value)) if isinstance(value, str) else value


_OWN: Mapping[Any, Any] = {
    Day: date,
    Period: Annotated[base_schema.Period, BeforeValidator(_period)],
    Area: base_schema.Area,
}
"""How an answer shows some classes of the core."""


def _texts(reason: Any) -> Any:
    return texts(reason) if isinstance(reason, Mapping) else text(reason)


def _plain(value: Any, how: As) -> Any:
    if isinstance(value, float):
        return value if how.exact else rounded(value)
    if isinstance(value, Mapping):
        return {name: _plain(held, how) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(held, how) for held in value]
    if is_dataclass(value) and type(value) not in (Absent, *_OWN):
        return how.of_part(type(value)).model(value)
    return as_json(value)
