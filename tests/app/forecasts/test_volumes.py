"""The volume of a season by a run, beside what was observed of it and what is normal."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from hydrology.base.calendar import day
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.runs import run_arrays
from records.series import series_writer
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_reason, a_run, a_source, daily
from tests.app import factories
from tests.app.forecasts.test_traces import WEATHER

ADDRESS = f"/v1/basins/{BASIN}/volumes"
SEASON = {"season": "09-21..10-03"}
"""T0 is 2008-09-30, and runs hold three days."""
DAYS = 13
PERCENTS = [10, 30, 50, 70, 90]
MILLION_M3 = factories.AREA_M2 / 1e9


def fill_records(database: Database, kind: str = "climatology", **chosen: Any) -> str:
    """Store a run with traces, and return its id."""
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        result = factories.forecast_with_traces(**chosen)
        result = replace(result, series=[*result.series, paths()])
        weather = WEATHER if kind == "supplied" else None
        return a_run(session, version, result, horizon_days=3, forcing_kind=kind, weather=weather).id


def paths() -> run_arrays.RunSeries:
    return next(one for one in factories.forecast().series if one.variable == run_arrays.PATHS)


def store_record(database: Database, first: str = "1995-10-01", missing: str | None = None) -> None:
    """Store a record in mm/day: the value of each day is its year minus 1990."""
    days = np.arange(day(first), day("2008-10-01"))
    values = (days.astype("datetime64[Y]").astype(int) + 1970 - 1990).astype(np.float32)
    if missing is not None:
        values[days == day(missing)] = np.nan
    with database.transaction() as session:
        basins.upsert(session, Basin(BASIN))
        series_writer.write(session, BASIN, "usgs", "discharge", daily(first, *values), a_source(session), NOW)


def test_a_season_is_its_observed_days_and_the_days_ahead(database: Database, client: TestClient) -> None:
    run = fill_records(database)
    store_record(database)
    answer = client.get(ADDRESS, params=SEASON).json()
    assert (answer["run"], answer["season"], answer["exceeded_percent"]) == (run, "09-21..10-03", PERCENTS)
    assert answer["period"] == {"first_day": "2008-09-21", "last_day": "2008-10-03"}
    assert answer["ahead"] == {"first_day": "2008-10-01", "last_day": "2008-10-03"}
    assert answer["observed"] == {
        "period": {"first_day": "2008-09-21", "last_day": "2008-09-30"},
        "days": 10,
        "missing_days": 0,
        "depth": 180.0,
        "volume": pytest.approx(180 * MILLION_M3, rel=1e-6),
    }
    levels = [1 - percent / 100 for percent in PERCENTS]
    calibrated = np.quantile(factories.PATHS.sum(axis=1, dtype=np.float64), levels)
    raw = np.quantile(np.repeat(factories.DISCHARGE.sum(axis=1, dtype=np.float64), len(factories.TRACES)), levels)
    normal = np.mean([DAYS * (year - 1990) for year in range(1996, 2008)])
    assert (answer["normal"]["years"], answer["normal"]["first_year"], answer["normal"]["last_year"]) == (
        12,
        1996,
        2007,
    )
    assert answer["normal"]["mean_depth"] == pytest.approx(normal)
    for name, ahead in (("calibrated", calibrated), ("raw", raw)):
        shown = answer[name]
        np.testing.assert_allclose(shown["ahead_depth"], ahead, rtol=1e-6)
        np.testing.assert_allclose(shown["depth"], 180 + ahead, rtol=1e-6)
        np.testing.assert_allclose(shown["volume"], (180 + ahead) * MILLION_M3, rtol=1e-6)
        np.testing.assert_allclose(shown["percent_of_normal"], 100 * (180 + ahead) / normal, rtol=1e-6)
    assert answer["calibration"]["fitted_on"] == "1980-10-01..1989-09-30"
    assert answer["missing"] == {}


def test_the_default_is_the_season_of_the_basin(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database)
    refused = sqlite_client.get(ADDRESS, params={"run": run})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/season-not-held")
    assert "10-01..12-31 ends on 2008-12-31" in refused.json()["detail"]
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN, attributes={"frac_snow": 0.6}))
    assert "04-01..07-31 ends on 2009-07-31" in sqlite_client.get(ADDRESS, params={"run": run}).json()["detail"]


def test_without_a_run_of_the_season_the_answer_reports_how_to_create_one(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database)
    fill_records(sqlite_database, "supplied")
    missing = sqlite_client.get(ADDRESS, params={"season": "10-01..10-31"})
    assert (missing.status_code, missing.json()["type"]) == (404, "/problems/no-forecast")
    assert f"freshet volumes --basin {BASIN} --season 10-01..10-31" in missing.json()["detail"]


def test_a_run_with_a_weather_forecast_can_be_named(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database, "supplied")
    assert sqlite_client.get(ADDRESS, params=SEASON).status_code == 404
    answer = sqlite_client.get(ADDRESS, params=SEASON | {"run": run}).json()
    np.testing.assert_allclose(
        answer["calibrated"]["ahead_depth"][2], np.median(factories.PATHS.sum(axis=1)), rtol=1e-6
    )


def test_a_hindcast_reports_no_volume(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database, "observed")
    answer = sqlite_client.get(ADDRESS, params=SEASON | {"run": run}).json()
    assert (answer["calibrated"], answer["raw"], answer["calibration"]) == (None, None, None)
    assert "is a hindcast" in answer["missing"]["calibrated"]


def test_without_observations_there_is_neither_a_whole_nor_a_normal(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database)
    answer = sqlite_client.get(ADDRESS, params=SEASON).json()
    assert (answer["observed"], answer["normal"], answer["calibrated"]["depth"]) == (None, None, None)
    assert len(answer["calibrated"]["ahead_depth"]) == len(PERCENTS)
    reason = f"No discharge of {BASIN} is stored."
    names = ("observed", "normal", *(f"calibrated.{part}" for part in ("depth", "volume", "percent_of_normal")))
    assert {answer["missing"][name] for name in names} == {reason}


def test_a_day_that_was_not_observed_is_not_guessed(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database)
    store_record(sqlite_database, missing="2008-09-25")
    answer = sqlite_client.get(ADDRESS, params=SEASON).json()
    assert (answer["observed"]["days"], answer["observed"]["missing_days"], answer["observed"]["depth"]) == (
        9,
        1,
        162.0,
    )
    assert answer["calibrated"]["volume"] is None
    reason = "1 of the 10 days of the season until T0 were not observed, 2008-09-25 the first."
    assert answer["missing"]["calibrated.depth"] == answer["missing"]["raw.volume"] == reason


def test_a_short_record_has_no_normal(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database)
    store_record(sqlite_database, first="2003-01-01")
    answer = sqlite_client.get(ADDRESS, params=SEASON).json()
    assert (answer["normal"], answer["calibrated"]["percent_of_normal"]) == (None, None)
    assert answer["missing"]["normal"] == answer["missing"]["calibrated.percent_of_normal"]
    assert "observed whole in 5 other years" in answer["missing"]["normal"]


def test_without_an_area_there_are_depths_alone(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, area_m2=None, area_name=None)
    store_record(sqlite_database)
    answer = sqlite_client.get(ADDRESS, params=SEASON).json()
    assert (answer["area"], answer["calibrated"]["volume"], answer["observed"]["volume"]) == (None, None, None)
    assert answer["calibrated"]["depth"][0] > answer["observed"]["depth"] == 180.0
    assert {"area", "calibrated.volume", "raw.ahead_volume"} <= answer["missing"].keys()
    assert {"observed.volume", "normal.mean_volume", "normal.median_volume"} <= answer["missing"].keys()


def test_a_run_that_is_not_calibrated_is_reported_raw(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        summary = replace(factories.SUMMARY, calibration=a_reason("No error model."))
        result = factories.forecast_with_traces()
        stored = [one for one in result.series if one.variable != run_arrays.CALIBRATED]
        result = replace(result, basin=replace(result.basin, summary=summary), series=stored)
        a_run(session, version, result, horizon_days=3, forcing_kind="climatology")
    answer = sqlite_client.get(ADDRESS, params=SEASON).json()
    assert (answer["calibrated"], answer["missing"]["calibrated"]) == (None, "No error model.")
    assert answer["raw"]["ahead_depth"] is not None


@pytest.mark.parametrize("season", ["april", "04-01", "02-29..03-31", "2008-04-01..2008-07-31"])
def test_text_that_is_not_a_season_is_refused(
    sqlite_database: Database, sqlite_client: TestClient, season: str
) -> None:
    fill_records(sqlite_database)
    assert sqlite_client.get(ADDRESS, params={"season": season}).status_code == 422


def test_a_copy_that_is_still_the_same_is_not_sent_again(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database)
    tag = sqlite_client.get(ADDRESS, params=SEASON).headers["ETag"]
    assert sqlite_client.get(ADDRESS, params=SEASON, headers={"If-None-Match": tag}).status_code == 304
