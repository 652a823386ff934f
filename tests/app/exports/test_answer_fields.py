"""Fields of answers: absent ones with their reasons, data classes as they are, and their columns in files."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, get_args, get_type_hints

import numpy as np
import pytest
from fastapi.routing import APIRoute
from pydantic import Field, ValidationError

from app.exports.table import table_of
from app.http import base_schema
from app.http.base_schema import EXPLAINED, Missing, Model, Number, ReasonText, Series, maybe
from app.http.shown import As, Shown, model_of
from app.routes import RESOURCES
from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Period, day
from hydrology.base.doc import Doc, IsoDay, IsoPeriod, Why
from hydrology.base.reasons import Reason
from hydrology.base.units import Area

NO_EVENT = absent(Reason.NO_EVENT)


class Part(Model):
    share: float | None
    note: Annotated[str | None, Why("Nobody wrote one.")]


class Whole(Model):
    part: Part | None
    by_name: dict[str, float | None]
    parts: list[Part] = Field(default=[])
    missing: Missing = EXPLAINED


def test_absent_fields_are_null_with_their_reasons_under_their_paths() -> None:
    part = Part(share=maybe(NO_EVENT), note=None)
    shown = Whole(part=part, by_name={"a": 1.0, "b": NO_EVENT}, parts=[part])  # type: ignore[dict-item]
    why = str(NO_EVENT)
    assert json.loads(shown.model_dump_json()) == {
        "part": {"share": None, "note": None},
        "by_name": {"a": 1.0, "b": None},
        "parts": [{"share": None, "note": None}],
        "missing": {
            "part.share": why,
            "part.note": "Nobody wrote one.",
            "by_name.b": why,
            "parts.0.share": why,
            "parts.0.note": "Nobody wrote one.",
        },
    }


def test_passed_reasons_come_before_those_of_the_fields() -> None:
    class Answer(Model):
        note: Annotated[str | None, Why("Nobody wrote one.")]
        missing: Missing = EXPLAINED

    assert Answer(note=None, missing={"note": "It is withheld."}).missing == {"note": "It is withheld."}
    assert Answer(note="high").missing == {}


def test_values_are_changed_only_where_they_are_known() -> None:
    assert Part(share=maybe(0.123456789, lambda value: round(value, 2)), note="n").share == 0.12
    assert Part(share=maybe(NO_EVENT, lambda value: round(value, 2)), note="n").share is None


def test_a_reason_that_is_the_value_is_its_text() -> None:
    class Answer(Model):
        paused_because: ReasonText | None
        left_out: dict[str, ReasonText]
        missing: Missing = EXPLAINED

    answer = Answer(paused_because=NO_EVENT, left_out={"A": NO_EVENT})  # type: ignore[arg-type, dict-item]
    assert (answer.paused_because, answer.left_out) == (str(NO_EVENT), {"A": str(NO_EVENT)})
    assert answer.missing == {}


@dataclass(frozen=True)
class Peak:
    """The largest flow."""

    at: Annotated[Day, Doc("Its day.")]
    height: float
    error: float | Absent


@dataclass(frozen=True)
class Record:
    """A record of a gauge.

    It has more text.
    """

    key_id: Annotated[str | None, Doc("Who sent it."), Why("Nobody.")]
    flow: Annotated[Array, Doc("Daily.")]
    peak: Peak | Absent
    internal: int


class Answer(Model):
    record: Annotated[Record, As(name="Gauge", rename=(("key_id", "key"),), omit=("internal",))]
    peaks: list[Shown[Peak]]
    missing: Missing = EXPLAINED


PEAK = Peak(day("2020-01-02"), 1.23456789, NO_EVENT)


def test_a_data_class_is_shown_as_it_is() -> None:
    answer = Answer(record=Record(None, np.array([1.5, np.nan]), PEAK, 1), peaks=[PEAK])
    shown = {"at": "2020-01-02", "height": 1.234568, "error": None}
    assert answer.record.peak is PEAK
    assert json.loads(answer.model_dump_json()) == {
        "record": {"key": None, "flow": [1.5, None], "peak": shown},
        "peaks": [shown],
        "missing": {"record.key": "Nobody.", "record.peak.error": str(NO_EVENT), "peaks.0.error": str(NO_EVENT)},
    }
    assert json.loads(answer.model_dump_json(include={"peaks": {"__all__": {"at"}}})) == {
        "peaks": [{"at": "2020-01-02"}]
    }
    with pytest.raises(ValidationError):
        Answer(record="text", peaks=[])  # type: ignore[arg-type]


def test_the_document_describes_a_data_class_by_its_annotations() -> None:
    schemas = Answer.model_json_schema(mode="serialization")["$defs"]
    assert schemas["Gauge"]["description"] == "A record of a gauge."
    assert schemas["Gauge"]["properties"]["key"]["description"] == "Who sent it."
    assert schemas["Gauge"]["required"] == ["key", "flow", "peak"]
    assert schemas["Gauge"]["properties"]["peak"]["anyOf"][1] == {"type": "null"}
    assert schemas["Peak"]["properties"]["at"] == {
        "description": "Its day.",
        "format": "date",
        "title": "At",
        "type": "string",
    }


def test_fields_take_what_the_core_has() -> None:
    class Answer(Model):
        first: date
        days: list[date]
        period: base_schema.Period
        area: base_schema.Area
        flow: list[float | None]
        by_name: dict[str, list[float]]
        mean: Number
        normal: Number | None
        missing: Missing = EXPLAINED

    period = Period(day("2020-01-01"), day("2020-01-02"))
    answer = Answer(
        first=maybe(period.first),
        days=maybe(period.days),
        period=maybe(period),
        area=maybe(Area("maurer", 2e6)),
        flow=maybe(np.array([np.nan, 0.123456789])),
        by_name=maybe({"p10": np.array([1.0], np.float32)}),
        mean=0.123456789,
        normal=maybe(NO_EVENT),
    )
    first, last = "2020-01-01", "2020-01-02"
    assert json.loads(answer.model_dump_json()) == {
        "first": first,
        "days": [first, last],
        "period": {"first_day": first, "last_day": last},
        "area": {"name": "maurer", "km2": 2.0},
        "flow": [None, 0.1234568],
        "by_name": {"p10": [1.0]},
        "mean": 0.1234568,
        "normal": None,
        "missing": {"normal": str(NO_EVENT)},
    }


@dataclass(frozen=True)
class Season:
    """Days of a year."""

    first: IsoDay | None
    fitted_on: Annotated[IsoPeriod, Doc("When.", ("1980-10-01..1989-09-30",))]
    whole: Period
    peak: Peak

    @property
    def in_words(self) -> Annotated[str, Doc("A sentence.")]:
        return f"From {self.first} on."

    @property
    def internal(self) -> int:
        return 1


def test_stored_days_and_documented_properties_are_shown() -> None:
    class Answer(Model):
        season: Annotated[Season, As("Summer", parts=((Peak, As("Highest", omit=("error",))),))]

    whole = Period(day("2020-01-01"), day("2020-01-02"))
    answer = Answer(season=Season("2020-01-01", "2020-01-01..2020-01-02", whole, PEAK))
    period = {"first_day": "2020-01-01", "last_day": "2020-01-02"}
    assert json.loads(answer.model_dump_json())["season"] == {
        "first": "2020-01-01",
        "fitted_on": period,
        "whole": period,
        "peak": {"at": "2020-01-02", "height": 1.234568},
        "in_words": "From 2020-01-01 on.",
    }
    schemas = Answer.model_json_schema(mode="serialization")["$defs"]
    assert {"Summer", "Highest", "Period"} <= schemas.keys()
    assert schemas["Summer"]["properties"]["in_words"]["description"] == "A sentence."


def _models(hint: Any) -> Iterator[Any]:
    """Yield what an annotation shows: models, and data classes with the way in which they are shown."""
    if isinstance(hint, type) and issubclass(hint, Model):
        yield hint, None, None
    how = next((mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, As)), None)
    if how is not None:
        yield model_of(get_args(hint)[0], how), get_args(hint)[0], how
    else:
        for part in get_args(hint):
            yield from _models(part)


def _may_be_absent(source: Any) -> set[str]:
    return {name for name, hint in get_type_hints(source).items() if Absent in get_args(hint) and hint != Absent | None}


def _unexplained(model: type[Model], source: Any, how: As | None, *, is_explained: bool) -> Iterator[str]:
    """Yield the fields of a model, and of what it holds, that lose their reason where they are absent."""
    is_explained |= "missing" in model.model_fields
    renamed, absent_ones = dict(how.rename if how else ()), set[str]() if source is None else _may_be_absent(source)
    for name, field in model.model_fields.items():
        marked = any(
            isinstance(mark, Why) for mark in (*field.metadata, *getattr(field.annotation, "__metadata__", ()))
        )
        if not is_explained and (marked or name in {renamed.get(one, one) for one in absent_ones}):
            yield f"{model.__name__}.{name}"
        hint = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
        for part, of_part, shown in _models(hint):
            yield from _unexplained(part, of_part, shown, is_explained=is_explained)


def test_no_answer_loses_the_reason_of_an_absent_field() -> None:
    routes = (route for router in RESOURCES for route in router.routes if isinstance(route, APIRoute))
    models = {found for route in routes for found in _models(route.response_model)}
    assert len(models) > 50
    assert not {name for found in models for name in _unexplained(*found, is_explained=False)}

    class Bare(Model):
        peaks: list[Shown[Peak]]

    assert [*_unexplained(Bare, None, None, is_explained=False)] == ["Peak.error"]


class Causes(Model):
    rain: list[float]
    snow_melt: list[float]


class Item(Model):
    name: Annotated[str, Series("the name")]
    n: int


class Daily(Model):
    basin: str
    units: dict[str, str]
    run: Annotated[str, Series("the run")]
    product: Annotated[str, Series("the product")]
    time: Annotated[list[date], Series("day")]
    flow: Annotated[list[float] | None, Series("the flow")]
    causes: Annotated[Causes | None, Series("part due to {}", "mm", column="part_{}")]
    levels: Annotated[
        dict[str, list[float]] | None,
        Series("flow", unit_of="flow", axis="quantile", names={"p10": 0.1, "median": 0.5}),
    ]
    age: Annotated[int, Series("its age", after="run")]


def test_columns_follow_from_the_fields() -> None:
    days = [date(2020, 1, 1), date(2020, 1, 2)]
    causes = Causes(rain=[1.0, 2.0], snow_melt=[0.0, 0.5])
    about: dict[str, Any] = {
        "basin": "A",
        "units": {"flow": "m3/s"},
        "run": "r",
        "product": "p",
        "time": days,
        "age": 3,
    }
    full = table_of(
        Daily(**about, flow=[3.0, 4.0], causes=causes, levels={"p10": [1.0, 1.0], "median": [2.0, 2.0]}), "", ""
    )
    empty = table_of(Daily(**about, flow=None, causes=None, levels=None), "", "")
    names = ["run", "age", "product", "time", "flow", "part_rain", "part_snow_melt", "levels_p10", "levels_median"]
    by_name = {column.name: column for column in full.columns}
    assert [*by_name] == [column.name for column in empty.columns] == names
    assert [(column.kind, column.unit, column.of_basin) for column in full.columns[:5]] == [
        ("text", None, True),
        ("integer", None, True),
        ("text", None, True),
        ("day", None, False),
        ("number", "m3/s", False),
    ]
    assert by_name["age"].values == [3, 3]
    assert by_name["part_snow_melt"].meaning == "part due to snow melt"
    assert by_name["part_snow_melt"].values == [0.0, 0.5]
    assert by_name["levels_p10"].unit == "m3/s"
    assert by_name["levels_p10"].along is not None
    assert (by_name["levels_p10"].along.label, by_name["levels_p10"].meaning) == (0.1, "p10 of flow")
    assert all(column.values == [None, None] for column in empty.columns[4:])


def test_a_list_of_objects_has_a_row_for_each() -> None:
    class Names(Model):
        version: Annotated[str, Series("the version")]
        items: Annotated[list[Item], Series("")]

    table = table_of(Names(version="v", items=[Item(name="a", n=1), Item(name="b", n=2)]), "", "")
    assert [*table.rows] == [("v", "a"), ("v", "b")]


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison."""

    p: float | None
    reason: Annotated[Absent | None, Doc("Why there is no p.")]
    left_out: dict[str, Absent]


def test_a_field_of_a_data_class_that_is_a_reason_is_its_text() -> None:
    class Page(Model):
        compared: Shown[Comparison]
        missing: Missing = EXPLAINED

    shown = Page(compared=Comparison(None, NO_EVENT, {"A": NO_EVENT}))
    why = str(NO_EVENT)
    assert json.loads(shown.model_dump_json()) == {
        "compared": {"p": None, "reason": why, "left_out": {"A": why}},
        "missing": {},
    }
    described = Page.model_json_schema(mode="serialization")["$defs"]["Comparison"]["properties"]
    assert described["reason"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert described["left_out"]["additionalProperties"] == {"type": "string"}
