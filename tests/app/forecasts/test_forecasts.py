"""The latest forecast and any run, from stored rows to the answer."""

from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, event
from starlette.testclient import TestClient

from app.forecasts.batch import MOST_BASINS
from app.forecasts.example import FORECAST
from app.forecasts.schemas import BasinForecast
from hydrology.base.calendar import day
from hydrology.base.credit import Credit
from hydrology.uncertainty.error_model import LEVELS as ALL_LEVELS
from records.database.engine import Database
from records.runs import runs
from records.runs.run_summary import LEARNT_FROM, RunSummary
from records.runs.runs import BasinResult
from records.versions import promotions
from tests.app import factories as made
from tests.app.conftest import serving
from tests.records.factories import BASIN, NOW, a_basin, a_promoted_version, a_run, a_version, not_issued

LATEST = f"/v1/basins/{BASIN}/forecasts/latest"


def keep(database: Database, *results: BasinResult, conserving: bool = True, basin: str = BASIN) -> str:
    """Keep a run of a promoted version and return its id."""
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session, basin), conserving=conserving)
        said = {"horizon_days": 3, "forcing_kind": "observed", "t0_age_days": 1, "t0_stale": False}
        return a_run(session, version, *results, **said).id


def test_the_latest_forecast_says_what_it_is(database: Database, client: TestClient) -> None:
    run = keep(database, made.forecast())
    answer = client.get("/v1/basins/01013500/forecasts/latest")
    assert answer.status_code == 200
    said = answer.json()
    assert (said["basin"], said["basin_kind"], said["run"]) == (BASIN, "usgs", run)
    assert (said["t0"], said["horizon_days"], said["purpose"], said["status"]) == (
        *("2008-09-30", 3, "operational", "issued"),
    )
    assert said["issued_at"] == said["available_at"] == "2008-10-01T06:00:00Z"
    assert said["forcing_kind"] == "observed"
    assert said["forcing_note"].startswith("A hindcast")
    assert said["filled_forcing"] == {"tmax": 2}
    assert (said["seen_in_training"], said["outside_training"]) == (False, ["elev_mean"])
    assert (said["trained_on"], said["training_note"]) == ("daymet", "The version learnt from others.")
    assert said["area"] == {"name": "maurer_extended", "km2": pytest.approx(2303.988)}
    assert said["time"] == ["2008-10-01", "2008-10-02", "2008-10-03"]
    assert said["lead_days"] == [1, 2, 3]
    assert said["provenance"]["program"] == "torch 2.13.0 for AVX2, recurrence avx2"
    assert said["provenance"]["parent_state"] == {"day": "2008-09-29", "hash": "parent"}
    assert (said["superseded_by"], said["missing"]) == (None, {})
    assert "members" not in said
    assert "cells_at_t0" not in said


@pytest.mark.parametrize(
    ("units", "per_mm"),
    [
        ("mm/day", 1.0),
        ("m3/s", made.AREA_M2 / 1000 / 86_400),
        ("cfs", made.AREA_M2 / 1000 / 86_400 / 0.3048**3),
    ],
)
def test_discharge_is_told_in_the_unit_asked_for(
    sqlite_database: Database, sqlite_client: TestClient, units: str, per_mm: float
) -> None:
    keep(sqlite_database, made.forecast())
    said = sqlite_client.get(LATEST, params={"units": units, "members": True}).json()
    assert said["units"]["discharge"] == said["units"]["members"] == units
    assert list(said["discharge"]) == ["p05", "p10", "p25", "median", "p75", "p90", "p95"]
    expected = np.quantile(made.DISCHARGE, made.LEVELS, axis=0) * per_mm
    np.testing.assert_allclose(list(said["discharge"].values()), expected, rtol=1e-6)
    np.testing.assert_allclose([said["members"][label] for label in made.MEMBERS], made.DISCHARGE * per_mm, rtol=1e-6)
    np.testing.assert_allclose(said["precipitation"], made.PRECIPITATION)
    np.testing.assert_allclose(said["loss"], made.LOSS.mean(axis=0))


