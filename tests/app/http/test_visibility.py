"""Who may read what: the public, any key, the key that posted a job, an admin."""

import json
from typing import Any

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from app.jobs.posting import WITHHELD
from records.access import keys
from records.database.engine import Database
from records.jobs import attempts, jobs
from testing.records import NOW, a_job, a_version
from tests.app.conftest import bearer

SECRET = "/srv/private/flows.csv"
PUBLIC = ("/v1/basins", "/v1/status", "/v1/models", "/v1/runs", "/v1/comparisons", "/health/live", "/docs")
SCHEDULE: dict[str, Any] = {
    "name": "nightly ingest",
    "job": {"kind": "ingest", "params": {"from": [SECRET]}},
    "cron": "0 3 * * *",
}


@pytest.fixture
def posted(sqlite_database: Database, sqlite_client: TestClient) -> tuple[str, dict[str, str]]:
    """An ingest that has failed, whose parts all name a file; and the header of the key that posted it."""
    header = bearer(sqlite_database)
    body = {"kind": "ingest", "params": {"from": [SECRET]}}
    job = sqlite_client.post("/v1/jobs", json=body, headers=header).json()["id"]
    with sqlite_database.transaction() as session:
        attempts.claim(session, job, worker="w", lease_until=NOW, at=NOW)
        progress = {"done": 1, "total": 2, "detail": SECRET}
        attempts.heartbeat(session, job, 1, lease_until=NOW, progress=progress, at=NOW)
        jobs.log(session, job, 1, f"{SECRET} cannot be read", NOW)
        attempts.finish(session, job, 1, status="failed", problem={"kind": "bad-source", "detail": SECRET}, at=NOW)
    return job, header


@pytest.mark.parametrize("address", PUBLIC)
def test_the_public_reads_forecasts_and_status(sqlite_client: TestClient, address: str) -> None:
    assert sqlite_client.get(address).status_code == 200


def test_jobs_events_and_schedules_are_not_public(
    sqlite_client: TestClient, posted: tuple[str, dict[str, str]]
) -> None:
    job, _ = posted
    for address in ("/v1/jobs", f"/v1/jobs/{job}", f"/v1/jobs/{job}/events", "/v1/schedules", "/v1/schedules/some"):
        answer = sqlite_client.get(address)
        assert (answer.status_code, answer.json()["type"]) == (401, "/problems/key-needed")
        assert SECRET not in answer.text
    assert sqlite_client.head(f"/v1/jobs/{job}/events").status_code == 401


def test_another_key_sees_how_a_job_stands_and_no_file_that_it_names(
    sqlite_database: Database, sqlite_client: TestClient, posted: tuple[str, dict[str, str]]
) -> None:
    job, _ = posted
    header = bearer(sqlite_database, "operator", "another office")
    one = sqlite_client.get(f"/v1/jobs/{job}", headers=header)
    listed = sqlite_client.get("/v1/jobs", headers=header)
    stream = sqlite_client.get(f"/v1/jobs/{job}/events", headers=header)
    for answer in (one, listed, stream):
        assert answer.status_code == 200
        assert SECRET not in answer.text
    body = one.json()
    assert (body["status"], body["kind"], body["problem"]["kind"]) == ("failed", "ingest", "bad-source")
    assert (body["params"], body["problem"]["detail"], body["progress"]["detail"]) == (None, None, None)
    withheld = {name for name, reason in body["missing"].items() if reason == WITHHELD}
    assert withheld == {"params", "problem.detail", "progress.detail"}
    assert "event: status" in stream.text
    assert "event: log" not in stream.text
    assert "private" in one.headers["Cache-Control"]


def test_the_poster_and_an_admin_see_a_job_whole(
    sqlite_database: Database, sqlite_client: TestClient, posted: tuple[str, dict[str, str]]
) -> None:
    job, poster = posted
    for header in (poster, bearer(sqlite_database, "admin", "head office")):
        body = sqlite_client.get(f"/v1/jobs/{job}", headers=header).json()
        assert body["params"] == {"from": [SECRET]}
        assert body["problem"]["detail"] == body["progress"]["detail"] == SECRET
        assert f"{SECRET} cannot be read" in sqlite_client.get(f"/v1/jobs/{job}/events", headers=header).text


def test_the_poster_sees_the_result_too(sqlite_database: Database, sqlite_client: TestClient) -> None:
    poster, other = bearer(sqlite_database), bearer(sqlite_database)
    job = sqlite_client.post("/v1/jobs", json={"kind": "forecast", "params": {}}, headers=poster).json()["id"]
    with sqlite_database.transaction() as session:
        attempts.claim(session, job, worker="w", lease_until=NOW, at=NOW)
        attempts.finish(session, job, 1, status="succeeded", result={"failed": {"USGS-1": SECRET}}, at=NOW)
    assert sqlite_client.get(f"/v1/jobs/{job}", headers=poster).json()["result"] is not None
    hidden = sqlite_client.get(f"/v1/jobs/{job}", headers=other).json()
    assert (hidden["result"], hidden["missing"]["result"]) == (None, WITHHELD)


def test_the_jobs_that_a_job_posts_belong_to_the_same_key(database: Database) -> None:
    with database.transaction() as session:
        key, _ = keys.make(session, "river office", "operator", None, NOW)
        parent = a_job(session, kind="training", key_id=key.id)
        child = a_job(session, kind="member", queue="training", parent_id=parent)
        assert jobs.get(session, child).key_id == key.id


def test_only_an_admin_sees_the_jobs_of_a_schedule(sqlite_database: Database, sqlite_client: TestClient) -> None:
    admin, operator = bearer(sqlite_database, "admin"), bearer(sqlite_database)
    address = sqlite_client.post("/v1/schedules", json=SCHEDULE, headers=admin).headers["Location"]
    assert sqlite_client.get(address, headers=admin).json()["job"]["params"] == {"from": [SECRET]}
    for path in (address, "/v1/schedules"):
        answer = sqlite_client.get(path, headers=operator)
        assert answer.status_code == 200
        assert SECRET not in answer.text
    body = sqlite_client.get(address, headers=operator).json()
    assert (body["job"], "job.params" in body["missing"]) == ({"kind": "ingest", "params": None}, True)


def test_status_and_errors_name_no_file(sqlite: str, sqlite_database: Database, sqlite_client: TestClient) -> None:
    folder = sqlite.removeprefix("sqlite:///").rpartition("/")[0]
    with sqlite_database.transaction() as session:
        a_version(session)
    answers = [sqlite_client.get(path) for path in ("/v1/status", "/v1/basins/01013500", "/nothing", "/v1/jobs")]
    with sqlite_database.transaction() as session:
        session.execute(text("ALTER TABLE basins RENAME TO lost"))
    answers += [sqlite_client.get(path) for path in ("/v1/status", "/v1/basins", "/health/ready")]
    assert {answer.status_code for answer in answers} == {200, 401, 404, 503}
    for answer in answers:
        assert folder not in json.dumps(answer.json())
