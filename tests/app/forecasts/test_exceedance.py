"""The chance of passing levels, by the calibrated flow of a run."""

from dataclasses import replace

import numpy as np
import pytest
from starlette.testclient import TestClient

from app.forecasts.exceedance import _Members
from hydrology.extremes.frequency import FloodQuantile
from hydrology.extremes.levels import NamedLevel, Statistic, names
from hydrology.scores.probabilistic import exceedance_probability
from hydrology.uncertainty.error_model import LEVELS
from jobspec.levels import NewThreshold
from records.database.engine import Database
from records.levels import basin_levels
from records.runs import run_arrays, runs
from records.simulations import simulated_series
from testing.records import BASIN, NOW, a_reason
from tests.app import factories
from tests.app.basins.test_thresholds import fill_records as store_record
from tests.app.forecasts.test_forecasts import fill_records
from tests.records.simulations.test_simulated_levels import levels_of

ADDRESS = f"/v1/basins/{BASIN}/exceedance"
PER_MM = factories.AREA_M2 / 1000 / 86_400


def test_the_exceedance_probability_of_a_discharge_is_that_of_the_calibrated_flow(
    database: Database, client: TestClient
) -> None:
    fill_records(database, factories.forecast())
    answer = client.get(ADDRESS, params={"discharge": 3.0, "units": "mm/day"}).json()
    (level,) = answer["levels"]
    assert (answer["basin"], answer["t0"], answer["units"]) == (BASIN, "2008-09-30", {"discharge": "mm/day"})
    assert (level["name"], level["discharge"], level["direction"], level["reason"]) == (None, 3.0, "rising", None)
    expected = exceedance_probability(factories.CALIBRATED.T.astype(float), LEVELS, 3.0)
    np.testing.assert_allclose(level["chance"], expected, rtol=1e-6)
    of_paths = float((factories.PATHS > 3.0).any(axis=1).mean())
    assert level["within"] == pytest.approx(max(of_paths, expected.max()))
    flow = client.get(ADDRESS, params={"discharge": 3.0 * PER_MM}).json()
    np.testing.assert_allclose(flow["levels"][0]["chance"], level["chance"], rtol=1e-5)
    assert flow["levels"][0]["in_words"].startswith("A chance of ")
    assert flow["levels"][0]["in_words"].endswith("by 3 October.")


def test_the_levels_of_the_basin_are_reported_each_in_its_direction(database: Database, client: TestClient) -> None:
    fill_records(database, factories.forecast())
    store_record(database)
    low = NewThreshold(name="withdrawal", discharge=3.0 * PER_MM, direction="falling")
    with database.transaction() as session:
        basin_levels.put(session, BASIN, low, NOW)
    answer = client.get(ADDRESS, params={"units": "mm/day"}).json()
    by_name = {level["name"]: level for level in answer["levels"]}
    assert list(by_name) == ["withdrawal", *(name for name in names() if not name.startswith("lp3-"))]
    expected = 1 - exceedance_probability(factories.CALIBRATED.T.astype(float), LEVELS, 3.0)
    np.testing.assert_allclose(by_name["withdrawal"]["chance"], expected, rtol=1e-5)
    assert "falls below withdrawal (3.00 mm/day)" in by_name["withdrawal"]["in_words"]
    floods = [by_name[f"gev-{years}"]["within"] for years in (2, 10, 50)]
    assert floods == sorted(floods, reverse=True)
    assert all(by_name[name]["direction"] == "rising" for name in by_name if name.startswith("gev"))


def test_a_record_that_is_too_short_has_levels_without_probabilities(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, factories.forecast())
    store_record(sqlite_database, years=3)
    levels = {level["name"]: level for level in sqlite_client.get(ADDRESS).json()["levels"]}
    assert (levels["gev-10"]["discharge"], levels["gev-10"]["chance"], levels["gev-10"]["within"]) == (None, None, None)
    assert levels["gev-10"]["reason"]


