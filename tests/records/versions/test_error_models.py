"""Error models are stored whole, replaced whole, and a damaged one is refused."""

from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import Table, update

from hydrology.base.calendar import day
from hydrology.uncertainty.error_model import FLOW_CLASSES, LEVELS, NO_FLOW_KNOWN, BasinErrors, Shape
from records.database.checksums import Corrupt
from records.database.engine import Database
from records.versions import error_models
from records.versions.error_models import BASIN_ERRORS, ERROR_MODELS
from records.versions.versions import UnknownVersion
from testing.records import NOW, a_version

SIZE = (NO_FLOW_KNOWN + 1, len(FLOW_CLASSES) - 1)


def errors(value: float = 0.5, days: int = 2000) -> BasinErrors:
    table = np.full(SIZE, value)
    return BasinErrors(2.0, np.arange(float(SIZE[1])), table, table / 2, table / 4, days)


def new(version: str, **chosen: object) -> error_models.NewErrorModel:
    table = np.full(SIZE, 0.25)
    model = error_models.NewErrorModel(
        version_id=version,
        first=day("1980-10-01"),
        last=day("1989-09-30"),
        days=4000,
        shape=Shape(table, table, table, np.zeros((*SIZE, len(LEVELS)))),
        regional=Shape(table, table, table, np.ones((*SIZE, len(LEVELS)))),
        basins={"USGS-01": errors(), "USGS-02": errors(0.75, 0)},
    )
    return replace(model, **chosen)  # type: ignore[arg-type]


def test_it_comes_back_with_the_basins_asked_for(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        whole = error_models.replace(session, new(version), NOW)
    with database.reading() as session:
        stored = error_models.get(session, version, ["USGS-02", "USGS-03"])
    assert stored is not None
    assert (stored.sha256, stored.days, str(stored.period)) == (whole, 4000, "1980-10-01..1989-09-30")
    assert list(stored.basins) == ["USGS-02"]
    part = stored.basins["USGS-02"]
    assert (part.mean_flow, part.days) == (2.0, 0)
    np.testing.assert_array_equal(part.memory, np.full(SIZE, 0.75))
    np.testing.assert_array_equal(stored.shape.centre, np.full(SIZE, 0.25))


def test_a_basin_without_numbers_of_its_own_has_the_distribution_of_the_region(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        error_models.replace(session, new(version, for_unseen=True), NOW)
    with database.reading() as session:
        stored = error_models.get(session, version, ["USGS-01", "USGS-02"])
    assert stored is not None
    assert stored.for_unseen
    own, regional = stored.of_basin("USGS-01"), stored.of_basin("USGS-02")
    assert own is not None
    assert regional is not None
    assert (own.shape is stored.shape, regional.shape is stored.regional) == (True, True)
    assert regional.shape.quantiles.all()
    assert stored.of_basin("USGS-03") is None


def test_basins_are_added_once_and_only_to_the_model_that_they_were_created_for(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        error_models.replace(session, new(version), NOW)
        stored = error_models.get(session, version, [])
        assert stored is not None
        error_models.add_basins(session, stored, {"USGS-01": errors(0.9), "USGS-04": errors(0.8, 0)})
    with database.transaction() as session:
        after = error_models.get(session, version, ["USGS-01", "USGS-04"])
        assert after is not None
        assert (after.sha256, sorted(after.basins)) == (stored.sha256, ["USGS-01", "USGS-04"])
        np.testing.assert_array_equal(after.basins["USGS-01"].memory, np.full(SIZE, 0.5))
        error_models.replace(session, new(version, basins={"USGS-02": errors(0.1)}), NOW)
        error_models.add_basins(session, stored, {"USGS-05": errors()})
        replaced = error_models.get(session, version, ["USGS-04", "USGS-05"])
        assert replaced is not None
        assert not replaced.basins


def test_another_fit_replaces_it_whole(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        first = error_models.replace(session, new(version), NOW)
        second = error_models.replace(session, new(version, basins={"USGS-02": errors(0.1)}), NOW)
        stored = error_models.get(session, version, ["USGS-01", "USGS-02"])
    assert stored is not None
    assert stored.sha256 == second != first
    assert list(stored.basins) == ["USGS-02"]


def test_a_version_without_one_and_one_that_is_not_stored(database: Database) -> None:
    with database.transaction() as session:
        assert error_models.get(session, a_version(session).id, []) is None
        with pytest.raises(UnknownVersion):
            error_models.replace(session, new("nobody"), NOW)


@pytest.mark.parametrize("table", [ERROR_MODELS, BASIN_ERRORS])
def test_a_damaged_one_is_refused(database: Database, table: Table) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        error_models.replace(session, new(version), NOW)
        session.execute(update(table).values(content=b"damaged"))
    with database.reading() as session, pytest.raises(Corrupt, match="fit it again"):
        error_models.get(session, version, ["USGS-01"])
