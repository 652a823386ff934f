"""The mark of a slice changes with each of its rows, and with nothing else; checks leave out what has not changed."""

from collections.abc import Iterator

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from records.basins import basins
from records.database.engine import Database
from records.database.verified_slices import Mark
from records.runs import states
from records.runs.tables import RUN_CONTENTS, STATES
from records.series.year_rows import SERIES
from records.upkeep import slices
from records.upkeep.backup import counts
from records.upkeep.integrity import CHECKERS, check
from records.versions.versions import VERSIONS
from testing.databases import PostgreSQL
from testing.records import BASIN, NOW, a_reason, a_run, a_state, instant
from tests.app.factories import forecast
from tests.records.upkeep.test_integrity import damage, store_one_of_each


@pytest.fixture
def on_postgresql(postgresql: PostgreSQL) -> Iterator[Database]:
    """A database on PostgreSQL, with a row of every table that is checked."""
    database = Database(postgresql.migrated())
    with database.transaction() as session:
        store_one_of_each(session)
    yield database
    database.close()
    postgresql.clean()


def marks(database: Database) -> dict[str, dict[str, Mark]]:
    with database.reading() as session:
        return {table.name: slices.marks(session, table) for table in slices.COLUMNS}


def version_of(session: Session) -> str:
    return str(session.scalars(select(VERSIONS.c.id)).one())


def changed(before: dict[str, dict[str, Mark]], after: dict[str, dict[str, Mark]]) -> set[tuple[str, str]]:
    return {
        (table, name)
        for table in before
        for name in before[table].keys() | after[table].keys()
        if before[table].get(name) != after[table].get(name)
    }


def test_every_row_is_in_exactly_one_slice(on_postgresql: Database) -> None:
    with on_postgresql.transaction() as session:
        states.put(session, [a_state(version_of(session), "2008-10-01")], NOW)
    of_tables = marks(on_postgresql)
    with on_postgresql.reading() as session:
        stored = counts(session)
        for table in slices.COLUMNS:
            rows = [
                session.execute(select(table).where(slices.rows_of(table, name))).all()
                for name in of_tables[table.name]
            ]
            assert [len(found) for found in rows] == [mark.rows for mark in of_tables[table.name].values()]
            assert sum(map(len, rows)) == stored[table.name]
    assert [*of_tables["states"]] == ["2008-09-30", "2008-10-01"]
    assert len(of_tables["series"]) == 1


def test_a_mark_changes_with_a_changed_a_new_and_a_deleted_row_alone(on_postgresql: Database) -> None:
    first = marks(on_postgresql)
    assert marks(on_postgresql) == first
    with on_postgresql.transaction() as session:
        basins.lock(session, BASIN)
        session.execute(select(STATES).with_for_update()).all()
    assert marks(on_postgresql) == first  # whoever looks changes nothing
    with on_postgresql.transaction() as session:
        session.execute(update(STATES).values(invalid_at=NOW, invalid_reason=a_reason("rain was revised")))
    second = marks(on_postgresql)
    assert changed(first, second) == {("states", "2008-09-30")}
    with on_postgresql.transaction() as session:
        content = session.scalars(select(RUN_CONTENTS.c.content)).one()
        session.execute(update(RUN_CONTENTS).values(content=content[::-1]))  # as long as before
    third = marks(on_postgresql)
    assert {table for table, _ in changed(second, third)} == {"run_contents"}
    with on_postgresql.transaction() as session:
        states.put(session, [a_state(version_of(session), "2008-10-01")], NOW)
    fourth = marks(on_postgresql)
    assert changed(third, fourth) == {("states", "2008-10-01")}
    with on_postgresql.transaction() as session:
        session.execute(STATES.delete().where(STATES.c.day == day("2008-10-01")))
    assert changed(third, marks(on_postgresql)) == set()


def test_a_check_of_what_changed_leaves_out_what_was_whole(on_postgresql: Database) -> None:
    whole = check(on_postgresql, NOW)
    assert (whole.sentences, whole.unchanged) == ([], ())
    left = check(on_postgresql, NOW, only_changed=True)
    unchanged = {one.table: one.rows for one in left.unchanged}
    assert unchanged.keys() == {"series", "series_revisions", "states", "run_contents", "run_members", "weather_basins"}
    assert left.row_count == whole.row_count - sum(unchanged.values())
    assert "1 row of states, 2008-09-30 to 2008-09-30: whole before, and unchanged." in [
        one.sentence for one in left.unchanged
    ]
    with on_postgresql.transaction() as session:
        states.put(session, [a_state(version_of(session), "2008-10-01")], NOW)
        damage(session, STATES)
    found = check(on_postgresql, NOW, only_changed=True)
    assert {one.table for one in found.damages} == {"states"}
    again = check(on_postgresql, NOW, only_changed=True)  # damage stays reported until it is mended
    assert again.damages == found.damages


def test_an_interrupted_check_goes_on_where_it_was(on_postgresql: Database) -> None:
    total = check(on_postgresql, NOW).row_count
    before_states = [one.table for one in CHECKERS[: [one.table for one in CHECKERS].index(STATES)]]
    with on_postgresql.transaction() as session:
        read = 1 + sum(counts(session)[table.name] for table in before_states if table not in slices.COLUMNS)
        session.execute(update(SERIES).values(updated_at=instant("2010-01-01")))
        for at in ("2008-10-01", "2008-10-02"):
            states.put(session, [a_state(version_of(session), at)], NOW)

    def interrupt(done: int, _total: int) -> None:
        if done == read + 2:  # the year of the series and both states, the second of them not yet noted
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(on_postgresql, NOW, interrupt, only_changed=True)
    rest = check(on_postgresql, NOW, only_changed=True)
    rows = {one.table: one.rows for one in rest.unchanged}
    assert (rows["series"], rows["states"]) == (1, 2)
    assert rest.row_count + sum(rows.values()) == total + 2


def test_a_sqlite_database_is_checked_as_a_whole(database: Database) -> None:
    with database.transaction() as session:
        store_one_of_each(session)
        a_run(session, version_of(session), forecast())
    first = check(database, NOW)
    second = check(database, NOW, only_changed=True)
    assert second.row_count < first.row_count if database.file is None else second == first
