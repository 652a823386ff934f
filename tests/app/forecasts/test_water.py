"""Storage with its snow, the origin of the flow, and the water balance, from the latest run or a given one."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from starlette.testclient import TestClient

from hydrology.base.absent import NOT_STORED
from hydrology.base.calendar import Period, day
from records.database.engine import Database
from records.runs import run_types, runs, states
from records.runs.run_summary import ReferenceSnow
from records.simulations import simulated_series, snow_cells
from records.simulations.simulated_series import SimulatedLoss, SimulatedWater, WaterVariable
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_reason, a_run, a_state, not_issued
from tests.app import factories
from tests.app.forecasts.test_forecasts import fill_records
from tests.records.simulations.test_simulated_levels import levels_of

STORAGE, BALANCE = f"/v1/basins/{BASIN}/storage", f"/v1/basins/{BASIN}/water-balance"
ORIGIN, AGE = f"/v1/basins/{BASIN}/origin", f"/v1/basins/{BASIN}/age"
CELLS = snow_cells.SnowCells(
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
    """Store snow cells of the version of a run."""
    with database.transaction() as session:
        version = runs.get(session, run).version_id
        snow_cells.replace(session, [replace(CELLS, version_id=version, **chosen)])  # type: ignore[arg-type]


def test_storage_is_split_into_snow_and_the_rest(database: Database, client: TestClient) -> None:
    run = fill_records(database, factories.forecast())
    judge(database, run)
    output = client.get(STORAGE).json()
    assert (output["run"], output["time"][0], output["lead_days"]) == (run, "2008-10-01", [1, 2, 3])
    np.testing.assert_allclose(output["total"], factories.STORAGE.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(output["snow"], factories.SNOW.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(np.add(output["snow"], output["other"]), output["total"], rtol=1e-6)
    (judged,) = output["snow_skill"]
    assert judged["label"] == "not trained on snow"
    assert (judged["product"], judged["cells"]) == ("uaz", {"0": [1, 3], "1": [2]})
    assert (judged["training"]["r"], judged["test"]["r"], judged["bias_pct"]) == (0.9, 0.8, -12.0)
    assert judged["test"]["period"] == {"first_day": "2005-10-01", "last_day": "2008-09-30"}
    assert (output["age_days"], output["stale"]) == (1, False)
    assert set(output["missing"]) == {"normal_total", "normal_snow"}


def store_past(
    database: Database, run: str, years: int = 20, snow: float = 50.0, loss: SimulatedLoss | None = None
) -> None:
    """Store a simulated past of a run's version: 100 mm of water every day, this many of them snow."""
    days = Period(day("2008-12-31") - 365 * years, day("2008-12-31"))
    with database.transaction() as session:
        version = runs.get(session, run).version_id
        levels = replace(levels_of(session, version), first_day=days.first, last_day=days.last)
        water: dict[WaterVariable, SimulatedWater] = {
            "storage": SimulatedWater(days, np.full(len(days), 100, np.float32)),
            "snow": SimulatedWater(days, np.full(len(days), snow, np.float32), CELLS.cells),
        }
        simulated_series.replace(session, levels, water, loss)


def test_storage_is_reported_beside_its_simulated_normal(database: Database, client: TestClient) -> None:
    run = fill_records(database, factories.forecast())
    judge(database, run)
    store_past(database, run)
    output = client.get(STORAGE).json()
    for name, normal in (("total", 100), ("snow", 50)):
        assert output[f"normal_{name}"]["water"] == [normal] * 3
        percents = 100 * np.array(output[name]) / normal
        np.testing.assert_allclose(output[f"normal_{name}"]["percent_of_normal"], percents, rtol=1e-6)
    assert output["missing"] == {}


