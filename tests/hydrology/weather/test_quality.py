import json
from collections.abc import Sequence

import numpy as np
import pytest

from hydrology.base.calendar import day
from hydrology.base.errors import Finding
from hydrology.base.series import DailySeries, Flag
from hydrology.weather.quality import quality_report

START = day("2000-01-01")
AREAS = {"maurer": 5e8, "area_gages2": 5.2e8}


def series(values: Sequence[float], unit: str = "mm/day", flags: Sequence[int] | None = None) -> DailySeries:
    given = np.zeros(len(values)) if flags is None else np.array(flags)
    return DailySeries(START, np.array(values, dtype=np.float32), given.astype(np.uint8), unit)


def findings(data: dict[tuple[str, str], DailySeries], areas: dict[str, float] | None = None) -> dict[str, Finding]:
    found = quality_report(data, AREAS if areas is None else areas)
    json.dumps([finding.detail for finding in found], allow_nan=False)
    return {finding.code: finding for finding in found}


def test_sound_data_have_no_findings() -> None:
    rng = np.random.default_rng(0)
    data = {
        ("maurer", "precipitation"): series(rng.gamma(1, 4, 100).tolist()),
        ("maurer", "tmax"): series([9.0] * 100, "degC"),
        ("maurer", "tmin"): series([1.0] * 100, "degC"),
        ("maurer", "swe"): series([0.0] * 99 + [3.0], "mm"),
        ("usgs", "discharge"): series((1 + rng.gamma(1, 1, 100)).tolist(), "cfs"),
    }
    assert {code: one.severity for code, one in findings(data).items()} == {"no-whole-water-year": "info"}


def test_gaps_are_counted_and_listed() -> None:
    nan = float("nan")
    found = findings({("usgs", "discharge"): series([nan, 1, 2, nan, nan, nan, 3, nan], "cfs")})["gaps"]
    assert (found.detail["count"], found.detail["longest"], found.severity) == (5, 3, "info")
    assert found.detail["ranges"] == [
        ["2000-01-01", "2000-01-01"],
        ["2000-01-04", "2000-01-06"],
        ["2000-01-08", "2000-01-08"],
    ]
    assert "5 of 8 days, at most 3 in a row" in found.sentence


def test_a_gap_in_the_forcing_is_a_warning_because_it_stops_the_state() -> None:
    assert findings({("maurer", "srad"): series([1, float("nan")], "W/m2")})["gaps"].severity == "warning"


def test_flags_are_counted_bit_by_bit() -> None:
    flags = [Flag.APPROVED, Flag.APPROVED | Flag.ESTIMATED, Flag.APPROVED | Flag.BELOW_LIMIT]
    found = findings({("usgs", "discharge"): series([1, 2, 3], "cfs", flags)})["flags"]
    assert found.detail["counts"] == {"approved": 3, "estimated": 1, "below_limit": 1}


@pytest.mark.parametrize(("tmin", "expected"), [([3, 4, 5], True), ([3, 4, 4.5], False)])
def test_equal_temperatures_on_every_day_are_reported(tmin: list[float], expected: bool) -> None:
    data = {("nldas", "tmax"): series([3, 4, 5], "degC"), ("nldas", "tmin"): series(tmin, "degC")}
    found = findings(data)
    assert ("tmax-equals-tmin" in found) is expected
    if expected:
        assert "not usable as daily minimum and maximum" in found["tmax-equals-tmin"].sentence


def test_temperatures_of_two_products_are_not_compared() -> None:
    assert not findings({("a", "tmax"): series([1], "degC"), ("b", "tmin"): series([1], "degC")})


def test_zeros_amid_flow_are_suspect_and_a_river_that_dries_up_is_not() -> None:
    falling_out = [50.0, 60, 0, 0, 55, 40, 30, 20, 10, 5, 1, 0, 0, 0, 1, 5, 0]
    found = findings({("usgs", "discharge"): series(falling_out, "cfs")})["suspect-zeros"]
    assert found.detail["ranges"] == [["2000-01-03", "2000-01-04"]]
    assert found.detail["count"] == 2


def test_an_unknown_neighbour_makes_no_zero_suspect() -> None:
    assert "suspect-zeros" not in findings({("usgs", "discharge"): series([9, 0, float("nan"), 8], "cfs")})


def test_empty_snow_of_a_forcing_product_is_a_placeholder() -> None:
    data = {("maurer", "swe"): series([0, 0], "mm"), ("maurer", "precipitation"): series([1, 2])}
    assert "a placeholder, not 'no snow'" in findings(data)["swe-placeholder"].sentence
    assert "swe-placeholder" not in findings({("uaz", "swe"): series([0, 0], "mm")})


@pytest.mark.parametrize(("other", "expected"), [(1.09, False), (1.11, True), (0.9, True), (0.92, False)])
def test_areas_more_than_a_tenth_apart(other: float, expected: bool) -> None:
    assert ("area-mismatch" in findings({}, {"maurer": 1e8, "area_gages2": other * 1e8})) is expected


def test_negative_precipitation_is_an_error() -> None:
    found = findings({("own", "precipitation"): series([1, -0.5, 2, -1])})["negative-precipitation"]
    assert (found.severity, found.detail["count"], found.detail["lowest"]) == ("error", 2, -1)


def test_suspect_values_of_discharge_are_a_warning_with_their_days() -> None:
    nan = float("nan")
    daily = series([1, nan, 2], "cfs")
    daily.flags[1] = Flag.MISSING | Flag.SUSPECT
    found = findings({("usgs", "discharge"): daily})["suspect-discharge"]
    assert (found.severity, found.detail["count"]) == ("warning", 1)
    assert found.detail["ranges"] == [["2000-01-02", "2000-01-02"]]


def test_constant_flow_is_reported() -> None:
    nan = float("nan")
    found = findings({("usgs", "discharge"): series([12, 12, nan, 12], "cfs")})
    assert found["constant-flow"].detail["value"] == 12
    assert "constant-flow" in findings({("usgs", "discharge"): series([0, 0], "cfs")})


def test_a_series_without_a_known_day_is_one_gap() -> None:
    nan = float("nan")
    empty = {("usgs", "discharge"): series([nan, nan], "cfs"), ("maurer", "precipitation"): series([nan, nan])}
    found = quality_report(empty, AREAS)
    assert [finding.code for finding in found] == ["gaps", "gaps"]
