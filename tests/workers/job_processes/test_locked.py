"""A database that somebody else has locked: nothing is lost, and no attempt is."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from records.database.engine import Database
from records.jobs import jobs, queues
from testing.jobs.processes import Shop
from tests.app.conftest import bearer, serving, sqlite, sqlite_database
from tests.workers.conftest import harmful_worker

__all__ = ["sqlite", "sqlite_database"]


@contextmanager
def locked(database: Database) -> Iterator[None]:
    """Hold a database as a copying or repairing process does."""
    assert database.file is not None
    connection = sqlite3.connect(database.file, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def log(shop: Shop) -> str:
    return (shop.settings.data / "parts.log").read_text()


@pytest.fixture
def shop(patient_shop: Shop) -> Shop:
    """A shop with a worker that has done a job, so that all of it runs."""
    harmful_worker(patient_shop)
    assert patient_shop.ended(patient_shop.post("harm", harm="well").id).status == "succeeded"
    return patient_shop


@pytest.mark.extended
def test_the_result_of_a_job_is_held_until_it_can_be_written(shop: Shop) -> None:
    job = shop.post("harm", harm="wait_for_a_file")
    shop.until(job.id, lambda _: (shop.settings.data / f"{job.id} began").exists())
    with locked(shop.database):
        (shop.settings.data / job.id).touch()
        shop.until(job.id, lambda _: "worker.database" in log(shop))
    done = shop.ended(job.id)
    assert (done.status, done.attempt) == ("succeeded", 1)


@pytest.mark.extended
def test_a_job_that_needs_it_meanwhile_is_tried_again_at_no_cost(shop: Shop) -> None:
    job = shop.post("harm", harm="wait_for_a_file_and_log")
    shop.until(job.id, lambda _: (shop.settings.data / f"{job.id} began").exists())
    with locked(shop.database):
        (shop.settings.data / job.id).touch()
        shop.until(job.id, lambda _: "worker.database" in log(shop))
    done = shop.ended(job.id)
    assert (done.status, done.max_attempts - done.attempt) == ("succeeded", job.max_attempts - 1)


@pytest.mark.extended
def test_a_job_that_cannot_be_claimed_is_claimed_later(shop: Shop) -> None:
    with shop.database.transaction() as session:
        job, _ = jobs.create(
            session, jobs.NewJob(kind="harm", params={"harm": "well"}, queue="default"), shop.clock.wall()
        )
        queues.mark_sent(session, job.id, shop.clock.wall())
    with locked(shop.database):
        shop.sender.send_message(job)
        shop.until(job.id, lambda _: "worker.database" in log(shop))
    done = shop.ended(job.id)
    assert (done.status, done.attempt) == ("succeeded", 1)


@pytest.mark.extended
def test_the_api_reads_on_and_reports_when_to_write_again(
    sqlite: str, sqlite_database: Database, tmp_path: Path
) -> None:
    header = bearer(sqlite_database)
    body = {"kind": "forecast", "params": {}}
    with serving(sqlite, data=tmp_path) as service:
        with locked(sqlite_database):
            refused = service.post("/v1/jobs", json=body, headers=header)
            assert (refused.status_code, refused.json()["type"]) == (503, "/problems/database")
            assert int(refused.headers["Retry-After"]) > 0
            assert "database-locked" in _codes(service)
        assert "database-locked" not in _codes(service)
        assert service.post("/v1/jobs", json=body, headers=header).status_code == 202


def _codes(service: TestClient) -> list[str]:
    answer = service.get("/v1/status")
    assert answer.status_code == 200
    return [each["code"] for each in answer.json()["degraded"]]
