"""Levels of discharge over the API: of the record, and set."""

from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from hydrology.extremes.levels import names, of_record
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.series import series_writer
from records.simulations import simulated_series
from testing.records import BASIN, NOW, a_promoted_version, a_source, daily
from tests.app.basins.test_user_basins import MILL
from tests.app.conftest import bearer
from tests.records.alerts.test_thresholds import a_record
from tests.records.simulations.test_simulated_levels import levels_of, statistics

ADDRESS = f"/v1/basins/{BASIN}/thresholds"
M3 = 0.3048**3
AREA_M2 = 2.0e9


def fill_records(database: Database, years: int = 12) -> dict[str, float]:
    """Store a record in cubic feet per second, and return its levels in that unit by name."""
    record = a_record(years)
    with database.transaction() as session:
        basins.upsert(session, Basin(BASIN, areas={"area_gages2": AREA_M2}))
        series_writer.write(session, BASIN, "usgs", "discharge", record, a_source(session), NOW)
    named = [one for statistic in of_record(record.values, record.days) for one in statistic.levels]
    return {one.name: one.level.value for one in named if one.level.value is not None}


def reported(result: dict[str, Any], field: str = "discharge") -> dict[str, Any]:
    return {level["name"]: level[field] for statistic in result["record"] for level in statistic["levels"]}


def test_the_levels_of_a_record_are_reported_with_the_years_they_rest_on(
    database: Database, client: TestClient
) -> None:
    levels = fill_records(database)
    result = client.get("/v1/basins/01013500/thresholds").json()
    assert (result["basin"], result["product"], result["units"], result["area"]) == (BASIN, "usgs", "m3/s", None)
    assert list(reported(result)) == names()
    assert reported(result) == pytest.approx({name: value * M3 for name, value in levels.items()}, rel=1e-6)
    frequent, floods, bulletin, low, duration = result["record"]
    assert (frequent["kind"], frequent["direction"], frequent["years"]) == ("frequent-flood", "rising", 12)
    assert [level["return_period_years"] for level in frequent["levels"]] == [0.5, 1]
    assert (bulletin["method"], bulletin["low_outliers"], floods["low_outliers"]) == ("bulletin-17c", 0, None)
    assert [statistic["comparison"] for statistic in result["record"]] == [False, False, True, False, False]
    assert "expected moments" in bulletin["interval"]
    assert bulletin["levels"][4]["low"] < bulletin["levels"][4]["discharge"] < bulletin["levels"][4]["high"]
    assert floods["trend"] == bulletin["trend"]
    assert (floods["trend"]["adjusted"], floods["trend"]["last_year"], low["trend"]) == (False, 2002, None)
    assert (floods["kind"], floods["method"], floods["direction"]) == ("flood", "gev", "rising")
    assert "not instantaneous peaks" in floods["what"]
    assert floods["interval"].startswith("90%")
    assert (floods["years"], floods["left_out_years"], floods["dry_years"]) == (12, 0, 0)
    assert floods["period"] == {"first_day": "1990-10-01", "last_day": "2002-09-30"}
    assert (low["kind"], low["direction"], low["years"], low["left_out_years"]) == ("low-flow", "falling", 11, 2)
    ten = floods["levels"][2]
    assert (ten["name"], ten["return_period_years"], ten["reason"]) == ("gev-10", 10, None)
    assert ten["low"] < ten["discharge"] < ten["high"]
    assert (duration["interval"], duration["levels"][0]["low"]) == (None, None)
    assert duration["levels"][0]["reason"] is not None
    assert {"credit", "area", "record.interval"} <= result["missing"].keys()
    assert "record.period" not in result["missing"]


@pytest.mark.parametrize(
    ("asked", "factor"),
    [("units=cfs", 1.0), ("units=mm/day&area=area_gages2", M3 * 86_400_000 / AREA_M2), ("units=m3/s", M3)],
)
def test_every_level_is_reported_in_the_unit_that_is_asked_for(
    sqlite_database: Database, sqlite_client: TestClient, asked: str, factor: float
) -> None:
    levels = fill_records(sqlite_database)
    header = bearer(sqlite_database, "admin")
    sqlite_client.put(f"{ADDRESS}/bankfull", json={"discharge": 210.0}, headers=header)
    result = sqlite_client.get(f"{ADDRESS}?{asked}").json()
    assert reported(result) == pytest.approx({name: value * factor for name, value in levels.items()}, rel=1e-6)
    (fixed,) = result["fixed"]
    assert fixed["discharge"] == pytest.approx(210.0 * factor / M3, rel=1e-6)
    assert (result["area"] is not None) == ("area=" in asked)


