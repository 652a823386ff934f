"""The levels of a version's simulation are stored by version and basin."""

from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.calendar import Period, day
from hydrology.base.reasons import Reason
from hydrology.extremes.levels import Statistic, of_record
from hydrology.extremes.signatures import Estimate
from jobspec.levels import NewThreshold
from records.database.engine import Database
from records.levels import basin_levels
from records.levels.basin_levels import ReservedName
from records.simulations import simulated_series
from records.simulations.simulated_series import ModelLevels, RiverSignatures, SimulatedWater, WaterVariable
from records.simulations.snow_cells import SnowCells, SnowMapping
from testing.records import BASIN, NOW, a_basin, a_reason, a_version, instant
from tests.records.alerts.test_thresholds import a_record

CELLS = SnowCells(
    version_id="",
    basin_id=BASIN,
    product="uaz",
    cells={"0": [1, 3]},
    training_first=day("1999-10-01"),
    training_last=day("2005-09-30"),
    training_r=0.9,
    test_first=day("2005-10-01"),
    test_last=day("2008-09-30"),
    test_r=0.8,
    bias_pct=-12.0,
    evaluated_at=NOW,
)


def statistics(years: int = 12, factor: float = 1.0) -> list[Statistic]:
    record = a_record(years)
    return of_record(factor * record.values, record.days)


SIGNATURES = RiverSignatures(
    simulated={"mean": 1.2, "exceeded-95": 0.1}, estimates={"mean": Estimate(1.1, 0.8, 1.6, 0.1)}, tested_in=400
)


def levels_of(session: Session, version: str, **chosen: object) -> ModelLevels:
    a_basin(session)
    of = ModelLevels(
        version_id=version,
        basin_id=BASIN,
        first_day=day("1990-10-01"),
        last_day=day("2002-09-30"),
        area_name="maurer",
        area_m2=2.0e9,
        attributes_assumed=["soil_porosity"],
        statistics=statistics(),
        signatures=SIGNATURES,
        computed_at=NOW,
    )
    return replace(of, **chosen)  # type: ignore[arg-type]


def test_they_come_back_as_they_were_computed(database: Database) -> None:
    with database.transaction() as session:
        first, second = a_version(session).id, a_version(session).id
        of_first = levels_of(session, first)
        of_second = levels_of(session, second, statistics=statistics(3), attributes_assumed=[])
        for of in (of_first, of_second):
            simulated_series.replace(session, of, {})
    with database.reading() as session:
        assert simulated_series.get(session, first, BASIN) == of_first
        assert simulated_series.get(session, second, BASIN) == of_second
        assert simulated_series.get(session, first, "SYNTH-01") is None
    assert {named.level.value for statistic in of_second.statistics for named in statistic.levels} == {None}


def test_computed_again_they_take_the_place_of_those_before(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        simulated_series.replace(session, levels_of(session, version), {})
        again = levels_of(session, version, statistics=statistics(13, 2.0), computed_at=instant("2009-01-01"))
        simulated_series.replace(session, again, {})
        assert simulated_series.get(session, version, BASIN) == again


def test_the_water_of_the_same_days_is_stored_beside_them(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        levels = levels_of(session, version)
        days = Period(levels.first_day, levels.last_day)
        storage = SimulatedWater(days, np.linspace(10, 20, len(days), dtype=np.float32))
        snow = SimulatedWater(days, np.linspace(0, 5, len(days), dtype=np.float32), CELLS.cells)
        both: dict[WaterVariable, SimulatedWater] = {"storage": storage, "snow": snow}
        for water in ({}, both):
            simulated_series.replace(session, levels, water)
    with database.reading() as session:
        for variable, expected in both.items():
            stored = simulated_series.of_basins(session, version, [BASIN, "SYNTH-01"], variable)
            assert list(stored) == [BASIN]
            of_basin = stored[BASIN]
            assert isinstance(of_basin, SimulatedWater)
            assert (of_basin.period, of_basin.cells) == (days, expected.cells)
            np.testing.assert_array_equal(of_basin.values, expected.values)
        mapping = SnowMapping("basin", CELLS.cells, a_reason("It was not scored."))
        other_cells, none = absent(Reason.SNOW_CELLS_CHANGED), a_reason("There is none.")
        assert isinstance(simulated_series.snow_of(session, version, BASIN, mapping), SimulatedWater)
        assert simulated_series.snow_of(session, version, BASIN, replace(mapping, cells={"0": [2]})) == other_cells
        assert simulated_series.snow_of(session, version, BASIN, none) == none
    with database.transaction() as session:
        simulated_series.replace(session, levels, {})
        assert simulated_series.storage_of(session, version, BASIN) == simulated_series.why_none(version)
        assert simulated_series.snow_of(session, version, BASIN, mapping) == simulated_series.why_none(version)


@pytest.mark.parametrize("name", ["gev-10", "model-gev-10", "model-7q10"])
def test_a_computed_level_cannot_be_set(database: Database, name: str) -> None:
    with database.transaction() as session:
        a_basin(session)
        with pytest.raises(ReservedName, match=f"{name} is the name of a computed level"):
            basin_levels.put(session, BASIN, NewThreshold(name=name, discharge=1.0, direction="rising"), NOW)
