"""The sources of a forecast's spread over the API."""

from dataclasses import replace

import numpy as np
import pytest
from fastapi.testclient import TestClient

from hydrology.uncertainty.weighted import SPREAD_SOURCES
from records.database.engine import Database
from records.runs import run_arrays, run_types
from testing.records import BASIN
from tests.app import factories
from tests.app.forecasts.test_forecasts import fill_records

SPREAD = f"/v1/basins/{BASIN}/spread"
VARIANCE = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 0.0], [3.0, 1.0, 0.0]], np.float32)


def divided() -> run_types.BasinResult:
    """Return a forecast of which the last day has no spread at all."""
    result = factories.forecast()
    axes = {"source": SPREAD_SOURCES, "lead": factories.LEADS}
    return replace(
        result, series=[*result.series, run_arrays.RunSeries(run_types.VARIANCE, "mm2/day2", axes, VARIANCE)]
    )


def test_the_spread_is_reported_with_its_shares(database: Database, client: TestClient) -> None:
    run = fill_records(database, divided())
    answer = client.get(SPREAD).json()
    assert (answer["run"], answer["missing"]) == (run, {})
    assert answer["standard_deviation"] == [2.0, 2.0, 0.0]
    assert answer["shares"] == {"weights": [0.25, 0.25, None], "weather": [0.0, 0.5, None], "state": [0.75, 0.25, None]}


@pytest.mark.parametrize("form", ["csv", "netcdf", "parquet", "coveragejson"])
def test_it_comes_in_every_format_of_series(sqlite_database: Database, sqlite_client: TestClient, form: str) -> None:
    fill_records(sqlite_database, divided())
    assert b"share_of_state" in sqlite_client.get(SPREAD, params={"format": form}).content


def test_a_run_that_did_not_divide_it_reports_how_to(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast())
    answer = sqlite_client.get(SPREAD).json()
    assert (answer["standard_deviation"], answer["shares"]) == (None, None)
    assert "perturbed_states" in answer["missing"]["shares"]
