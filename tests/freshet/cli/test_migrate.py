"""Commands that read change no table and wait for nobody; `freshet migrate`, and those that write, bring tables up."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from records.database.engine import Database
from tests.freshet.conftest import BASINS, Freshet

READ = [
    ("basins",),
    ("basins", BASINS[0]),
    ("observations", BASINS[0], "--product", "synth", "--variable", "discharge"),
    ("thresholds", "show", BASINS[0]),
    ("weather", "list"),
    ("plot", BASINS[0]),
    ("alerts", "list"),
    ("alerts", "show", BASINS[0]),
    ("alerts", "changes", BASINS[0]),
    ("runs",),
    ("models", "list"),
    ("jobs", "list"),
    ("keys", "list"),
    ("feeds", "list"),
    ("bridge", "list"),
    ("schedules", "list"),
    ("audit",),
    ("check",),
]
OLD = "0030"


def revision(data: Path) -> str | None:
    database = Database(f"sqlite:///{data / 'freshet.sqlite'}")
    try:
        return database.check().revision
    finally:
        database.close()


@pytest.fixture
def old(worked: Freshet) -> Freshet:
    """The command line on tables of an older revision."""
    database = Database(f"sqlite:///{worked.data / 'freshet.sqlite'}")
    database.migrate(OLD)
    database.close()
    return worked


@pytest.fixture
def held(worked: Freshet) -> Iterator[Freshet]:
    """The command line on a database that somebody writes to, without an end."""
    with closing(sqlite3.connect(worked.data / "freshet.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield worked


@pytest.mark.parametrize("arguments", READ, ids=" ".join)
def test_reading_commands_work_during_a_write(held: Freshet, arguments: tuple[str, ...]) -> None:
    assert held(*arguments).code == 0


@pytest.mark.parametrize("arguments", READ, ids=" ".join)
def test_reading_commands_leave_older_tables_and_report_what_to_run(old: Freshet, arguments: tuple[str, ...]) -> None:
    result = old(*arguments)
    assert result.code == 5
    assert f"are at revision {OLD}, and this code needs" in result.err
    assert "run `freshet migrate`" in result.err
    assert revision(old.data) == OLD


@pytest.mark.parametrize("arguments", [("migrate",), ("keys", "make", "river office")], ids=" ".join)
def test_writing_commands_migrate_older_tables(old: Freshet, arguments: tuple[str, ...]) -> None:
    assert old(*arguments).code == 0
    assert revision(old.data) != OLD
    assert old("basins").code == 0


def test_tables_are_brought_down_to_an_older_revision_and_up_again(worked: Freshet) -> None:
    before = worked("basins", "--json").out
    assert worked("migrate", "--to", OLD).code == 0
    assert revision(worked.data) == OLD
    assert worked("migrate").code == 0
    assert worked("basins", "--json").out == before


def test_a_revision_that_is_not_there_is_refused_with_those_that_are(old: Freshet) -> None:
    refusal = old("migrate", "--to", "9999")
    assert refusal.code == 2
    assert "There is no revision '9999' of the tables: name one of 0001 to " in refusal.err
    assert revision(old.data) == OLD
    assert old("migrate", "--to", "0031").code == 0
    assert revision(old.data) == "0031"