@pytest.mark.parametrize(
    ("asked", "status", "mend"),
    [
        ("area=area_gages2", 422, "leave it out"),
        ("units=mm/day&area=daymet", 404, "area_gages2"),
        ("units=acre-ft", 422, "units"),
        ("period=10", 422, "use units, area"),
    ],
)
def test_levels_that_cannot_be_reported_are_refused_with_the_remedy(
    sqlite_database: Database, sqlite_client: TestClient, asked: str, status: int, mend: str
) -> None:
    fill_records(sqlite_database)
    answer = sqlite_client.get(f"{ADDRESS}?{asked}")
    assert answer.status_code == status
    assert mend in answer.json()["detail"]


def test_a_record_of_depths_needs_an_area_for_flows(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN, areas={"outline": AREA_M2}))
        series_writer.write(session, BASIN, "usgs", "discharge", daily("2001-01-01", 1.0), a_source(session), NOW)
    refused = sqlite_client.get(ADDRESS).json()["errors"][0]
    assert (refused["field"], "(outline)" in refused["detail"]) == ("area", True)
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN, areas={"area_gages2": AREA_M2}))
    assert sqlite_client.get(ADDRESS).json()["area"] == {"name": "area_gages2", "km2": 2000.0}
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN, areas={"area_gages2": AREA_M2, "daymet": 2 * AREA_M2}))
    assert sqlite_client.get(ADDRESS).json()["area"] == {"name": "daymet", "km2": 4000.0}
    assert sqlite_client.get(f"{ADDRESS}?units=mm/day").status_code == 200
    assert sqlite_client.get(f"{ADDRESS}?area=area_gages2").json()["area"] == {"name": "area_gages2", "km2": 2000.0}


@pytest.mark.parametrize("years", [0, 9])
def test_too_short_a_record_has_no_level_and_gives_the_reason(
    sqlite_database: Database, sqlite_client: TestClient, years: int
) -> None:
    if years:
        fill_records(sqlite_database, years)
    else:
        with sqlite_database.transaction() as session:
            basins.upsert(session, Basin(BASIN))
    result = sqlite_client.get(ADDRESS).json()
    assert list(reported(result)) == names()
    assert set(reported(result).values()) == {None}
    assert reported(result, "reason")["gev-2"] == f"Years with enough days: {years}. A level needs 10."
    assert ("record.period" in result["missing"]) == (not years)


def test_a_copy_is_good_until_the_record_or_a_level_changes(database: Database, client: TestClient) -> None:
    fill_records(database)
    first = client.get(ADDRESS)
    assert first.headers["Cache-Control"] == "public, max-age=60"
    held = {"If-None-Match": first.headers["ETag"]}
    assert client.get(ADDRESS, headers=held).status_code == 304
    assert client.get(f"{ADDRESS}?units=cfs", headers=held).status_code == 200
    client.put(f"{ADDRESS}/bankfull", json={"discharge": 210.0}, headers=bearer(database, "admin"))
    second = client.get(ADDRESS, headers=held)
    assert second.status_code == 200
    with database.transaction() as session:
        higher = daily("2002-01-01", 1e6, unit="cfs")
        series_writer.write(session, BASIN, "usgs", "discharge", higher, a_source(session, "later"), NOW)
    revised = client.get(ADDRESS, headers={"If-None-Match": second.headers["ETag"]})
    assert reported(revised.json())["gev-50"] != reported(second.json())["gev-50"]


def test_an_unknown_basin_has_no_thresholds(sqlite_database: Database, sqlite_client: TestClient) -> None:
    header = bearer(sqlite_database, "admin")
    for answer in (
        sqlite_client.get(ADDRESS),
        sqlite_client.put(f"{ADDRESS}/bankfull", json={"discharge": 1.0}, headers=header),
        sqlite_client.delete(f"{ADDRESS}/bankfull", headers=header),
    ):
        assert (answer.status_code, answer.json()["type"]) == (404, "/problems/unknown-basin")


def test_the_owner_of_a_basin_sets_a_level(database: Database, client: TestClient) -> None:
    maker = bearer(database)
    client.put("/v1/basins/OWN-mill", json=MILL, headers=maker)
    address = "/v1/basins/OWN-mill/thresholds"
    created = client.put(f"{address}/bankfull", json={"discharge": 12.5}, headers=maker)
    assert created.status_code == 201
    assert created.json()["set_at"].startswith(f"{NOW:%Y-%m-%d}")  # by the service's clock
    own = {name: value for name, value in created.json().items() if value is not None}
    assert own == {
        "name": "bankfull",
        "discharge": 12.5,
        "direction": "rising",
        "set_at": created.json()["set_at"],
        "stage": created.json()["stage"],
    }
    again = client.put(f"{address}/bankfull", json={"discharge": 12.5}, headers=maker)
    assert (again.status_code, again.json()) == (200, created.json())
    low = client.put(f"{address}/bankfull", json={"discharge": 2, "direction": "falling"}, headers=maker)
    assert (low.status_code, low.json()["direction"]) == (200, "falling")
    assert client.get(address).json()["fixed"] == [low.json()]
    assert client.delete(f"{address}/bankfull", headers=maker).status_code == 204
    assert client.get(address).json()["fixed"] == []
    gone = client.delete(f"{address}/bankfull", headers=maker)
    assert (gone.status_code, gone.json()["type"]) == (404, "/problems/unknown-threshold")


