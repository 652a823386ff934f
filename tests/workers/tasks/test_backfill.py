"""A job fetches past weather forecasts, reforecasts with them and fits."""

from collections.abc import Iterator

import pytest

from operations.verification.calibrate import calibrate
from records.access import audit
from records.jobs import jobs
from records.versions import versions
from testing.country import BASINS
from testing.jobs.in_process import InProcessJobs
from testing.work import work_of
from tests.operations.live import FORECAST, Station, station
from tests.operations.verification.test_backfill import UNSEEN, WEATHER


@pytest.fixture
def here(live_jobs: InProcessJobs, monkeypatch: pytest.MonkeyPatch) -> Iterator[Station]:
    """A world with an error model of simulations."""
    with station(live_jobs.database, live_jobs.settings.data) as at:
        at.add("ahead", FORECAST)
        at.fetch("past")
        with at.database.reading() as session:
            version = versions.newest(session).id
        calibrate(work_of(at.database, at.clock), version, BASINS, UNSEEN)
        for name, value in at.environment.items():
            monkeypatch.setenv(name, value)
        yield at


@pytest.mark.extended
def test_a_job_backfills_and_reports_what_is_missing(live_jobs: InProcessJobs, here: Station) -> None:
    here.world.missing_runs = {"2005-05-20T00:00"}
    posted = live_jobs.post("backfill", None, feed="ahead", days=14, horizon=5)
    done = live_jobs.ended(posted.id)
    assert (done.status, done.problem) == ("succeeded", None)
    assert done.result is not None
    count = 12
    counts = {"issues": count, "issues_before": 0, "issues_missing": 1, "reforecasts": count * len(BASINS)}
    counts |= {"reforecasts_before": 0, "recalibrations": 0}
    missing, too_few = done.result["warnings"]
    assert done.result == {"weather": WEATHER, **counts, "warnings": [missing, too_few]}
    assert missing == "The service does not have the runs of ecmwf_ifs of 2005-05-20."
    assert "are recalibrated once 10 days T0" in too_few
    with live_jobs.database.reading() as session:
        log = [event.data["text"] for event in jobs.events_after(session, done.id, 0) if event.type == "log"]
        (entry,) = [one for one in audit.page(session) if one.action == "feed backfilled"]
    assert log == [f"The fetch weighs {13 * len(BASINS)} calls by Open-Meteo's count.", missing, too_few]
    assert (entry.subject, entry.detail["reforecasts"]) == ("ahead", count * len(BASINS))


@pytest.mark.usefixtures("here")
def test_a_feed_that_is_not_stored_fails_the_job(live_jobs: InProcessJobs) -> None:
    failed = live_jobs.ended(live_jobs.post("backfill", None, feed="nowhere").id)
    assert failed.problem is not None
    assert failed.problem["kind"] == "unknown-feed"
