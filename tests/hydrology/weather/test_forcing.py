from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from hydrology.base.calendar import Period, day
from hydrology.base.errors import InvalidInput
from hydrology.weather.forcing import (
    MAX_LEADS,
    MAX_TRACE_DAYS,
    MAX_TRACES,
    Trace,
    WeatherForecast,
    WeatherIssue,
    WeatherRefused,
)

BASIN = "USGS-01013500"
ISSUE = WeatherIssue(
    source="open-meteo",
    model="ncep_gefs025",
    reference_time=datetime(2026, 11, 22, tzinfo=UTC),
    available_time=datetime(2026, 11, 22, 6, tzinfo=UTC),
    licence="CC BY 4.0",
    credit="Weather data by a source",
)
UNITS = {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC"}


def trace(label: str = "control", days: int = 3, first: str = "2026-11-22", **changes: Any) -> Trace:
    values = {"precipitation": 2.0, "tmax": 8.0, "tmin": -1.0}
    arrays = {name: np.full(days, value, np.float32) for name, value in values.items()}
    return Trace(label, day(first) + np.arange(days), arrays | changes)


def forecast(*traces: Trace, units: dict[str, str] | None = None) -> WeatherForecast:
    return WeatherForecast.of_traces(ISSUE, BASIN, traces, UNITS if units is None else units)


def test_traces_become_arrays_of_traces_by_days() -> None:
    wet = trace("wet", precipitation=np.array([9, 8, 7], np.float32))
    created = forecast(trace(), wet)
    assert created.traces == ("control", "wet")
    assert created.period == Period(day("2026-11-22"), day("2026-11-24"))
    assert created.values["precipitation"].tolist() == [[2, 2, 2], [9, 8, 7]]
    assert all(values.dtype == np.float32 for values in created.values.values())


def test_days_may_come_in_any_order() -> None:
    values = np.array([1, 2, 3], np.float32)
    sorted_days = trace("t", precipitation=values)
    turned = replace(sorted_days, days=sorted_days.days[::-1], values=trace("t", precipitation=values[::-1]).values)
    assert forecast(turned).values["precipitation"].tolist() == [[1, 2, 3]]


def _at(variable: str, value: float) -> Trace:
    values = trace().values[variable].copy()
    values[1] = value
    changes: dict[str, Any] = {variable: values}
    return trace("bad", **changes)


def _without_second_day() -> Trace:
    whole = trace("bad", days=4)
    stored = np.array([0, 2, 3])
    return Trace("bad", whole.days[stored], {name: values[stored] for name, values in whole.values.items()})


def _second_day_twice() -> Trace:
    whole = trace("bad")
    stored = np.array([0, 1, 1])
    return Trace("bad", whole.days[stored], {name: values[stored] for name, values in whole.values.items()})


@pytest.mark.parametrize(
    ("shown", "make"),
    [
        ("precipitation is missing on 2026-11-23 in trace bad", lambda: [_at("precipitation", np.nan)]),
        ("2026-11-23 is missing in trace bad", lambda: [_without_second_day()]),
        ("no precipitation", lambda: [Trace("t", trace().days, {"tmax": trace().values["tmax"]})]),
        ("trace bad has 2 days and trace control 3", lambda: [trace(), trace("bad", days=2)]),
        ("more or fewer values", lambda: [trace("bad", tmax=np.zeros(2, np.float32))]),
        ("different variables", lambda: [trace(), trace("bad", srad=np.ones(3, np.float32))]),
        ("on 2026-11-23 in trace bad", lambda: [trace(), _at("tmin", 9)]),
        ("on 2026-11-23 in trace bad", lambda: [trace(), _at("precipitation", -0.1)]),
        ("begins on 2026-11-23", lambda: [trace(), trace("bad", first="2026-11-23")]),
        ("between 2026-11-14 and 2026-11-24", lambda: [trace("bad", first="2025-11-22")]),
        ("2026-11-23 comes twice", lambda: [_second_day_twice()]),
        ("one label", lambda: [trace(), trace()]),
        ("tmax is outside -100 to 70 degC", lambda: [_at("tmax", 281)]),
        ("precipitation", lambda: [_at("precipitation", np.inf)]),
        ("not known", lambda: [trace(hail=np.ones(3, np.float32))]),
        ("not a name", lambda: [trace("<script>")]),
        ("no trace", list),
        (str(MAX_TRACES), lambda: [trace(str(label)) for label in range(MAX_TRACES + 1)]),
        (str(MAX_TRACE_DAYS), lambda: [trace(str(label), days=100) for label in range(201)]),
        (str(MAX_LEADS), lambda: [trace("bad", days=MAX_LEADS + 1)]),
    ],
)
def test_a_faulty_forecast_is_refused_with_its_cause(shown: str, make: Callable[[], list[Trace]]) -> None:
    with pytest.raises(WeatherRefused) as refused:
        forecast(*make())
    assert str(refused.value).startswith(f"{BASIN}: ")
    assert shown in str(refused.value)


@pytest.mark.parametrize(
    ("units", "found"),
    [
        (UNITS | {"tmax": "K"}, "is stated in 'K'"),
        (UNITS | {"tmax": "°F"}, "is stated in '°F'"),
        (UNITS | {"tmax": "\x1b" + "x" * 99}, f"is stated in '?{'x' * 31}'"),
        (UNITS | {"tmax": " "}, "states no unit"),
        ({"precipitation": "mm/day"}, "states no unit"),
    ],
)
def test_a_unit_other_than_that_of_the_stored_series_is_refused_and_named(units: dict[str, str], found: str) -> None:
    with pytest.raises(WeatherRefused) as refused:
        forecast(trace(), units=units)
    assert f"tmax {found}, but must be in degC: convert its values and state degC." in str(refused.value)


def test_a_leap_day_is_a_lead_like_any_other() -> None:
    issue = replace(
        ISSUE, reference_time=datetime(2028, 2, 28, tzinfo=UTC), available_time=datetime(2028, 3, 1, tzinfo=UTC)
    )
    created = WeatherForecast.of_traces(issue, BASIN, [trace(first="2028-02-28")], UNITS)
    assert str(created.period) == "2028-02-28..2028-03-01"


@pytest.mark.parametrize(
    "changes",
    [
        {"source": "a source"},
        {"model": ""},
        {"reference_time": datetime(2026, 11, 22)},  # noqa: DTZ001
        {"reference_time": datetime(2026, 11, 22, tzinfo=timezone(timedelta(hours=-5)))},
        {"available_time": datetime(2026, 11, 21, tzinfo=UTC)},
        {"credit": "two\nlines"},
        {"licence": "x" * 501},
    ],
)
def test_an_issue_has_names_and_instants_in_utc(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        replace(ISSUE, **changes)
