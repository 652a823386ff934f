"""/v1/issues and its page: how many basins a day renewed, and which are missing and why."""

from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from hydrology.base.absent import absent
from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from records.database.engine import Database
from records.forecasts import issues
from records.forecasts.issues import Issue, Settled
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run
from tests.app.conftest import bearer

OTHER = "SYNTH-01"
TODAY = "2008-10-01"
WHY = absent(Reason.FAILED, message="its feed does not answer.")


@pytest.fixture(autouse=True)
def run(sqlite_database: Database) -> str:
    """Two issues, of today and of 40 days before; today's lacks a basin."""
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        a_basin(session, OTHER)
        run = a_run(session, version).id
        for ago in (40, 0):
            issue = Issue(day=day((NOW - timedelta(days=ago)).date()), opened_at=NOW)
            issues.start(session, issue, {BASIN: version, OTHER: version})
        issues.settle(session, day(TODAY), {BASIN: Settled("issued", run), OTHER: Settled("failed", None, WHY)}, NOW)
    return run


def test_the_issues_of_the_last_30_days_are_listed_with_their_numbers(sqlite_client: TestClient) -> None:
    (listed,) = sqlite_client.get("/v1/issues").json()["issues"]
    assert (listed["day"], listed["renewed"], listed["lacking"], listed["late"]) == (TODAY, 1, 1, False)
    tally = {"expected": 2, "counts": {"failed": 1, "issued": 1}, "reasons": {"failed": 1}}
    assert listed["basins"] == tally
    assert listed["missing"] == {"job": "It was a command."}
    first = sqlite_client.get("/v1/issues?day_from=2008-01-01&limit=1").json()
    following = sqlite_client.get(first["next"]).json()
    assert [one["day"] for page in (first, following) for one in page["issues"]] == [TODAY, "2008-08-22"]
    assert following["next"] is None
    assert following["issues"][0]["missing"]["closed_at"] == "No cycle of it has ended."
    assert sqlite_client.get("/v1/issues?huc=17").json()["issues"][0]["basins"]["expected"] == 0


def test_an_issue_names_the_missing_basins_and_why(sqlite_client: TestClient) -> None:
    issue = sqlite_client.get(f"/v1/issues/{TODAY}").json()
    (missing,) = issue["without_forecast"]
    assert (missing["basin"], missing["outcome"], missing["reason"]) == (OTHER, "failed", str(WHY))
    assert missing["missing"] == {"run": "It has no forecast."}
    unknown = sqlite_client.get("/v1/issues/2008-09-30")
    assert (unknown.status_code, "No daily cycle was started" in unknown.text) == (404, True)


def test_the_page_shows_the_calendar_and_runs_the_missing_again(
    sqlite_client: TestClient, sqlite_database: Database
) -> None:
    assert f'href="{sqlite_client.base_url.path}issues"' in sqlite_client.get("/").text
    page = sqlite_client.get("/issues").text
    assert page.count("no cycle") == 30
    assert "1 of 2" in page
    assert str(WHY) in page
    assert "Run the missing" not in page
    page = sqlite_client.get("/issues", headers=bearer(sqlite_database, "forecaster")).text
    assert f'name="params.basins" data-entry="list" value="{OTHER}"' in page
    old = sqlite_client.get("/issues?day=2008-08-22", headers=bearer(sqlite_database, "forecaster")).text
    assert ("not ended" in old, "Run the missing" in old) == (True, False)