def test_another_key_cannot_set_a_level_of_a_basin(sqlite_database: Database, sqlite_client: TestClient) -> None:
    maker, other = bearer(sqlite_database), bearer(sqlite_database, name="another office")
    admin = bearer(sqlite_database, "admin", "chief")
    sqlite_client.put("/v1/basins/OWN-mill", json=MILL, headers=maker)
    fill_records(sqlite_database)
    own, published = "/v1/basins/OWN-mill/thresholds/bankfull", f"{ADDRESS}/bankfull"
    for address in (own, published):
        assert sqlite_client.put(address, json={"discharge": 1.0}, headers=admin).status_code == 201
        for refused in (
            sqlite_client.put(address, json={"discharge": 9.0}, headers=other),
            sqlite_client.delete(address, headers=other),
        ):
            assert (refused.status_code, refused.json()["type"]) == (403, "/problems/not-your-basin")
        assert sqlite_client.get(address.removesuffix("/bankfull")).json()["fixed"][0]["discharge"] == 1.0
    ann = bearer(sqlite_database, "forecaster", "Ann")
    assert sqlite_client.put(published, json={"discharge": 2.0}, headers=ann).status_code == 200
    assert sqlite_client.delete(published, headers=ann).status_code == 204
    assert sqlite_client.put(own, json={"discharge": 9.0}, headers=ann).status_code == 403
    frequency = sqlite_client.put(ADDRESS.replace("thresholds", "flood-frequency"), json={}, headers=ann)
    assert frequency.status_code == 403


@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("bankfull", {"discharge": 0}, "discharge"),
        ("bankfull", {"discharge": -1.0}, "discharge"),
        ("bankfull", {"discharge": 1e9}, "discharge"),
        ("bankfull", {"discharge": "7"}, "discharge"),
        ("bankfull", {}, "discharge"),
        ("bankfull", {"discharge": 7, "direction": "up"}, "direction"),
        ("bankfull", {"discharge": 7, "unit": "l/s"}, "unit"),
        ("bank full", {"discharge": 7}, "threshold"),
    ],
)
def test_an_invalid_level_is_refused(
    sqlite_database: Database, sqlite_client: TestClient, name: str, body: dict[str, Any], field: str
) -> None:
    fill_records(sqlite_database)
    answer = sqlite_client.put(f"{ADDRESS}/{name}", json=body, headers=bearer(sqlite_database, "admin"))
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)
    assert sqlite_client.get(ADDRESS).json()["fixed"] == []


def test_a_level_above_any_river_is_refused_in_its_unit(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database)
    level = {"discharge": 1e7, "unit": "m3/s"}
    answer = sqlite_client.put(f"{ADDRESS}/bankfull", json=level, headers=bearer(sqlite_database, "admin"))
    refusal = "bankfull: 1e+07 m³/s is above 1e+06: correct it or its unit."
    assert (answer.status_code, answer.json()["detail"]) == (422, refusal)


def test_the_name_of_a_level_of_the_record_is_taken(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database)
    answer = sqlite_client.put(f"{ADDRESS}/gev-10", json={"discharge": 7}, headers=bearer(sqlite_database, "admin"))
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/reserved-name")


def test_levels_that_are_reported_are_finite_for_a_river_of_floods_and_dust(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    record = a_record(15)
    values = np.where(record.values > 2000, record.values, 0)
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN))
        flow = daily("1990-10-01", *values, unit="cfs")
        series_writer.write(session, BASIN, "usgs", "discharge", flow, a_source(session), NOW)
    result = sqlite_client.get(ADDRESS).json()
    assert (reported(result)["7q10"], reported(result)["exceeded-90"]) == (0, 0)
    assert result["record"][3]["dry_years"] == result["record"][3]["years"] == 14
    assert "have any flow: the level is 0" in str(reported(result, "reason")["7q10"])
    assert all(reported(result)[name] for name in ("gev-2", "lp3-50"))


def store_model(database: Database, factor: float = 0.5) -> str:
    """Store the levels of the current version of the basin, whose flow is this multiple of the record, in m3/s."""
    with database.transaction() as session:
        version = a_promoted_version(session)
        simulated_series.replace(session, levels_of(session, version, statistics=statistics(factor=factor)), {})
    return version


