"""Why a forecast differs from the previous one, over the API."""

from dataclasses import replace

import numpy as np
import pytest
from fastapi.testclient import TestClient

from hydrology.attribution import ORDERS, PARTS
from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from records.database.engine import Database
from records.runs import run_arrays, run_types
from records.runs.run_summary import RunChange
from testing.records import BASIN
from tests.app import factories
from tests.app.forecasts.test_forecasts import fill_records

CHANGES = f"/v1/basins/{BASIN}/forecasts/latest/changes"
FOUND = RunChange(
    run="01previous",
    version="01version",
    t0="2008-09-29",
    observed_mm=18.0,
    expected_mm=6.0,
    ahead_mm=30.0,
    ahead_before_mm=35.0,
    without_flow=absent(Reason.UNCALIBRATED_CHANGE),
)
FORWARD = np.array([[0.0, 0.0], [0.1, 0.5], [0.05, -0.1], [0.0, 0.0]])
REVERSE = np.array([[0.0, 0.0], [0.12, 0.4], [0.03, 0.0], [0.0, 0.0]])
CORRECTION = np.array([0.01, 0.02])


def changed(found: RunChange | Absent = FOUND, correction: float = np.nan) -> run_types.BasinResult:
    """Return a forecast with a change on the two days that the previous one holds."""
    result = factories.forecast()
    parts = np.full((2, len(PARTS), 2), correction)
    parts[0, :-1], parts[1, :-1] = FORWARD, REVERSE
    axes = {"order": ORDERS, "part": PARTS, "lead": [1, 2]}
    summary = replace(result.basin.summary, change=found)
    return replace(
        result,
        basin=replace(result.basin, summary=summary),
        series=[*result.series, run_arrays.RunSeries(run_arrays.CHANGES, "mm/day", axes, parts)],
    )


def test_the_parts_add_up_to_the_change(database: Database, client: TestClient) -> None:
    run = fill_records(database, changed())
    answer = client.get(CHANGES, params={"units": "mm/day"}).json()
    assert answer["previous"] == {"run": "01previous", "version": "01version", "t0": "2008-09-29"}
    assert (answer["run"], answer["time"], answer["lead_days"]) == (run, ["2008-10-01", "2008-10-02"], [1, 2])
    assert answer["change_of"] == "mean of the members"
    np.testing.assert_allclose(answer["change"], FORWARD.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(answer["after"], factories.DISCHARGE.mean(axis=0)[:2], rtol=1e-6)
    np.testing.assert_allclose(np.subtract(answer["after"], answer["before"]), answer["change"], rtol=1e-9)
    parts = answer["parts"]
    assert (parts["observed_weather"], parts["observed_flow"]) == ([0.1, 0.5], None)
    np.testing.assert_allclose(answer["interaction"]["observed_weather"], [-0.02, 0.1])
    assert "Not both runs are calibrated" in answer["missing"]["parts.observed_flow"]
    assert answer["precipitation"] == {"observed": 18.0, "expected": 6.0, "ahead": 30.0, "ahead_before": 35.0}
    sentence = answer["in_words"]
    assert sentence.startswith("+0.400 mm/day on Thursday 2 October since the forecast of 29 September, from ")
    assert "+0.500 because more rain or snow fell (18.0 mm of precipitation, 6.00 mm expected), -0.100 " in sentence
    assert "because less rain or snow is forecast (30.0 mm by 2 October, 35.0 mm before)." in sentence


def test_a_calibrated_change_counts_the_last_observed_flow(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, changed(replace(FOUND, without_flow=None), 0.02))
    answer = sqlite_client.get(CHANGES, params={"units": "mm/day"}).json()
    assert answer["change_of"] == "calibrated median"
    assert answer["parts"]["observed_flow"] == [0.02, 0.02]
    np.testing.assert_allclose(answer["change"], FORWARD.sum(axis=0) + 0.02, rtol=1e-12)
    of_m3s = sqlite_client.get(CHANGES).json()
    total = np.sum([column for column in of_m3s["parts"].values() if column is not None], axis=0)
    np.testing.assert_allclose(total, of_m3s["change"], rtol=1e-9)
    assert "m³/s" in of_m3s["in_words"]


def test_parts_in_one_order_alone_have_no_interaction(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, changed(replace(FOUND, without_reverse=absent(Reason.NO_REVERSE_ORDER))))
    answer = sqlite_client.get(CHANGES).json()
    assert answer["interaction"] is None
    assert "in one order only" in answer["missing"]["interaction"]


@pytest.mark.parametrize(
    ("result", "purpose", "sentence"),
    [
        (factories.forecast(), "operational", "The run did not store it."),
        (changed(absent(Reason.NO_PREVIOUS_RUN, days=10, t0="2008-09-30")), "operational", "No operational forecast"),
        (factories.forecast(), "on-request", "Only operational runs are compared"),
    ],
)
def test_a_forecast_without_a_change_has_the_reason(
    sqlite_database: Database, sqlite_client: TestClient, result: run_types.BasinResult, purpose: str, sentence: str
) -> None:
    run = fill_records(sqlite_database, result, purpose=purpose)
    answer = sqlite_client.get(f"/v1/runs/{run}/basins/{BASIN}/changes").json()
    assert (answer["change"], answer["parts"], answer["in_words"]) == (None, None, None)
    assert sentence in answer["missing"]["change"]


@pytest.mark.parametrize("form", ["csv", "netcdf", "parquet", "coveragejson"])
def test_it_comes_in_every_format_of_series(sqlite_database: Database, sqlite_client: TestClient, form: str) -> None:
    fill_records(sqlite_database, changed())
    assert b"part_observed_weather" in sqlite_client.get(CHANGES, params={"format": form}).content