def test_an_uncalibrated_forecast_has_no_exceedance_probabilities(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    result = factories.forecast()
    summary = replace(factories.SUMMARY, calibration=a_reason("No error model."))
    series = [one for one in result.series if one.variable not in (run_arrays.CALIBRATED, run_arrays.PATHS)]
    fill_records(sqlite_database, replace(result, basin=replace(result.basin, summary=summary), series=series))
    answer = sqlite_client.get(ADDRESS, params={"discharge": 3.0}).json()
    (level,) = answer["levels"]
    assert (level["discharge"], level["chance"], level["within"]) == (3.0, None, None)
    assert level["reason"] == "No error model."


def test_the_versions_own_levels_are_compared_with_raw_members(database: Database, client: TestClient) -> None:
    result = factories.forecast()
    series = [one for one in result.series if one.variable not in (run_arrays.CALIBRATED, run_arrays.PATHS)]
    run = fill_records(database, replace(result, series=series))
    members = next(one.values for one in series if one.variable == "discharge").reshape(-1, 3)
    level = float(np.sort(members.max(axis=1))[-1]) - 1e-3  # the highest member alone passes it
    of_model = Statistic(
        "flood", "gev", 12, 0, 0, None, (NamedLevel("gev-2", 2, None, FloodQuantile(level * PER_MM, 0, 9, None)),)
    )
    with database.transaction() as session:
        version = runs.get(session, run).version_id
        simulated_series.replace(session, levels_of(session, version, statistics=[of_model]), {})
    answer = client.get(ADDRESS, params={"units": "mm/day"}).json()
    shown = {named["name"]: named for named in answer["levels"]}["model-gev-2"]
    passed = (members > level).mean(axis=0)
    assert (shown["flow"], shown["direction"], shown["reason"]) == ("members", "rising", None)
    np.testing.assert_allclose(shown["chance"], passed, rtol=1e-6)
    assert shown["within"] == pytest.approx(1 / len(members))
    assert shown["in_words"].startswith(f"The flow of 1 of {len(members)} members rises above model-gev-2 (")
    others = [named for named in answer["levels"] if named["name"] != "model-gev-2"]
    assert {(named["flow"], named["chance"] is None) for named in others} == {("calibrated", True)}


@pytest.mark.parametrize("discharge", ["0", "-1", "inf", "nan", "much"])
def test_a_value_that_is_not_a_discharge_is_refused(
    sqlite_database: Database, sqlite_client: TestClient, discharge: str
) -> None:
    fill_records(sqlite_database, factories.forecast())
    assert sqlite_client.get(ADDRESS, params={"discharge": discharge}).status_code == 422


def test_without_an_area_only_depths_can_be_compared(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast(area_m2=None, area_name=None))
    refused = sqlite_client.get(ADDRESS, params={"discharge": 3.0})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/no-area")
    assert sqlite_client.get(ADDRESS, params={"discharge": 3.0, "units": "mm/day"}).status_code == 200


def test_the_peak_has_a_range_of_heights_and_days_from_paths(database: Database, client: TestClient) -> None:
    fill_records(database, factories.forecast())
    peak = client.get(ADDRESS, params={"units": "mm/day"}).json()["peak"]
    highest = factories.PATHS.max(axis=1)
    heights = [peak["p05"], peak["median"], peak["p95"]]
    np.testing.assert_allclose(heights, np.quantile(highest, (0.05, 0.5, 0.95)), rtol=1e-4)
    assert "2008-10-01" <= peak["day_p05"] <= peak["day_median"] <= peak["day_p95"] <= "2008-10-03"


def test_members_of_a_combined_version_count_by_their_weights() -> None:
    flow = np.array([[1.0, 3.0], [1.0, 1.0], [2.5, 1.0]])
    members = _Members(flow, 1, np.array([0.7, 0.2, 0.1]))
    of_days, within = members.chances(2.0, "rising")
    assert of_days.tolist() == pytest.approx([0.1, 0.7])
    assert within == pytest.approx(0.7)
    assert members.subject(within) == "The flow of 70 % of the members, by their weights,"
