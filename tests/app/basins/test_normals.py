"""What is usual for each day, in other years, of flow and weather."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from app.basins.queries import MAX_DAYS
from hydrology.base.calendar import Period
from hydrology.base.products import Credit
from hydrology.base.units import M3_PER_FT3, SECONDS_PER_DAY
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.feeds import feeds
from records.series import series_writer
from records.simulations import simulated_series, snow_cells
from records.simulations.simulated_series import WATER, SimulatedWater, WaterVariable
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_source, daily
from tests.records.simulations.test_simulated_levels import CELLS, levels_of

ADDRESS = f"/v1/basins/{BASIN}/normals"
RECORD = Period.parse("1990-01-01..2008-12-31")
YEARS = np.array([int(str(at)[:4]) for at in RECORD.days]) - 1990.0
"""The flow of each day, cfs: as many as its year lies behind 1990."""
TWO_DAYS = {"start": "2008-06-30", "end": "2008-07-01"}
OTHER_YEARS = np.arange(18)


def fill_records(database: Database, values: Any = YEARS) -> None:
    """Store a record of flow, and the same numbers as precipitation and temperature of a product."""
    with database.transaction() as session:
        basins.upsert(session, Basin(BASIN, areas={"area_gages2": 2.0e9}))
        source, first = a_source(session), str(RECORD.first)
        series_writer.write(session, BASIN, "usgs", "discharge", daily(first, *values, unit="cfs"), source, NOW)
        series_writer.write(session, BASIN, "maurer_extended", "precipitation", daily(first, *values), source, NOW)
        series_writer.write(session, BASIN, "daymet", "tmax", daily(first, *values[-800:], unit="degC"), source, NOW)


def test_the_normal_of_a_day_is_that_of_other_years(database: Database, client: TestClient) -> None:
    fill_records(database)
    result = client.get(ADDRESS, params=TWO_DAYS | {"variable": "discharge"}).json()
    assert (result["basin"], result["near_days"], result["least_years"]) == (BASIN, 7, 10)
    assert result["time"] == ["2008-06-30", "2008-07-01"]
    flow = result["variables"]["discharge"]
    assert (flow["kind"], flow["source"], flow["units"]) == ("observed", "usgs", "m3/s")
    assert flow["record"] == {"first_day": "1990-01-01", "last_day": "2008-12-31"}
    years = OTHER_YEARS * M3_PER_FT3
    assert flow["mean"] == pytest.approx([years.mean()] * 2)
    for name, level in {"p10": 0.1, "p25": 0.25, "median": 0.5, "p75": 0.75, "p90": 0.9}.items():
        assert flow[name] == pytest.approx([np.quantile(np.repeat(years, 15), level)] * 2)
    assert flow["years"] == [18, 18]


def test_flow_is_reported_in_the_unit_asked_for(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database)
    asked = TWO_DAYS | {"variable": "discharge"}
    for units, unit, factor in (("m3/s", "m3/s", M3_PER_FT3), ("source", "cfs", 1.0), ("cfs", "cfs", 1.0)):
        flow = sqlite_client.get(ADDRESS, params=asked | {"units": units}).json()["variables"]["discharge"]
        assert (flow["units"], flow["mean"][0]) == (unit, pytest.approx(8.5 * factor))
    result = sqlite_client.get(ADDRESS, params=asked | {"units": "mm/day", "area": "area_gages2"}).json()
    assert result["area"] == {"name": "area_gages2", "km2": 2000.0}
    depth = 8.5 * M3_PER_FT3 * SECONDS_PER_DAY / 2.0e9 * 1000
    assert result["variables"]["discharge"]["mean"][0] == pytest.approx(depth)


def test_the_weather_is_that_of_the_current_version_or_of_a_product(database: Database, client: TestClient) -> None:
    fill_records(database)
    before = client.get(ADDRESS, params=TWO_DAYS).json()
    assert (observed(before), before["product"]) == (["discharge"], None)
    assert "name a product" in before["missing"]["product"]
    with database.transaction() as session:
        a_promoted_version(session, BASIN)
    result = client.get(ADDRESS, params=TWO_DAYS).json()
    assert (observed(result), result["product"]) == (["discharge", "precipitation"], "maurer_extended")
    assert result["variables"]["precipitation"]["mean"] == [8.5, 8.5]
    named = client.get(ADDRESS, params=TWO_DAYS | {"product": "daymet"}).json()
    assert (observed(named), named["product"]) == (["discharge", "tmax"], "daymet")


def test_stored_water_and_snow_are_those_that_the_current_version_simulates(
    database: Database, client: TestClient
) -> None:
    fill_records(database)
    with database.transaction() as session:
        version = a_promoted_version(session, BASIN)
        snow_cells.replace(session, [replace(CELLS, version_id=version)])
        levels = replace(levels_of(session, version), first_day=RECORD.first, last_day=RECORD.last)
        water: dict[WaterVariable, SimulatedWater] = {
            "storage": SimulatedWater(RECORD, 100 + YEARS.astype(np.float32)),
            "snow": SimulatedWater(RECORD, YEARS.astype(np.float32), CELLS.cells),
        }
        simulated_series.replace(session, levels, water)
    shown = client.get(ADDRESS, params=TWO_DAYS).json()["variables"]
    for name, mean in (("storage", 108.5), ("snow", 8.5)):
        assert (shown[name]["kind"], shown[name]["source"], shown[name]["units"]) == ("simulated", version, "mm")
        assert shown[name]["mean"] == [mean, mean]
    alone = client.get(ADDRESS, params=TWO_DAYS | {"variable": "snow"}).json()["variables"]
    assert alone == {"snow": shown["snow"]}
    assert shown["snow"]["p10"][0] == pytest.approx(np.quantile(np.repeat(OTHER_YEARS, 15), 0.1))


@pytest.mark.parametrize(
    ("chosen", "storage", "snow"),
    [
        ({"conserving": False}, "does not conserve mass", "does not conserve mass"),
        ({}, "simulate it (freshet thresholds simulate)", "No reference snow of this basin is stored"),
    ],
)
def test_water_that_no_version_simulates_is_null_with_the_reason(
    sqlite_database: Database, sqlite_client: TestClient, chosen: dict[str, bool], storage: str, snow: str
) -> None:
    with sqlite_database.transaction() as session:
        a_promoted_version(session, a_basin(session), **chosen)
    result = sqlite_client.get(ADDRESS).json()
    assert (result["variables"]["storage"], result["variables"]["snow"]) == (None, None)
    assert storage in result["missing"]["variables.storage"]
    assert snow in result["missing"]["variables.snow"]


def observed(result: dict[str, Any]) -> list[str]:
    """Return the variables of an answer that are not a version's own."""
    return [name for name in result["variables"] if name not in WATER]


