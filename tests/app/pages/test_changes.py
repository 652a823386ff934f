"""A basin's page states what changed since the previous forecast, and how much rain it would take."""

import re

from starlette.testclient import TestClient

from jobspec.levels import NewThreshold
from records.database.engine import Database
from records.levels import basin_levels
from testing.records import BASIN, NOW
from tests.app import factories
from tests.app.forecasts.test_changes import CHANGES, changed
from tests.app.forecasts.test_forecasts import fill_records
from tests.app.forecasts.test_rain_margin import with_response

PAGE = f"/basins/{BASIN}"


def section(page: str, name: str) -> str:
    """Return the text of a section of the page."""
    (found,) = re.findall(rf'<h2 id="{name}">.*?</section>', page, re.DOTALL)
    return " ".join(re.sub("<[^>]+>", " ", found).split())


def test_the_change_is_described_as_the_api_does(sqlite_database: Database, sqlite_client: TestClient) -> None:
    run = fill_records(sqlite_database, changed())
    answer = sqlite_client.get(CHANGES).json()
    text = section(sqlite_client.get(PAGE).text, "changes")
    assert answer["in_words"] in text
    assert f"Change of the mean of the members since the forecast of T0 29 September {2008}, in m³/s" in text
    assert f"GET /v1/runs/{run}/basins/{BASIN}/changes" in text
    first = answer["change"][0]
    assert f"1 October {'+' if first > 0 else '-'}{abs(first):.3g}" in text


def test_a_first_forecast_gives_the_reason(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast())
    reason = sqlite_client.get(CHANGES).json()["missing"]["change"]
    assert reason in section(sqlite_client.get(PAGE).text, "changes")


def test_the_rain_margin_of_a_level_has_its_range_or_its_answer(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, with_response(0.0, 0.01, 0.1))
    per_mm = factories.AREA_M2 / 1000 / 86_400
    with sqlite_database.transaction() as session:
        for name, depth in (("bridge", 6.0), ("meadow", 0.9), ("path", 1.5)):
            basin_levels.put(session, BASIN, NewThreshold(name=name, discharge=depth * per_mm), NOW)
    text = section(sqlite_client.get(PAGE).text, "rain-margin")
    assert "rain from 1 October on" in text
    assert "bridge more than 300 more than 300 more than 300" in text
    assert "meadow already above already above already above" in text
    assert "path 50.0 (5.00 to more than 300)" in text


def test_without_a_stored_response_the_reason_is_shown(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast())
    reason = sqlite_client.get(f"/v1/basins/{BASIN}/rain-margin").json()["missing"]["levels"]
    assert reason in section(sqlite_client.get(PAGE).text, "rain-margin")
