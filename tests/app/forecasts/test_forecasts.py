"""The latest forecast and any run, from stored rows to the answer."""

from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from hydrology.base.calendar import day
from hydrology.base.products import Credit
from hydrology.uncertainty.error_model import LEVELS as ALL_LEVELS
from hydrology.weather.forcing_kinds import ForcingKind
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.runs import run_arrays
from records.runs.run_summary import LEARNT_FROM, RunSummary
from records.runs.run_types import BasinResult
from records.versions import promotions
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_reason, a_run, a_version, not_issued
from tests.app import factories
from tests.app.conftest import serving

NO_RECORD = dict.fromkeys(
    ("peak.return_period_years", "peak.return_period_bound"), "Years with enough days: 0. A level needs 10."
)
LATEST = f"/v1/basins/{BASIN}/forecasts/latest"


def fill_records(
    database: Database, *results: BasinResult, conserving: bool = True, basin: str = BASIN, **chosen: Any
) -> str:
    """Store a run of a promoted version and return its id."""
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session, basin), conserving=conserving)
        output = {"horizon_days": 3, "forcing_kind": "observed", "t0_age_days": 1, "t0_stale": False}
        return a_run(session, version, *results, **output, **chosen).id


def test_the_latest_forecast_describes_itself(database: Database, client: TestClient) -> None:
    run = fill_records(database, factories.forecast())
    answer = client.get("/v1/basins/01013500/forecasts/latest")
    assert answer.status_code == 200
    output = answer.json()
    assert (output["basin"], output["basin_kind"], output["run"]) == (BASIN, "usgs", run)
    assert (output["t0"], output["horizon_days"], output["purpose"], output["status"]) == (
        *("2008-09-30", 3, "operational", "issued"),
    )
    assert output["issued_at"] == output["available_at"] == "2008-10-01T06:00:00Z"
    assert output["forcing_kind"] == "observed"
    assert output["forcing_note"].startswith("A hindcast")
    assert output["filled_forcing"] == {"tmax": 2}
    assert (output["seen_in_training"], output["outside_training"]) == (False, ["elev_mean"])
    assert (output["trained_on"], output["training_note"]) == ("daymet", "The version learnt from others.")
    assert output["area"] == {"name": "maurer_extended", "km2": pytest.approx(2303.988)}
    assert output["time"] == ["2008-10-01", "2008-10-02", "2008-10-03"]
    assert output["lead_days"] == [1, 2, 3]
    assert output["provenance"]["program"] == "torch 2.13.0 for AVX2, recurrence avx2"
    assert output["provenance"]["parent_state"] == {"day": "2008-09-29", "hash": "parent"}
    assert (output["superseded_by"], output["missing"]) == (None, NO_RECORD)
    assert "members" not in output
    assert "cells_at_t0" not in output


@pytest.mark.parametrize(
    ("units", "per_mm"),
    [
        ("mm/day", 1.0),
        ("m3/s", factories.AREA_M2 / 1000 / 86_400),
        ("cfs", factories.AREA_M2 / 1000 / 86_400 / 0.3048**3),
    ],
)
def test_discharge_is_reported_in_the_unit_asked_for(
    sqlite_database: Database, sqlite_client: TestClient, units: str, per_mm: float
) -> None:
    fill_records(sqlite_database, factories.forecast())
    output = sqlite_client.get(LATEST, params={"units": units, "members": True}).json()
    assert output["units"]["discharge"] == output["units"]["members"] == units
    assert list(output["discharge"]) == ["p05", "p10", "p25", "median", "p75", "p90", "p95"]
    expected = np.quantile(factories.DISCHARGE, factories.LEVELS, axis=0) * per_mm
    np.testing.assert_allclose(list(output["discharge"].values()), expected, rtol=1e-6)
    np.testing.assert_allclose(
        [output["members"][label] for label in factories.MEMBERS], factories.DISCHARGE * per_mm, rtol=1e-6
    )
    np.testing.assert_allclose(output["precipitation"], factories.PRECIPITATION)
    np.testing.assert_allclose(output["loss"], factories.LOSS.mean(axis=0))


