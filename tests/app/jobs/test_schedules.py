"""Schedules over the API."""

from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.testclient import TestClient

from records.database.engine import Database
from records.jobs import schedules
from records.jobs.schedules import next_run
from testing.records import a_job
from tests.app.conftest import bearer

DAILY: dict[str, Any] = {
    "name": "daily forecast",
    "job": {"kind": "forecast", "params": {"horizon": 10}},
    "cron": "30 6 * * *",
    "timezone": "America/Denver",
    "enabled": True,
}


def test_a_schedule_is_created_read_changed_and_deleted(database: Database, client: TestClient) -> None:
    header = bearer(database, "admin")
    client.headers |= header
    before = datetime.now(UTC)
    created = client.post("/v1/schedules", json=DAILY, headers=header)
    assert (created.status_code, created.headers["ETag"]) == (201, '"1"')
    address = created.headers["Location"]
    result = client.get(address).json()
    assert result == created.json()
    assert {name: result[name] for name in DAILY} == DAILY
    fires = datetime.fromisoformat(result["next_run_at"])
    assert fires in (next_run("30 6 * * *", "America/Denver", at) for at in (before, datetime.now(UTC)))
    assert set(result["missing"]) == {"last_run_at", "last_job"}
    assert client.get(address, headers={"If-None-Match": '"1"'}).status_code == 304

    changed = client.put(address, json=DAILY | {"enabled": False}, headers=header | {"If-Match": '"1"'})
    assert (changed.status_code, changed.headers["ETag"]) == (200, '"2"')
    assert (changed.json()["next_run_at"], changed.json()["missing"]["next_run_at"]) == (None, "It is not enabled.")
    assert client.get("/v1/schedules").json() == {"schedules": [changed.json()]}

    assert client.delete(address, headers=header | {"If-Match": '"1"'}).status_code == 412
    gone = client.delete(address, headers=header)
    assert (gone.status_code, gone.content) == (204, b"")
    assert client.get(address).json()["type"] == "/problems/unknown-schedule"
    assert client.delete(address, headers=header).status_code == 404


def test_a_schedule_that_has_fired_meanwhile_is_not_changed_unseen(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    header, now = bearer(sqlite_database, "admin"), datetime.now(UTC)
    id_ = sqlite_client.post("/v1/schedules", json=DAILY, headers=header).json()["id"]
    with sqlite_database.transaction() as session:
        assert schedules.advance(session, id_, 1, ran_at=now, next_run_at=now, job_id=a_job(session))
    address = f"/v1/schedules/{id_}"
    refused = sqlite_client.put(address, json=DAILY, headers=header | {"If-Match": '"1"'})
    assert (refused.status_code, refused.json()["type"]) == (412, "/problems/precondition-failed")
    assert "revision 2" in refused.json()["detail"]
    assert sqlite_client.put(address, json=DAILY, headers=header).status_code == 422
    assert sqlite_client.put(address, json=DAILY, headers=header | {"If-Match": '"2"'}).status_code == 200


def test_a_name_that_is_taken_is_a_conflict(database: Database, client: TestClient) -> None:
    header = bearer(database, "admin")
    client.post("/v1/schedules", json=DAILY, headers=header)
    again = client.post("/v1/schedules", json=DAILY, headers=header)
    assert (again.status_code, again.json()["type"]) == (409, "/problems/schedule-conflict")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"cron": "every day"}, "bad-cron"),
        ({"cron": "every day", "enabled": False}, "bad-cron"),
        ({"timezone": "Denver"}, "bad-cron"),
        ({"name": "  "}, "invalid-request"),
        ({"job": {"kind": "member", "params": {}}}, "invalid-request"),
        ({"job": {"kind": "forecast", "params": {"horizon": 0}}}, "invalid-request"),
        ({"surprise": 1}, "invalid-request"),
    ],
)
def test_a_schedule_that_cannot_be_followed_is_refused(
    sqlite_database: Database, sqlite_client: TestClient, change: dict[str, Any], kind: str
) -> None:
    sqlite_client.headers |= bearer(sqlite_database, "admin")
    answer = sqlite_client.post("/v1/schedules", json=DAILY | change)
    assert (answer.status_code, answer.json()["type"]) == (422, f"/problems/{kind}")
    assert sqlite_client.get("/v1/schedules").json() == {"schedules": []}