def test_a_tiny_normal_of_snow_has_no_percent(sqlite_database: Database, sqlite_client: TestClient) -> None:
    summary = replace(factories.SUMMARY, snow=replace(factories.RUN_SNOW, normal_mm=0.5))
    run = fill_records(sqlite_database, factories.forecast(summary=summary))
    judge(sqlite_database, run)
    store_past(sqlite_database, run, snow=0.5)
    output = sqlite_client.get(STORAGE).json()
    assert output["normal_snow"] == {"water": [0.5] * 3, "percent_of_normal": [None] * 3}
    names = ("normal_snow.percent_of_normal", "snow_read.at_t0.percent_of_normal")
    assert output["missing"] == dict.fromkeys(names, "No percentage is given of a normal below 1 mm.")


def test_a_normal_of_other_cells_than_the_runs_is_null(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database, factories.forecast())
    judge(sqlite_database, run)
    store_past(sqlite_database, run, snow=30.0)
    output = sqlite_client.get(STORAGE).json()
    assert (output["normal_snow"], output["snow_read"]["at_t0"]["normal"]) == (None, 50.0)
    assert "have changed since the run" in output["missing"]["normal_snow"]


@pytest.mark.parametrize("years", [0, 5])
def test_without_a_long_past_the_normal_is_null(
    sqlite_database: Database, sqlite_client: TestClient, years: int
) -> None:
    run = fill_records(sqlite_database, factories.forecast())
    judge(sqlite_database, run)
    if years:
        store_past(sqlite_database, run, years)
    output = sqlite_client.get(STORAGE).json()
    assert (output["normal_total"], output["normal_snow"]) == (None, None)
    assert set(output["missing"]) == {"normal_total", "normal_snow"}
    reason = "3 of 3 days have fewer than 10 other years" if years else "simulate it (freshet thresholds simulate)"
    assert all(reason in why for why in output["missing"].values())


def test_storage_without_snow_gives_the_reason(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast(snow=False))
    output = sqlite_client.get(STORAGE).json()
    assert len(output["total"]) == 3
    assert (output["snow"], output["other"], output["snow_skill"]) == (None, None, [])
    for name in ("snow", "snow_read", "other"):
        assert output["missing"][name] == factories.NO_REFERENCE
    assert "not scored" in output["missing"]["snow_skill"]


def test_snow_is_reported_with_its_spread_its_mapping_and_its_skill(database: Database, client: TestClient) -> None:
    fill_records(database, factories.forecast())
    read = client.get(STORAGE).json()["snow_read"]
    assert read == client.get(f"/v1/basins/{BASIN}/forecasts/latest").json()["storage"]["snow_read"]
    assert read["mapping"] == "basin"
    low, high = np.quantile(factories.SNOW, (0.05, 0.95), axis=0)
    np.testing.assert_allclose(read["p05"], low, rtol=1e-6)
    np.testing.assert_allclose(read["p95"], high, rtol=1e-6)
    np.testing.assert_allclose(read["volume_m3"], factories.SNOW.mean(axis=0) / 1000 * factories.AREA_M2, rtol=1e-6)
    assert read["at_t0"] == {
        "mean": 75.0,
        "p05": 60.0,
        "p95": 90.0,
        "normal": 50.0,
        "percent_of_normal": 150.0,
        "reference": {"product": "uaz", "mm": 84.0, "normal": 60.0, "percent_of_normal": 140.0},
        "uncertain": False,
        "uncertain_reason": None,
        "in_words": "150 % of normal",
    }
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
    reported = replace(
        factories.RUN_SNOW,
        mapping="regional",
        normal_mm=a_reason("No past is stored."),
        snow17_mm=66.0,
        skill=a_reason("It is not known."),
    )
    summary = replace(factories.SUMMARY, snow=reported)
    result = factories.forecast()
    fill_records(
        sqlite_database, replace(result, basin=replace(result.basin, summary=summary, area_m2=None, area_name=None))
    )
    output = sqlite_client.get(STORAGE).json()
    assert output["snow_read"]["mapping"] == "regional"
    assert output["snow_read"]["at_t0"]["snow17"] == 66.0
    assert {name: why for name, why in output["missing"].items() if name.startswith("snow_read")} == {
        "snow_read.volume_m3": "The basin had no drainage area when the run was created.",
        "snow_read.skill": "It is not known.",
        "snow_read.at_t0.normal": "No past is stored.",
        "snow_read.at_t0.percent_of_normal": "No past is stored.",
        "snow_read.at_t0.snow17_percent_of_normal": "The run did not store it.",
    }


