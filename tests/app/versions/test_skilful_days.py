"""The day to which forecasts are skilful, by month."""

from dataclasses import replace

from starlette.testclient import TestClient

from hydrology.verification.results import MonthSkill
from records.database.engine import Database
from records.verification import lead_scores
from testing.records import BASIN, a_basin, a_promoted_version
from tests.records.verification.test_lead_scores import SCORES, a_verification

OF_BASIN = f"/v1/basins/{BASIN}"


def test_the_headline_follows_from_the_verification(sqlite_database: Database, sqlite_client: TestClient) -> None:
    lows = {1: 0.5, 2: 0.2, 3: -0.1}
    months = {lead: tuple(MonthSkill(m, 60, 10, 0.6, low if m < 12 else None, 0.8, 30) for m in range(1, 13))
              for lead, low in lows.items()}  # fmt: skip
    with sqlite_database.transaction() as session:
        row = a_verification(session, version_id=a_promoted_version(session, a_basin(session)))
        scored = {lead: replace(SCORES, months=of_lead) for lead, of_lead in months.items()}
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
