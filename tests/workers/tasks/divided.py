"""Copies of a database, parts of jobs, and what jobs leave in the tables that they write."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from jobspec.kinds import KINDS
from records.database.engine import Database
from records.database.work import Work
from records.jobs import jobs
from runtime.clock import Clock
from runtime.settings import Settings
from testing.jobs.in_process import InProcessJobs

WHEN = ("evaluated_at", "verified_at", "computed_at", "fitted_at", "created_at")
"""Columns that state when a row was written."""


@contextmanager
def copied(file: Path, folder: Path) -> Iterator[Work]:
    """Return the context of a copy of a database in an empty folder."""
    folder.mkdir()
    database = Database(f"sqlite:///{shutil.copy(file, folder / 'freshet.sqlite')}")
    try:
        yield Work(Settings.load(data=folder), database, Clock(None))
    finally:
        database.close()


def in_jobs(here: InProcessJobs, kind: str, **params: Any) -> tuple[jobs.Job, list[jobs.Job]]:
    """Run a job as workers would, and return it with its parts."""
    done = here.ended(here.post(kind, **params).id)
    with here.database.reading() as session:
        return done, jobs.children(session, done.id)


def rows(database: Database, tables: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of tables, without when they were written and their own numbers."""
    found = {}
    with database.reading() as session:
        for table in tables:
            stored = session.execute(text(f"SELECT * FROM {table}")).mappings()  # noqa: S608 - our own tables
            found[table] = sorted(
                ({name: value for name, value in row.items() if name not in (*WHEN, "id")} for row in stored), key=repr
            )
    return found


def in_parts_of(monkeypatch: pytest.MonkeyPatch, kind: str, basins: int) -> None:
    """Let the parts of a kind of job have at most some basins."""
    monkeypatch.setattr(KINDS[kind], "part_basins", basins)