def test_the_levels_of_the_current_version_stand_beside_those_of_the_record(
    database: Database, client: TestClient
) -> None:
    levels = fill_records(database)
    version = store_model(database)
    result = client.get(ADDRESS).json()
    model = result["model"]
    of_model = reported({"record": model["levels"]})
    assert of_model == pytest.approx({f"model-{name}": 0.5 * value for name, value in levels.items()}, rel=1e-5)
    assert (model["version"], model["area"]) == (version, {"name": "maurer", "km2": 2000.0})
    assert model["period"] == {"first_day": "1990-10-01", "last_day": "2002-09-30"}
    assert (model["levels"][0]["years"], model["attributes_assumed"]) == (12, ["soil_porosity"])
    assert "model" not in result["missing"]
    mean, low_flow = model["signatures"]
    assert (mean["name"], mean["units"], model["signatures_tested_in"]) == ("mean", "m3/s", 400)
    per_depth = 2.0e9 / 86_400_000  # m3/s for each mm/day
    shown = [mean[part] for part in ("simulated", "estimate", "low", "high")]
    assert shown == pytest.approx([per_depth * of for of in (1.2, 1.1, 0.8, 1.6)], rel=1e-5)
    assert mean["typical_error_percent"] == pytest.approx(10)
    assert (low_flow["what"], low_flow["estimate"]) == ("Flow exceeded on 95 % of days", None)
    assert list(reported(result)) == names()
    depths = client.get(f"{ADDRESS}?units=mm/day&area=area_gages2").json()["model"]["levels"][0]["levels"][0]
    first = model["levels"][0]["levels"][0]
    assert depths["discharge"] == pytest.approx(first["discharge"] * 86_400_000 / AREA_M2, rel=1e-5)


def test_a_promotion_changes_the_models_levels(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database)
    assert sqlite_client.get(ADDRESS).json()["missing"]["model"] == "No model version is current for the basin."
    first = store_model(sqlite_database)
    held = {"If-None-Match": sqlite_client.get(ADDRESS).headers["ETag"]}
    assert sqlite_client.get(ADDRESS, headers=held).status_code == 304
    with sqlite_database.transaction() as session:
        a_promoted_version(session)
    without = sqlite_client.get(ADDRESS, headers=held)
    assert (without.status_code, without.json()["model"]) == (200, None)
    assert "freshet thresholds simulate" in without.json()["missing"]["model"]
    second = store_model(sqlite_database, 2.0)
    assert sqlite_client.get(ADDRESS).json()["model"]["version"] == second != first


def test_a_regional_skew_and_the_trend_of_floods_are_set_by_the_owner_of_a_basin(
    database: Database, client: TestClient
) -> None:
    fill_records(database, 30)
    falling = a_record(30)
    years = np.arange(len(falling.values)) / 365.25
    with database.transaction() as session:
        lower = daily("1990-10-01", *(falling.values * 0.9**years), unit="cfs")
        series_writer.write(session, BASIN, "usgs", "discharge", lower, a_source(session, "later"), NOW)
    before = client.get(ADDRESS)
    address, admin = f"/v1/basins/{BASIN}/flood-frequency", bearer(database, "admin")
    asked = {"regional_skew": 0.5, "regional_skew_error": 0.05, "trend_adjusted": True}
    answer = client.put(address, json=asked, headers=admin)
    assert answer.json() == asked | {"set_at": answer.json()["set_at"], "missing": {}}
    assert client.put(address, json=asked, headers=admin).json() == answer.json()
    after = client.get(ADDRESS, headers={"If-None-Match": before.headers["ETag"]})
    assert after.json()["flood_frequency"] == answer.json()
    assert after.json()["record"][1]["trend"]["adjusted"]
    for name in ("gev-10", "lp3-10"):
        assert reported(after.json())[name] < 0.7 * reported(before.json())[name]
    assert reported(after.json())["7q10"] == reported(before.json())["7q10"]
    assert [statistic["comparison"] for statistic in after.json()["record"]] == [False, True, False, False, False]
    weighted = client.put(address, json=asked | {"trend_adjusted": False}, headers=admin)
    assert weighted.status_code == 200
    last = client.get(ADDRESS).json()
    assert reported(last)["gev-10"] == reported(before.json())["gev-10"]
    assert reported(last)["lp3-50"] != reported(before.json())["lp3-50"]
    for wrong in ({"regional_skew": 0.5}, {"regional_skew": 9.0, "regional_skew_error": 0.1}):
        assert client.put(address, json=wrong, headers=admin).status_code == 422
    assert client.put(address, json={}, headers=bearer(database)).status_code == 403
