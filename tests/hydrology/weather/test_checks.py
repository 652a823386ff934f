"""Weather in a unit that its label does not state is refused; right weather, however odd, is not."""

import zipfile
from collections.abc import Mapping
from os import environ
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.calendar import Days, Period, day
from hydrology.base.errors import Finding
from hydrology.weather.check_weather import weather_findings
from hydrology.weather.climate import BasinClimate
from hydrology.weather.daily_weather import DailyWeather
from hydrology.weather.runoff import unit_hint
from tests.weather_lies import BASINS, LIES, RECORD, Array, climate, latitude, right

YEAR = Period.parse("2001-10-01..2002-09-30")


def found(
    days: Days,
    values: Mapping[str, Array],
    at: float | None = None,
    of_basin: BasinClimate | None = None,
    severity: str | None = None,
) -> dict[str, Finding]:
    every = weather_findings(DailyWeather("own", days, values, at, of_basin))
    return {one.code: one for one in every if severity in (None, one.severity)}


def errors(
    days: Days, values: Mapping[str, Array], at: float | None = None, of_basin: BasinClimate | None = None
) -> list[str]:
    return [one.sentence for one in found(days, values, at, of_basin, "error").values()]


@pytest.mark.parametrize("lie", LIES)
def test_a_year_in_another_unit_is_refused_with_variable_day_value_and_unit(lie: str) -> None:
    change, sentence = LIES[lie]
    days, values = right(YEAR)
    result = errors(days, change(values), latitude(), climate())
    refusal = next(refusal for refusal in result if sentence in refusal)
    assert " of own " in refusal
    assert "(first on 200" in refusal


@given(basin=st.integers(0, BASINS - 1), first=st.integers(0, len(RECORD) - 400), length=st.integers(1, 400))
def test_right_weather_is_never_refused(basin: int, first: int, length: int) -> None:
    start = RECORD.first + np.timedelta64(first, "D")
    days, values = right(Period(start, start + np.timedelta64(length - 1, "D")), basin)
    for of_basin in (None, climate(basin)):
        assert errors(days, values, latitude(basin), of_basin) == []


@given(
    lie=st.sampled_from(["hPa", "kPa", "swapped"]),
    basin=st.integers(0, BASINS - 1),
    first=st.integers(0, len(RECORD) - 60),
    length=st.integers(5, 60),
)
def test_a_few_days_show_vapour_pressure_in_another_unit_and_swapped_temperatures(
    lie: str, basin: int, first: int, length: int
) -> None:
    start = RECORD.first + np.timedelta64(first, "D")
    days, values = right(Period(start, start + np.timedelta64(length - 1, "D")), basin)
    change, sentence = LIES[lie]
    assert any(sentence in refusal for refusal in errors(days, change(values)))


@given(basin=st.integers(0, BASINS - 1), year=st.integers(1997, 2007))
def test_a_year_shows_every_other_unit(basin: int, year: int) -> None:
    days, values = right(Period.parse(f"{year}-01-01..{year}-12-31"), basin)
    for lie in ("metres", "megajoules", "accumulated", "fahrenheit"):
        change, sentence = LIES[lie]
        result = errors(days, change(values), latitude(basin), climate(basin))
        if lie != "metres" or np.sum(values["precipitation"]) > 250:  # an arid year gives little evidence of amounts
            assert any(sentence in refusal for refusal in result), (lie, result)


def constant(
    count: int = 5, first: str = "2008-04-21", **changes: list[float] | float
) -> tuple[Days, dict[str, Array]]:
    start = day(first)
    base = {"precipitation": 2.0, "tmax": 15.0, "tmin": 4.0, "srad": 250.0, "vp": 700.0}
    values = {name: np.broadcast_to(np.array(value, np.float64), count) for name, value in (base | changes).items()}
    return Period(start, start + np.timedelta64(count - 1, "D")).days, values


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"precipitation": [0, 0.003, 0.005, 0, 0]}, "too-little"),
        ({"precipitation": [3, 5, 9, 9, 11]}, "accumulated"),
        ({"tmin": [4, 16, 4, 4, 4]}, "tmin-above-tmax"),
        ({"tmin": 15.0}, "tmax-equals-tmin"),
        ({"vp": 150.0}, "vapour-pressure"),
        ({"tmean": 1.0}, "tmean-outside"),
    ],
)
def test_odd_weather_of_a_few_days_is_warned_of_and_taken(changes: dict[str, list[float] | float], code: str) -> None:
    days, values = constant(5, "2008-04-21", **changes)
    assert {one.code: one.severity for one in found(days, values, 45.0).values()} == {code: "warning"}


