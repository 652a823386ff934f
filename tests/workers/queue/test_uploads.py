"""An upload is there as long as its job may read it, and no longer."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from records.database.engine import Database
from records.jobs import attempts, jobs
from runtime.clock import Clock
from runtime.settings import Settings
from testing.records import NOW
from tests.app.conftest import bearer, serving, sqlite, sqlite_database
from workers.job import JobOutcome
from workers.job_processes.worker import write
from workers.liveness import ExpiredLeases
from workers.queue.enqueue import Sender, WorkerContext
from workers.queue.uploads import POSTED_WITHIN, folder
from workers.scheduler import recover

__all__ = ["sqlite", "sqlite_database"]

PROBLEM = {"kind": "odd", "detail": "It is odd."}


@pytest.fixture
def tools(sqlite: str, sqlite_database: Database, tmp_path: Path) -> Iterator[WorkerContext]:
    """What a worker and the scheduler work with, on the database of the service."""
    settings = Settings(data=tmp_path, database_url=sqlite, broker_url="memory://")
    sender = Sender(settings, sqlite_database, Clock(None))
    yield WorkerContext(settings, sqlite_database, Clock(None), sender=sender)
    sender.close()


@pytest.fixture
def service(sqlite: str, tmp_path: Path) -> Iterator[TestClient]:
    """The service, over the same data folder, with the key of an operator."""
    with serving(sqlite, data=tmp_path) as started:
        yield started


@pytest.fixture
def header(sqlite_database: Database) -> dict[str, str]:
    """The header of an operator who sends a table."""
    return bearer(sqlite_database) | {"Content-Type": "text/csv"}


def send(service: TestClient, header: dict[str, str], tools: WorkerContext) -> tuple[str, Path]:
    """Send a table, and return the job that is to read it and the path of the table."""
    job = service.post("/v1/basins/observations", content=b"basin,date,discharge_cfs\n", headers=header).json()
    return job["id"], folder(tools.settings.data) / job["params"]["observations_file"]


def test_a_repeat_under_another_name_leaves_the_upload_of_its_job(
    service: TestClient, header: dict[str, str], tools: WorkerContext
) -> None:
    header = header | {"Idempotency-Key": "a-table", "Content-Disposition": 'attachment; filename="a.csv"'}
    _, path = send(service, header, tools)
    other = header | {"Content-Disposition": 'attachment; filename="b.csv"'}
    again = service.post("/v1/basins/observations", content=b"basin,date,discharge_cfs\n", headers=other)
    assert again.json()["type"] == "/problems/idempotency-conflict"
    assert path.exists()


def age(path: Path) -> None:
    """Make a file as old as no request lasts."""
    old = time.time() - POSTED_WITHIN - 1
    os.utime(path, (old, old))


@pytest.mark.parametrize(
    ("outcome", "stays"),
    [
        (JobOutcome("succeeded", result={}), False),
        (JobOutcome("failed", problem=PROBLEM), False),
        (JobOutcome("cancelled"), False),
        (JobOutcome("retry", problem=PROBLEM), True),
        (JobOutcome("released"), True),
    ],
    ids=lambda value: value.status if isinstance(value, JobOutcome) else "",
)
def test_an_upload_goes_with_its_job_however_that_ends(
    service: TestClient, header: dict[str, str], tools: WorkerContext, outcome: JobOutcome, stays: bool
) -> None:
    job, file = send(service, header, tools)
    with tools.database.transaction() as session:
        claimed = attempts.claim(session, job, worker="w", lease_until=NOW, at=NOW)
    assert claimed is not None
    assert file.exists()
    write(tools, claimed, outcome)
    assert file.exists() is stays


def test_files_read_from_another_folder_are_not_deleted(tools: WorkerContext, tmp_path: Path) -> None:
    table = tmp_path / "incoming" / "days.csv"
    table.parent.mkdir()
    table.write_text("mine")
    params = {"product": "own", "observations_file": str(table)}
    with tools.database.transaction() as session:
        job, _ = jobs.create(session, jobs.NewJob(kind="upload", params=params, queue="ingest"), NOW)
        claimed = attempts.claim(session, job.id, worker="w", lease_until=NOW, at=NOW)
    assert claimed is not None
    write(tools, claimed, JobOutcome("succeeded", result={}))
    recover(tools, ExpiredLeases(0))
    assert table.exists()


def test_an_upload_whose_job_was_cancelled_before_it_began_is_swept(
    service: TestClient, header: dict[str, str], tools: WorkerContext
) -> None:
    (cancelled, gone), (_, waiting) = send(service, header, tools), send(service, header, tools)
    service.post(f"/v1/jobs/{cancelled}/cancel", headers=header)
    age(gone)
    age(waiting)
    recover(tools, ExpiredLeases(0))
    assert (gone.exists(), waiting.exists()) == (False, True)


def test_an_upload_whose_worker_was_lost_for_the_last_time_is_swept(
    service: TestClient, header: dict[str, str], tools: WorkerContext
) -> None:
    job, file = send(service, header, tools)
    age(file)
    with tools.database.reading() as session:
        max_attempts = jobs.get(session, job).max_attempts
    for _ in range(max_attempts):
        assert file.exists()
        with tools.database.transaction() as session:
            assert attempts.claim(session, job, worker="w", lease_until=NOW, at=NOW)
        recover(tools, ExpiredLeases(0))
    assert not file.exists()


def test_an_upload_that_was_sent_again_after_its_job_is_swept(
    service: TestClient, header: dict[str, str], tools: WorkerContext
) -> None:
    header |= {"Idempotency-Key": "april"}
    job, file = send(service, header, tools)
    with tools.database.transaction() as session:
        claimed = attempts.claim(session, job, worker="w", lease_until=NOW, at=NOW)
    assert claimed is not None
    write(tools, claimed, JobOutcome("succeeded", result={}))
    assert send(service, header, tools) == (job, file)
    age(file)
    recover(tools, ExpiredLeases(0))
    assert not file.exists()


def test_an_upload_that_has_no_job_yet_stays_for_a_while(tools: WorkerContext, tmp_path: Path) -> None:
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    young, old = uploads / "young.csv", uploads / "old.csv"
    for file in (young, old):
        file.write_text("basin,date\n")
    age(old)
    recover(tools, ExpiredLeases(0))
    assert list(uploads.iterdir()) == [young]
