"""Alerts of levels that seem wrong wait until somebody confirms these; alerts of other levels do not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from hydrology.base.calendar import day
from jobspec.levels import NewThreshold
from operations.alerts.decide_alerts import carry_out, decide
from records.alerts.held_alerts import HELD_ALERTS
from records.database.engine import Database
from records.levels import basin_levels, categories_and_doubts
from records.outlooks import outlooks
from records.versions import promotions
from runtime.clock import Clock
from testing.records import BASIN, NOW, a_run
from testing.work import work_of
from tests.app import factories
from tests.app.alerts.test_alerts import PER_MM, fill_records
from tests.app.conftest import bearer

ANN, HELD = "ann", f"/v1/basins/{BASIN}/alerts/held"
LEVELS = f"/v1/basins/{BASIN}/thresholds"
CLOCK = Clock(NOW)


@pytest.fixture
def run(sqlite_database: Database) -> str:
    """A forecast that is nearly sure to pass `gauge-2`, and two categories of the same flow."""
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        for name in ("minor", "major"):
            basin_levels.put(session, BASIN, NewThreshold(name=name, discharge=0.02 * PER_MM), NOW)
        return a_run(session, version, factories.forecast(), t0=day("2008-09-30"), horizon_days=3).id


@pytest.fixture
def ann(sqlite_database: Database) -> dict[str, str]:
    return bearer(sqlite_database, "forecaster", ANN)


def held(client: TestClient, ann: dict[str, str]) -> Any:
    return client.get("/v1/alerts/held", headers=ann).json()["held"]


def active(client: TestClient) -> set[str]:
    return {level["level"] for alert in client.get("/v1/alerts").json()["alerts"] for level in alert["levels"]}


def test_they_wait_without_a_deadline_and_go_out_when_a_forecaster_approves(
    sqlite_database: Database, sqlite_client: TestClient, run: str, ann: dict[str, str]
) -> None:
    (change,) = decide(work_of(sqlite_database, CLOCK), [BASIN])
    assert (change.level, change.kind) == ("gauge-2", "begins")
    (waiting,) = held(sqlite_client, ann)
    assert {proposed["level"] for proposed in waiting["proposed"]} == {"minor", "major"}
    assert (waiting["run"], waiting["due_at"]) == (run, None)
    assert "is not above minor" in waiting["in_doubt"]["major"]
    assert "level is in doubt" in waiting["missing"]["due_at"]
    assert carry_out(work_of(sqlite_database, Clock(NOW))) == []
    assert active(sqlite_client) == {"gauge-2"}
    assert "levels-in-doubt" in {one["code"] for one in sqlite_client.get("/v1/status").json()["degraded"]}
    assert "Waits until somebody decides" in sqlite_client.get("/held", headers=ann).text
    ruling = {"run": run, "ruling": "approve", "note": "Both are right"}
    assert sqlite_client.post(HELD, json=ruling, headers=ann).status_code == 200
    changes = carry_out(work_of(sqlite_database, CLOCK))
    assert {(one.level, one.severity, one.decided_by) for one in changes} == {
        ("minor", "warning", ANN),
        ("major", "warning", ANN),
    }
    assert active(sqlite_client) == {"gauge-2", "minor", "major"}
    assert held(sqlite_client, ann) == []
    assert {level["in_doubt"] for level in sqlite_client.get(LEVELS).json()["fixed"]} == {None}
    assert decide(work_of(sqlite_database, CLOCK), [BASIN]) == []


def test_confirming_the_levels_lets_them_go_out(
    sqlite_database: Database, sqlite_client: TestClient, run: str, ann: dict[str, str]
) -> None:
    decide(work_of(sqlite_database, CLOCK), [BASIN])
    admin = bearer(sqlite_database, "admin", "boss")
    for name, waits in (("minor", True), ("major", False)):
        assert sqlite_client.put(f"{LEVELS}/{name}/confirmation", headers=admin).status_code == 200
        assert (held(sqlite_client, ann) != []) == waits
    assert {(one.level, one.decided_by) for one in carry_out(work_of(sqlite_database, CLOCK))} == {
        ("minor", "boss"),
        ("major", "boss"),
    }
    assert sqlite_client.get(f"/v1/basins/{BASIN}/alerts").json()["run"] == run


@pytest.mark.usefixtures("run")
def test_a_level_that_is_corrected_decides_with_the_next_run(
    sqlite_database: Database, sqlite_client: TestClient, ann: dict[str, str]
) -> None:
    decide(work_of(sqlite_database, CLOCK), [BASIN])
    with sqlite_database.transaction() as session:
        basin_levels.put(session, BASIN, NewThreshold(name="major", discharge=0.03 * PER_MM), NOW)
        version = a_version_of(session)
        a_run(session, version, factories.forecast(), t0=day("2008-10-01"), horizon_days=3)
    changes = decide(work_of(sqlite_database, Clock(NOW + timedelta(days=1))), [BASIN])
    assert {(one.level, one.kind) for one in changes} == {("minor", "begins"), ("major", "begins")}
    assert held(sqlite_client, ann) == []


def test_at_the_deadline_of_approval_the_others_go_out_alone(
    sqlite_database: Database, sqlite: str, sqlite_client: TestClient, run: str, ann: dict[str, str]
) -> None:
    holding = Database(sqlite, approval=timedelta(minutes=30))
    assert decide(work_of(holding, CLOCK), [BASIN]) == []
    (waiting,) = held(sqlite_client, ann)
    assert len(waiting["proposed"]) == 3
    assert waiting["due_at"] is not None
    with sqlite_database.transaction() as session:
        session.execute(update(HELD_ALERTS).values(due_at=datetime.now(UTC)))
    assert [change.level for change in carry_out(work_of(holding, CLOCK))] == ["gauge-2"]
    (waiting,) = held(sqlite_client, ann)
    assert ({one["level"] for one in waiting["proposed"]}, waiting["due_at"]) == ({"minor", "major"}, None)
    sqlite_client.post(HELD, json={"run": run, "ruling": "dismiss", "note": "Wrong file"}, headers=ann)
    assert carry_out(work_of(holding, CLOCK)) == []
    assert active(sqlite_client) == {"gauge-2"}
    with sqlite_database.reading() as session:
        assert set(categories_and_doubts.in_doubt(session, BASIN, CLOCK.today())) == {"minor", "major"}
    holding.close()


@pytest.mark.usefixtures("run")
def test_an_alert_of_a_level_that_gets_in_doubt_stays_as_it_is(
    sqlite_database: Database, sqlite_client: TestClient, ann: dict[str, str]
) -> None:
    with sqlite_database.transaction() as session:
        basin_levels.put(session, BASIN, NewThreshold(name="major", discharge=0.03 * PER_MM), NOW)
        outlooks.renew(session, BASIN)
    decide(work_of(sqlite_database, CLOCK), [BASIN])
    assert active(sqlite_client) == {"gauge-2", "minor", "major"}
    with sqlite_database.transaction() as session:
        basin_levels.put(session, BASIN, NewThreshold(name="minor", discharge=900 * PER_MM), NOW)
        a_run(session, a_version_of(session), factories.forecast(), t0=day("2008-10-01"), horizon_days=3)
    assert decide(work_of(sqlite_database, Clock(NOW + timedelta(days=1))), [BASIN]) == []
    assert active(sqlite_client) == {"gauge-2", "minor", "major"}
    (waiting,) = held(sqlite_client, ann)
    assert {one["level"] for one in waiting["proposed"]} == {"minor"}


def a_version_of(session: Any) -> str:
    return promotions.current(session, [BASIN])[BASIN]