def test_one_hot_day_of_many_is_warned_of_and_several_are_refused() -> None:
    for hot, severity in ((1, "warning"), (2, "error")):
        days, values = constant(60, tmax=[15.0] * (60 - hot) + [58.0] * hot)
        assert found(days, values)["too-hot"].severity == severity


TRUE = {
    "a dry cold week": (constant(7, "2008-01-20", precipitation=0.0, tmax=-20.0, tmin=-34.0, vp=25.0, srad=90.0), 48.0),
    "a polar night": (constant(20, "2008-12-10", precipitation=0.1, tmax=-15.0, tmin=-25.0, vp=70.0, srad=0.0), 78.0),
    "a midnight sun": (constant(20, "2008-06-15", tmax=8.0, tmin=1.0, vp=600.0, srad=280.0), 78.0),
    "a desert without rain for a year": (constant(400, "2007-06-15", precipitation=0.0, vp=650.0), 25.0),
    "a hot dry desert night": (constant(10, "2008-07-10", precipitation=0.0, tmax=49.0, tmin=32.0, vp=700.0), 36.0),
    "a storm that builds up": (constant(5, precipitation=[0, 0, 3, 12, 40]), 45.0),
    "whole millimetres": (constant(8, precipitation=[1, 1, 2, 0, 0, 3, 3, 5]), 45.0),
    "a monsoon": (constant(30, "2008-07-01", precipitation=60.0, tmax=29.0, tmin=24.0, vp=2950.0, srad=180.0), 25.0),
    "the southern summer": (constant(10, "2008-12-25", tmax=30.0, tmin=15.0, vp=1600.0, srad=560.0), -35.0),
    "a ridge in fog": (constant(5, tmax=5.0, tmin=3.0, vp=770.0, srad=40.0), 45.0),
    "one day": (constant(1), 45.0),
    "daily means": (constant(300, tmax=9.0, tmin=9.0), 40.0),
}


@pytest.mark.parametrize("case", TRUE)
def test_true_but_unusual_weather_is_taken(case: str) -> None:
    (days, values), at = TRUE[case]
    assert errors(days, values, at) == []
    assert errors(days, values, None) == []


def test_missing_values_are_ignored() -> None:
    days, values = constant(30)
    values = {name: np.where(np.arange(30) == 7, np.nan, of_days) for name, of_days in values.items()}
    assert found(days, values, 45.0) == {}
    assert found(days, {name: of_days * np.nan for name, of_days in values.items()}, 45.0, climate()) == {}
    assert found(days[:0], {}, 45.0) == {}


def test_each_trace_must_look_accumulated() -> None:
    days, _ = constant(12)
    rising = np.array([1, 3, 3, 4, 6, 6, 6, 9, 9, 10, 11, 11.0])
    both = np.stack([rising, rising * 2])
    assert "accumulated" in found(days, {"precipitation": both}, severity="error")
    assert "accumulated" in found(days, {"precipitation": np.stack([rising, rising * 0])}, severity="error")
    assert found(days, {"precipitation": np.stack([rising, rising[::-1]])}) == {}


def test_an_ensemble_of_a_week_that_accumulates_is_refused_though_some_traces_alone_show_little() -> None:
    days, _ = constant(7)
    daily = np.random.default_rng(1).gamma(0.6, 4, (20, 7)).round(1) + 0.1
    daily[:12, 3] = 0  # a dry day repeats the total; eight traces have none
    assert found(days, {"precipitation": daily}) == {}
    assert "accumulated" in found(days, {"precipitation": daily.cumsum(axis=1)}, severity="error")
    assert "accumulated" in found(days, {"precipitation": daily[10:14].cumsum(axis=1)}, severity="warning")


