"""The levels of a version's simulation are kept by version and basin."""

from dataclasses import replace

import pytest
from sqlalchemy.orm import Session

from hydrology.calendar import day
from hydrology.thresholds import Statistic, of_record
from jobspec.thresholds import NewThreshold
from records import model_levels, thresholds
from records.engine import Database
from records.model_levels import ModelLevels
from records.thresholds import ReservedName
from tests.records.factories import BASIN, NOW, a_basin, a_version, instant
from tests.records.test_thresholds import a_record


def statistics(years: int = 12, factor: float = 1.0) -> list[Statistic]:
    record = a_record(years)
    return of_record(factor * record.values, record.days)


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
        computed_at=NOW,
    )
    return replace(of, **chosen)  # type: ignore[arg-type]


def test_they_come_back_as_they_were_computed(database: Database) -> None:
    with database.transaction() as session:
        first, second = a_version(session).id, a_version(session).id
        of_first = levels_of(session, first)
        of_second = levels_of(session, second, statistics=statistics(3), attributes_assumed=[])
        for of in (of_first, of_second):
            model_levels.replace(session, of)
    with database.reading() as session:
        assert model_levels.get(session, first, BASIN) == of_first
        assert model_levels.get(session, second, BASIN) == of_second
        assert model_levels.get(session, first, "SYNTH-01") is None
    assert {named.level.value for statistic in of_second.statistics for named in statistic.levels} == {None}


def test_computed_again_they_take_the_place_of_those_before(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        model_levels.replace(session, levels_of(session, version))
        again = levels_of(session, version, statistics=statistics(13, 2.0), computed_at=instant("2009-01-01"))
        model_levels.replace(session, again)
        assert model_levels.get(session, version, BASIN) == again


@pytest.mark.parametrize("name", ["gev-10", "model-gev-10", "model-7q10"])
def test_nobody_sets_a_level_that_is_computed(database: Database, name: str) -> None:
    with database.transaction() as session:
        a_basin(session)
        with pytest.raises(ReservedName, match=f"{name} is a level that is computed"):
            thresholds.put(session, BASIN, NewThreshold(name=name, discharge=1.0, direction="rising"), NOW)