def test_calibrated_discharge_is_reported_with_its_basis(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database, factories.forecast())
    output = sqlite_client.get(f"/v1/runs/{run}/basins/{BASIN}", params={"units": "mm/day"}).json()
    assert list(output["calibrated"]) == ["p01", "p05", "p10", "p25", "median", "p75", "p90", "p95", "p99"]
    np.testing.assert_allclose(output["calibrated"]["median"], factories.CALIBRATED[ALL_LEVELS.index(0.5)])
    np.testing.assert_allclose(output["calibrated"]["p05"], factories.CALIBRATED[ALL_LEVELS.index(0.05)])
    assert output["units"]["calibrated"] == "mm/day"
    assert output["calibration"] == {
        "kind": "observed",
        "hash": "error model",
        "weather": "observed",
        "weather_issues": None,
        "recalibration": None,
        "fitted_on": "1980-10-01..1989-09-30",
        "own_days": 3200,
        "last_observed_day": "2008-09-30",
        "last_observed": 1.25,
        "last_simulated": 1.5,
    }
    per_mm = factories.AREA_M2 / 1000 / 86_400
    flows = sqlite_client.get(LATEST).json()
    assert flows["calibration"]["last_observed"] == pytest.approx(1.25 * per_mm, rel=1e-6)
    np.testing.assert_allclose(flows["calibrated"]["p99"], np.array(output["calibrated"]["p99"]) * per_mm, rtol=1e-5)


