"""A worker under which another Freshet has migrated the tables takes no job and writes nothing."""

from pathlib import Path

import pytest
from sqlalchemy import text

from records.database.connections import DatabaseProblem
from records.database.engine import Database
from records.jobs import jobs
from runtime.settings import Settings
from testing.records import a_job, contents
from tests.app.conftest import sqlite, sqlite_database
from workers.job_processes.process_pool import Children
from workers.job_processes.worker import Worker
from workers.queue.enqueue import tools_of

__all__ = ["sqlite", "sqlite_database"]


def test_a_job_that_meets_other_tables_stays_as_it_is(sqlite: str, sqlite_database: Database, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, database_url=sqlite, broker_url="memory://")
    with tools_of(settings) as tools, Children(settings) as children:
        tools.database.require_migrated()
        with sqlite_database.transaction() as session:
            job = a_job(session)
            session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
            before = contents(session)
        worker = Worker("worker", tools, children)
        worker.stopping.set()  # otherwise it waits until the tables are back
        with pytest.raises(DatabaseProblem, match="revision 9999 while this process"):
            worker.run(job)
    with sqlite_database.reading() as session:
        assert contents(session) == before
        assert jobs.get(session, job).status == "queued"
