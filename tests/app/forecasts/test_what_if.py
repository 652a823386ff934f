"""A what-if run and the run without its changes, side by side."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from records.database.engine import Database
from records.runs import run_types, runs
from records.runs.run_weather import RunWhatIf
from testing.records import BASIN, a_basin, a_promoted_version, a_run, not_issued
from tests.app import factories

WHAT_IF = f"/v1/basins/{BASIN}/what-if"
CHANGES = {"degrees": 2.0, "increment": {"mm": 10.0, "where": "snow"}}
LATEST = f"/v1/basins/{BASIN}/forecasts/latest"


def with_more_water(**chosen: Any) -> run_types.BasinResult:
    """Return the forecast with twice the discharge, and 10 mm in the ledger of each member."""
    whole = factories.forecast(**chosen)
    twice = [
        replace(series, values=2 * series.values) if series.variable.startswith("discharge") else series
        for series in whole.series
    ]
    ledgers = [replace(ledger, terms={**ledger.terms, "increment": 10.0}) for ledger in whole.ledgers]
    return replace(whole, series=twice, ledgers=ledgers)


def fill_records(
    database: Database, base: run_types.BasinResult, changed: run_types.BasinResult, conserving: bool = True
) -> list[str]:
    """Store a forecast and a what-if run of it; return their ids."""
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session), conserving=conserving)
        given: dict[str, Any] = {"horizon_days": 3, "forcing_kind": "observed"}
        of_base = a_run(session, version, base, **given).id
        asked = RunWhatIf(changes=CHANGES, note="more snow?", by="river office", base=of_base)
        return [of_base, a_run(session, version, changed, purpose="what-if", what_if=asked, **given).id]


def test_both_are_reported_by_day_with_the_difference_and_both_ledgers(database: Database, client: TestClient) -> None:
    base, changed = fill_records(database, factories.forecast(), with_more_water())
    answer = client.get(WHAT_IF, params={"run": changed, "units": "mm/day"})
    body = answer.json()
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert (body["base"]["run"], body["changed"]["run"], body["run"]) == (base, changed, changed)
    mean = factories.DISCHARGE.mean(axis=0)
    np.testing.assert_allclose(body["base"]["discharge"]["mean"], mean)
    np.testing.assert_allclose(body["changed"]["discharge"]["mean"], 2 * mean)
    for name, level in (("p05", 0.05), ("p95", 0.95)):
        of_members = np.quantile(factories.DISCHARGE, level, axis=0)
        np.testing.assert_allclose(body["base"]["discharge"][name], of_members, rtol=1e-6)
        np.testing.assert_allclose(body["changed"]["discharge"][name], 2 * of_members, rtol=1e-6)
    assert body["difference"]["depth"] == pytest.approx(float(mean.sum()))
    assert body["difference"]["volume"] == pytest.approx(float(mean.sum()) / 1000 * factories.AREA_M2)
    assert body["changed"]["water_balance"]["mean"]["increment"] == 10
    assert "increment" not in body["base"]["water_balance"]["mean"]
    assert {member["terms"]["increment"] for member in body["changed"]["water_balance"]["members"].values()} == {10}
    flows = client.get(WHAT_IF, params={"run": changed}).json()
    assert flows["units"]["discharge"] == "m3/s"
    assert flows["difference"] == body["difference"]


def test_every_answer_lists_its_changes_and_not_who_posted_it(database: Database, client: TestClient) -> None:
    base, changed = fill_records(database, factories.forecast(), with_more_water())
    answers = [
        client.get(address).json()
        for address in (f"/v1/runs/{changed}/basins/{BASIN}", f"/v1/runs/{changed}", f"{WHAT_IF}?run={changed}")
    ]
    for body in answers:
        assert body["what_if"] == {
            "in_words": "2 °C warmer, with the same relative humidity and sun; 10 mm more water as snow at T0",
            "degrees": 2.0,
            "precipitation_percent": 0.0,
            "storm": None,
            "increment": {"mm": 10.0, "where": "snow"},
            "assimilate": False,
            "note": "more snow?",
            "base": base,
        }
        assert "river office" not in str(body)
    assert answers[0]["in_words"].startswith("No forecast, but what if: 2 °C warmer")
    assert answers[0]["forcing_note"].endswith("Changed as described in what_if.")
    listed = client.get("/v1/runs?purpose=what-if").json()["runs"]
    assert [(run["id"], run["what_if"]["base"]) for run in listed] == [(changed, base)]
    assert client.get(LATEST).json()["run"] == base
    assert "what_if" not in client.get(LATEST).json()


def test_a_run_that_changes_nothing_stands_beside_itself(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        asked = RunWhatIf(changes={})
        given: dict[str, Any] = {"horizon_days": 3, "forcing_kind": "observed", "purpose": "what-if"}
        run = a_run(session, version, factories.forecast(), what_if=asked, **given).id
    body = sqlite_client.get(WHAT_IF, params={"run": run}).json()
    assert body["base"] == body["changed"]
    assert body["difference"] == {"depth": 0, "volume": 0}
    assert body["what_if"]["in_words"] == "nothing is changed"


def test_a_withheld_run_is_reported_with_its_base_and_the_reason(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    base, changed = fill_records(
        sqlite_database, factories.forecast(), not_issued("The ledger does not close for member 0.")
    )
    body = sqlite_client.get(WHAT_IF, params={"run": changed}).json()
    assert (body["base"]["run"], body["changed"], body["difference"]) == (base, None, None)
    assert body["missing"]["changed"] == body["missing"]["difference"] == "The ledger does not close for member 0."


def test_without_a_ledger_or_an_area_the_reason_is_reported(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    chosen: dict[str, Any] = {"conserving": False, "area_m2": None, "area_name": None}
    _, changed = fill_records(
        sqlite_database, factories.forecast(**chosen), factories.forecast(**chosen), conserving=False
    )
    body = sqlite_client.get(WHAT_IF, params={"run": changed, "units": "mm/day"}).json()
    assert body["changed"]["water_balance"] is None
    assert "does not conserve mass" in body["missing"]["changed.water_balance"]
    assert body["base"]["volume"]["volume"] is body["difference"]["volume"] is None
    assert {"base.volume.volume", "changed.volume.volume", "difference.volume"} <= body["missing"].keys()
    refused = sqlite_client.get(WHAT_IF, params={"run": changed})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/no-area")


@pytest.mark.parametrize("form", ["csv", "netcdf", "parquet", "coveragejson"])
def test_it_comes_in_every_format_of_series(sqlite_database: Database, sqlite_client: TestClient, form: str) -> None:
    _, changed = fill_records(sqlite_database, factories.forecast(), with_more_water())
    answer = sqlite_client.get(WHAT_IF, params={"run": changed, "format": form})
    assert b"discharge_changed_p95" in answer.content


def test_a_run_that_is_not_a_what_if_is_refused(sqlite_database: Database, sqlite_client: TestClient) -> None:
    base, _ = fill_records(sqlite_database, factories.forecast(), with_more_water())
    refused = sqlite_client.get(WHAT_IF, params={"run": base})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "run"
    assert "/v1/runs?purpose=what-if" in refused.json()["detail"]
    assert sqlite_client.get(WHAT_IF, params={"run": "none"}).status_code == 404


def test_the_newest_that_changes_something_is_reported_where_none_is_named(
    database: Database, client: TestClient
) -> None:
    with database.transaction() as session:
        a_basin(session)
    unmade = client.get(WHAT_IF)
    assert (unmade.status_code, unmade.json()["type"]) == (404, "/problems/unknown-run")
    assert "freshet what-if" in unmade.json()["detail"]
    _, changed = fill_records(database, factories.forecast(), with_more_water())
    with database.transaction() as session:
        version = runs.get(session, changed).version_id
        given: dict[str, Any] = {"horizon_days": 3, "purpose": "what-if"}
        a_run(session, version, factories.forecast(), forcing_kind="observed", what_if=RunWhatIf(changes={}), **given)
        a_run(session, version, factories.forecast(), forcing_kind="dry", **given)
    answer = client.get(WHAT_IF)
    assert answer.json()["run"] == changed
    assert "immutable" not in answer.headers["Cache-Control"]
    assert client.get("/v1/basins/USGS-09999999/what-if").status_code == 404