def test_snow_that_another_estimate_contradicts_is_uncertain_with_the_reason(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    few = a_reason("Too few years.")
    for reference, in_words in (
        (ReferenceSnow(product="uaz", mm=50.0, normal_mm=100.0), "uncertain: model 150 %, reference 50 %"),
        (ReferenceSnow(product="uaz", mm=20.0, normal_mm=few), "uncertain: model 75 mm, reference 20 mm"),
    ):
        reported = replace(factories.RUN_SNOW, reference=reference)
        result, summary = factories.forecast(), replace(factories.SUMMARY, snow=reported)
        fill_records(sqlite_database, replace(result, basin=replace(result.basin, summary=summary)))
        output = sqlite_client.get(STORAGE).json()
        at_t0 = output["snow_read"]["at_t0"]
        assert (at_t0["uncertain"], at_t0["in_words"], at_t0["percent_of_normal"]) == (True, in_words, 150.0)
        assert in_words.removeprefix("uncertain: ") in at_t0["uncertain_reason"]
    assert output["missing"]["snow_read.at_t0.reference.percent_of_normal"] == "Too few years."


def test_snow_of_a_store_is_described_as_such_and_has_no_second_opinion(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    result, summary = (
        factories.forecast(),
        replace(factories.SUMMARY, snow=replace(factories.RUN_SNOW, mapping="store")),
    )
    fill_records(sqlite_database, replace(result, basin=replace(result.basin, summary=summary)))
    read = sqlite_client.get(STORAGE).json()["snow_read"]
    assert (read["mapping"], read["mapping_note"]) == ("store", "Snow is what the model's own snow stores hold.")
    assert "snow17" not in read["at_t0"]


def test_a_run_older_than_the_spread_of_snow_gives_the_reason(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    result = factories.forecast()
    older = [one for one in result.series if one.variable != run_types.SNOW_SPREAD]
    summary = replace(factories.SUMMARY, snow=NOT_STORED)
    fill_records(sqlite_database, replace(result, series=older, basin=replace(result.basin, summary=summary)))
    output = sqlite_client.get(STORAGE).json()
    assert len(output["snow"]) == 3
    assert (output["snow_read"], output["missing"]["snow_read"]) == (None, "The run did not store it.")


def test_the_flow_is_reported_by_where_its_water_was_at_t0(database: Database, client: TestClient) -> None:
    run = fill_records(database, factories.forecast())
    output = client.get(ORIGIN).json()
    assert (output["run"], output["time"][0], output["lead_days"], output["missing"]) == (
        run,
        "2008-10-01",
        [1, 2, 3],
        {},
    )
    np.testing.assert_allclose(output["discharge"], factories.DISCHARGE.mean(axis=0), rtol=1e-6)
    mean = {name: output[name]["mean"] for name in ("stored", "snow", "other", "yet_to_fall")}
    np.testing.assert_allclose(np.add(mean["stored"], mean["yet_to_fall"]), output["discharge"], rtol=1e-6)
    np.testing.assert_allclose(np.add(mean["snow"], mean["other"]), mean["stored"], rtol=1e-6)
    for part in ("stored", "yet_to_fall"):
        assert all(np.less_equal(output[part]["p05"], output[part]["mean"]))
        assert all(np.less_equal(output[part]["mean"], output[part]["p95"]))
    assert output["ceiling"] == 175.0
    for form in ("csv", "netcdf", "parquet", "coveragejson"):
        assert b"discharge_snow_mean" in client.get(ORIGIN, params={"format": form}).content


def test_without_snow_cells_the_stored_water_is_one_part(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast(snow=False))
    output = sqlite_client.get(ORIGIN).json()
    assert len(output["stored"]["mean"]) == 3
    assert (output["snow"], output["other"]) == (None, None)
    assert output["missing"] == dict.fromkeys(("snow", "other"), factories.NO_REFERENCE)


def test_a_run_older_than_origins_gives_the_reason(sqlite_database: Database, sqlite_client: TestClient) -> None:
    result = factories.forecast()
    fill_records(
        sqlite_database, replace(result, series=[one for one in result.series if one.variable != run_types.ORIGIN])
    )
    output = sqlite_client.get(ORIGIN).json()
    assert (output["discharge"], output["ceiling"]) == (None, None)
    assert output["missing"]["stored"] == "The run did not store it."


def test_the_flow_is_reported_by_the_season_in_which_its_water_fell(database: Database, client: TestClient) -> None:
    result = factories.forecast()
    run = fill_records(database, replace(result, series=[*result.series, factories.age()]))
    output = client.get(AGE).json()
    assert (output["run"], output["time"][0], output["lead_days"], output["missing"]) == (
        run,
        "2008-10-01",
        [1, 2, 3],
        {},
    )
    ages = {part["age"]: part for part in output["ages"]}
    names = ["older", "2007-SON", "2008-DJF", "2008-MAM", "2008-JJA", "2008-SON", "yet_to_fall"]
    assert list(ages) == names
    days = [(part["first_day"], part["last_day"]) for part in output["ages"]]
    assert days[0] == (None, "2007-08-31")
    assert days[2] == ("2007-12-01", "2008-02-29")
    assert days[-2:] == [("2008-09-01", "2008-09-30"), ("2008-10-01", None)]
    np.testing.assert_allclose(output["discharge"], factories.DISCHARGE.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(
        np.sum([part["mean"] for part in output["ages"]], axis=0), output["discharge"], rtol=1e-6
    )
    assert all(np.less_equal(ages["older"]["p05"], ages["older"]["mean"]))
    assert all(np.less_equal(ages["older"]["mean"], ages["older"]["p95"]))
    for form in ("csv", "netcdf", "parquet", "coveragejson"):
        assert b"discharge_2008_djf_mean" in client.get(AGE, params={"format": form}).content


def test_the_page_of_a_basin_draws_the_age_of_the_water_where_the_run_reports_it(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    page = f"/basins/{BASIN}"
    fill_records(sqlite_database, factories.forecast())
    assert f"{BASIN}-age" not in sqlite_client.get(page).text
    with sqlite_database.transaction() as session:
        (run,) = runs.list_runs(session)
        result = factories.forecast()
        reported = replace(result, series=[*result.series, factories.age()])
        a_run(session, run.version_id, reported, horizon_days=3, t0=day("2008-09-30"), forcing_kind="observed")
    shown = sqlite_client.get(page).text
    assert f"{BASIN}-age" in shown
    assert "25 % is older, 0 % fell in 2007-SON, 12 % fell in 2008-DJF" in shown


@pytest.mark.parametrize(
    ("stored", "reported"),
    [(None, "The run did not store it."), ("The record is too young.", "The record is too young.")],
)
def test_a_run_without_ages_gives_the_reason(
    sqlite_database: Database, sqlite_client: TestClient, stored: str | None, reported: str
) -> None:
    fill_records(
        sqlite_database,
        factories.forecast(summary=replace(factories.SUMMARY, age_reason=None if stored is None else a_reason(stored))),
    )
    output = sqlite_client.get(AGE).json()
    assert (output["discharge"], output["ages"]) == (None, None)
    assert output["missing"] == {"discharge": reported, "ages": reported}
    assert sqlite_client.get(AGE, params={"format": "csv"}).status_code == 200


def test_a_network_that_does_not_conserve_mass_has_neither(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, factories.forecast(conserving=False), conserving=False)
    storage, balance = sqlite_client.get(STORAGE).json(), sqlite_client.get(BALANCE).json()
    assert (storage["total"], storage["snow"], storage["other"], balance["water_balance"]) == (None, None, None, None)
    for output in (storage["missing"]["total"], balance["missing"]["water_balance"]):
        assert "does not conserve mass" in output
    origin = sqlite_client.get(ORIGIN).json()
    assert (origin["discharge"], origin["stored"]) == (None, None)
    assert "does not conserve mass" in origin["missing"]["stored"]


def test_members_that_lose_more_than_could_evaporate_are_named(database: Database, client: TestClient) -> None:
    run = fill_records(database, factories.forecast())
    store_past(database, run, loss=SimulatedLoss(members={"0": 500.0, "1": 850.0}, pet=700.0))
    output = client.get(BALANCE).json()
    reported = output["loss_beside_pet"]
    assert (reported["mean"], reported["members"], reported["pet"]) == (675.0, {"0": 500.0, "1": 850.0}, 700.0)
    assert reported["exceeding"] == ["1"]
    assert reported["period"]["last_day"] == "2008-12-31"
    assert "loss_beside_pet" not in output["missing"]
    page = client.get(f"/basins/{BASIN}").text
    assert "1 of 2 members lose more here than could evaporate" in page


def test_unknown_loss_or_evaporation_has_a_reason(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database, factories.forecast())
    output = sqlite_client.get(BALANCE).json()
    assert output["loss_beside_pet"] is None
    assert "freshet thresholds simulate" in output["missing"]["loss_beside_pet"]
    loss = SimulatedLoss(members={"0": 500.0, "1": 850.0}, pet=a_reason("No latitude."))
    store_past(sqlite_database, run, loss=loss)
    output = sqlite_client.get(BALANCE).json()
    assert (output["loss_beside_pet"]["pet"], output["loss_beside_pet"]["exceeding"]) == (None, [])
    assert output["missing"] == {"loss_beside_pet.pet": "No latitude."}


def test_the_balance_is_the_forecasts(database: Database, client: TestClient) -> None:
    fill_records(database, factories.forecast())
    output = client.get(BALANCE).json()
    forecast = client.get(f"/v1/basins/{BASIN}/forecasts/latest").json()
    assert output["water_balance"] == forecast["water_balance"]
    assert output["water_balance"]["closes"]
    assert (output["first_day"], output["last_day"]) == ("2008-10-01", "2008-10-03")
    assert output["units"] == {"water_balance": "mm", "loss_beside_pet": "mm/year"}


def test_the_balance_reports_the_scale_of_its_residuals(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast())
    balance = sqlite_client.get(BALANCE).json()["water_balance"]
    assert balance["scale"] == {
        "name": "water available",
        "formula": "initial storage + precipitation over the span",
        "unit": "mm",
        "tolerance": 1e-5,
    }
    for cells, member in zip(factories.CELLS, balance["members"].values(), strict=True):
        assert member["scale"] == pytest.approx(cells.sum() + factories.PRECIPITATION.sum())
        assert member["tolerance"] == pytest.approx(balance["scale"]["tolerance"] * member["scale"])


def test_the_balance_reports_what_is_unexplained_since_the_empty_store(database: Database, client: TestClient) -> None:
    fill_records(database, factories.forecast())
    since = client.get(BALANCE).json()["water_balance"]["since_empty_store"]
    assert (since["days"], since["scale"]["unit"], since["scale"]["tolerance"]) == (9999, "mm", 5e-6)
    assert since["scale"]["formula"] == "precipitation since the store was empty"
    assert since["members"]["1"] == {"residual": -0.004, "scale": 32_000, "relative": pytest.approx(-1.25e-7)}


def test_a_withheld_run_shows_its_open_balance(database: Database, client: TestClient) -> None:
    run = fill_records(database, factories.open_forecast())
    assert client.get(BALANCE).status_code == 404
    answer = client.get(BALANCE, params={"run": run})
    members = answer.json()["water_balance"]["members"]
    assert (members["0"]["closes"], members["1"]["closes"], members["1"]["residual"]) == (True, False, 0.5)
    assert (answer.json()["status"], "stale" in answer.json()) == ("withheld", False)
    assert "immutable" in answer.headers["Cache-Control"]
    storage = client.get(STORAGE, params={"run": run}).json()
    assert storage["missing"]["total"] == "The ledger does not close for member 1."


def test_a_failed_run_explains_every_null(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database, not_issued("The forcing ends.", status="failed"))
    for address in (STORAGE, BALANCE, AGE):
        output = sqlite_client.get(address, params={"run": run}).json()
        empty = {name for name, value in output.items() if value is None} - {"superseded_by"}
        assert empty <= set(output["missing"])
        assert "The forcing ends." in output["missing"].values()


def test_an_older_run_is_reported_when_asked_for(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        old = a_run(session, version, factories.forecast(), horizon_days=3, t0=day("2008-09-01")).id
        new = a_run(session, version, factories.forecast(), horizon_days=3).id
    for address in (STORAGE, BALANCE):
        assert sqlite_client.get(address).json()["run"] == new
        assert sqlite_client.get(address, params={"run": old}).json()["t0"] == "2008-09-01"


def test_new_scores_of_the_snow_change_the_answer(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database, factories.forecast())
    judge(sqlite_database, run)
    address = f"{STORAGE}?run={run}"
    held = {"If-None-Match": sqlite_client.get(address).headers["ETag"]}
    assert sqlite_client.get(address, headers=held).status_code == 304
    judge(sqlite_database, run, test_r=0.7, evaluated_at=NOW + timedelta(days=1))
    assert sqlite_client.get(address, headers=held).json()["snow_skill"][0]["test"]["r"] == 0.7


@pytest.mark.parametrize("noun", ["storage", "origin", "age", "water-balance"])
def test_what_is_not_stored_is_a_problem(sqlite_database: Database, sqlite_client: TestClient, noun: str) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
    for address, kind in (
        (f"/v1/basins/01013501/{noun}", "unknown-basin"),
        (f"/v1/basins/{BASIN}/{noun}", "no-model"),
        (f"/v1/basins/{BASIN}/{noun}?run=nothing", "unknown-run"),
    ):
        answer = sqlite_client.get(address)
        assert (answer.status_code, answer.json()["type"]) == (404, f"/problems/{kind}")


def test_the_past_is_that_of_stored_states_and_else_of_the_simulation(database: Database, client: TestClient) -> None:
    run = fill_records(database, factories.forecast())
    judge(database, run)
    store_past(database, run)
    with database.transaction() as session:
        cells = np.arange(8, dtype=np.float32).reshape(2, 4)
        states.put(session, [a_state(runs.get(session, run).version_id, "2008-09-29", arrays={"c": cells})], NOW)
    past = client.get(STORAGE, params={"past_days": 3}).json()["past"]
    assert past["time"] == ["2008-09-28", "2008-09-29", "2008-09-30"]
    assert past["total"] == [100.0, 14.0, 100.0]
    assert past["snow"] == [50.0, (cells[0, 1] + cells[0, 3] + cells[1, 2]) / 2, 50.0]
    assert "past" not in client.get(STORAGE).json()


def test_an_unknown_past_is_null_with_its_reason(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast())
    answer = sqlite_client.get(STORAGE, params={"past_days": 3}).json()
    assert answer["past"] is None
    assert "simulate it" in answer["missing"]["past"]
    assert sqlite_client.get(STORAGE, params={"past_days": 367}).status_code == 422
