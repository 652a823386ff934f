"""A run whose members were pruned: the rest is answered, and each null has its reason."""

from datetime import timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient

from hydrology.base.calendar import day
from operations.upkeep.prune import prune
from records.access import audit
from records.database.engine import Database
from records.weather import weather_issues
from runtime.clock import Clock
from runtime.settings import Settings
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run, a_weather_forecast
from testing.work import work_of
from tests.app.factories import forecast, forecast_with_traces

WHY = "The results of a run's members are stored for 400 days"


class Late(Clock):
    """A clock whose wall stands two years later."""

    def wall(self) -> Any:
        """Return that instant."""
        return NOW + timedelta(days=730)


@pytest.fixture(params=["one weather", "traces"])
def old(request: pytest.FixtureRequest, database: Database) -> str:
    """A run that is not the newest."""
    result = forecast() if request.param == "one weather" else forecast_with_traces()
    with database.transaction() as session:
        a_basin(session)
        version = a_promoted_version(session)
        old = a_run(session, version, result, t0=day("2008-09-29"), horizon_days=3).id
        a_run(session, version, result, horizon_days=3)
    return old


def pruned(database: Database) -> None:
    prune(work_of(database, Late(), Settings()), audit.Actor("a test"))


def test_quantiles_and_ledgers_stay_and_members_are_null_with_a_reason(
    database: Database, client: TestClient, old: str
) -> None:
    address = f"/v1/runs/{old}/basins/{BASIN}?members=true"
    before = client.get(address)
    pruned(database)
    after = client.get(address)
    assert after.status_code == 200
    assert after.headers["ETag"] != before.headers["ETag"]
    was, output = before.json(), after.json()
    for name in ("discharge", "calibrated", "calibration", "normal", "water_balance", "provenance", "run"):
        assert output[name] == was[name]
    for name in ("storage", "precipitation", "loss"):
        assert (output[name], was[name] is None) == (None, False)
        assert output["missing"][name].startswith(WHY)
    assert "members" not in output
    assert output["missing"]["members"].startswith(WHY)


@pytest.mark.parametrize(
    ("part", "fields"),
    [
        ("storage", ["total", "snow"]),
        ("origin", ["ceiling", "stored"]),
        ("age", ["ages"]),
        ("spread", ["shares"]),
        ("water-balance", []),
        ("exceedance?discharge=1", []),
        ("volumes?season=10-01..10-02", ["raw", "calibrated"]),
    ],
)
def test_everything_else_that_is_reported_of_it_is_null_with_the_rule(
    database: Database, client: TestClient, old: str, part: str, fields: list[str]
) -> None:
    address = f"/v1/basins/{BASIN}/{part}{'&' if '?' in part else '?'}run={old}"
    assert client.get(address).status_code == 200
    pruned(database)
    answer = client.get(address)
    assert answer.status_code == 200
    output = answer.json()
    for name in fields:
        assert output[name] is None
        assert output["missing"][name].startswith(WHY)
    if part.startswith("exceedance"):
        assert {level["reason"][: len(WHY)] for level in output["levels"]} == {WHY}


@pytest.mark.usefixtures("old")
def test_the_latest_stays_whole(database: Database, client: TestClient) -> None:
    before = client.get(f"/v1/basins/{BASIN}/forecasts/latest?members=true").json()
    pruned(database)
    assert client.get(f"/v1/basins/{BASIN}/forecasts/latest?members=true").json() == before


def test_a_what_if_run_and_a_weather_forecast_that_were_pruned_are_gone(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        a_basin(session)
        run = a_run(session, a_promoted_version(session), forecast(), purpose="what-if").id
        issue = weather_issues.store(session, [a_weather_forecast()], NOW, operational=True).issue_id
    addresses = {
        f"/v1/runs/{run}": "What-if runs are stored for 90 days",
        f"/v1/weather/{issue}": "stored for 400 days",
    }
    pruned(database)
    for address, rule in addresses.items():
        answer = client.get(address)
        assert (answer.status_code, answer.json()["type"]) == (410, "/problems/gone")
        assert rule in answer.json()["detail"]
        assert "pruned on 2010-10-01" in answer.json()["detail"]
    assert client.get("/v1/runs/0123456789012345678901").status_code == 404
