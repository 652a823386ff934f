"""Pages show the T0 of what another run than the latest forecast has computed, and whether that run is stale."""

import re
from datetime import timedelta

from starlette.testclient import TestClient

from hydrology.base.calendar import day
from records.database.engine import Database
from testing.records import BASIN, NOW, a_run
from tests.app import factories
from tests.app.alerts.test_alerts import fill_records, issue
from tests.app.conftest import serving
from tests.app.forecasts.test_recession import dry

LATER = NOW + timedelta(days=9)


def text(page: str) -> str:
    """Return the text of a page."""
    return " ".join(re.sub("<[^>]+>", " ", page).split())


def decided_before_the_latest(database: Database) -> None:
    """Store a run that decides alerts, and one of nine days later that does not."""
    version = fill_records(database)
    issue(database, version)
    with database.transaction() as session:
        a_run(session, version, factories.forecast(), horizon_days=3, t0=day("2008-10-09"))


def test_an_alert_has_the_t0_of_the_run_that_decided_it(sqlite: str, sqlite_database: Database) -> None:
    issue(sqlite_database, fill_records(sqlite_database))
    for at, shown in (
        (NOW, "30 September 2008 Why Warning begins"),
        (LATER, "30 September 2008 stale Why Warning begins"),
    ):
        with serving(sqlite, at) as client:
            assert shown in text(client.get("/alerts").text)


def test_the_first_page_shows_the_t0_of_an_alert_that_an_older_run_decided(
    sqlite: str, sqlite_database: Database
) -> None:
    decided_before_the_latest(sqlite_database)
    with serving(sqlite, LATER) as client:
        page = text(client.get("/").text)
    assert "warning from T0 30 September 2008 stale" in page
    assert page.count("from T0 30 September 2008 stale") == 1  # the chance is of the latest
    assert "Forecasts start from T0 9 October 2008 ." in page


def test_the_first_page_shows_no_t0_beside_an_alert_of_the_latest_forecast(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    issue(sqlite_database, fill_records(sqlite_database))
    page = text(sqlite_client.get("/").text)
    assert "warning" in page
    assert page.count("from T0") == 1  # of the forecasts


def test_the_recession_begins_with_its_t0(sqlite: str, sqlite_database: Database) -> None:
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        a_run(session, version, dry(), forcing_kind="dry", purpose="what-if", horizon_days=3)
        a_run(session, version, factories.forecast(), horizon_days=3, t0=day("2008-10-09"))
    for at, shown in ((NOW, "T0 30 September 2008. If no"), (LATER, "T0 30 September 2008; stale. If no")):
        with serving(sqlite, at) as client:
            assert f" From {shown} more rain or snow fell" in text(client.get(f"/basins/{BASIN}").text)


def test_a_forecast_with_filled_weather_is_as_fresh_as_its_last_filled_day(
    sqlite: str, sqlite_database: Database
) -> None:
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        a_run(session, version, factories.forecast(), horizon_days=3, filled_days=2)
    with serving(sqlite, NOW + timedelta(days=3)) as client:
        page = client.get("/?colour=freshness").text
    assert "2 to 3 days 1 stale, 4 to 7 days 0" in text(page)  # the legend, with the number of basins of each class
    assert "stale</strong>" not in page
