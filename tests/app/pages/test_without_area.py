"""A basin without a drainage area has its forecast on every page, in mm/day."""

from typing import Any

from starlette.testclient import TestClient

from records.database.engine import Database
from testing.records import BASIN
from tests.app import factories
from tests.app.forecasts.test_what_if import fill_records, with_more_water
from tests.app.pages.page_text import facts_of

NO_AREA: dict[str, Any] = {"area_m2": None, "area_name": None}


def test_the_forecast_of_a_basin_without_an_area_is_in_mm(sqlite_database: Database, sqlite_client: TestClient) -> None:
    _, changed = fill_records(sqlite_database, factories.forecast(**NO_AREA), with_more_water(**NO_AREA))
    page = sqlite_client.get(f"/basins/{BASIN}").text
    assert facts_of(page)["Next peak"].startswith("4.06 mm/day on 2 October")
    compared = sqlite_client.get("/compare", params={"basin": BASIN}).text
    assert "4.06 mm/day on 2 October" in compared
    assert f'data-figure="{BASIN}-' in compared
    what_if = sqlite_client.get(f"/basins/{BASIN}/what-if?run={changed}").text
    assert "Mean discharge in mm/day" in what_if


def test_flow_of_such_a_basin_stays_in_mm_whatever_is_chosen(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, factories.forecast(**NO_AREA), with_more_water(**NO_AREA))
    page = sqlite_client.get(f"/basins/{BASIN}?units=cfs").text
    assert facts_of(page)["Next peak"].startswith("4.06 mm/day on 2 October")