def test_calibrated_discharge_is_told_with_what_it_rests_on(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    run = keep(sqlite_database, made.forecast())
    said = sqlite_client.get(f"/v1/runs/{run}/basins/{BASIN}", params={"units": "mm/day"}).json()
    assert list(said["calibrated"]) == ["p01", "p05", "p10", "p25", "median", "p75", "p90", "p95", "p99"]
    np.testing.assert_allclose(said["calibrated"]["median"], made.CALIBRATED[ALL_LEVELS.index(0.5)])
    np.testing.assert_allclose(said["calibrated"]["p05"], made.CALIBRATED[ALL_LEVELS.index(0.05)])
    assert said["units"]["calibrated"] == "mm/day"
    assert said["calibration"] == {
        "hash": "error model",
        "weather": "observed",
        "fitted_on": "1980-10-01..1989-09-30",
        "own_days": 3200,
        "last_observed_day": "2008-09-29",
        "last_observed": 1.25,
    }
    per_mm = made.AREA_M2 / 1000 / 86_400
    flows = sqlite_client.get(LATEST).json()
    assert flows["calibration"]["last_observed"] == pytest.approx(1.25 * per_mm, rel=1e-6)
    np.testing.assert_allclose(flows["calibrated"]["p99"], np.array(said["calibrated"]["p99"]) * per_mm, rtol=1e-5)


def test_without_an_error_model_calibrated_is_null_with_its_reason(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    result = made.forecast()
    reason = "Version v has no error model."
    summary = replace(made.SUMMARY, calibration=None, calibration_reason=reason)
    series = [series for series in result.series if series.variable != "discharge_calibrated"]
    keep(sqlite_database, replace(result, basin=replace(result.basin, summary=summary), series=series))
    said = sqlite_client.get(LATEST).json()
    assert (said["calibrated"], said["calibration"]) == (None, None)
    lacking = ("calibrated", "calibration", "normal.calibrated_percent_of_normal")
    assert said["missing"] == dict.fromkeys(lacking, reason)
    assert said["normal"]["percent_of_normal"] is not None


@pytest.mark.parametrize("units", ["mm/day", "m3/s"])
def test_a_forecast_is_told_beside_what_is_normal(
    sqlite_database: Database, sqlite_client: TestClient, units: str
) -> None:
    keep(sqlite_database, made.forecast())
    said = sqlite_client.get(LATEST, params={"units": units}).json()
    per_mm = 1 if units == "mm/day" else made.AREA_M2 / 1000 / 86_400
    np.testing.assert_allclose(said["normal"]["discharge"], made.NORMAL * per_mm, rtol=1e-6)
    assert said["units"]["normal"] == units
    median, calibrated = np.median(made.DISCHARGE, axis=0), made.CALIBRATED[ALL_LEVELS.index(0.5)]
    percents = [100 * flow.sum() / made.NORMAL.sum() for flow in (median, calibrated)]
    told = [said["normal"][name] for name in ("percent_of_normal", "calibrated_percent_of_normal")]
    assert told == pytest.approx(percents, rel=1e-5)


def test_a_dry_normal_has_no_percent(sqlite_database: Database, sqlite_client: TestClient) -> None:
    keep(sqlite_database, with_normal(np.zeros(3, np.float32)))
    said = sqlite_client.get(LATEST).json()
    names = ("percent_of_normal", "calibrated_percent_of_normal")
    assert said["normal"] == {"discharge": [0.0, 0.0, 0.0]} | dict.fromkeys(names)
    assert said["missing"] == {f"normal.{name}": "The normal is 0." for name in names}


@pytest.mark.parametrize(("told", "reason"), [("No discharge of it is kept.",) * 2, (None, "The run did not keep it.")])
def test_without_a_normal_its_reason_is_told(
    sqlite_database: Database, sqlite_client: TestClient, told: str | None, reason: str
) -> None:
    keep(sqlite_database, with_normal(None, normal_mm=None, normal_reason=told))
    said = sqlite_client.get(LATEST).json()
    assert (said["normal"], said["missing"]) == (None, {"normal": reason})


def with_normal(normal: np.ndarray[Any, Any] | None, **summary: Any) -> BasinResult:
    """Return a forecast with another normal, or none."""
    whole = made.forecast()
    series = [
        one if one.variable != runs.NORMAL else replace(one, values=made.NORMAL if normal is None else normal)
        for one in whole.series
        if one.variable != runs.NORMAL or normal is not None
    ]
    return replace(whole, series=series, basin=replace(whole.basin, summary=replace(made.SUMMARY, **summary)))


def test_flow_is_in_cubic_metres_per_second_unless_asked(sqlite_database: Database, sqlite_client: TestClient) -> None:
    keep(sqlite_database, made.forecast())
    assert sqlite_client.get(LATEST).json() == sqlite_client.get(LATEST, params={"units": "m3/s"}).json()


def test_storage_is_the_mean_and_members_bring_their_cells(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    keep(sqlite_database, made.forecast())
    said = sqlite_client.get(LATEST, params={"members": True}).json()
    np.testing.assert_allclose(said["storage"]["total"], made.STORAGE.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(said["storage"]["snow"], made.SNOW.mean(axis=0), rtol=1e-6)
    assert said["cells_at_t0"] == {"0": [100.0, 50.0, 25.0, 0.0], "1": [90.0, 60.0, 20.0, 5.0]}


def test_the_water_balance_closes_for_every_member_and_the_mean(database: Database, client: TestClient) -> None:
    keep(database, made.forecast())
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
    assert balance["mean"]["discharge"] == pytest.approx(-made.DISCHARGE.sum() / 2)
    assert sum(balance["mean"].values()) == pytest.approx(0, abs=1e-5)


def test_no_snow_is_null_with_its_reason(sqlite_database: Database, sqlite_client: TestClient) -> None:
    keep(sqlite_database, made.forecast(snow=False))
    said = sqlite_client.get(LATEST).json()
    assert said["storage"]["snow"] is None
    assert len(said["storage"]["total"]) == 3
    assert said["missing"] == dict.fromkeys(("storage.snow", "storage.snow_read"), made.NO_REFERENCE)


def test_a_version_that_does_not_conserve_mass_has_no_water_account(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    keep(sqlite_database, made.forecast(conserving=False), conserving=False)
    said = sqlite_client.get(LATEST, params={"members": True}).json()
    assert len(said["discharge"]["median"]) == 3
    assert (said["storage"], said["loss"], said["water_balance"]) == (None, None, None)
    assert set(said["missing"]) == {"storage", "loss", "water_balance"}
    assert all("does not conserve mass" in reason for reason in said["missing"].values())
    assert "cells_at_t0" not in said


def test_a_run_from_before_it_was_kept_does_not_say_what_was_learnt(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    keep(sqlite_database, made.forecast(summary=RunSummary()))
    for address in (LATEST, f"/v1/basins/{BASIN}/storage", f"/v1/basins/{BASIN}/water-balance"):
        said = sqlite_client.get(address).json()
        for name in LEARNT_FROM:
            assert said[name] is None
            assert said["missing"][name] == "The run did not keep it."


def test_every_answer_of_a_run_says_whose_its_weather_is(sqlite_database: Database, sqlite_client: TestClient) -> None:
    credit = Credit("Weather data by Open-Meteo.com.", "CC BY 4.0")
    keep(sqlite_database, made.forecast(summary=RunSummary(product_credit=credit)))
    for address in (LATEST, f"/v1/basins/{BASIN}/storage", f"/v1/basins/{BASIN}/water-balance"):
        assert sqlite_client.get(address).json()["product_credit"] == asdict(credit)


def test_without_an_area_only_depths_can_be_told(sqlite_database: Database, sqlite_client: TestClient) -> None:
    keep(sqlite_database, made.forecast(area_m2=None, area_name=None))
    refused = sqlite_client.get(LATEST)
    assert refused.status_code == 422
    assert refused.json()["type"] == "/problems/no-area"
    assert "units=mm/day" in refused.json()["detail"]
    said = sqlite_client.get(LATEST, params={"units": "mm/day"}).json()
    assert said["area"] is None
    assert "area" in said["missing"]


def test_a_synthetic_basin_is_told_synthetic(sqlite_database: Database, sqlite_client: TestClient) -> None:
    keep(sqlite_database, made.forecast("SYNTH-01"), basin="SYNTH-01")
    assert sqlite_client.get("/v1/basins/SYNTH-01/forecasts/latest").json()["basin_kind"] == "synthetic"


def test_a_newer_run_that_was_withheld_is_told(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        older = a_run(session, version, made.forecast(), horizon_days=3).id
    first = client.get(LATEST)
    with database.transaction() as session:
        newer = a_run(session, version, made.open_forecast(), horizon_days=3, issued_at=NOW).id
    second = client.get(LATEST, headers={"If-None-Match": first.headers["ETag"]})
    assert second.status_code == 200
    said = second.json()
    assert said["run"] == older
    assert said["superseded_by"] == {
        "run": newer,
        "status": "withheld",
        "reason": "The ledger does not close for member 1.",
    }
    assert first.json() == said | {"superseded_by": None}


def test_a_withheld_run_has_no_values_but_its_ledger(database: Database, client: TestClient) -> None:
    run = keep(database, made.open_forecast())
    said = client.get(f"/v1/runs/{run}/basins/{BASIN}", params={"members": True}).json()
    reason = "The ledger does not close for member 1."
    assert (said["status"], said["reason"]) == ("withheld", reason)
    of_values = ("discharge", "in_words", "calibrated", "calibration", "normal", "storage", "precipitation", "loss")
    assert said["missing"] == dict.fromkeys(of_values, reason)
    assert all(said[name] is None for name in said["missing"])
    assert "members" not in said
    assert "cells_at_t0" not in said
    balance = said["water_balance"]
    assert (balance["closes"], balance["members"]["0"]["closes"], balance["members"]["1"]["closes"]) == (
        *(False, True, False),
    )


def test_a_failed_run_explains_every_null(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = keep(sqlite_database, not_issued("The forcing ends on 2008-09-12.", status="failed"))
    said = sqlite_client.get(f"/v1/runs/{run}/basins/{BASIN}").json()
    empty = {name for name, value in said.items() if value is None} - {"superseded_by"}
    empty |= {f"provenance.{name}" for name, value in said["provenance"].items() if value is None}
    assert set(said["missing"]) == empty
    assert said["missing"]["discharge"] == "The forcing ends on 2008-09-12."


def test_a_run_asked_for_is_the_latest_answer_kept_for_ever(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    run = keep(sqlite_database, made.forecast())
    by_id, latest = sqlite_client.get(f"/v1/runs/{run}/basins/{BASIN}"), sqlite_client.get(LATEST)
    assert by_id.json() | {"age_days": 1, "stale": False} == latest.json()
    assert by_id.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert latest.headers["Cache-Control"] == "public, max-age=60"


@pytest.mark.parametrize("held", ["{tag}", 'W/"old", {tag}', "W/{tag}", "*"])
def test_a_copy_that_is_still_the_same_is_not_sent_again(
    sqlite_database: Database, sqlite_client: TestClient, held: str
) -> None:
    run, plain = keep(sqlite_database, made.forecast()), {"Accept-Encoding": "identity"}
    for address in (LATEST, f"/v1/runs/{run}/basins/{BASIN}"):
        tag = sqlite_client.get(address, headers=plain).headers["ETag"]
        assert tag.startswith('"')
        again = sqlite_client.get(address, headers={"If-None-Match": held.format(tag=tag), **plain})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
        assert "Cache-Control" in again.headers


def test_each_representation_has_its_own_tag(sqlite_database: Database, sqlite_client: TestClient) -> None:
    keep(sqlite_database, made.forecast())
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
        a_run(session, version, made.forecast(), horizon_days=3, available_at=NOW + timedelta(hours=1))
    answer = sqlite_client.get(LATEST)
    assert answer.status_code == 404
    assert answer.json()["type"] == "/problems/no-forecast"


def test_the_latest_forecast_is_told_as_it_was_at_an_instant(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        first, second = (
            a_run(session, version, made.forecast(), horizon_days=3, t0=day(t0), issued_at=at, available_at=at).id
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


def test_no_forecast_says_how_to_make_one(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        a_promoted_version(session, a_basin(session))
    answer = client.get(LATEST)
    assert answer.status_code == 404
    assert answer.json()["type"] == "/problems/no-forecast"
    assert f"freshet forecast --basin {BASIN}" in answer.json()["detail"]


def test_no_model_no_basin_and_no_run_are_told_apart(sqlite_database: Database, sqlite_client: TestClient) -> None:
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


def test_a_stored_value_that_is_no_number_is_never_told(sqlite_database: Database, sqlite_client: TestClient) -> None:
    broken = made.forecast()
    series = [replace(one, values=np.full_like(one.values, np.nan)) for one in broken.series]
    keep(sqlite_database, replace(broken, series=series))
    assert sqlite_client.get(LATEST).status_code == 500


def test_the_example_is_a_real_answer(sqlite_database: Database, sqlite_client: TestClient) -> None:
    keep(sqlite_database, made.forecast())
    said = sqlite_client.get(LATEST).json()
    assert list(FORECAST) == list(said)
    assert set(FORECAST["discharge"]) == set(said["discharge"])
    example = BasinForecast.model_validate(FORECAST)
    assert example.area is not None
    assert example.water_balance is not None
    assert example.discharge is not None
    assert example.water_balance.since_empty_store is not None
    assert example.water_balance.since_empty_store.days == example.spin_up_days
    for member in example.water_balance.members.values():
        assert sum(member.terms.values()) == pytest.approx(member.residual, abs=1e-9)
        assert abs(member.residual) <= member.tolerance
    depths = {name: sum(flows) / (example.area.km2 / 86.4) for name, flows in example.discharge.items()}
    assert depths["p05"] < -example.water_balance.mean["discharge"] < depths["p95"]


@pytest.mark.parametrize(("chosen", "warned"), [(True, True), (False, False)])
def test_a_run_on_an_old_t0_says_so_wherever_it_is_read(
    sqlite_database: Database, sqlite_client: TestClient, chosen: bool, warned: bool
) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        old = {"t0": day("2008-07-26"), "t0_age_days": 66, "t0_stale": chosen}
        run = a_run(session, version, made.forecast(), horizon_days=3, **old)
    of_basin = sqlite_client.get(f"/v1/runs/{run.id}/basins/{BASIN}").json()
    of_run = sqlite_client.get(f"/v1/runs/{run.id}").json()
    page = sqlite_client.get(f"/basins/{BASIN}?run={run.id}").text
    assert of_basin["t0_age_days"] == of_run["t0_age_days"] == 66
    for said in (of_basin.get("t0_note"), of_run["t0_note"], page):
        assert ("66 days before the day of issue" in (said or "")) is warned


@pytest.mark.parametrize(
    ("t0", "age", "stale"),
    [("2008-09-30", 1, False), ("2008-09-28", 3, False), ("2008-09-27", 4, True), ("2007-09-30", 367, True)],
)
def test_a_latest_forecast_says_how_old_it_is(
    sqlite_database: Database, sqlite_client: TestClient, t0: str, age: int, stale: bool
) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        a_run(session, version, made.forecast(), horizon_days=3, t0=day(t0))
    said = sqlite_client.get(LATEST).json()
    assert (said["age_days"], said["stale"]) == (age, stale)


def test_the_tag_of_a_latest_forecast_changes_with_its_age(sqlite_database: Database, sqlite: str) -> None:
    run = keep(sqlite_database, made.forecast())
    addresses = (LATEST, f"/v1/forecasts?basins={BASIN}", f"/v1/runs/{run}/basins/{BASIN}")
    tags = []
    for hours in (0, 1, 24):
        with serving(sqlite, NOW + timedelta(hours=hours)) as client:
            tags.append([client.get(address).headers["ETag"] for address in addresses])
    today, later_today, tomorrow = tags
    assert today == later_today
    assert [old == new for old, new in zip(today, tomorrow, strict=True)] == [False, False, True]


SECOND, THIRD, FOURTH = "SYNTH-02", "SYNTH-03", "SYNTH-04"


def test_many_basins_are_told_as_each_is_and_none_is_left_out(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        a_promoted_version(session, a_basin(session, SECOND), conserving=False)
        a_basin(session, THIRD)
        promotions.promote(session, version, [a_basin(session, FOURTH)], reason="first", by="someone", at=NOW)
        second = promotions.current(session, [SECOND])[SECOND]
        results = made.forecast(), not_issued("The forcing ends.", FOURTH, "failed")
        a_run(session, version, *results, horizon_days=3)
        a_run(session, second, made.forecast(SECOND, conserving=False), horizon_days=3)
    for units in ("m3/s", "mm/day"):
        asked = f"/v1/forecasts?basins=USGS-00000001,{SECOND},{FOURTH},01013500,{THIRD}&units={units}"
        said = client.get(asked).json()
        alone = [client.get(f"/v1/basins/{basin}/forecasts/latest?units={units}").json() for basin in (SECOND, BASIN)]
        assert said["forecasts"] == alone
    assert [(one["basin"], one["type"]) for one in said["without"]] == [
        ("USGS-00000001", "/problems/unknown-basin"),
        (FOURTH, "/problems/no-forecast"),
        (THIRD, "/problems/no-model"),
    ]
    assert "The forcing ends." in said["without"][1]["reason"]
    assert client.get(f"/v1/basins/{FOURTH}/forecasts/latest").json()["detail"] == said["without"][1]["reason"]


def test_of_many_basins_one_without_an_area_does_not_spoil_the_others(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        promotions.promote(session, version, [a_basin(session, SECOND)], reason="first", by="someone", at=NOW)
        results = made.forecast(), made.forecast(SECOND, area_m2=None, area_name=None)
        a_run(session, version, *results, horizon_days=3)
    said = sqlite_client.get(f"/v1/forecasts?basins={SECOND},{BASIN}").json()
    assert [one["basin"] for one in said["forecasts"]] == [BASIN]
    assert [(one["basin"], one["type"]) for one in said["without"]] == [(SECOND, "/problems/no-area")]
    depths = sqlite_client.get(f"/v1/forecasts?basins={SECOND},{BASIN}&units=mm/day").json()
    assert [one["basin"] for one in depths["forecasts"]] == [SECOND, BASIN]


def test_many_basins_have_a_tag_that_follows_what_is_lacking(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    keep(sqlite_database, made.forecast())
    address = f"/v1/forecasts?basins={BASIN},{SECOND}"
    first = sqlite_client.get(address)
    again = sqlite_client.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    with sqlite_database.transaction() as session:
        a_basin(session, SECOND)
    changed = sqlite_client.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert changed.status_code == 200
    assert changed.json()["without"][0]["type"] == "/problems/no-model"


def test_what_was_rendered_for_one_is_the_same_among_many_until_a_newer_run(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    keep(sqlite_database, made.forecast())
    address = f"/v1/forecasts?basins={BASIN}"
    before = sqlite_client.get(LATEST).json()
    for _ in range(2):
        assert sqlite_client.get(address).json() == {"forecasts": [before], "without": []}
    keep(sqlite_database, made.forecast())
    (after,) = sqlite_client.get(address).json()["forecasts"]
    assert after["run"] != before["run"]
    assert after == sqlite_client.get(LATEST).json()


def test_many_basins_are_as_many_queries_as_a_few(sqlite_database: Database, sqlite_client: TestClient) -> None:
    ids = [f"SYNTH-{number:02}" for number in range(1, 41)]
    with sqlite_database.transaction() as session:
        version = a_version(session).id
        promoted = [a_basin(session, basin) for basin in ids]
        promotions.promote(session, version, promoted, reason="first", by="someone", at=NOW)
        a_run(session, version, *(made.forecast(basin) for basin in ids), horizon_days=3)
    statements: list[str] = []

    def note(*given: Any) -> None:
        statements.append(given[2])

    counts = []
    event.listen(Engine, "before_cursor_execute", note)
    try:
        for asked in (ids[:2], ids):
            statements.clear()
            said = sqlite_client.get("/v1/forecasts", params={"basins": ",".join(asked)}).json()
            assert [one["basin"] for one in said["forecasts"]] == asked
            counts.append(len(statements))
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert counts[0] == counts[1] > 0


def test_one_answer_holds_so_many_basins_and_no_more(sqlite_client: TestClient) -> None:
    ids = [f"SYNTH-{number:03}" for number in range(MOST_BASINS + 1)]
    most = sqlite_client.get("/v1/forecasts", params={"basins": ",".join([*ids[:MOST_BASINS], ids[0]])})
    assert len(most.json()["without"]) == MOST_BASINS
    for basins, said in (
        (",".join(ids), f"at most {MOST_BASINS}"),
        ("fish", "fish"),
        ("", "'' is"),
        (f"{BASIN},,", "'' is"),
    ):
        refused = sqlite_client.get("/v1/forecasts", params={"basins": basins})
        assert refused.status_code == 422
        (fault,) = refused.json()["errors"]
        assert fault["field"] == "basins"
        assert said in fault["detail"]


def test_a_forecast_says_what_its_quantiles_are_of_and_how_old_its_state_is(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    keep(sqlite_database, made.forecast())

    answer = sqlite_client.get(LATEST).json()

    assert (answer["quantiles_of"], answer["spin_up_days"]) == ("members", 9999)
    assert "spin_up_note" not in answer


def test_a_run_of_the_first_year_says_that_its_flow_is_too_low(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    run = keep(sqlite_database, made.forecast(spin_up_days=365))

    answer = sqlite_client.get(f"/v1/runs/{run}/basins/{BASIN}").json()

    assert answer["spin_up_days"] == 365
    assert "0.25 until day 61" in answer["spin_up_note"]


def test_a_run_from_before_it_was_kept_does_not_say_how_old_its_state_was(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    run = keep(sqlite_database, made.forecast(spin_up_days=None))

    answer = sqlite_client.get(f"/v1/runs/{run}/basins/{BASIN}").json()

    assert (answer["spin_up_days"], answer["missing"]["spin_up_days"]) == (None, "The run did not keep it.")