def test_too_few_years_are_null_with_the_reason(sqlite_database: Database, sqlite_client: TestClient) -> None:
    values = YEARS.copy()
    values[(YEARS >= 9) | (YEARS == 0)] = np.nan
    fill_records(sqlite_database, values)
    result = sqlite_client.get(ADDRESS, params=TWO_DAYS | {"variable": "discharge"}).json()
    flow = result["variables"]["discharge"]
    assert (flow["mean"], flow["p90"], flow["years"]) == ([None, None], [None, None], [8, 8])
    assert result["missing"]["variables.discharge"].startswith("2 of 2 days have fewer than 10 other years")


def test_a_basin_without_a_gauge_gives_the_reason(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
    result = sqlite_client.get(ADDRESS).json()
    assert result["variables"] == {"discharge": None, "storage": None, "snow": None}
    assert result["missing"]["variables.snow"] == f"No model version is current for {BASIN}."
    assert result["missing"]["variables.discharge"] == f"No discharge of usgs is stored for {BASIN}."


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ({}, "2007-10-03", "2008-10-01"),
        ({"end": "2030-12-31"}, "2030-01-01", "2030-12-31"),
        ({"start": "2030-01-01"}, "2030-01-01", "2030-12-31"),
        ({"end": "0001-01-02"}, "0001-01-01", "0001-01-02"),
        ({"start": "9999-12-30"}, "9999-12-30", "9999-12-31"),
    ],
)
def test_a_year_is_reported_unless_days_are_named(
    sqlite_database: Database, sqlite_client: TestClient, asked: dict[str, str], first: str, last: str
) -> None:
    fill_records(sqlite_database)
    result = sqlite_client.get(ADDRESS, params=asked).json()
    assert (result["time"][0], result["time"][-1]) == (first, last)
    assert len(result["variables"]["discharge"]["mean"]) == len(result["time"])


def test_the_credit_of_the_data_is_reported(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database)
    before = sqlite_client.get(ADDRESS, params=TWO_DAYS)
    assert before.json()["credits"] == {}
    with sqlite_database.transaction() as session:
        feeds.store_credit(session, "usgs", "usgs", Credit("By the survey.", "public domain"))
    after = sqlite_client.get(ADDRESS, params=TWO_DAYS, headers={"If-None-Match": before.headers["ETag"]})
    assert after.json()["credits"] == {"usgs": {"credit": "By the survey.", "licence": "public domain"}}
    held = {"If-None-Match": after.headers["ETag"]}
    assert sqlite_client.get(ADDRESS, params=TWO_DAYS, headers=held).status_code == 304


@pytest.mark.parametrize(
    ("asked", "field", "words"),
    [
        ({"start": "2008-07-02", "end": "2008-07-01"}, "end", "swap start and end"),
        ({"start": "1990-01-01", "end": "2008-07-01"}, "end", f"at most {MAX_DAYS}"),
        ({"area": "area_gages2"}, "area", "leave it out"),
        ({"variable": "tmax", "product": "daymet", "units": "m3/s"}, "units", "leave it out"),
    ],
)
def test_an_invalid_request_is_refused(
    sqlite_database: Database, sqlite_client: TestClient, asked: dict[str, str], field: str, words: str
) -> None:
    fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN, areas={"area_gages2": 2.0e9, "daymet": 2.5e9}))
    answer = sqlite_client.get(ADDRESS, params=asked)
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["field"]) == (422, field)
    assert words in error["detail"]


@pytest.mark.parametrize("asked", [{"variable": "snow_depth"}, {"product": "nldas"}])
def test_a_missing_series_is_reported_with_the_stored_ones(
    sqlite_database: Database, sqlite_client: TestClient, asked: dict[str, str]
) -> None:
    fill_records(sqlite_database)
    answer = sqlite_client.get(ADDRESS, params=asked)
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/no-observations")
    assert "usgs: discharge 1990-01-01..2008-12-31" in answer.json()["detail"]
    assert sqlite_client.get("/v1/basins/01013501/normals").json()["type"] == "/problems/unknown-basin"
