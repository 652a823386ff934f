"""The audit trail lists every change over the API, to admins alone."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from records.access import audit
from records.database.engine import Database
from testing.records import BASIN, NOW, a_basin, a_version
from tests.app.conftest import bearer, serving

FORECAST: dict[str, Any] = {"kind": "forecast", "params": {}}
SCHEDULE: dict[str, Any] = {"name": "daily", "job": FORECAST, "cron": "0 6 * * *"}
FEED: dict[str, Any] = {"name": "flow", "settings": {"adapter": "usgs"}}
MILL: dict[str, Any] = {"name": "Mill Creek", "latitude": 44.085, "longitude": -115.622, "area_km2": 118.4}


def trail(database: Database) -> list[audit.Entry]:
    with database.reading() as session:
        return audit.page(session)[::-1]


def test_every_change_over_the_api_leaves_a_trace(database: Database, database_url: str, tmp_path: Path) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_version(session, basins=(BASIN,)).id
    with serving(database_url, data=tmp_path) as client:
        client.headers |= bearer(database, "admin", "chief")
        job = client.post("/v1/jobs", json=FORECAST).json()["id"]
        client.post(f"/v1/jobs/{job}/cancel")
        address = client.post("/v1/schedules", json=SCHEDULE).headers["Location"]
        client.put(address, json=SCHEDULE | {"enabled": False}, headers={"If-Match": "*"})
        client.delete(address)
        feed = client.post("/v1/feeds", json=FEED).json()["id"]
        client.delete("/v1/feeds/flow")
        client.put("/v1/basins/OWN-mill", json=MILL)
        client.put("/v1/basins/OWN-mill", json=MILL)
        client.put("/v1/basins/OWN-mill/thresholds/bankfull", json={"discharge": 7})
        client.put("/v1/basins/OWN-mill/thresholds/bankfull", json={"discharge": 7})
        client.delete("/v1/basins/OWN-mill/thresholds/bankfull")
        subscription = client.post("/v1/subscriptions", json={"url": "https://rivers.example/"}).json()["id"]
        client.patch(f"/v1/subscriptions/{subscription}", json={"least_severity": "watch"})
        client.post(f"/v1/subscriptions/{subscription}/rotate")
        client.delete(f"/v1/subscriptions/{subscription}")
        table = "basin,date,discharge_cfs\nOWN-mill,2008-04-01,7\n"
        upload = client.post("/v1/basins/observations", content=table, headers={"Content-Type": "text/csv"}).json()
        client.put(f"/v1/models/{version}/promotion", json={"reason": "better"})
        schedule = address.rpartition("/")[2]
        answer = client.get("/v1/audit").json()["changes"]
    assert [(entry.action, entry.subject) for entry in trail(database)] == [
        ("job posted", job),
        ("job cancelled", job),
        ("schedule created", schedule),
        ("schedule changed", schedule),
        ("schedule deleted", schedule),
        ("feed created", feed),
        ("feed removed", feed),
        ("basin registered", "OWN-mill"),
        ("basin changed", "OWN-mill"),
        ("threshold set", "OWN-mill"),
        ("threshold removed", "OWN-mill"),
        ("subscription created", subscription),
        ("subscription changed", subscription),
        ("secret rotated", subscription),
        ("subscription deleted", subscription),
        ("observations posted", upload["id"]),
        ("model promoted", version),
    ]
    assert {(change["who"], change["address"], change["key"] is None) for change in answer} == {
        ("chief", "testclient", False)
    }
    assert [change["seq"] for change in answer] == sorted((change["seq"] for change in answer), reverse=True)


def test_a_refused_change_leaves_none(sqlite_database: Database, sqlite_client: TestClient) -> None:
    operator = bearer(sqlite_database)
    refused = [
        sqlite_client.post("/v1/jobs", json=FORECAST),
        sqlite_client.post("/v1/jobs", json={"kind": "forecast", "params": {"horzion": 3}}, headers=operator),
        sqlite_client.post("/v1/jobs/nothing/cancel", headers=operator),
        sqlite_client.post("/v1/schedules", json=SCHEDULE, headers=operator),
        sqlite_client.put(f"/v1/basins/{BASIN}", json=MILL, headers=operator),
        sqlite_client.put("/v1/models/x/promotion", json={"reason": "y"}, headers=bearer(sqlite_database, "admin")),
    ]
    assert [answer.status_code for answer in refused] == [401, 422, 404, 403, 422, 404]
    assert trail(sqlite_database) == []


def test_the_same_job_again_leaves_one_trace(sqlite_database: Database, sqlite_client: TestClient) -> None:
    header = bearer(sqlite_database) | {"Idempotency-Key": "daily"}
    for _ in range(2):
        sqlite_client.post("/v1/jobs", json=FORECAST, headers=header)
    assert [entry.action for entry in trail(sqlite_database)] == ["job posted"]


def test_no_change_is_stored_without_its_trace(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        session.execute(text("DROP TABLE audit"))
    answer = sqlite_client.put("/v1/basins/OWN-mill", json=MILL, headers=bearer(sqlite_database))
    assert answer.status_code == 503
    assert sqlite_client.get("/v1/basins/OWN-mill").status_code == 404


def test_the_trail_is_for_admins_alone(sqlite_database: Database, sqlite_client: TestClient) -> None:
    assert sqlite_client.get("/v1/audit").status_code == 401
    assert sqlite_client.get("/v1/audit", headers=bearer(sqlite_database)).status_code == 403
    assert sqlite_client.get("/v1/audit", headers=bearer(sqlite_database, "admin")).status_code == 200


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_the_trail_is_read_page_by_page(sqlite_database: Database, sqlite_client: TestClient, limit: int) -> None:
    with sqlite_database.transaction() as session:
        for number in range(5):
            audit.record(session, audit.Actor("someone"), "basin changed", f"OWN-{number}", NOW)
    header = bearer(sqlite_database, "admin")
    address, subjects = f"/v1/audit?limit={limit}", []
    while address:
        page = sqlite_client.get(address, headers=header).json()
        subjects += [change["subject"] for change in page["changes"]]
        address = page["next"]
    assert subjects == [f"OWN-{number}" for number in reversed(range(5))]
    assert page["changes"][0]["missing"].keys() == {"key", "address"}
