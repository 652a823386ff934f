"""The room of each kind of data is measured, and its growth is that between two measurements."""

import os

from sqlalchemy import update

from hydrology.base.calendar import day
from records.database import storage_sizes
from records.database.engine import Database
from records.runs.tables import RUN_CONTENTS
from records.schema import Base
from records.upkeep import monitoring
from records.upkeep.storage import KINDS, OTHER, bytes_by_kind
from testing.records import a_basin, a_run, a_version
from tests.app.factories import forecast

MEGABYTE = 1_000_000


def test_a_kind_grows_by_what_is_stored_of_it(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        a_run(session, a_version(session).id, forecast())
        before = bytes_by_kind(session)
        session.execute(update(RUN_CONTENTS).values(content=os.urandom(MEGABYTE)))
    with database.reading() as session:
        after = bytes_by_kind(session)
        whole = monitoring.database_bytes(session, database.file)
    assert [*after] == [*KINDS, OTHER]
    assert 0.9 * MEGABYTE < after["forecasts"] - before["forecasts"] < 1.2 * MEGABYTE
    assert {kind for kind in after if after[kind] - before[kind] > MEGABYTE / 10} == {"forecasts"}
    assert sum(after.values()) <= whole


def test_every_table_is_of_one_kind() -> None:
    tables = [table for of_kind in KINDS.values() for table in of_kind]
    assert len(tables) == len(set(tables))
    assert {*tables} <= {*Base.metadata.tables.values()}


def test_growth_is_the_mean_of_the_last_days_and_null_at_first(database: Database) -> None:
    with database.transaction() as session:
        assert (storage_sizes.read(session), storage_sizes.measured_on(session)) == ([], None)
        storage_sizes.note(session, day("2026-09-01"), {"states": 10**12, "forecasts": 0})
        storage_sizes.note(session, day("2026-11-01"), {"states": 1000, "forecasts": 5000})
        storage_sizes.note(session, day("2026-11-01"), {"states": 2000, "forecasts": 5000})
        first = storage_sizes.read(session)
        storage_sizes.note(session, day("2026-11-11"), {"states": 2500, "forecasts": 4000})
        second = storage_sizes.read(session)
    assert [(use.kind, use.size_bytes, use.bytes_a_day) for use in first] == [
        ("forecasts", 5000, None),
        ("states", 2000, None),
    ]
    assert [(use.kind, use.size_bytes, use.bytes_a_day) for use in second] == [
        ("forecasts", 4000, -100.0),
        ("states", 2500, 50.0),
    ]
