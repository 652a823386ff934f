"""A file at which a library in C crashes: the job names it, and what was taken in before stays."""

from pathlib import Path

from records import jobs, series
from records.engine import Database
from records.settings import Settings
from tests.app.conftest import sqlite, sqlite_database
from tests.ingestion.caravan_files import BASIN, files, folder, netcdf
from tests.workers.crashing import CRASHES_AT
from workers.children import Children
from workers.tools import tools_of
from workers.worker import Worker

__all__ = ["sqlite", "sqlite_database"]


def test_the_problem_names_the_file_and_other_basins_stay(
    sqlite: str, sqlite_database: Database, tmp_path: Path
) -> None:
    crashing = f"timeseries/netcdf/camels/{CRASHES_AT}.nc"
    incoming = folder(tmp_path / "incoming", files("netcdf") | {crashing: netcdf()})
    settings = Settings(data=tmp_path, database_url=sqlite, broker_url="memory://")
    with tools_of(settings) as tools, Children(settings, "tests.workers.crashing") as children:
        with tools.database.transaction() as session:
            params = {"source": "caravan", "from": [str(incoming)]}
            new = jobs.NewJob(kind="ingest", params=params, queue="ingest")
            job, _ = jobs.create(session, new, tools.clock.wall())
        for _ in range(2):
            Worker("worker", tools, children).run(job.id)

    with sqlite_database.reading() as session:
        ended = jobs.get(session, job.id)
        assert (ended.status, ended.attempt) == ("failed", 2)
        assert ended.problem is not None
        assert ended.problem["kind"] == jobs.PROCESS_DIED
        assert "SIGSEGV" in ended.problem["detail"]
        assert f"at 1 of 2 (reading {incoming / crashing})" in ended.problem["detail"]
        assert series.read(session, BASIN, "caravan", "discharge") is not None
