"""Bridges over the API: anybody reads them, and every dependent answer names them."""

from dataclasses import replace
from typing import Any

from starlette.testclient import TestClient

from records.database.engine import Database
from records.weather import bridges
from testing.bridges import LIVE, OTHER, a_part, a_pooled_part
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run
from tests.app.factories import SUMMARY, forecast


def fill_records(database: Database) -> bridges.Bridge:
    with database.transaction() as session:
        for basin in (BASIN, OTHER):
            a_basin(session, basin)
        stored = bridges.create(session, LIVE, [a_part(), a_pooled_part()], NOW)
        bridges.note_applied(session, stored, BASIN, NOW, 1)
    return stored


def test_bridges_are_listed_and_read_by_name_and_by_id(database: Database, client: TestClient) -> None:
    assert client.get("/v1/bridges").json() == {"bridges": []}
    stored = fill_records(database)
    (listed,) = client.get("/v1/bridges").json()["bridges"]
    result = client.get("/v1/bridges/live_as_maurer")
    assert client.get(f"/v1/bridges/{stored.id}").json() == result.json()
    assert result.json().items() >= listed.items()
    assert (listed["from_product"], listed["first_day"], listed["model"]) == ("live", "1999-10-01", None)
    assert result.json()["refused"] == LIVE.refused
    tag = result.headers["ETag"]
    assert client.get("/v1/bridges/live_as_maurer", headers={"If-None-Match": tag}).status_code == 304


def test_a_basin_reports_its_corrections_and_their_skill(database: Database, client: TestClient) -> None:
    fill_records(database)
    own, pooled = client.get("/v1/bridges/live_as_maurer").json()["basins"]
    assert (own["day_offset"], own["factors"]["precipitation"], own["steps"]["tmax"]) == (0.8, [1.1] * 12, [-0.5] * 12)
    rain = own["held_out"]["variables"]["precipitation"]
    assert (rain["as_it_is"]["bias"], rain["bridged"]["bias"]) == (0.08, -0.01)
    assert (own["applied_at"], own["missing"].keys()) == ("2008-10-01T06:00:00Z", {"pooled_reason"})
    assert (pooled["pooled_from"], pooled["pooled_reason"], pooled["held_out"]) == ([BASIN], "no years of it", None)
    assert pooled["missing"].keys() == {"held_out", "applied_at"}


def test_a_bridge_that_is_not_stored_is_a_problem(sqlite_client: TestClient) -> None:
    answer = sqlite_client.get("/v1/bridges/nothing")
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/unknown-bridge")


def test_every_answer_of_a_forecast_reports_its_bridges(database: Database, client: TestClient) -> None:
    stored = fill_records(database)
    with database.transaction() as session:
        version = a_promoted_version(session)
        over = bridges.applied(session, LIVE.name, [BASIN])[BASIN].used
        reported_by_run = forecast(summary=replace(SUMMARY, bridges=(over,)))
        run = a_run(session, version, reported_by_run, horizon_days=3)
    for path in (f"/v1/runs/{run.id}/basins/{BASIN}", f"/v1/basins/{BASIN}/water-balance"):
        result: dict[str, Any] = client.get(path).json()
        (shown,) = result["bridges"]
        assert (shown["id"], shown["name"], shown["pooled_from"]) == (stored.id, LIVE.name, [])
        assert shown["hash"] == over.sha256
        assert shown["note"].startswith("live is bridged to maurer_extended")
