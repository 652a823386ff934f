"""Commands that read change no table and wait for nobody; `freshet migrate`, and those that write, bring tables up."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config

import migrations
from records.engine import Database
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
    config = Config()
    config.set_main_option("script_location", migrations.__path__[0])
    with database.migrating() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, OLD)
    database.close()
    return worked


@pytest.fixture
def held(worked: Freshet) -> Iterator[Freshet]:
    """The command line on a database that somebody writes to, without an end."""
    with closing(sqlite3.connect(worked.data / "freshet.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield worked


@pytest.mark.parametrize("arguments", READ, ids=" ".join)
def test_what_reads_works_while_somebody_writes(held: Freshet, arguments: tuple[str, ...]) -> None:
    assert held(*arguments).code == 0


@pytest.mark.parametrize("arguments", READ, ids=" ".join)
def test_what_reads_leaves_older_tables_as_they_are_and_says_what_to_run(
    old: Freshet, arguments: tuple[str, ...]
) -> None:
    said = old(*arguments)
    assert said.code == 5
    assert f"are at revision {OLD}, and this code needs" in said.err
    assert "run `freshet migrate`" in said.err
    assert revision(old.data) == OLD


@pytest.mark.parametrize("arguments", [("migrate",), ("keys", "make", "river office")], ids=" ".join)
def test_what_writes_brings_them_up(old: Freshet, arguments: tuple[str, ...]) -> None:
    assert old(*arguments).code == 0
    assert revision(old.data) != OLD
    assert old("basins").code == 0
