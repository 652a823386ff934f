"""What a basin would give if nothing more fell, by its newest run on a dry spell or a given one."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from hydrology.base.absent import NOT_STORED
from hydrology.base.calendar import day
from jobspec.levels import NewThreshold
from records.database.engine import Database
from records.levels import basin_levels
from records.runs import run_arrays, run_types
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run, not_issued
from tests.app import factories
from tests.app.basins.test_thresholds import fill_records as store_record

ADDRESS = f"/v1/basins/{BASIN}/drain-down"
STORAGE = factories.CELLS.sum(axis=1, keepdims=True) - (factories.DISCHARGE + factories.LOSS).cumsum(axis=1)
PER_MM = factories.AREA_M2 / 1000 / 86_400
AT_T0 = 2.75


def dry(**chosen: Any) -> run_types.BasinResult:
    """Return the result of a run on a dry spell: flows as in the factories, and no precipitation."""
    result = factories.forecast(
        summary=replace(factories.SUMMARY, calibration=NOT_STORED, flow_at_t0_mm=AT_T0), **chosen
    )
    series = [
        replace(one, values=STORAGE) if one.variable == "storage" else one
        for one in result.series
        if one.variable not in (run_arrays.CALIBRATED, run_arrays.PATHS)
    ]
    return replace(result, series=series)


def fill_records(database: Database, *results: run_types.BasinResult, **chosen: Any) -> str:
    """Store a run on a dry spell, and return its id."""
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        kind: dict[str, Any] = {"forcing_kind": "dry", "purpose": "what-if", "horizon_days": 3} | chosen
        return a_run(session, version, *(results or [dry()]), **kind).id


def set_low(database: Database, **levels: float) -> None:
    """Set levels that are passed downwards, in mm/day."""
    with database.transaction() as session:
        for name, depth in levels.items():
            low = NewThreshold(name=name, discharge=depth * PER_MM, direction="falling")
            basin_levels.put(session, BASIN, low, NOW)


def test_discharge_loss_and_remaining_storage_sum_to_the_initial_storage(
    database: Database, client: TestClient
) -> None:
    run = fill_records(database)
    body = client.get(ADDRESS, params={"units": "mm/day"}).json()
    assert (body["run"], body["forcing_kind"], body["purpose"]) == (run, "dry", "what-if")
    assert "not a forecast" in body["forcing_note"]
    assert (body["time"][0], body["lead_days"], body["age_days"]) == ("2008-10-01", [1, 2, 3], 1)
    assert body["ceiling"] == 175.0
    np.testing.assert_allclose(np.add(body["runs_off"], np.add(body["lost"], body["left"])), body["ceiling"], rtol=1e-6)
    np.testing.assert_allclose(body["runs_off"], factories.DISCHARGE.mean(axis=0).cumsum(), rtol=1e-6)
    np.testing.assert_allclose(body["discharge"]["median"], np.median(factories.DISCHARGE, axis=0), rtol=1e-6)
    (end,) = body["totals"]
    assert (end["day"], end["days"]) == ("2008-10-03", 3)
    assert end["runs_off"] == pytest.approx({"mean": 5.75, "p05": 5.3, "p95": 6.2})
    assert end["runs_off_volume"] == pytest.approx(5.75 * factories.AREA_M2 / 1e9, rel=1e-6)
    assert [end[part]["mean"] for part in ("runs_off", "lost", "left")] == [
        body[part][-1] for part in ("runs_off", "lost", "left")
    ]
    assert body["in_words"] == (
        "If no more rain or snow fell, 5.75 of the 175 mm of water in the basin would run off by 3 October, 1.00 mm be "
        "lost and 168 mm be left."
    )
    for form in ("csv", "netcdf", "parquet", "coveragejson"):
        assert b"runs_off" in client.get(ADDRESS, params={"format": form}).content


def test_it_reports_when_flow_falls_below_each_level(database: Database, client: TestClient) -> None:
    fill_records(database)
    set_low(database, half=1.4, soon=1.6, never=0.5, already=2.8)
    body = client.get(ADDRESS, params={"units": "mm/day"}).json()
    levels = {level["name"]: level for level in body["low_flows"]}
    days = ("p05", "day", "p95")
    assert [levels["soon"][name] for name in days] == ["2008-10-01", "2008-10-01", "2008-10-02"]
    assert (levels["soon"]["days"], levels["soon"]["reason"]) == (1, None)
    assert levels["soon"]["discharge"] == pytest.approx(1.6, rel=1e-6)
    assert levels["soon"]["in_words"] == (
        "Without rain, flow falls below soon (1.60 mm/day) on 1 October; in 5 % of the members by 1 October, in 95 % "
        "by 2 October."
    )
    assert [levels["half"][name] for name in days] == ["2008-10-02", "2008-10-02", None]
    assert levels["half"]["reason"] == "In 1 of 2 members flow falls below it within the 3 days."
    for name, reason in (
        ("never", "In 0 of 2 members flow falls below it within the 3 days."),
        ("already", "Flow was below it at T0 already: 2.75 mm/day in the mean of the members."),
    ):
        assert [levels[name][field] for field in (*days, "days", "in_words")] == [None] * 5
        assert levels[name]["reason"] == reason


def test_levels_of_the_record_are_in_the_unit_that_is_asked_for(database: Database, client: TestClient) -> None:
    fill_records(database)
    store_record(database)
    body = client.get(ADDRESS).json()
    names = [level["name"] for level in body["low_flows"]]
    assert names == ["7q2", "7q10", "exceeded-70", "exceeded-90", "exceeded-95"]
    assert body["units"]["low_flows.discharge"] == "m3/s"
    np.testing.assert_allclose(body["discharge"]["median"], np.median(factories.DISCHARGE, axis=0) * PER_MM, rtol=1e-6)
    assert all(level["reason"] or level["p95"] for level in body["low_flows"])


def test_the_newest_run_or_the_one_from_a_t0_or_a_named_one_is_reported(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        kind: dict[str, Any] = {"forcing_kind": "dry", "purpose": "what-if", "horizon_days": 3}
        earlier = {"issued_at": NOW - timedelta(hours=1)}
        old = a_run(session, version, dry(), t0=day("2008-09-01"), **kind).id
        newest = a_run(session, version, dry(), **kind).id
        a_run(session, version, dry(), **kind, **earlier)
        a_run(session, version, dry(), t0=day("2008-10-01"), available_at=NOW + timedelta(days=9), **kind)
        other = a_run(session, version, factories.forecast(), horizon_days=3).id
    assert sqlite_client.get(ADDRESS).json()["run"] == newest
    assert sqlite_client.get(ADDRESS, params={"t0": "2008-09-01"}).json()["run"] == old
    named = sqlite_client.get(ADDRESS, params={"run": old}).json()
    assert (named["t0"], "age_days" in named) == ("2008-09-01", False)
    for params, status, kind_of in (
        ({"t0": "2008-09-02"}, 404, "no-forecast"),
        ({"run": other}, 422, "not-dry"),
        ({"run": old, "t0": "2008-09-01"}, 422, "invalid-request"),
        ({"run": "nothing"}, 404, "unknown-run"),
    ):
        answer = sqlite_client.get(ADDRESS, params=params)
        assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{kind_of}")
    assert "--t0 2008-09-02 --weather dry" in sqlite_client.get(ADDRESS, params={"t0": "2008-09-02"}).json()["detail"]


def test_a_network_that_does_not_conserve_mass_reports_its_flow_alone(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session), conserving=False)
        result = dry(conserving=False)
        a_run(session, version, result, horizon_days=3, forcing_kind="dry", purpose="what-if")
    set_low(sqlite_database, soon=1.6)
    body = sqlite_client.get(ADDRESS).json()
    assert body["discharge"]["median"]
    assert body["low_flows"][0]["day"] == "2008-10-01"
    for name in ("ceiling", "runs_off", "lost", "left", "totals", "in_words"):
        assert body[name] is None
        assert "does not conserve mass" in body["missing"][name]


def test_a_withheld_run_explains_every_null(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database, not_issued("The ledger does not close for member 1."))
    assert sqlite_client.get(ADDRESS).status_code == 404
    body = sqlite_client.get(ADDRESS, params={"run": run}).json()
    empty = {name for name, value in body.items() if value is None} - {"superseded_by"}
    assert empty <= set(body["missing"])
    assert body["missing"]["ceiling"] == "The ledger does not close for member 1."


def test_a_volume_of_a_dry_run_is_refused(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database)
    body = sqlite_client.get(f"/v1/basins/{BASIN}/volumes", params={"run": run, "season": "10-01..10-03"}).json()
    assert (body["raw"], body["calibrated"]) == (None, None)
    assert "its volume is not an expected one" in body["missing"]["raw"]
