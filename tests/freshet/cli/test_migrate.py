"""Commands that read change no table and wait for nobody; `freshet migrate`, and those that write, bring tables up."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from records.database.engine import Database
from testing.databases import HEAD, LATER
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


def revision(data: Path) -> str | None:
    with closing(Database(f"sqlite:///{data / 'freshet.sqlite'}")) as database:
        return database.check().revision


@pytest.fixture
def old(worked: Freshet, later_revision: str) -> Freshet:
    """The command line of a code that has a later revision than its tables."""
    assert revision(worked.data) != later_revision
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
def test_what_reads_leaves_older_tables_as_they_are_and_states_what_to_run(
    old: Freshet, arguments: tuple[str, ...]
) -> None:
    refused = old(*arguments)
    assert refused.code == 5
    assert f"are at revision {HEAD}, and this code needs {LATER}" in refused.err
    assert "run `freshet migrate`" in refused.err
    assert revision(old.data) == HEAD


@pytest.mark.parametrize("arguments", [("migrate",), ("keys", "make", "river office")], ids=" ".join)
def test_what_writes_brings_them_up(old: Freshet, later_revision: str, arguments: tuple[str, ...]) -> None:
    assert old(*arguments).code == 0
    assert revision(old.data) == later_revision
    assert old("basins").code == 0


def test_tables_are_brought_up_and_down_to_an_older_revision_again(old: Freshet, later_revision: str) -> None:
    assert old("migrate").code == 0
    before = old("basins", "--json").out
    assert old("migrate", "--to", HEAD).code == 0
    assert revision(old.data) == HEAD
    assert old("migrate").code == 0
    assert revision(old.data) == later_revision
    assert old("basins", "--json").out == before


def test_a_revision_that_is_not_there_is_refused_with_those_that_are(old: Freshet) -> None:
    refusal = old("migrate", "--to", "9999")
    assert refusal.code == 2
    assert f"There is no revision '9999' of the tables: name one of 0001 to {LATER}." in refusal.err
    assert revision(old.data) == HEAD
