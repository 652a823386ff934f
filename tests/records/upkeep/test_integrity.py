"""All that carries a checksum is checked; what is damaged is named, with how to mend it."""

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import LargeBinary, Table, select, text
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from records.database.checksums import SUMMED
from records.database.engine import Database
from records.database.stored import table_of
from records.runs import states
from records.schema import Base
from records.series import series_writer
from records.simulations import simulated_series
from records.simulations.simulated_series import SimulatedWater
from records.upkeep import integrity
from records.upkeep.integrity import CHECKERS, NotSound, check, page_faults
from records.versions import error_models, trainings
from records.weather import bridges, weather_issues
from records.weather.bridges import BridgePart
from testing.bridges import LIVE, a_part, corrections
from testing.records import (
    BASIN,
    NOW,
    a_basin,
    a_member,
    a_run,
    a_simulated_flow,
    a_source,
    a_state,
    a_version,
    a_weather_forecast,
    add_rival,
    contents,
    daily,
    instant,
)
from tests.app.factories import forecast
from tests.records.simulations.test_simulated_levels import levels_of
from tests.records.versions.test_error_models import new as an_error_model

pytestmark = pytest.mark.extended

KEY = (BASIN, "usgs", "discharge")


@pytest.fixture
def sqlite_database(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Database]:
    """A database on SQLite alone, for what PostgreSQL sees to itself."""
    database = Database(f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'freshet.sqlite')}")
    yield database
    database.close()


def store_one_of_each(session: Session) -> None:
    """Store a row of every table that is checked, two of those that need two."""
    a_basin(session)
    for at, value in ((NOW, 1.0), (instant("2009-01-01"), 2.0)):
        series_writer.write(session, *KEY, daily("1999-01-01", value), a_source(session), at)
    version = a_version(session).id
    states.put(session, [a_state(version, "2008-09-30")], NOW)
    error_models.replace(session, an_error_model(version), NOW)
    weather_issues.store(session, [a_weather_forecast()], NOW, operational=True)
    bridges.create(session, LIVE, [a_part()], NOW)
    levels = levels_of(session, version)
    days = Period(levels.first_day, levels.last_day)
    water = SimulatedWater(days, np.zeros(len(days), np.float32))
    simulated_series.replace(session, levels, {"storage": water})
    simulated_series.replace_flow(session, [a_simulated_flow(version)])
    training = trainings.start(session, {}, NOW).id
    trainings.finish_member(session, training, a_member(0), NOW)
    trainings.save_checkpoint(session, training, trainings.Checkpoint(1, 10, b"ten", {}, NOW))
    a_run(session, version, forecast())
    add_rival(session, [BASIN], "2008-10-01", NOW)


def damage(session: Session, table: Table) -> None:
    """Change the last byte of the first column of bytes of every row of a table; of bridges, a number."""
    if table is table_of(BridgePart):
        session.execute(table.update().values(corrections=corrections(0.9)))
        return
    column = next(column for column in table.columns if isinstance(column.type, LargeBinary))
    for stored in session.execute(select(table)).all():
        content: bytes = stored._mapping[column]
        key = [each == stored._mapping[each] for each in table.primary_key]
        changed = {column: content[:-1] + bytes([content[-1] ^ 1])}
        session.execute(table.update().where(*key).values(changed))


def test_every_table_whose_rows_have_a_checksum_is_checked() -> None:
    checked = {checker.table for checker in CHECKERS}
    summed = {table for table in Base.metadata.tables.values() if table.info.get(SUMMED) is not None}
    assert len(summed) > 4
    assert summed <= checked


def test_nothing_is_wrong_with_what_was_written(database: Database) -> None:
    with database.transaction() as session:
        store_one_of_each(session)
        before = contents(session)
        del before["verified_slices"]
    shown: list[tuple[int, int]] = []
    done = integrity.check(database, NOW, lambda *counts: shown.append(counts))
    done.require()
    assert (done.sentences, done.row_count) == ([], shown[-1][1])
    assert [rows for rows, _ in shown] == [*range(1, done.row_count + 1)]
    with database.reading() as session:
        after = contents(session)
        verified = after.pop("verified_slices")
        assert after == before
        assert bool(verified) is (database.file is None)
        assert all(session.execute(select(checker.table)).first() is not None for checker in CHECKERS)


@pytest.mark.parametrize("checker", CHECKERS, ids=lambda checker: checker.table.name)
def test_a_damaged_row_is_reported_with_its_repair(database: Database, checker: integrity.Checker) -> None:
    with database.transaction() as session:
        store_one_of_each(session)
        damage(session, checker.table)
    done = integrity.check(database, NOW)
    table = checker.table
    assert {found.table for found in done.damages} == {table.name}
    assert done.faults == ()
    key = [column.name for column in table.primary_key]
    assert all([*found.key] == key and checker.mending in found.sentence for found in done.damages)
    with pytest.raises(NotSound, match=f"A row of {table.name} is damaged"):
        done.require()


def test_a_row_that_refers_to_nothing_is_reported(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        store_one_of_each(session)
    with sqlite_database.migrating() as connection:  # references are not watched meanwhile
        connection.exec_driver_sql("DELETE FROM sources")
    faults = integrity.check(sqlite_database, NOW).faults
    lost = r"\d+ rows? of series refers? to rows of sources that are not there: restore a backup"
    assert any(re.search(lost, fault) for fault in faults)


def test_an_unreadable_json_document_is_reported_and_the_rest_is_checked(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        store_one_of_each(session)
    whole = integrity.check(sqlite_database, NOW).row_count
    with sqlite_database.transaction() as session:
        session.execute(text("UPDATE weather_basins SET traces = '[\"0'"))
    done = integrity.check(sqlite_database, NOW)
    assert [fault.partition(" cannot be read")[0] for fault in done.faults] == ["weather_basins"]
    assert done.row_count == whole - 1


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE VIEW more AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"],
        [
            "ALTER TABLE series RENAME TO other",
            "CREATE VIEW series AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT * FROM n",
        ],
        ["CREATE TRIGGER more AFTER INSERT ON feeds BEGIN DELETE FROM basins; END"],
        ["ALTER TABLE feeds ADD COLUMN more AS (hex(zeroblob(100000000)))"],
    ],
)
def test_foreign_triggers_and_views_are_named_and_not_run(
    migrated_sqlite: Path, tmp_path: Path, statements: list[str]
) -> None:
    file = shutil.copy(migrated_sqlite, tmp_path / "hostile.sqlite")
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    database = Database(f"sqlite:///{file}")
    found = check(database, NOW)
    quick = page_faults(database, quick=True)
    database.close()
    assert (found.row_count, list(found.faults)) == (0, quick)
    assert all("which is not Freshet's: drop it, or restore a backup." in fault for fault in found.faults)
    assert found.faults
