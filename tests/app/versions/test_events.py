"""Events, the day to which forecasts are skilful, and what acting on them is worth."""

from dataclasses import replace

import numpy as np
import pytest
from starlette.testclient import TestClient

from hydrology.base.calendar import Period
from hydrology.verification.results import MonthSkill, Reliability
from records.database.engine import Database
from records.simulations import simulated_series
from records.verification import lead_scores
from testing.records import BASIN, a_basin, a_promoted_version, a_simulated_flow
from tests.records.verification.test_lead_scores import SCORES, a_verification

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


def test_headline_and_value_follow_from_the_verification(sqlite_database: Database, sqlite_client: TestClient) -> None:
    lows = {1: 0.5, 2: 0.2, 3: -0.1}
    months = {lead: tuple(MonthSkill(m, 60, 10, 0.6, low if m < 12 else None, 0.8, 30) for m in range(1, 13))
              for lead, low in lows.items()}  # fmt: skip
    tenths = Reliability((0.05, 0.55), (0.1, 0.5), (80, 20))
    with sqlite_database.transaction() as session:
        row = a_verification(session, version_id=a_promoted_version(session, a_basin(session)))
        scored = {lead: replace(SCORES, months=of_lead, reliability=tenths) for lead, of_lead in months.items()}
        lead_scores.replace(session, [replace(row, lead=lead, scores=of_lead) for lead, of_lead in scored.items()])
    (headline,) = sqlite_client.get(f"{OF_BASIN}/skilful-days").json()["headlines"]
    assert headline["months"][3] == {
        "month": 4,
        "skilful_to_day": 2,
        "verified_to_day": 3,
        "independent_issues": 30,
    }
    assert headline["period_use"] == "held out"
    assert headline["months"][11]["skilful_to_day"] is None
    assert "months.11" in headline["missing"]
    answer = sqlite_client.get(f"{OF_BASIN}/decision-value?cost_loss=0.5").json()
    lead = answer["leads"][0]
    # 18 of 100 days passed it, 10 of them and 10 others with action at up to 50 %, none above
    assert (answer["cost_loss"], lead["base_rate"], lead["hit_rate"][4]) == ([0.5], 0.18, pytest.approx(10 / 18))
    assert lead["value"][4] == [pytest.approx((0.18 - 0.5 * 0.2 - 0.08) / (0.18 - 0.09))]
    assert lead["value"][5] == [0]
    assert sqlite_client.get(f"{OF_BASIN}/decision-value?cost_loss=nan").status_code == 422


def test_an_evaluation_without_observed_flow_has_no_events_and_gives_the_reason(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        stored = a_simulated_flow(a_promoted_version(session, a_basin(session)))
        simulated_series.replace_flow(session, [replace(stored, observed=np.full_like(stored.observed, np.nan))])
    answer = sqlite_client.get(f"{OF_BASIN}/events")
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-simulated")
    assert f"{BASIN} has no observed flow on the days of its evaluation" in answer.json()["detail"]
