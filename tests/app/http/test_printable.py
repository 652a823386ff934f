"""Every free text that somebody sends is printable: no request can hide, turn round or join what readers see."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo

from app.main import create_app
from jobspec.fields import Line, Note
from records.basins import basins
from records.basins.ownership import BASINS
from records.database.engine import Database
from runtime.settings import Settings
from testing.records import BASIN, a_basin, change

# An override of the direction, an isolate, a joiner, a blank without width, C1, NUL, half a surrogate pair, a filler.
HIDDEN = ("\u202e", "\u2066", "\u200d", "\u200b", "\x85", "\x00", "\ud800", "\u3164", "\u00a0", "\ufeff", "\U000e0041")
SAMPLES = ("a{}b", "https://a.example/{}", "{}", "12345678{}", "1h{}")
FREE = {"NewRating.table", "NewCategories.document"}
"""Files: words of the first are not shown, and those of the second are freed of what does not show as they are read."""


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation)
    for part in get_args(annotation):
        yield from models(part)


def routes(router: Any) -> Iterator[APIRoute]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            yield route
        elif (included := getattr(route, "original_router", None)) is not None:
            yield from routes(included)


def fields() -> dict[str, FieldInfo]:
    """Return the fields of every body that the API takes by name."""
    found: dict[str, FieldInfo] = {}
    for route in routes(create_app(Settings())):
        if route.include_in_schema and route.body_field is not None:
            for model in models(route.body_field.field_info.annotation):
                found |= {f"{model.__name__}.{name}": field for name, field in model.model_fields.items()}
    return found


def accepts(one: type[BaseModel], value: object, hidden: str) -> bool:
    """Return whether a field takes a value and holds a text with what does not show."""
    try:
        taken = one.model_validate({"field": value}, strict=False)
    except ValidationError:
        return False
    return any(hidden in text for text in texts_of(taken.field))  # type: ignore[attr-defined]


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, BaseModel | dict):
        for _, part in value if isinstance(value, BaseModel) else value.items():
            yield from texts_of(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts_of(part)


def test_no_field_of_a_request_takes_what_does_not_show() -> None:
    every = fields()
    assert {"NewSchedule.name", "OwnBasin.name", "NewAdjustment.words", "TrainingParams.label"} <= every.keys()
    taken = set()
    for name, field in every.items():
        definition: Any = (field.annotation, FieldInfo.merge_field_infos(field, alias=None, validation_alias=None))
        one = create_model("One", field=definition)
        for hidden in HIDDEN:
            texts = [sample.format(hidden) for sample in SAMPLES]
            values = [*texts, *([text] for text in texts), *({"x": text} for text in texts)]
            if any(accepts(one, value, hidden) for value in values):
                taken.add(name)
    assert taken == FREE, sorted(taken ^ FREE)


def test_a_line_is_refused_by_the_name_of_what_does_not_show() -> None:
    for kind in (Line, Note):
        text = TypeAdapter(kind)
        for good in ("Fish River near Fort Kent, ME", "Río Negro – Überlauf 3 m³/s", "雨の川", "الوادي"):
            assert text.validate_python(good) == good
        for hidden in (*HIDDEN, "\n", "\t", "\x1b"):
            with pytest.raises(ValidationError):
                text.validate_python(f"a{hidden}b")
    with pytest.raises(ValidationError, match=r"leave out U\+202E \(right-to-left override\)"):
        TypeAdapter(Line).validate_python("dam\u202e1")


def test_a_name_that_was_stored_before_is_read_without_what_does_not_show(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
        change(session, BASINS, BASIN, name="Fish\u202e River\x85")
    with sqlite_database.reading() as session:
        assert basins.get(session, BASIN).name == "Fish River "
