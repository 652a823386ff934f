"""The page of the day: an unknown state is not shown as calm."""

import re

from starlette.testclient import TestClient

from records.database.engine import Database
from testing.records import a_basin, a_promoted_version, a_run
from tests.app.factories import forecast


def colour(page: str) -> str:
    """Return what the map of a page is coloured by."""
    (name,) = re.findall(r'<option value="(\w+)" selected', page)
    return str(name)


def test_a_forecast_without_probabilities_is_not_shown_as_calm(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
        a_run(session, a_promoted_version(session), forecast())

    assert "No alert, but in 1 of 1 basin none can be decided yet." in sqlite_client.get("/").text


def test_the_map_is_coloured_by_what_is_known(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
    assert colour(sqlite_client.get("/").text) == "chance"
    with sqlite_database.transaction() as session:
        a_run(session, a_promoted_version(session), forecast(snow=False))
    assert colour(sqlite_client.get("/").text) == "freshness"
    assert colour(sqlite_client.get("/?colour=chance").text) == "chance"
