"""Storage with its snow, the origin of the flow, and the water balance, from the latest run or a given one."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from starlette.testclient import TestClient

from hydrology.base.calendar import Period, day
from records.database.engine import Database
from records.runs import runs
from records.simulations import simulated_thresholds
from records.simulations.simulated_loss import SimulatedLoss
from records.simulations.simulated_storage import SimulatedWater, WaterVariable
from records.verification import scores
from tests.app import factories as made
from tests.app.forecasts.test_forecasts import keep
from tests.records.factories import BASIN, NOW, a_basin, a_promoted_version, a_run, not_issued
from tests.records.simulations.test_model_levels import levels_of

STORAGE, BALANCE = f"/v1/basins/{BASIN}/storage", f"/v1/basins/{BASIN}/water-balance"
ORIGIN, AGE = f"/v1/basins/{BASIN}/origin", f"/v1/basins/{BASIN}/age"
CELLS = scores.SnowCells(
    version_id="",
    basin_id=BASIN,
    product="uaz",
    cells={"0": [1, 3], "1": [2]},
    training_first=day("1999-10-01"),
    training_last=day("2005-09-30"),
    training_r=0.9,
    test_first=day("2005-10-01"),
    test_last=day("2008-09-30"),
    test_r=0.8,
    bias_pct=-12.0,
    evaluated_at=NOW,
)


def judge(database: Database, run: str, **chosen: object) -> None:
    """Keep snow cells of the version of a run."""
    with database.transaction() as session:
        version = runs.get(session, run).version_id
        scores.replace_snow_cells(session, [replace(CELLS, version_id=version, **chosen)])  # type: ignore[arg-type]


def test_storage_is_split_into_snow_and_the_rest(database: Database, client: TestClient) -> None:
    run = keep(database, made.forecast())
    judge(database, run)
    said = client.get(STORAGE).json()
    assert (said["run"], said["time"][0], said["lead_days"]) == (run, "2008-10-01", [1, 2, 3])
    np.testing.assert_allclose(said["total"], made.STORAGE.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(said["snow"], made.SNOW.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(np.add(said["snow"], said["other"]), said["total"], rtol=1e-6)
    (judged,) = said["snow_skill"]
    assert judged["label"] == "not trained on snow"
    assert (judged["product"], judged["cells"]) == ("uaz", {"0": [1, 3], "1": [2]})
    assert (judged["training"]["r"], judged["test"]["r"], judged["bias_pct"]) == (0.9, 0.8, -12.0)
    assert judged["test"]["period"] == {"first_day": "2005-10-01", "last_day": "2008-09-30"}
    assert (said["age_days"], said["stale"]) == (1, False)
    assert set(said["missing"]) == {"normal_total", "normal_snow"}


def keep_past(
    database: Database, run: str, years: int = 20, snow: float = 50.0, loss: SimulatedLoss | None = None
) -> None:
    """Keep a past of the version of a run, in which each day has 100 mm of water, and so many of them snow."""
    days = Period(day("2008-12-31") - 365 * years, day("2008-12-31"))
    with database.transaction() as session:
        version = runs.get(session, run).version_id
        levels = replace(levels_of(session, version), first_day=days.first, last_day=days.last)
        water: dict[WaterVariable, SimulatedWater] = {
            "storage": SimulatedWater(days, np.full(len(days), 100, np.float32)),
            "snow": SimulatedWater(days, np.full(len(days), snow, np.float32), CELLS.cells),
        }
        simulated_thresholds.replace(session, levels, water, loss)


def test_storage_is_told_beside_what_the_version_usually_stores(database: Database, client: TestClient) -> None:
    run = keep(database, made.forecast())
    judge(database, run)
    keep_past(database, run)
    said = client.get(STORAGE).json()
    for name, normal in (("total", 100), ("snow", 50)):
        assert said[f"normal_{name}"]["water"] == [normal] * 3
        percents = 100 * np.array(said[name]) / normal
        np.testing.assert_allclose(said[f"normal_{name}"]["percent_of_normal"], percents, rtol=1e-6)
    assert said["missing"] == {}


def test_of_hardly_any_snow_no_percent_is_told(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = keep(sqlite_database, made.forecast())
    judge(sqlite_database, run)
    keep_past(sqlite_database, run, snow=0.5)
    said = sqlite_client.get(STORAGE).json()
    assert said["normal_snow"] == {"water": [0.5] * 3, "percent_of_normal": [None] * 3}
    assert said["missing"] == {"normal_snow.percent_of_normal": "Of a normal below 1 mm no percent is told."}


@pytest.mark.parametrize("years", [0, 5])
def test_without_a_long_past_the_normal_is_null(
    sqlite_database: Database, sqlite_client: TestClient, years: int
) -> None:
    run = keep(sqlite_database, made.forecast())
    judge(sqlite_database, run)
    if years:
        keep_past(sqlite_database, run, years)
    said = sqlite_client.get(STORAGE).json()
    assert (said["normal_total"], said["normal_snow"]) == (None, None)
    assert set(said["missing"]) == {"normal_total", "normal_snow"}
    reason = "3 of 3 days have fewer than 10 other years" if years else "simulate it (freshet thresholds simulate)"
    assert all(reason in why for why in said["missing"].values())


def test_storage_without_snow_says_why(sqlite_database: Database, sqlite_client: TestClient) -> None:
    keep(sqlite_database, made.forecast(snow=False))
    said = sqlite_client.get(STORAGE).json()
    assert len(said["total"]) == 3
    assert (said["snow"], said["other"], said["snow_skill"]) == (None, None, [])
    for name in ("snow", "snow_read", "other"):
        assert said["missing"][name] == made.NO_REFERENCE
    assert "not judged" in said["missing"]["snow_skill"]


def test_snow_is_told_with_its_spread_its_mapping_and_its_skill(database: Database, client: TestClient) -> None:
    keep(database, made.forecast())
    read = client.get(STORAGE).json()["snow_read"]
    assert read == client.get(f"/v1/basins/{BASIN}/forecasts/latest").json()["storage"]["snow_read"]
    assert read["mapping"] == "basin"
    low, high = np.quantile(made.SNOW, (0.05, 0.95), axis=0)
    np.testing.assert_allclose(read["p05"], low, rtol=1e-6)
    np.testing.assert_allclose(read["p95"], high, rtol=1e-6)
    np.testing.assert_allclose(read["volume_m3"], made.SNOW.mean(axis=0) / 1000 * made.AREA_M2, rtol=1e-6)
    assert read["at_t0"] == {"mean": 75.0, "p05": 60.0, "p95": 90.0, "normal": 50.0, "percent_of_normal": 150.0}
    assert read["skill"] == {
        "version": "v",
        "products": ["uaz"],
        "period": {"first_day": "1989-10-01", "last_day": "1999-09-30"},
        "basins": None,
        "r": 0.96,
        "bias_pct": -4.5,
        "where_none_mm": 7.25,
    }


def test_snow_of_the_regional_mapping_brings_a_second_opinion(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    told = replace(made.RUN_SNOW, mapping="regional", snow17_mm=66.0, skill=None, skill_reason="It is not known.")
    summary = replace(made.SUMMARY, snow=told, snow_normal_mm=None, snow_normal_reason="No past is kept.")
    result = made.forecast()
    keep(sqlite_database, replace(result, basin=replace(result.basin, summary=summary, area_m2=None, area_name=None)))
    said = sqlite_client.get(STORAGE).json()
    assert said["snow_read"]["mapping"] == "regional"
    assert said["snow_read"]["at_t0"]["snow17"] == 66.0
    assert {name: why for name, why in said["missing"].items() if name.startswith("snow_read")} == {
        "snow_read.volume_m3": "The basin had no drainage area when the run was made.",
        "snow_read.skill": "It is not known.",
        "snow_read.at_t0.normal": "No past is kept.",
        "snow_read.at_t0.percent_of_normal": "No past is kept.",
    }


def test_a_run_from_before_the_spread_of_snow_was_kept_says_so(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    result = made.forecast()
    older = [one for one in result.series if one.variable != runs.SNOW_SPREAD]
    summary = replace(made.SUMMARY, snow=None)
    keep(sqlite_database, replace(result, series=older, basin=replace(result.basin, summary=summary)))
    said = sqlite_client.get(STORAGE).json()
    assert len(said["snow"]) == 3
    assert (said["snow_read"], said["missing"]["snow_read"]) == (None, "The run did not keep it.")


def test_the_flow_is_told_by_where_its_water_was_at_t0(database: Database, client: TestClient) -> None:
    run = keep(database, made.forecast())
    said = client.get(ORIGIN).json()
    assert (said["run"], said["time"][0], said["lead_days"], said["missing"]) == (run, "2008-10-01", [1, 2, 3], {})
    np.testing.assert_allclose(said["discharge"], made.DISCHARGE.mean(axis=0), rtol=1e-6)
    mean = {name: said[name]["mean"] for name in ("stored", "snow", "other", "yet_to_fall")}
    np.testing.assert_allclose(np.add(mean["stored"], mean["yet_to_fall"]), said["discharge"], rtol=1e-6)
    np.testing.assert_allclose(np.add(mean["snow"], mean["other"]), mean["stored"], rtol=1e-6)
    for part in ("stored", "yet_to_fall"):
        assert all(np.less_equal(said[part]["p05"], said[part]["mean"]))
        assert all(np.less_equal(said[part]["mean"], said[part]["p95"]))
    assert said["ceiling"] == 175.0
    for form in ("csv", "netcdf", "parquet", "coveragejson"):
        assert b"discharge_snow_mean" in client.get(ORIGIN, params={"format": form}).content


def test_where_no_cells_read_as_snow_what_is_stored_is_one_part(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    keep(sqlite_database, made.forecast(snow=False))
    said = sqlite_client.get(ORIGIN).json()
    assert len(said["stored"]["mean"]) == 3
    assert (said["snow"], said["other"]) == (None, None)
    assert said["missing"] == dict.fromkeys(("snow", "other"), "No reference snow is kept here.")


def test_a_run_from_before_origins_were_kept_says_so(sqlite_database: Database, sqlite_client: TestClient) -> None:
    result = made.forecast()
    keep(sqlite_database, replace(result, series=[one for one in result.series if one.variable != runs.ORIGIN]))
    said = sqlite_client.get(ORIGIN).json()
    assert (said["discharge"], said["ceiling"]) == (None, None)
    assert said["missing"]["stored"] == "The run did not keep it."


def test_the_flow_is_told_by_the_season_in_which_its_water_fell(database: Database, client: TestClient) -> None:
    result = made.forecast()
    run = keep(database, replace(result, series=[*result.series, made.age()]))
    said = client.get(AGE).json()
    assert (said["run"], said["time"][0], said["lead_days"], said["missing"]) == (run, "2008-10-01", [1, 2, 3], {})
    ages = {part["age"]: part for part in said["ages"]}
    names = ["older", "2007-SON", "2008-DJF", "2008-MAM", "2008-JJA", "2008-SON", "yet_to_fall"]
    assert list(ages) == names
    days = [(part["first_day"], part["last_day"]) for part in said["ages"]]
    assert days[0] == (None, "2007-08-31")
    assert days[2] == ("2007-12-01", "2008-02-29")
    assert days[-2:] == [("2008-09-01", "2008-09-30"), ("2008-10-01", None)]
    np.testing.assert_allclose(said["discharge"], made.DISCHARGE.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(np.sum([part["mean"] for part in said["ages"]], axis=0), said["discharge"], rtol=1e-6)
    assert all(np.less_equal(ages["older"]["p05"], ages["older"]["mean"]))
    assert all(np.less_equal(ages["older"]["mean"], ages["older"]["p95"]))
    for form in ("csv", "netcdf", "parquet", "coveragejson"):
        assert b"discharge_2008_djf_mean" in client.get(AGE, params={"format": form}).content


def test_the_page_of_a_basin_draws_the_age_of_the_water_where_the_run_tells_it(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    page = f"/basins/{BASIN}"
    keep(sqlite_database, made.forecast())
    assert f"{BASIN}-age" not in sqlite_client.get(page).text
    with sqlite_database.transaction() as session:
        (run,) = runs.list_runs(session)
        result = made.forecast()
        told = replace(result, series=[*result.series, made.age()])
        a_run(session, run.version_id, told, horizon_days=3, t0=day("2008-09-30"), forcing_kind="observed")
    shown = sqlite_client.get(page).text
    assert f"{BASIN}-age" in shown
    assert "25 % is older, 0 % fell in 2007-SON, 12 % fell in 2008-DJF" in shown


@pytest.mark.parametrize(
    ("kept", "told"),
    [(None, "The run is older than ages of water."), ("The record is too young.", "The record is too young.")],
)
def test_a_run_without_ages_says_why(
    sqlite_database: Database, sqlite_client: TestClient, kept: str | None, told: str
) -> None:
    keep(sqlite_database, made.forecast(summary=replace(made.SUMMARY, age_reason=kept)))
    said = sqlite_client.get(AGE).json()
    assert (said["discharge"], said["ages"]) == (None, None)
    assert said["missing"] == {"discharge": told, "ages": told}
    assert sqlite_client.get(AGE, params={"format": "csv"}).status_code == 200


def test_a_network_that_does_not_conserve_mass_has_neither(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    keep(sqlite_database, made.forecast(conserving=False), conserving=False)
    storage, balance = sqlite_client.get(STORAGE).json(), sqlite_client.get(BALANCE).json()
    assert (storage["total"], storage["snow"], storage["other"], balance["water_balance"]) == (None, None, None, None)
    for said in (storage["missing"]["total"], balance["missing"]["water_balance"]):
        assert "does not conserve mass" in said
    origin = sqlite_client.get(ORIGIN).json()
    assert (origin["discharge"], origin["stored"]) == (None, None)
    assert "does not conserve mass" in origin["missing"]["stored"]


def test_members_that_lose_more_than_could_evaporate_are_named(database: Database, client: TestClient) -> None:
    run = keep(database, made.forecast())
    keep_past(database, run, loss=SimulatedLoss(members={"0": 500.0, "1": 850.0}, pet=700.0))
    said = client.get(BALANCE).json()
    told = said["loss_beside_pet"]
    assert (told["mean"], told["members"], told["pet"]) == (675.0, {"0": 500.0, "1": 850.0}, 700.0)
    assert told["exceeding"] == ["1"]
    assert told["period"]["last_day"] == "2008-12-31"
    assert "loss_beside_pet" not in said["missing"]
    page = client.get(f"/basins/{BASIN}").text
    assert "1 of 2 members lose more here than could evaporate" in page


def test_where_nothing_is_known_of_loss_or_evaporation_it_says_why(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    run = keep(sqlite_database, made.forecast())
    said = sqlite_client.get(BALANCE).json()
    assert said["loss_beside_pet"] is None
    assert "freshet thresholds simulate" in said["missing"]["loss_beside_pet"]
    loss = SimulatedLoss(members={"0": 500.0, "1": 850.0}, pet=None, pet_reason="No latitude.")
    keep_past(sqlite_database, run, loss=loss)
    said = sqlite_client.get(BALANCE).json()
    assert (said["loss_beside_pet"]["pet"], said["loss_beside_pet"]["exceeding"]) == (None, [])
    assert said["missing"] == {"loss_beside_pet.pet": "No latitude."}


def test_the_balance_is_the_forecasts(database: Database, client: TestClient) -> None:
    keep(database, made.forecast())
    said = client.get(BALANCE).json()
    forecast = client.get(f"/v1/basins/{BASIN}/forecasts/latest").json()
    assert said["water_balance"] == forecast["water_balance"]
    assert said["water_balance"]["closes"]
    assert (said["first_day"], said["last_day"]) == ("2008-10-01", "2008-10-03")
    assert said["units"] == {"water_balance": "mm", "loss_beside_pet": "mm/year"}


def test_the_balance_says_what_its_residuals_are_held_against(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    keep(sqlite_database, made.forecast())
    balance = sqlite_client.get(BALANCE).json()["water_balance"]
    assert balance["scale"] == {
        "name": "water available",
        "formula": "initial storage + precipitation over the span",
        "unit": "mm",
        "tolerance": 1e-5,
    }
    for cells, member in zip(made.CELLS, balance["members"].values(), strict=True):
        assert member["scale"] == pytest.approx(cells.sum() + made.PRECIPITATION.sum())
        assert member["tolerance"] == pytest.approx(balance["scale"]["tolerance"] * member["scale"])


def test_the_balance_tells_what_is_unexplained_since_the_empty_store(database: Database, client: TestClient) -> None:
    keep(database, made.forecast())
    since = client.get(BALANCE).json()["water_balance"]["since_empty_store"]
    assert (since["days"], since["scale"]["unit"], since["scale"]["tolerance"]) == (9999, "mm", 5e-6)
    assert since["scale"]["formula"] == "precipitation since the store was empty"
    assert since["members"]["1"] == {"residual": -0.004, "scale": 32_000, "relative": pytest.approx(-1.25e-7)}


def test_a_run_from_a_state_without_that_count_says_so(database: Database, client: TestClient) -> None:
    result = made.forecast()
    keep(database, replace(result, ledgers=[replace(ledger, since_empty=None) for ledger in result.ledgers]))
    for address in (BALANCE, f"/v1/basins/{BASIN}/forecasts/latest"):
        said = client.get(address).json()
        assert (said["water_balance"]["closes"], said["water_balance"]["since_empty_store"]) == (True, None)
        assert "begins with a start from an empty store" in said["missing"]["water_balance.since_empty_store"]


def test_a_withheld_run_shows_its_open_balance(database: Database, client: TestClient) -> None:
    run = keep(database, made.open_forecast())
    assert client.get(BALANCE).status_code == 404
    answer = client.get(BALANCE, params={"run": run})
    members = answer.json()["water_balance"]["members"]
    assert (members["0"]["closes"], members["1"]["closes"], members["1"]["residual"]) == (True, False, 0.5)
    assert (answer.json()["status"], "stale" in answer.json()) == ("withheld", False)
    assert "immutable" in answer.headers["Cache-Control"]
    storage = client.get(STORAGE, params={"run": run}).json()
    assert storage["missing"]["total"] == "The ledger does not close for member 1."


def test_a_failed_run_explains_every_null(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = keep(sqlite_database, not_issued("The forcing ends.", status="failed"))
    for address in (STORAGE, BALANCE, AGE):
        said = sqlite_client.get(address, params={"run": run}).json()
        empty = {name for name, value in said.items() if value is None} - {"superseded_by"}
        assert empty <= set(said["missing"])
        assert "The forcing ends." in said["missing"].values()


def test_an_older_run_is_told_when_asked_for(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        old = a_run(session, version, made.forecast(), horizon_days=3, t0=day("2008-09-01")).id
        new = a_run(session, version, made.forecast(), horizon_days=3).id
    for address in (STORAGE, BALANCE):
        assert sqlite_client.get(address).json()["run"] == new
        assert sqlite_client.get(address, params={"run": old}).json()["t0"] == "2008-09-01"


def test_a_new_judgement_of_the_snow_is_a_new_answer(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = keep(sqlite_database, made.forecast())
    judge(sqlite_database, run)
    address = f"{STORAGE}?run={run}"
    held = {"If-None-Match": sqlite_client.get(address).headers["ETag"]}
    assert sqlite_client.get(address, headers=held).status_code == 304
    judge(sqlite_database, run, test_r=0.7, evaluated_at=NOW + timedelta(days=1))
    assert sqlite_client.get(address, headers=held).json()["snow_skill"][0]["test"]["r"] == 0.7


@pytest.mark.parametrize("noun", ["storage", "origin", "age", "water-balance"])
def test_what_is_not_kept_is_a_problem(sqlite_database: Database, sqlite_client: TestClient, noun: str) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
    for address, kind in (
        (f"/v1/basins/01013501/{noun}", "unknown-basin"),
        (f"/v1/basins/{BASIN}/{noun}", "no-model"),
        (f"/v1/basins/{BASIN}/{noun}?run=nothing", "unknown-run"),
    ):
        answer = sqlite_client.get(address)
        assert (answer.status_code, answer.json()["type"]) == (404, f"/problems/{kind}")
