"""The page of the day: an unknown state is not shown as calm."""

import re
from datetime import datetime, timedelta

from starlette.testclient import TestClient

from hydrology.base.calendar import day
from records.database.engine import Database
from records.versions import promotions
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run
from tests.app.conftest import serving
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
    assert sqlite_client.get("/?search=&alert=&state=&us_state=&huc=&agency=").status_code == 200  # as the form sends
    with sqlite_database.transaction() as session:
        a_run(session, a_promoted_version(session), forecast(snow=False))
    assert colour(sqlite_client.get("/").text) == "flow"
    assert colour(sqlite_client.get("/?colour=chance").text) == "chance"


def stale_beside_fresh(database: Database, *others: str) -> datetime:
    """Store a forecast, beside further basins with a forecast of nine days later; return a time after all."""
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        a_run(session, version, forecast(), horizon_days=3)
        for basin in others:
            promotions.promote(session, version, [a_basin(session, basin)], reason="better", by="someone", at=NOW)
            a_run(session, version, forecast(basin), horizon_days=3, t0=day("2008-10-09"))
    return NOW + timedelta(days=10)


def test_the_age_is_that_of_the_day_from_which_forecasts_start(sqlite: str, sqlite_database: Database) -> None:
    later = stale_beside_fresh(sqlite_database)
    with sqlite_database.transaction() as session:
        a_basin(session, "SYNTH-01")  # without a forecast
    with serving(sqlite, later) as client:
        assert "T0 30 September 2008</span>, 11 days behind the clock" in client.get("/").text


def test_stale_forecasts_that_are_chosen_are_not_those_of_all(sqlite: str, sqlite_database: Database) -> None:
    later = stale_beside_fresh(sqlite_database, "SYNTH-01", "SYNTH-02")
    with serving(sqlite, later) as client:
        page = client.get("/?state=stale").text
    assert "T0 9 October 2008</span>." in page
    assert 'class="late">stale' in page


def test_basins_side_by_side_show_which_forecast_is_stale(sqlite: str, sqlite_database: Database) -> None:
    later = stale_beside_fresh(sqlite_database, "SYNTH-01")
    with serving(sqlite, later) as client:
        page = client.get("/compare", params={"basin": [BASIN, "SYNTH-01"]}).text
    assert "30 September 2008" in page
    assert page.count("days behind the clock; stale") == 1
