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
from pydantic import BaseModel, Field, GetCoreSchemaHandler, SerializationInfo, create_model
from pydantic_core import CoreSchema, core_schema

from app.http.base_schema import EXPLAINED, Missing, Model
from app.http.json_numbers import gappy_column, rounded
from hydrology.base.absent import Absent, text, texts
from hydrology.base.calendar import as_date
from hydrology.base.doc import Doc, Why

Value = TypeVar("Value")


@dataclass(frozen=True)
class As:
    """In a field's annotation: shows a data class as an object of the document.

    A field of the class is described by its `Doc`; one that may be an `Absent` is nullable, and an array is a list in
    which NaN is null. One that is nothing but an `Absent`, or a mapping of them, is shown as text. The answer holds the
    data class itself.

    Attributes:
        doc: what it is; by default the first paragraph of the class's docstring.
        properties: of the class, shown after its fields.
        exact: whether numbers are shown with all digits; else with 7.
        missing: whether the object has `missing`, with the reasons of its own fields.
    """

    name: str | None = None
    doc: str | None = None
    omit: tuple[str, ...] = ()
    rename: tuple[tuple[str, str], ...] = ()
    properties: tuple[str, ...] = ()
    exact: bool = False
    missing: bool = False

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return a schema that takes an instance as it is, or the object that shows one, and writes the fields."""
        model = model_of(source, self)
        of_model = handler.generate_schema(model)

        def write(value: object, info: SerializationInfo) -> dict[str, Any]:
            include: Any = info.include
            shown = value if isinstance(value, model) else self.model(value)
            return shown.model_dump(mode=info.mode, include=include)

        written = core_schema.plain_serializer_function_ser_schema(write, info_arg=True)
        return core_schema.json_or_python_schema(
            of_model,
            core_schema.union_schema([core_schema.is_instance_schema(source), of_model]),
            serialization=written,
        )

    def model(self, value: Any) -> Model:
        """Return a value as the answer shows it."""
        return model_of(cast(Any, type(value)), self)(**self.values(value))

    def values(self, value: Any) -> dict[str, Any]:
        """Return the fields of a value as the answer shows them, by name."""
        reasons = _reasons(cast(Any, type(value)))
        return {
            shown: _texts(getattr(value, name)) if name in reasons else _plain(getattr(value, name), self.exact)
            for name, shown in _names(type(value), self).items()
        }


Shown = Annotated[Value, As()]
"""A data class in an answer, all of its fields."""


@cache
def model_of(source: Any, how: As) -> type[Model]:
    """Return the object of the document that shows a data class."""
    shown = shown_fields(source, how)
    if how.missing:
        shown["missing"] = (Missing, EXPLAINED)
    doc = how.doc or inspect.cleandoc(source.__doc__ or "").partition("\n\n")[0]
    return create_model(how.name or source.__name__, __base__=Model, __doc__=doc, __module__=source.__module__, **shown)


def shown_fields(source: Any, how: As) -> dict[str, Any]:
    """Return the fields of the object that shows a data class, by name: the type and the description of each."""
    hints, reasons = get_type_hints(source, include_extras=True), _reasons(source)
    for name in how.properties:
        hints[name] = get_type_hints(getattr(source, name).fget, include_extras=True)["return"]
    shown: dict[str, Any] = {}
    for name, renamed in _names(source, how).items():
        marks = getattr(hints[name], "__metadata__", ())
        words = next((mark.text for mark in marks if isinstance(mark, Doc)), None)
        type_ = Missing if renamed == "missing" else reasons.get(name) or _json_type(hints[name], how)
        for why in marks:
            type_ = Annotated[type_, why] if isinstance(why, Why) else type_
        shown[renamed] = (type_, Field(description=words) if words else ...)
    return shown


def extended(base: type[Model], **fields: Any) -> Any:
    """Return a model with more fields, as `shown_fields` gives them, after those of its base."""
    return create_model(base.__name__, __base__=base, **fields)


def item_model(items: Any) -> type[BaseModel] | None:
    """Return the model of a list's items; None where they have none."""
    for how in getattr(items, "__metadata__", ()):
        if isinstance(how, As):
            return model_of(items.__origin__, how)
    return items if inspect.isclass(items) and issubclass(items, BaseModel) else None


def _names(source: type, how: As) -> dict[str, str]:
    renamed = dict(how.rename)
    names = [field.name for field in fields(source) if field.name not in how.omit]
    return {name: renamed.get(name, name) for name in (*names, *how.properties)}


def _json_type(hint: Any, how: As) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _json_type(parts[0], how)
    if origin in (Union, UnionType):
        return functools.reduce(operator.or_, (_json_type(part, how) for part in parts))
    if hint is Absent:
        return None
    if is_dataclass(hint):
        return model_of(cast(Any, hint), As(exact=how.exact))
    if origin is np.ndarray or hint is np.ndarray:
        return list[float | None]
    if hint is np.datetime64:
        return date
    if origin in (tuple, list) or (inspect.isclass(origin) and issubclass(origin, Sequence)):
        return list[_json_type(parts[0], how)]  # type: ignore[misc]
    if _is_mapping(origin):
        return dict[str, _json_type(parts[1], how)]  # type: ignore[misc]
    return hint


@cache
def _reasons(source: Any) -> Mapping[str, Any]:
    """Return the fields of a data class that are reasons, with the types of their texts."""
    types: dict[str, Any] = {}
    for name, hint in get_type_hints(source).items():
        parts = get_args(hint) or (hint,)
        held = parts[1:] if _is_mapping(get_origin(hint)) else parts
        if Absent in held and set(held) <= {Absent, type(None)}:
            types[name] = dict[str, str] if held is not parts else str | None if type(None) in parts else str
    return types


def _is_mapping(origin: Any) -> bool:
    return inspect.isclass(origin) and issubclass(origin, Mapping)


def _texts(reason: Any) -> Any:
    return texts(reason) if isinstance(reason, Mapping) else text(reason)


def _plain(value: Any, exact: bool) -> Any:
    if isinstance(value, Absent):
        return value
    if isinstance(value, np.ndarray):
        return gappy_column(value)
    if isinstance(value, np.datetime64):
        return as_date(value)
    if isinstance(value, float) and not exact:
        return rounded(value)
    if is_dataclass(value):
        return As(exact=exact).model(value)
    if isinstance(value, Mapping):
        return {name: _plain(held, exact) for name, held in value.items()}
    return [_plain(held, exact) for held in value] if isinstance(value, list | tuple) else value
