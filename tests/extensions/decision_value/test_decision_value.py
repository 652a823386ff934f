"""What acting on forecasts is worth."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from hydrology.verification.results import Reliability
from records.database.engine import Database
from records.verification import lead_scores
from testing.records import BASIN, a_basin, a_promoted_version
from tests.records.verification.test_lead_scores import SCORES, a_verification

OF_BASIN = f"/v1/basins/{BASIN}"


def test_the_value_follows_from_the_verification(sqlite_database: Database, sqlite_client: TestClient) -> None:
    tenths = Reliability((0.05, 0.55), (0.1, 0.5), (80, 20))
    with sqlite_database.transaction() as session:
        row = a_verification(session, version_id=a_promoted_version(session, a_basin(session)))
        lead_scores.replace(session, [replace(row, lead=1, scores=replace(SCORES, reliability=tenths))])
    answer = sqlite_client.get(f"{OF_BASIN}/decision-value?cost_loss=0.5").json()
    lead = answer["leads"][0]
    # 18 of 100 days passed it, 10 of them and 10 others with action at up to 50 %, none above
    assert (answer["cost_loss"], lead["base_rate"], lead["hit_rate"][4]) == ([0.5], 0.18, pytest.approx(10 / 18))
    assert lead["value"][4] == [pytest.approx((0.18 - 0.5 * 0.2 - 0.08) / (0.18 - 0.09))]
    assert lead["value"][5] == [0]
    assert sqlite_client.get(f"{OF_BASIN}/decision-value?cost_loss=nan").status_code == 422