def test_without_an_error_model_calibrated_is_null_with_its_reason(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    result = factories.forecast()
    reason = "Version v has no error model."
    summary = replace(factories.SUMMARY, calibration=a_reason(reason))
    series = [series for series in result.series if series.variable != "discharge_calibrated"]
    fill_records(sqlite_database, replace(result, basin=replace(result.basin, summary=summary), series=series))
    output = sqlite_client.get(LATEST).json()
    assert (output["calibrated"], output["calibration"]) == (None, None)
    lacking = ("calibrated", "calibration", "normal.calibrated_percent_of_normal")
    assert output["missing"] == dict.fromkeys(lacking, reason) | NO_RECORD
    assert output["normal"]["percent_of_normal"] is not None


@pytest.mark.parametrize("units", ["mm/day", "m3/s"])
def test_a_forecast_is_reported_beside_the_normal(
    sqlite_database: Database, sqlite_client: TestClient, units: str
) -> None:
    fill_records(sqlite_database, factories.forecast())
    output = sqlite_client.get(LATEST, params={"units": units}).json()
    per_mm = 1 if units == "mm/day" else factories.AREA_M2 / 1000 / 86_400
    np.testing.assert_allclose(output["normal"]["discharge"], factories.NORMAL * per_mm, rtol=1e-6)
    assert output["units"]["normal"] == units
    median, calibrated = np.median(factories.DISCHARGE, axis=0), factories.CALIBRATED[ALL_LEVELS.index(0.5)]
    percents = [100 * flow.sum() / factories.NORMAL.sum() for flow in (median, calibrated)]
    shown = [output["normal"][name] for name in ("percent_of_normal", "calibrated_percent_of_normal")]
    assert shown == pytest.approx(percents, rel=1e-5)


def test_a_dry_normal_has_no_percent(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, with_normal(np.zeros(3, np.float32)))
    output = sqlite_client.get(LATEST).json()
    names = ("percent_of_normal", "calibrated_percent_of_normal")
    assert output["normal"] == {"discharge": [0.0, 0.0, 0.0]} | dict.fromkeys(names)
    assert output["missing"] == {f"normal.{name}": "The normal is 0." for name in names} | NO_RECORD


@pytest.mark.parametrize(
    ("shown", "reason"), [("No discharge of it is stored.",) * 2, (None, "The run did not store it.")]
)
def test_without_a_normal_its_reason_is_reported(
    sqlite_database: Database, sqlite_client: TestClient, shown: str | None, reason: str
) -> None:
    fill_records(sqlite_database, with_normal(None, **({} if shown is None else {"normal_mm": a_reason(shown)})))
    output = sqlite_client.get(LATEST).json()
    assert (output["normal"], output["missing"]) == (None, {"normal": reason} | NO_RECORD)


def with_normal(normal: np.ndarray[Any, Any] | None, **summary: Any) -> BasinResult:
    """Return a forecast with another normal, or none."""
    whole = factories.forecast()
    series = [
        one
        if one.variable != run_arrays.NORMAL
        else replace(one, values=factories.NORMAL if normal is None else normal)
        for one in whole.series
        if one.variable != run_arrays.NORMAL or normal is not None
    ]
    return replace(whole, series=series, basin=replace(whole.basin, summary=replace(factories.SUMMARY, **summary)))


def test_flow_is_in_cubic_metres_per_second_unless_asked(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast())
    assert sqlite_client.get(LATEST).json() == sqlite_client.get(LATEST, params={"units": "m3/s"}).json()


def test_storage_is_the_mean_and_members_bring_their_cells(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, factories.forecast())
    output = sqlite_client.get(LATEST, params={"members": True}).json()
    np.testing.assert_allclose(output["storage"]["total"], factories.STORAGE.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(output["storage"]["snow"], factories.SNOW.mean(axis=0), rtol=1e-6)
    assert output["cells_at_t0"] == {"0": [100.0, 50.0, 25.0, 0.0], "1": [90.0, 60.0, 20.0, 5.0]}


def test_the_water_balance_closes_for_every_member_and_the_mean(database: Database, client: TestClient) -> None:
    fill_records(database, factories.forecast())
    balance = client.get(LATEST).json()["water_balance"]
    assert balance["closes"]
    assert balance["members"]["0"]["terms"] == {
        "precipitation": 9.75,
        "discharge": -5.25,
        "loss": -1.0,
        "storage change": -3.5,
    }
    for member in balance["members"].values():
        assert member["closes"]
        assert abs(sum(member["terms"].values())) <= member["tolerance"]
        assert sum(member["terms"].values()) == pytest.approx(member["residual"])
    assert balance["mean"]["discharge"] == pytest.approx(-factories.DISCHARGE.sum() / 2)
    assert sum(balance["mean"].values()) == pytest.approx(0, abs=1e-5)


def test_missing_snow_is_null_with_its_reason(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast(snow=False))
    output = sqlite_client.get(LATEST).json()
    assert output["storage"]["snow"] is None
    assert len(output["storage"]["total"]) == 3
    assert output["missing"] == NO_RECORD | dict.fromkeys(("storage.snow", "storage.snow_read"), factories.NO_REFERENCE)


def test_a_version_that_does_not_conserve_mass_has_no_water_account(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, factories.forecast(conserving=False), conserving=False)
    output = sqlite_client.get(LATEST, params={"members": True}).json()
    assert len(output["discharge"]["median"]) == 3
    assert (output["storage"], output["loss"], output["water_balance"]) == (None, None, None)
    assert set(output["missing"]) - NO_RECORD.keys() == {"storage", "loss", "water_balance"}
    assert all("does not conserve mass" in output["missing"][name] for name in ("storage", "loss", "water_balance"))
    assert "cells_at_t0" not in output


def test_a_run_stored_before_the_training_domain_has_it_null(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, factories.forecast(summary=RunSummary()))
    for address in (LATEST, f"/v1/basins/{BASIN}/storage", f"/v1/basins/{BASIN}/water-balance"):
        output = sqlite_client.get(address).json()
        for name in LEARNT_FROM:
            assert output[name] is None
            assert output["missing"][name] == "The run did not store it."


def test_every_answer_of_a_run_credits_its_weather(sqlite_database: Database, sqlite_client: TestClient) -> None:
    credit = Credit("Weather data by Open-Meteo.com.", "CC BY 4.0")
    fill_records(sqlite_database, factories.forecast(summary=RunSummary(product_credit=credit)))
    for address in (LATEST, f"/v1/basins/{BASIN}/storage", f"/v1/basins/{BASIN}/water-balance"):
        assert sqlite_client.get(address).json()["product_credit"] == asdict(credit)


def test_without_an_area_only_depths_can_be_reported(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast(area_m2=None, area_name=None))
    refused = sqlite_client.get(LATEST)
    assert refused.status_code == 422
    assert refused.json()["type"] == "/problems/no-area"
    assert "units=mm/day" in refused.json()["detail"]
    output = sqlite_client.get(LATEST, params={"units": "mm/day"}).json()
    assert output["area"] is None
    assert "area" in output["missing"]


def test_a_synthetic_basin_is_reported_synthetic(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast("SYNTH-01"), basin="SYNTH-01")
    assert sqlite_client.get("/v1/basins/SYNTH-01/forecasts/latest").json()["basin_kind"] == "synthetic"


def test_a_newer_run_that_was_withheld_is_reported(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        older = a_run(session, version, factories.forecast(), horizon_days=3).id
    first = client.get(LATEST)
    with database.transaction() as session:
        newer = a_run(session, version, factories.open_forecast(), horizon_days=3, issued_at=NOW).id
    second = client.get(LATEST, headers={"If-None-Match": first.headers["ETag"]})
    assert second.status_code == 200
    output = second.json()
    assert output["run"] == older
    assert output["superseded_by"] == {
        "run": newer,
        "status": "withheld",
        "reason": "The ledger does not close for member 1.",
    }
    assert first.json() == output | {"superseded_by": None}


def test_a_withheld_run_has_no_values_but_its_ledger(database: Database, client: TestClient) -> None:
    run = fill_records(database, factories.open_forecast())
    output = client.get(f"/v1/runs/{run}/basins/{BASIN}", params={"members": True}).json()
    reason = "The ledger does not close for member 1."
    assert (output["status"], output["reason"]) == ("withheld", reason)
    of_flow = ("discharge", "published", "peak", "in_words", "calibrated", "calibration", "normal")
    of_values = (*of_flow, "storage", "precipitation", "loss")
    assert output["missing"] == dict.fromkeys(of_values, reason)
    assert all(output[name] is None for name in output["missing"])
    assert "members" not in output
    assert "cells_at_t0" not in output
    balance = output["water_balance"]
    assert (balance["closes"], balance["members"]["0"]["closes"], balance["members"]["1"]["closes"]) == (
        *(False, True, False),
    )


def test_a_failed_run_explains_every_null(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database, not_issued("The forcing ends on 2008-09-12.", status="failed"))
    output = sqlite_client.get(f"/v1/runs/{run}/basins/{BASIN}").json()
    empty = {name for name, value in output.items() if value is None} - {"superseded_by"}
    empty |= {f"provenance.{name}" for name, value in output["provenance"].items() if value is None}
    assert set(output["missing"]) == empty
    assert output["missing"]["discharge"] == "The forcing ends on 2008-09-12."


def test_a_run_by_its_id_is_the_latest_answer(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database, factories.forecast())
    by_id, latest = sqlite_client.get(f"/v1/runs/{run}/basins/{BASIN}"), sqlite_client.get(LATEST)
    assert by_id.json() | {"age_days": 1, "stale": False} == latest.json()
    assert by_id.headers["Cache-Control"] == latest.headers["Cache-Control"] == "public, max-age=60"


@pytest.mark.parametrize("held", ["{tag}", 'W/"old", {tag}', "W/{tag}", "*"])
def test_a_copy_that_is_still_the_same_is_not_sent_again(
    sqlite_database: Database, sqlite_client: TestClient, held: str
) -> None:
    run, plain = fill_records(sqlite_database, factories.forecast()), {"Accept-Encoding": "identity"}
    for address in (LATEST, f"/v1/runs/{run}/basins/{BASIN}"):
        tag = sqlite_client.get(address, headers=plain).headers["ETag"]
        assert tag.startswith('"')
        again = sqlite_client.get(address, headers={"If-None-Match": held.format(tag=tag), **plain})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
        assert "Cache-Control" in again.headers


def test_each_representation_has_its_own_tag(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast())
    asked = [{}, {"units": "cfs"}, {"members": "true"}, {"units": "cfs", "members": "true"}]
    tags = [sqlite_client.get(LATEST, params=params).headers["ETag"] for params in asked]
    assert len(set(tags)) == 4
    changed = sqlite_client.get(LATEST, params={"units": "cfs"}, headers={"If-None-Match": tags[0]})
    assert changed.status_code == 200


def test_a_forecast_that_is_not_available_yet_is_not_the_latest(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        a_run(session, version, factories.forecast(), horizon_days=3, available_at=NOW + timedelta(hours=1))
    answer = sqlite_client.get(LATEST)
    assert answer.status_code == 404
    assert answer.json()["type"] == "/problems/no-forecast"


def test_the_latest_forecast_is_reported_as_it_was_at_an_instant(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        first, second = (
            a_run(session, version, factories.forecast(), horizon_days=3, t0=day(t0), issued_at=at, available_at=at).id
            for t0, at in (("2008-09-20", NOW - timedelta(days=9)), ("2008-09-25", NOW - timedelta(days=4)))
        )

    def asked(address: str, at: datetime | None) -> Any:
        params = {"basins": BASIN} if address == "/v1/forecasts" else {}
        answer = client.get(address, params=params | ({} if at is None else {"known_at": at.isoformat()})).json()
        return answer["forecasts"][0] if "forecasts" in answer else answer

    for address in (LATEST, "/v1/forecasts"):
        assert asked(address, None)["run"] == asked(address, NOW + timedelta(days=9))["run"] == second
        then = asked(address, NOW - timedelta(days=5))
        assert then["run"] == first
        assert then["age_days"] < asked(address, NOW - timedelta(days=4, hours=1))["age_days"]
        assert asked(address, NOW - timedelta(days=4))["run"] == second
    before = client.get(LATEST, params={"known_at": (NOW - timedelta(days=10)).isoformat()})
    assert (before.status_code, before.json()["type"]) == (404, "/problems/no-forecast")


def test_after_a_promotion_every_answer_has_the_forecast_of_the_version_before_labelled(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN, latitude=47.2, longitude=-68.6))
        old = a_promoted_version(session, BASIN)
        run = a_run(session, old, factories.forecast(), horizon_days=3).id
    plain = sqlite_client.get(LATEST)
    assert "awaited_version" not in plain.json()
    with sqlite_database.transaction() as session:
        new = a_version(session).id
        promotions.promote(session, new, [BASIN], reason="better", by="someone", at=NOW)
    labelled = sqlite_client.get(LATEST, headers={"If-None-Match": plain.headers["ETag"]})
    assert labelled.status_code == 200  # not the cached answer without the label
    many = sqlite_client.get("/v1/forecasts").json()["forecasts"]
    exceedance = sqlite_client.get(f"/v1/basins/{BASIN}/exceedance").json()
    (place,) = sqlite_client.get("/v1/basins", headers={"Accept": "application/geo+json"}).json()["features"]
    for answer in (labelled.json(), *many, exceedance, place["properties"]):
        assert (answer["run"], answer["version"], answer["awaited_version"]) == (run, old, new)
    for answer in (labelled.json(), exceedance):
        assert f"Version {new} was promoted" in answer["version_note"]
    assert sqlite_client.get("/v1/status").json()["degraded"][0]["code"] == "no-forecast"
    for page in (f"/basins/{BASIN}", f"/compare?basin={BASIN}", "/"):
        assert f"Version {new} was promoted" in sqlite_client.get(page).text
    assert f",{old},{new}," in sqlite_client.get(LATEST, headers={"Accept": "text/csv"}).text
    series = sqlite_client.get(f"/v1/edr/collections/forecasts/locations/{BASIN}").json()
    (coverage,) = series["coverages"]
    assert coverage["freshet:about"]["awaited_version"] == new
    with sqlite_database.transaction() as session:
        newer = a_run(session, new, factories.forecast(), horizon_days=3).id
    answer = sqlite_client.get(LATEST).json()
    assert (answer["run"], answer.get("awaited_version"), answer.get("version_note")) == (newer, None, None)


def test_without_a_forecast_the_answer_reports_how_to_create_one(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        a_promoted_version(session, a_basin(session))
    answer = client.get(LATEST)
    assert answer.status_code == 404
    assert answer.json()["type"] == "/problems/no-forecast"
    assert f"freshet forecast --basin {BASIN}" in answer.json()["detail"]


def test_a_missing_model_basin_or_run_is_distinguished(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
    addresses = {
        LATEST: "no-model",
        "/v1/basins/01013501/forecasts/latest": "unknown-basin",
        f"/v1/runs/000000000000/basins/{BASIN}": "unknown-run",
    }
    for address, kind in addresses.items():
        answer = sqlite_client.get(address)
        assert (answer.status_code, answer.json()["type"]) == (404, f"/problems/{kind}")


@pytest.mark.parametrize("params", [{"units": "furlongs"}, {"members": "perhaps"}])
def test_a_parameter_that_cannot_be_used_is_named(sqlite_client: TestClient, params: dict[str, str]) -> None:
    answer = sqlite_client.get(LATEST, params=params)
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert (fault["location"], fault["field"]) == ("query", *params)


def test_a_stored_value_that_is_not_a_number_is_never_reported(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    broken = factories.forecast()
    series = [replace(one, values=np.full_like(one.values, np.nan)) for one in broken.series]
    fill_records(sqlite_database, replace(broken, series=series))
    assert sqlite_client.get(LATEST).status_code == 500


@pytest.mark.parametrize(("chosen", "warned"), [(True, True), (False, False)])
def test_a_run_with_an_old_t0_is_marked_in_every_answer(
    sqlite_database: Database, sqlite_client: TestClient, chosen: bool, warned: bool
) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        old = {"t0": day("2008-07-26"), "t0_age_days": 66, "t0_stale": chosen}
        run = a_run(session, version, factories.forecast(), horizon_days=3, **old)
    of_basin = sqlite_client.get(f"/v1/runs/{run.id}/basins/{BASIN}").json()
    of_run = sqlite_client.get(f"/v1/runs/{run.id}").json()
    page = sqlite_client.get(f"/basins/{BASIN}?run={run.id}").text
    assert of_basin["t0_age_days"] == of_run["t0_age_days"] == 66
    for output in (of_basin.get("t0_note"), of_run["t0_note"], page):
        assert ("66 days before the day of issue" in (output or "")) is warned


@pytest.mark.parametrize(("kind", "remedy"), [("observed", "--weather supplied"), ("climatology", "freshet feeds")])
def test_the_note_on_an_old_t0_names_the_archive_that_ends(
    sqlite_database: Database, kind: ForcingKind, remedy: str
) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        cutoff = day("2008-07-29" if kind == "observed" else "2008-07-26")
        old = {"t0": day("2008-07-26"), "t0_age_days": 66, "t0_stale": True, "forcing_cutoff": cutoff}
        note = a_run(session, version, factories.forecast(), horizon_days=3, forcing_kind=kind, **old).t0_note
    assert note is not None
    assert "T0 is 2008-07-26, 66 days before the day of issue" in note
    assert remedy in note
    assert ("ends on 2008-07-29" in note) is (kind == "observed")


@pytest.mark.parametrize(
    ("t0", "age", "stale"),
    [("2008-09-30", 1, False), ("2008-09-28", 3, False), ("2008-09-27", 4, True), ("2007-09-30", 367, True)],
)
def test_a_latest_forecast_reports_its_age(
    sqlite_database: Database, sqlite_client: TestClient, t0: str, age: int, stale: bool
) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        a_run(session, version, factories.forecast(), horizon_days=3, t0=day(t0))
    output = sqlite_client.get(LATEST).json()
    assert (output["age_days"], output["stale"]) == (age, stale)


def test_the_tag_of_a_latest_forecast_changes_with_its_age(sqlite_database: Database, sqlite: str) -> None:
    run = fill_records(sqlite_database, factories.forecast())
    addresses = (LATEST, f"/v1/forecasts?basins={BASIN}", f"/v1/runs/{run}/basins/{BASIN}")
    tags = []
    for hours in (0, 1, 24):
        with serving(sqlite, NOW + timedelta(hours=hours)) as client:
            tags.append([client.get(address).headers["ETag"] for address in addresses])
    today, later_today, tomorrow = tags
    assert today == later_today
    assert [old == new for old, new in zip(today, tomorrow, strict=True)] == [False, False, True]


def test_a_forecast_reports_the_basis_of_its_quantiles_and_the_age_of_its_state(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, factories.forecast())

    answer = sqlite_client.get(LATEST).json()

    assert (answer["quantiles_of"], answer["spin_up_days"]) == ("members", 9999)
    assert "spin_up_note" not in answer


def test_a_run_of_the_first_year_warns_that_its_flow_is_too_low(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    run = fill_records(sqlite_database, factories.forecast(spin_up_days=365))

    answer = sqlite_client.get(f"/v1/runs/{run}/basins/{BASIN}").json()

    assert answer["spin_up_days"] == 365
    assert "0.25 until day 61" in answer["spin_up_note"]
