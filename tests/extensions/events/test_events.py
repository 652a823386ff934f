"""Events of an evaluation: time, height, volume and onset of peaks."""

from dataclasses import replace

import numpy as np
import pytest
from starlette.testclient import TestClient

from hydrology.base.calendar import Period
from records.database.engine import Database
from records.simulations import simulated_series
from testing.records import BASIN, a_basin, a_promoted_version, a_simulated_flow

OF_BASIN = f"/v1/basins/{BASIN}"


@pytest.fixture
def flow(sqlite_database: Database) -> None:
    """A year with a storm in winter, simulated a day late, and one in summer, missed."""
    period = Period.parse("2007-01-01..2007-12-31")
    observed, simulated = np.ones((2, 365), np.float32)
    observed[20:23], observed[200:203] = [6, 10, 6], [5, 9, 5]
    simulated[21:24] = [5, 8, 5]
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        stored = replace(a_simulated_flow(version), period=period, observed=observed, simulated=simulated)
        simulated_series.replace_flow(session, [stored])


@pytest.mark.usefixtures("flow")
def test_events_of_an_evaluation_are_scored_by_season(sqlite_client: TestClient) -> None:
    answer = sqlite_client.get(f"{OF_BASIN}/events").json()
    scores, errors = answer["scores"], answer["scores"]["errors"]
    assert answer["period_use"] == "unknown"  # the version states no days of its training
    assert (scores["observed"], scores["matched"], scores["missed_share"]) == (2, 1, 0.5)
    assert (errors["peak_time_days"]["mean"], errors["peak_height_percent"]["mean"]) == (1, -20)
    winter, summer = answer["events"]
    assert (winter["observed"]["peak"], winter["simulated"]["peak"]) == ("2007-01-22", "2007-01-23")
    assert (summer["observed"]["peak"], summer["simulated"], summer["errors"]) == ("2007-07-21", None, None)
    assert sqlite_client.get(f"{OF_BASIN}/events?season=DJF").json()["events"] == [winter]
    autumn = sqlite_client.get(f"{OF_BASIN}/events?season=SON").json()
    assert (autumn["events"], autumn["scores"]["missed_share"]) == ([], None)
    assert autumn["missing"]["scores.errors.onset_days"].startswith("No event was both")


def test_an_evaluation_without_observed_flow_has_no_events_and_gives_the_reason(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        stored = a_simulated_flow(a_promoted_version(session, a_basin(session)))
        simulated_series.replace_flow(session, [replace(stored, observed=np.full_like(stored.observed, np.nan))])
    answer = sqlite_client.get(f"{OF_BASIN}/events")
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-simulated")
    assert f"{BASIN} has no observed flow on the days of its evaluation" in answer.json()["detail"]