def test_vapour_pressure_in_hpa_beside_swapped_temperatures_is_named_as_hpa() -> None:
    days, values = constant(5, tmax=4.0, tmin=21.5, vp=6.2)
    refusals = errors(days, {name: values[name] for name in ("tmax", "tmin", "vp")})
    assert any("swapped" in one for one in refusals)
    assert any("look like hPa" in one for one in refusals)


def test_a_cold_season_in_fahrenheit_is_refused_against_the_stored_climate() -> None:
    days, values = constant(30, "2002-01-01", tmax=30.0, tmin=15.0, precipitation=1.0)
    cold = BasinClimate("the stored maurer", np.full(12, 2.0), np.full(12, -5.0))
    (refusal,) = errors(days, {name: values[name] for name in ("tmax", "tmin")}, None, cold)
    assert "28 K above what the stored maurer has in these months" in refusal
    assert "°F" in refusal


@pytest.mark.parametrize(("factor", "unit"), [(1 / 25.4, "inches"), (10, "tenths of mm"), (1 / 24, "mm/h")])
def test_a_year_of_precipitation_is_compared_with_the_attribute(factor: float, unit: str) -> None:
    days, values = right(YEAR)
    of_basin = BasinClimate.of_attribute(float(values["precipitation"].mean()))
    (refusal,) = errors(days, {"precipitation": values["precipitation"] * factor}, None, of_basin)
    assert unit in refusal
    assert "the attribute p_mean expects" in refusal


def test_an_attribute_in_another_unit_refuses_nothing() -> None:
    assert BasinClimate.of_attribute(1100.0) is None
    assert BasinClimate.of_attribute(float("nan")) is None


@pytest.mark.parametrize(
    ("variable", "values", "unit"),
    [("tmax", [288.15], "kelvin"), ("tmin", [71, 68, 75], "°F"), ("srad", [1.2e7], "J/m2 a day"), ("tmax", [-999], "")],
)
def test_values_beyond_the_limits_are_named_by_what_they_look_like(
    variable: str, values: list[float], unit: str
) -> None:
    assert unit_hint(variable, values) == (f" (the values look like {unit})" if unit else "")


CAMELS = environ.get("FRESHET_CAMELS")


@pytest.mark.skipif(CAMELS is None, reason="FRESHET_CAMELS names no CAMELS folder")
@pytest.mark.parametrize("archive", ["maurer_extended.zip", "daymet_400.zip"])
def test_windows_of_real_weather_are_not_refused_and_in_hpa_they_are(archive: str) -> None:
    generator = np.random.default_rng(0)
    with zipfile.ZipFile(Path(str(CAMELS)) / archive) as packed:
        names = [name for name in packed.namelist() if name.endswith("_forcing_leap.txt")]
        for name in generator.choice(names, 20, replace=False):
            at, days, values = _forcing(packed.read(name).decode())
            of_basin = BasinClimate.of_record("the record", days, values)
            for length in (1, 5, 10, 30, 365, len(days)):
                first = int(generator.integers(0, len(days) - length + 1))
                part = slice(first, first + length)
                window = {variable: of_days[part] for variable, of_days in values.items()}
                crossed = (window["tmin"] > window["tmax"]).mean() > 0.5
                assert crossed or errors(days[part], window, at, of_basin) == [], (name, days[first])
                if length >= 5:
                    assert errors(days[part], LIES["hPa"][0](window), at)


def _forcing(text: str) -> tuple[float, Days, dict[str, Array]]:
    head, _, _, _, body = text.split("\n", 4)
    table = np.array(body.split(), np.float64).reshape(-1, 11).T
    year, month, number = table[:3].astype(int)
    months = (year - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (month - 1)
    columns = {"precipitation": 5, "srad": 6, "tmax": 8, "tmin": 9, "vp": 10}
    days: Days = months.astype("datetime64[D]") + (number - 1)
    return float(head), days, {variable: table[column] for variable, column in columns.items()}
