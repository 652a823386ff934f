"""Runoff is compared with precipitation over whole water years alone."""

import numpy as np
import pytest

from hydrology.base.arrays import Array
from hydrology.base.calendar import Days, Period, day, month
from hydrology.base.errors import Finding
from hydrology.base.series import DailySeries
from hydrology.base.units import Area, converted
from hydrology.weather.quality import quality_report
from hydrology.weather.runoff import MIN_DAYS_OF_YEAR, in_whole_water_years

AREA = Area("own", 5e8)
CODES = ("runoff-above-precipitation", "no-whole-water-year")


def days(text: str) -> Days:
    return Period.parse(text).days


def compared(of_days: Days, runoff: Array, rain: float = 2.0, latitude: float | None = 44.0) -> dict[str, Finding]:
    """Return the findings on runoff in mm/day, stored in cfs, beside constant precipitation."""
    cfs = converted(runoff, unit="mm/day", into="cfs", area=AREA)
    flags = np.zeros(len(of_days), np.uint8)
    data = {
        ("own", "precipitation"): DailySeries(of_days[0], np.full(len(of_days), rain, np.float32), flags, "mm/day"),
        ("usgs", "discharge"): DailySeries(of_days[0], cfs, flags, "cfs"),
    }
    report = quality_report(data, {"own": AREA.m2}, latitude)
    return {finding.code: finding for finding in report if finding.code in CODES}


def snowmelt(of_days: Days) -> Array:
    """Runoff of half the precipitation in a year, nearly all of it from April to July."""
    return np.where(np.isin(month(of_days), (4, 5, 6, 7)), 2.7, 0.15)


def test_flow_of_a_part_of_each_year_is_not_compared() -> None:
    years = days("2000-10-01..2006-09-30")
    summers = np.where((month(years) >= 4) & (month(years) <= 10), snowmelt(years), np.nan)
    young = days("2008-04-01..2008-06-30")
    frozen = np.where(np.isin(month(years), (1, 2)), np.nan, snowmelt(years))
    a_calendar_year = days("2001-01-01..2001-12-31")
    short = (young, snowmelt(young)), (a_calendar_year, np.full(365, 9.0))
    for of_days, flow in ((years, summers), (years, frozen), *short):
        (finding,) = compared(of_days, flow).values()
        assert (finding.code, finding.severity) == ("no-whole-water-year", "info")
        assert finding.detail["reason"] == "no_whole_water_year"
        assert "no model" not in finding.sentence


def test_the_same_flow_over_whole_years_is_compared_and_below_precipitation() -> None:
    years = days("1999-06-01..2006-12-31")
    assert compared(years, snowmelt(years)) == {}


@pytest.mark.parametrize(
    ("period", "latitude", "count"),
    [
        ("2000-10-01..2001-09-30", 44.0, 365),
        ("2003-10-01..2004-09-30", 44.0, 366),  # with 29 February
        ("2001-04-01..2002-03-31", -33.0, 365),
        ("2000-10-01..2001-09-30", None, 365),
        ("2000-10-01..2001-09-27", 44.0, 362),
    ],
    ids=["one year", "a leap year", "in the south", "an unknown latitude", "without its last 3 days"],
)
def test_one_whole_year_is_enough(period: str, latitude: float | None, count: int) -> None:
    of_days = days(period)
    finding = compared(of_days, np.full(len(of_days), 5.0), latitude=latitude)["runoff-above-precipitation"]
    assert finding.detail["ratio"] == pytest.approx(2.5)
    assert (finding.detail["days"], finding.detail["area"]) == (count, "own")
    assert "of whole water years: no model that conserves mass can fit" in finding.sentence


def test_a_year_of_the_other_hemisphere_is_not_whole() -> None:
    of_days = days("2000-10-01..2001-09-30")
    assert compared(of_days, np.full(365, 5.0), latitude=-33.0).keys() == {"no-whole-water-year"}


def test_the_days_of_a_year_that_may_be_missing() -> None:
    of_days = days("2000-10-01..2002-09-30")
    for missing in (3, 365 - MIN_DAYS_OF_YEAR, 366 - MIN_DAYS_OF_YEAR):
        known = np.ones(len(of_days), bool)
        known[100 : 100 + missing] = False
        used = in_whole_water_years(known, of_days, 44.0)
        assert used[365:].all()
        assert used[:365].sum() == (365 - missing if 365 - missing >= MIN_DAYS_OF_YEAR else 0)


def test_a_day_without_precipitation_leaves_its_runoff_out_of_both_sums() -> None:
    of_days = days("2000-10-01..2001-09-30")
    flow = np.full(365, 1.0)
    flow[-1] = 1e4  # after the last day of the weather
    flags = np.zeros(365, np.uint8)
    data = {
        ("own", "precipitation"): DailySeries(of_days[0], np.full(364, 2.0), flags[1:], "mm/day"),
        ("usgs", "discharge"): DailySeries(of_days[0], flow, flags, "mm/day"),
    }
    assert not [one for one in quality_report(data, {"own": 5e8}) if one.code in CODES]


def test_runoff_without_any_precipitation_has_no_ratio() -> None:
    finding = compared(days("2000-10-01..2001-09-30"), np.full(365, 1.0), rain=0.0)["runoff-above-precipitation"]
    assert finding.detail["ratio"] is None


def test_the_area_is_the_one_that_converts_discharge() -> None:
    flags = np.zeros(365, np.uint8)
    data = {
        ("own", "precipitation"): DailySeries(day("2000-10-01"), np.full(365, 2.0), flags, "mm/day"),
        ("usgs", "discharge"): DailySeries(day("2000-10-01"), np.full(365, 5.0), flags, "mm/day"),
    }
    for areas, used in (({"own": 4e8, "given": 5e8}, "own"), ({"given": 5e8, "usgs": 6e8}, "given"), ({}, None)):
        (*found,) = (one for one in quality_report(data, areas) if one.code in CODES)
        assert [one.detail["area"] for one in found] == ([used] if used else [])
