"""Levels that operators set, and the levels of a basin's own record."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from hydrology.base.calendar import day
from hydrology.base.series import DailySeries
from hydrology.extremes import frequency
from hydrology.extremes import levels as of_flow
from hydrology.extremes.levels import FLOOD_YEARS
from jobspec.levels import FloodFrequencySettings, NewCategories, NewRating, NewThreshold
from records.basins import ratings
from records.basins.basins import UnknownBasin
from records.database.engine import Database
from records.levels import basin_levels, categories_and_doubts
from records.levels.basin_levels import ReservedName, SetLevel, UnknownLevel
from records.series.series_writer import write
from testing.records import BASIN, NOW, a_basin, a_source, contents, daily

BANKFULL = NewThreshold(name="bankfull", discharge=210.5)


def a_record(years: int = 12, start: str = "1990-10-01") -> DailySeries:
    """Return years of discharge, each with a flood of its own, in cubic feet per second."""
    days = np.arange(365.25 * years)
    heights = 1 + np.random.default_rng(3).gamma(2.0, 1.0, years + 1)
    flow = 100 + 3000 * heights[(days // 365.25).astype(int)] * np.exp(-(days % 365.25) / 30)
    flow += 3000 * heights[(days // 91).astype(int) % years] * np.exp(-(days % 91) / 2)  # four times a year
    return DailySeries(day(start), flow.astype(np.float32), np.zeros(len(flow), np.uint8), "cfs")


def test_a_level_is_set_changed_and_removed(database: Database) -> None:
    later = NOW + timedelta(days=1)
    with database.transaction() as session:
        a_basin(session)
        assert basin_levels.put(session, BASIN, BANKFULL, NOW) == "new"
        low = NewThreshold(name="Abstraction.stop_1", discharge=0.25, direction="falling")
        basin_levels.put(session, BASIN, low, NOW)
    with database.transaction() as session:
        stored = basin_levels.get(session, BASIN, "bankfull")
        assert stored == SetLevel(name="bankfull", discharge=210.5, direction="rising", set_at=NOW)
        assert {one.name for one in basin_levels.of_basin(session, BASIN)} == {"bankfull", "Abstraction.stop_1"}
        raised = BANKFULL.model_copy(update={"discharge": 220.0})
        assert basin_levels.put(session, BASIN, raised, later) == "changed"
        stored = basin_levels.get(session, BASIN, "bankfull")
        assert (stored.discharge, stored.set_at) == (220.0, later)
        basin_levels.remove(session, BASIN, "bankfull")
        assert [one.name for one in basin_levels.of_basin(session, BASIN)] == ["Abstraction.stop_1"]


def test_the_same_again_writes_nothing(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        basin_levels.put(session, BASIN, BANKFULL, NOW)
        before = contents(session)
        assert basin_levels.put(session, BASIN, BANKFULL, NOW + timedelta(days=1)) == "unchanged"
        assert contents(session) == before


def test_a_name_is_of_one_basin(database: Database) -> None:
    with database.transaction() as session:
        for basin in (BASIN, "SYNTH-01"):
            basin_levels.put(session, a_basin(session, basin), BANKFULL, NOW)
        basin_levels.remove(session, BASIN, "bankfull")
        assert basin_levels.get(session, "SYNTH-01", "bankfull").discharge == 210.5


def test_what_is_not_stored_is_named(database: Database) -> None:
    with database.transaction() as session:
        with pytest.raises(UnknownBasin, match=BASIN):
            basin_levels.put(session, BASIN, BANKFULL, NOW)
        a_basin(session)
        for act in (basin_levels.get, basin_levels.remove):
            with pytest.raises(UnknownLevel, match="'bankfull'"):
                act(session, BASIN, "bankfull")


@pytest.mark.parametrize("name", ["pot-0.5", "gev-10", "lp3-50", "7q10", "exceeded-90"])
def test_a_level_of_the_record_cannot_be_set(database: Database, name: str) -> None:
    with database.transaction() as session:
        a_basin(session)
        with pytest.raises(ReservedName, match=name):
            basin_levels.put(session, BASIN, NewThreshold(name=name, discharge=1.0), NOW)
        assert basin_levels.of_basin(session, BASIN) == []


def test_the_record_is_that_of_the_basins_own_gauge(database: Database) -> None:
    record = a_record()
    with database.transaction() as session:
        source = a_source(session)
        a_basin(session)
        assert basin_levels.of_record(session, BASIN).unit is None
        write(session, BASIN, "caravan", "discharge", daily("1990-10-01", 1.0), source, NOW)
        without = basin_levels.of_record(session, BASIN)
        write(session, BASIN, "usgs", "discharge", record, source, NOW)
        stored = basin_levels.of_record(session, BASIN)
    assert {statistic.years for statistic in without.statistics} == {0}
    assert stored.unit == "cfs"
    expected = of_flow.of_record(record.values, record.days)
    assert [one.levels for one in stored.statistics] == [one.levels for one in expected]
    assert all(one.levels[0].level.value is not None for one in stored.statistics)


def test_the_floods_of_a_basin_are_by_one_method(database: Database) -> None:
    with database.transaction() as session:
        write(session, a_basin(session), "usgs", "discharge", a_record(), a_source(session), NOW)
        before = {level.name for level in basin_levels.alert_levels(basin_levels.levels_of(session, BASIN))}
        skew = FloodFrequencySettings(regional_skew=0.1, regional_skew_error=0.3)
        basin_levels.put_flood_frequency(session, BASIN, skew, NOW)
        after = {level.name for level in basin_levels.alert_levels(basin_levels.levels_of(session, BASIN))}
    assert before == {*(f"gev-{years}" for years in FLOOD_YEARS), "7q2", "7q10"}
    assert after == {*(f"lp3-{years}" for years in FLOOD_YEARS), "7q2", "7q10"}


def test_an_unchanged_record_is_fitted_once_and_a_changed_one_again(database: Database) -> None:
    record = a_record(years=13)
    with database.transaction() as session:
        source = a_source(session)
        a_basin(session)
        write(session, BASIN, "usgs", "discharge", record, source, NOW)
    with database.reading() as session:
        first = basin_levels.of_record(session, BASIN)
    fits = frequency._levels.cache_info().misses
    with database.reading() as session:
        assert basin_levels.of_record(session, BASIN) == first
    assert frequency._levels.cache_info().misses == fits
    with database.transaction() as session:
        write(session, BASIN, "usgs", "discharge", replace(record, values=2 * record.values), source, NOW)
        changed = basin_levels.of_record(session, BASIN).statistics[0].levels[0].level.value
    before = first.statistics[0].levels[0].level.value
    assert before is not None
    assert changed == pytest.approx(2 * before)


def test_the_same_rating_and_categories_on_a_later_day_change_nothing(database: Database) -> None:
    later, today = NOW + timedelta(days=9), day(NOW.date())
    rating = NewRating(table="stage_ft,discharge_cfs\n1,10\n11,8000\n", source="office")
    document = {"flood": {"categories": {"minor": {"stage": 8.0}}}}
    declared = NewCategories(document=document, source="NWS")
    with database.transaction() as session:
        a_basin(session)
        stored, changed = ratings.put(session, BASIN, rating, NOW)
        assert (changed, categories_and_doubts.put_categories(session, BASIN, declared, NOW).changed) == (True, True)
        before = contents(session)
        assert ratings.put(session, BASIN, rating, later) == (stored, False)
        assert not categories_and_doubts.put_categories(session, BASIN, declared, later).changed
        assert contents(session) == before
        # A rating holds from its own day on.
        assert (stored.valid_from, ratings.newest(session, BASIN, today - 1)) == (today, None)
        assert ratings.newest(session, BASIN, today) == stored
