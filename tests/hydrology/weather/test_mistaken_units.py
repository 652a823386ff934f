"""Discharge and areas in another unit than labelled are named, and real basins are not."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from hydrology.base.arrays import Array
from hydrology.base.calendar import Period
from hydrology.base.errors import Finding
from hydrology.base.series import DailySeries
from hydrology.base.units import M3_PER_FT3
from hydrology.weather.quality import quality_report
from hydrology.weather.runoff import AREA_UNIT, FLOW_UNIT, area_unit
from ingestion.sources.camels import CamelsSource
from tests.weather_lies import RECORD, latitude, right

KM2 = 1e6
UNITS = {
    "m3/s": ("cubic metres per second", 1.0),
    "cfs": ("cubic feet per second", M3_PER_FT3),
    "l/s": ("litres per second", 1e-3),
    "Ml/d": ("megalitres per day", 1 / 86.4),
    "m3/h": ("cubic metres per hour", 1 / 3600),
}
"""Name and size in m3/s."""
AREAS = {"square metres": 1e-6, "acres": 0.00404686, "hectares": 0.01, "square miles": 2.58999}
"""Size in km2."""


def size(unit: str, km2: float) -> float:
    """Return a unit of flow in m3/s; of a depth over an area."""
    depths = {"mm/day": km2 / 86.4, "mm/h": 24 * km2 / 86.4}
    return depths[unit] if unit in depths else UNITS[unit][1]


def named(weather: Mapping[str, DailySeries], flow: Array, label: str, km2: float, at: float | None) -> str:
    """Return the findings of a basin's report on units, as one text; empty where all are right."""
    start = weather["precipitation"].start
    data = {("own", name): daily for name, daily in weather.items()}
    data["own", "discharge"] = DailySeries(start, flow, np.zeros(len(flow), np.uint8), label)
    found = quality_report(data, {"own": km2 * KM2}, at)
    return " ".join(one.sentence for one in found if one.code in (FLOW_UNIT, AREA_UNIT))


def invented(period: Period = RECORD) -> tuple[dict[str, DailySeries], Array]:
    """Return weather of a humid basin, and a runoff of two fifths of its precipitation, mm/day."""
    days, values = right(period)
    units = {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC"}
    flags = np.zeros(len(days), np.uint8)
    weather = {name: DailySeries(days[0], values[name], flags, unit) for name, unit in units.items()}
    smooth = np.convolve(values["precipitation"], np.full(30, 1 / 30))[: len(days)]
    return weather, 0.4 * smooth


def test_flow_in_another_unit_than_labelled_is_named() -> None:
    weather, runoff = invented()
    km2 = 1500.0
    for label in ("m3/s", "cfs", "mm/day"):
        for unit in (*UNITS, "mm/day", "mm/h"):
            found = named(weather, runoff * size("mm/day", km2) / size(unit, km2), label, km2, latitude())
            ratio = size(label, km2) / size(unit, km2)
            if unit == label:
                assert found == ""
            elif not 1 / 5 < ratio < 5:
                name = {"mm/day": "millimetres per day", "mm/h": "millimetres per hour"}.get(unit) or UNITS[unit][0]
                assert f"{name} ({ratio:.4g} times the number of {label})" in found, (label, unit, found)
    cubic_feet = named(weather, runoff * size("mm/day", km2) / M3_PER_FT3, "m3/s", km2, latitude())
    assert "labelled m3/s, looks like cubic feet per second (35.31 times the number of m3/s)" in cubic_feet


def test_an_area_in_another_unit_is_named_by_the_runoff() -> None:
    weather, runoff = invented()
    flow = runoff * size("mm/day", 300.0)
    for name, km2 in AREAS.items():
        found = named(weather, flow, "m3/s", 300.0 / km2, latitude())
        assert (name in found) == (name != "square miles"), found  # 2.6 times is within what is usual


def test_an_area_in_another_unit_is_named_by_the_outline_or_the_service() -> None:
    for unit, km2 in AREAS.items():
        for reference in ("outline", "usgs"):
            areas = {"own": 300.0 / km2 * KM2, reference: 310.0 * KM2}
            (finding,) = (one for one in quality_report({}, areas) if one.code == AREA_UNIT)
            assert finding.detail["unit"] == unit
            assert f"looks like {unit}: the area {reference} is 310 km2" in finding.sentence
    assert [one.code for one in quality_report({}, {"own": 3e8, "outline": 3.9e8})] == ["area-mismatch"]
    assert area_unit(300 * KM2, 300 * KM2) is None


def test_without_a_whole_year_or_the_climate_no_unit_is_named() -> None:
    weather, runoff = invented()
    cubic_feet = runoff * size("mm/day", 300.0) / M3_PER_FT3
    assert named(weather, cubic_feet, "m3/s", 300.0, None) == ""
    rain = {"precipitation": weather["precipitation"]}
    assert named(rain, cubic_feet, "m3/s", 300.0, latitude()) == ""
    short, runoff = invented(Period.parse("2001-01-01..2001-06-30"))
    assert named(short, runoff * size("mm/day", 300.0) / M3_PER_FT3, "m3/s", 300.0, latitude()) == ""


def test_a_single_year_may_differ_more_from_the_climate() -> None:
    weather, runoff = invented()
    one_year, of_year = invented(Period.parse("2001-10-01..2002-09-30"))
    assert "square miles" in named(weather, 6 * runoff, "mm/day", 300.0, latitude())
    assert named(one_year, 3.5 * of_year, "mm/day", 300.0, latitude()) == ""
    assert "cubic feet" in named(one_year, of_year * 35.3 * size("mm/day", 300.0), "m3/s", 300.0, latitude())


@pytest.mark.extended
def test_of_real_basins_none_is_named_and_nearly_every_wrong_unit_is(camels: Path) -> None:
    archives = ("maurer_extended.zip", "basin_timeseries_v1p2_metForcing_obsFlow.zip", "camels_attributes_v2.0")
    source = CamelsSource([camels / name for name in archives])
    right_ones: list[Finding] = []
    caught, names = Counter[str](), source.basins()[::11]
    for basin in names:
        data = source.read(basin)
        series = {(one.product, one.variable): one.series for one in data.series}
        found = quality_report(series, data.areas, data.latitude)
        right_ones += [one for one in found if one.code in (FLOW_UNIT, AREA_UNIT)]
        weather = {name: daily for (product, name), daily in series.items() if product == "maurer_extended"}
        flow = series["usgs", "discharge"].over(weather["precipitation"].period).values.astype(np.float64)
        km2 = data.areas["maurer_extended"] / KM2
        for unit, (name, m3s) in UNITS.items():
            if unit != "m3/s":
                caught[name] += name in named(weather, flow * M3_PER_FT3 / m3s, "m3/s", km2, data.latitude)
        caught["m3/s"] += "cubic metres per second" in named(weather, flow * M3_PER_FT3, "cfs", km2, data.latitude)
        for name, size_km2 in AREAS.items():
            caught[name] += name in named(weather, flow, "cfs", km2 / size_km2, data.latitude)
    assert right_ones == []
    del caught["square miles"]
    assert {name: count for name, count in caught.items() if count < 0.97 * len(names)} == {}
