"""How much rain takes flow to each level, by the response that a run stores."""

from dataclasses import replace
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from hydrology.extremes.rain_margin import RAIN_MM, START_LEADS, WINDOW_DAYS
from jobspec.levels import NewThreshold
from records.database.engine import Database
from records.levels import basin_levels
from records.runs import run_arrays, run_types
from testing.records import BASIN, NOW, a_reason
from tests.app import factories
from tests.app.basins.test_thresholds import fill_records as store_record
from tests.app.forecasts.test_forecasts import fill_records

ADDRESS = f"/v1/basins/{BASIN}/rain-margin"
PER_MM = factories.AREA_M2 / 1000 / 86_400
IN_MM = {"units": "mm/day"}
MEDIAN = ", in the median of the members."


def with_response(*factors: float) -> run_types.BasinResult:
    """Return a run whose flow is 1 mm/day and rises by a factor of the rain, one a member; a longer window halves it.

    The third start is not known."""
    rain, longer = np.array(RAIN_MM)[:, None], np.array([1.0, 1.0, 0.5])[:, None, None, None]
    peaks = np.repeat(1 + longer * rain * np.array(factors), len(START_LEADS), axis=1)
    peaks[:, 2] = np.nan
    axes = {"window": WINDOW_DAYS, "lead": START_LEADS, "rain": RAIN_MM, "member": [*map(str, range(len(factors)))]}
    result = factories.forecast()
    series = run_arrays.RunSeries(run_types.PEAKS_BY_RAIN, "mm/day", axes, peaks.astype(np.float32))
    return replace(result, series=[*result.series, series, error_shifts(0.0)])


def error_shifts(at_1_mm: float, above: float = 0.0) -> run_arrays.RunSeries:
    """Return what is added to the cube root of flow: at 1 mm/day, and from 8 mm/day on."""
    axes = {"lead": [*range(1, 6)], "flow": [1.0, 8.0]}
    values = np.tile(np.array([at_1_mm, above], np.float32), (5, 1))
    return run_arrays.RunSeries(run_types.ERROR_SHIFTS, "(mm/day)^(1/3)", axes, values)


def windows(client: TestClient, **asked: Any) -> list[dict[str, Any]]:
    (level,) = client.get(ADDRESS, params=IN_MM | asked).json()["levels"]
    return list(level["windows"])


def test_the_margin_of_a_discharge_has_a_median_and_a_range(database: Database, client: TestClient) -> None:
    run = fill_records(database, with_response(0.1, 0.2, 0.4))
    answer = client.get(ADDRESS, params=IN_MM | {"discharge": 5.0}).json()
    (level,) = answer["levels"]
    assert (answer["run"], answer["units"]["levels.windows.median"], answer["not_monotone"]) == (run, "mm", 0.0)
    assert [(one["days"], one["first_day"]) for one in level["windows"]] == [
        (days, first) for days in (1, 2, 3) for first in ("2008-10-01", "2008-10-02")
    ]
    first, *_, last = level["windows"]
    assert [first[name] for name in ("p05", "median", "p95")] == [10.0, 20.0, 40.0]
    assert [last[name] for name in ("p05", "median", "p95")] == [20.0, 40.0, 80.0]
    assert (first["status"], first["reason"]) == ("needs-rain", None)
    assert level["in_words"] == (
        "From 1 October, 20.0 mm of rain within 1 day (10.0 to 40.0) or 40.0 mm of rain within 3 days (20.0 to 80.0) "
        "take flow to 5.00 mm/day, in the median of the members."
    )


