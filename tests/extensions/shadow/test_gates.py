"""Gates, agreement and end: how far what is in the shadow is, who may end it, and what goes out meanwhile."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from jobspec.subscriptions import NewSubscription
from records.access import audit, keys
from records.alerts import alert_changes, deliveries, subscriptions
from records.database.engine import Database
from records.verification import lead_scores
from records.versions.promotions import NotOwnersBasin, promote
from runtime.settings import Settings
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run, a_version
from tests.app.conftest import bearer
from tests.freshet.conftest import Freshet
from tests.records.alerts.test_alerts import T0, chance, issue_day, settle
from tests.records.verification.test_lead_scores import SCORES, a_verification

ADDRESS = f"/v1/basins/{BASIN}/shadow"
ISSUES = 3
URL = "https://rivers.example/hook"


@pytest.fixture(autouse=True)
def _few_issues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHET_SHADOW_ISSUES", str(ISSUES))


def reach(
    session: Session, version: str, issues: int = ISSUES, skill: float = 0.1, coverage: float = 0.9, filled: int = 0
) -> None:
    """Have a version issue and verify forecasts, some of them with days that were filled."""
    for number in range(issues):
        at = NOW - timedelta(days=issues - number)
        t0 = T0 - np.timedelta64(issues - number, "D")
        a_run(session, version, t0=t0, issued_at=at, available_at=at, filled_days=int(number < filled))
    scores = replace(SCORES, n=issues, crpss_persistence=skill, coverage_90=coverage)
    row = a_verification(session, version_id=version, origin="issued", every_days=None, scores=scores)
    lead_scores.replace_issued(session, version, BASIN, [row])


@pytest.mark.parametrize(
    ("reached", "gate"),
    [
        ({"issues": ISSUES - 1}, "issues: 2, needed 3 or more; skill: not known"),
        ({"skill": -0.01}, "skill: -0.01, needed 0 or more"),
        ({"coverage": 0.79}, "coverage: 0.79, needed 0.8 to 0.98"),
        ({"coverage": 0.99}, "coverage: 0.99, needed 0.8 to 0.98"),
        ({"filled": 1}, "inputs: 0.667, needed 0.9 or more"),
    ],
)
def test_it_stays_until_every_gate_is_met(
    sqlite_client: TestClient, sqlite_database: Database, reached: dict[str, float], gate: str
) -> None:
    admin = bearer(sqlite_database, "admin")
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
    assert sqlite_client.put(ADDRESS, headers=admin).json()["is_ready"] is False
    with sqlite_database.transaction() as session:
        reach(session, version, **reached)  # type: ignore[arg-type]
    refused = sqlite_client.delete(ADDRESS, headers=admin)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/not-public-yet")
    assert gate in refused.json()["detail"]
    (shown,) = sqlite_client.get("/v1/shadow", headers=admin).json()["shadow"]
    assert (shown["id"], shown["version"], shown["is_ready"]) == (BASIN, version, False)
    assert next(one["name"] for one in shown["gates"] if not one["is_met"]) == gate.partition(":")[0]
    assert "Agree" not in sqlite_client.get("/shadow", headers=admin).text
    assert sqlite_client.get(f"/v1/basins/{BASIN}").status_code == 404


def test_an_administrator_ends_it_once_they_are_met_and_nobody_else(client: TestClient, database: Database) -> None:
    admin, forecaster = bearer(database, "admin"), bearer(database, "forecaster")
    with database.transaction() as session:
        reach(session, a_promoted_version(session, a_basin(session)))
    started = [client.put(ADDRESS, headers=admin) for _ in range(2)]
    assert [answer.status_code for answer in started] == [200, 200]
    assert started[0].json() == started[1].json()
    assert "Agree" in client.get("/shadow", headers=admin).text
    assert [client.delete(ADDRESS, headers=key).status_code for key in ({}, forecaster)] == [401, 403]
    assert client.get(f"/v1/basins/{BASIN}", headers=forecaster).status_code == 404
    assert client.delete(ADDRESS, headers=admin).status_code == 204
    assert client.get(f"/v1/basins/{BASIN}").json()["kind"] == "usgs"
    again = client.delete(ADDRESS, headers=admin)
    assert (again.status_code, again.json()["type"]) == (409, "/problems/not-in-shadow")
    with database.reading() as session:
        trail = [(one.action, one.subject, one.detail) for one in audit.page(session)]
    reached = {"issues": 3, "skill": 0.1, "coverage": 0.9, "inputs": 1.0}
    assert trail == [("shadow ended", BASIN, reached), ("shadow started", BASIN, {})]


def test_alerts_in_the_shadow_reach_nobody_and_begin_anew_after_it(client: TestClient, database: Database) -> None:
    admin = bearer(database, "admin")
    with database.transaction() as session:
        key, _ = keys.make(session, "river office", "admin", None, NOW)
        subscriptions.create(session, NewSubscription(url=URL), key.id, NOW, Settings())
        version = a_promoted_version(session, a_basin(session))
        reach(session, version)
        settle(session, issue_day(session, version, 1), chance(0.9))

    def sent() -> list[str]:
        with database.reading() as session:
            stored = {one.seq: one for one in alert_changes.page(session)}
            return sorted(stored[one.change_seq].kind for one in deliveries.page(session) if one.change_seq)

    assert sent() == ["begins"]
    client.put(ADDRESS, headers=admin)
    assert sent() == ["begins", "ends"]
    with database.transaction() as session:
        (change,) = settle(session, issue_day(session, version, 2), chance(0.9))
    assert change.kind == "begins"
    assert BASIN in client.get("/alerts", headers=admin).text
    for address in ("/v1/alerts", "/alerts", "/", "/v1/alerts/feed", "/status"):
        answer = client.get(address)
        assert (answer.status_code, BASIN in answer.text) == (200, False), address
    assert client.get(f"/v1/alerts/cap/{change.id}").status_code == 404
    assert sent() == ["begins", "ends"]
    client.delete(ADDRESS, headers=admin)
    assert sent() == ["begins", "ends"]
    with database.transaction() as session:
        settle(session, issue_day(session, version, 3), chance(0.9))
    assert sent() == ["begins", "begins", "ends"]


def test_a_version_in_the_shadow_serves_no_public_basin(client: TestClient, database: Database) -> None:
    admin = bearer(database, "admin")
    with database.transaction() as session:
        serving, new = a_promoted_version(session, a_basin(session)), a_version(session, basins=(BASIN,)).id
    address = f"/v1/models/{new}/shadow"
    refused = client.put(f"/v1/models/{serving}/shadow", headers=admin)
    assert (refused.status_code, BASIN in refused.json()["detail"]) == (409, True)
    assert client.put(address, headers=admin).json()["subject"] == "version"
    assert [one["id"] for one in client.get("/v1/models").json()["models"]] == [serving]
    with database.transaction() as session, pytest.raises(NotOwnersBasin):
        promote(session, new, [BASIN], reason="better", by="someone", at=NOW)
    assert client.delete(address, headers=admin).status_code == 409
    client.put(ADDRESS, headers=admin)
    with database.transaction() as session:
        reach(session, new)
        assert promote(session, new, [BASIN], reason="better", by="someone", at=NOW) == [BASIN]
    assert "which is in the shadow" in client.delete(ADDRESS, headers=admin).json()["detail"]
    assert [client.delete(one, headers=admin).status_code for one in (address, ADDRESS)] == [204, 204]
    assert client.get(f"/v1/basins/{BASIN}").json()["current_version"] == new


def test_an_operators_basin_is_not_the_services_to_hide(client: TestClient, database: Database) -> None:
    admin = bearer(database, "admin")
    mine = {"name": "Mill", "latitude": 29.95, "longitude": -90.06, "area_km2": 20.0}
    client.put("/v1/basins/OWN-mill", json=mine, headers=bearer(database))
    refused = client.put("/v1/basins/OWN-mill/shadow", headers=admin)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/unofficial-basin")
    assert client.put("/v1/basins/OWN-weir/shadow", headers=admin).json()["id"] == "OWN-weir"
    assert client.put("/v1/basins/OWN-weir/adoption", headers=admin).status_code == 409, "gates are not passed by"
    assert client.get("/v1/basins/OWN-weir").status_code == 404


def test_the_command_line_starts_shows_and_ends_it(empty: Freshet) -> None:
    started = empty("shadow", "start", "--basin", BASIN, "--json")
    assert (started.code, started.json["id"]) == (0, BASIN)
    assert "not met  issues: 0, needed 3 or more" in empty("shadow", "show").out
    refused = empty("shadow", "end", "--basin", BASIN)
    assert (refused.code, "issues: 0" in refused.err) == (2, True)
    assert empty("shadow", "end").code == 2
    assert empty("basins", BASIN, "--json").json["kind"] == "shadow"
