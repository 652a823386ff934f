"""A file at which a library in C crashes: it is named, and what other files hold is taken in."""

from pathlib import Path

import pytest

from records.database.engine import Database
from records.jobs import jobs
from records.series import series
from runtime.settings import Settings
from testing.files.caravan import OTHER, folder, netcdf
from testing.jobs.processes import ROOT
from tests.app.conftest import sqlite, sqlite_database
from tests.workers.crashing import CRASHES_AT
from workers.job_processes.process_pool import Children
from workers.job_processes.worker import Worker
from workers.queue.enqueue import tools_of

pytestmark = pytest.mark.extended

__all__ = ["sqlite", "sqlite_database"]


def ingested(data: Path, database_url: str, incoming: Path) -> str:
    """Have an ingestion run until it has ended, and return its id."""
    settings = Settings(data=data, database_url=database_url, broker_url="memory://")
    with tools_of(settings) as tools, Children(settings, "tests.workers.crashing") as children:
        with tools.database.transaction() as session:
            params = {"source": "caravan", "from": [str(incoming)]}
            new = jobs.NewJob(kind="ingest", params=params, queue="ingest")
            job, _ = jobs.create(session, new, tools.clock.wall())
        while job.status not in jobs.ENDED:
            Worker("worker", tools, children).run(job.id)
            with tools.database.reading() as session:
                job = jobs.get(session, job.id)
    return job.id


def gauges_of(incoming: Path, *gauges: str) -> dict[str, Path]:
    """Write a file set of some gauges, and return the file of each."""
    rows = "".join(f"{gauge},45.0,-68.0,Other,United States of America,10\n" for gauge in gauges)
    paths = {gauge: f"timeseries/netcdf/camels/{gauge}.nc" for gauge in gauges}
    header = OTHER.partition("\n")[0] + "\n"
    contents = {path: netcdf() for path in paths.values()}
    folder(incoming, contents | {"attributes/camels/attributes_other_camels.csv": (header + rows).encode()})
    return {gauge: incoming / path for gauge, path in paths.items()}


@pytest.fixture(autouse=True)
def _processes_find_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_a_file_at_which_the_process_dies_twice_is_named_and_the_others_are_taken_in(
    sqlite: str, sqlite_database: Database, tmp_path: Path
) -> None:
    good = ("camels_1", "camels_3", "camels_5")
    paths = gauges_of(tmp_path / "incoming", *good, *CRASHES_AT)
    job = ingested(tmp_path, sqlite, tmp_path / "incoming")

    with sqlite_database.reading() as session:
        ended = jobs.get(session, job)
        assert (ended.status, ended.attempt) == ("succeeded", 2 * len(CRASHES_AT) + 1)
        assert ended.result is not None
        assert ended.result["failed"].keys() == {f"CARAVAN-{gauge}" for gauge in CRASHES_AT}
        for gauge in CRASHES_AT:
            error = ended.result["failed"][f"CARAVAN-{gauge}"]
            assert error.startswith(f"{paths[gauge]}: the process that read it was killed by SIGSEGV")
        for gauge in good:
            assert series.read(session, f"CARAVAN-{gauge}", "caravan", "discharge") is not None


def test_a_job_without_a_readable_file_fails_and_names_it(
    sqlite: str, sqlite_database: Database, tmp_path: Path
) -> None:
    crashing = gauges_of(tmp_path / "incoming", CRASHES_AT[0])[CRASHES_AT[0]]
    job = ingested(tmp_path, sqlite, tmp_path / "incoming")

    with sqlite_database.reading() as session:
        ended = jobs.get(session, job)
        assert ended.status == "failed"
        assert ended.problem is not None
        assert f"{crashing}: the process that read it was killed by SIGSEGV" in ended.problem["detail"]