def test_flow_that_is_above_and_flow_that_never_reaches_a_level_are_answers(
    database: Database, client: TestClient
) -> None:
    fill_records(database, with_response(0.0, 0.01, 0.1))
    above, *_ = windows(client, discharge=0.9)
    assert (above["status"], above["median"], above["p95"], above["reason"]) == ("already-above", 0, 0, None)
    never, *_ = windows(client, discharge=6.0)
    assert (never["status"], never["median"], never["p05"]) == ("not-reached", None, 50.0)
    assert never["reason"] == "Flow does not reach it with 300 mm of rain."
    for discharge, sentence in (
        (0.9, "From 1 October flow is above 0.900 mm/day without more rain."),
        (
            6.0,
            f"From 1 October, 300 mm of rain within 3 days do not take flow to 6.00 mm/day{MEDIAN}",
        ),
    ):
        (level,) = client.get(ADDRESS, params=IN_MM | {"discharge": discharge}).json()["levels"]
        assert level["in_words"] == sentence


def test_margins_start_from_the_flow_that_observed_flow_corrects(database: Database, client: TestClient) -> None:
    result = with_response(0.1, 0.2, 0.4)
    shifts = error_shifts(0.7 ** (1 / 3) - 1)  # the model runs too high at 1 mm/day, and is right from 8 mm/day on
    fill_records(database, replace(result, series=[*result.series[:-1], shifts]))
    needed, *_ = windows(client, discharge=0.9)
    assert needed["status"] == "needs-rain"
    assert needed["median"] > 0
    asked = IN_MM | {"discharge": 12.0}
    (level,) = client.get(ADDRESS, params=asked).json()["levels"]
    assert (level["flow"], level["windows"][0]["median"]) == ("corrected", 55.0)


def test_levels_of_the_simulation_and_runs_without_an_error_model_have_the_flow_as_simulated(
    database: Database, client: TestClient
) -> None:
    result = with_response(0.1, 0.2)
    summary = replace(result.basin.summary, calibration=a_reason("No error model."))
    basin = replace(result.basin, summary=summary)
    fill_records(database, replace(result, basin=basin, series=result.series[:-1]))
    (level,) = client.get(ADDRESS, params=IN_MM | {"discharge": 0.9}).json()["levels"]
    assert (level["flow"], level["windows"][0]["status"]) == ("simulated", "already-above")


def test_a_calibrated_run_that_stored_no_correction_has_no_margin(database: Database, client: TestClient) -> None:
    result = with_response(0.1, 0.2)
    fill_records(database, replace(result, series=result.series[:-1]))
    (level,) = client.get(ADDRESS, params=IN_MM | {"discharge": 0.9}).json()["levels"]
    assert (level["windows"], level["in_words"]) == (None, None)
    assert level["reason"].startswith("The run did not store how observed flow corrects it")


def test_the_levels_are_those_that_flow_rises_to_in_the_unit_asked_for(database: Database, client: TestClient) -> None:
    fill_records(database, with_response(0.1, 0.2))
    store_record(database)
    with database.transaction() as session:
        for name, direction in (("bankfull", "rising"), ("withdrawal", "falling")):
            new = NewThreshold.model_validate({"name": name, "discharge": 3.0 * PER_MM, "direction": direction})
            basin_levels.put(session, BASIN, new, NOW)
    levels = {level["name"]: level for level in client.get(ADDRESS).json()["levels"]}
    assert next(iter(levels)) == "bankfull"
    assert all(name.startswith(("bankfull", "pot", "gev")) for name in levels)
    np.testing.assert_allclose(levels["bankfull"]["discharge"], 3.0 * PER_MM, rtol=1e-6)
    np.testing.assert_allclose(levels["bankfull"]["windows"][0]["median"], 10.0, rtol=1e-5)
    floods = [levels[f"gev-{years}"]["windows"][0]["median"] for years in (2, 10, 50)]
    assert floods == sorted(floods)


def test_a_run_without_a_response_states_why(database: Database, client: TestClient) -> None:
    fill_records(database, factories.forecast())
    answer = client.get(ADDRESS).json()
    assert (answer["levels"], answer["not_monotone"]) == (None, None)
    assert answer["missing"]["levels"] == answer["missing"]["not_monotone"] == "The run did not store it."
