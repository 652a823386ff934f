"""A schedule posts the daily cycle, whose job reports the outcome of every basin."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from hydrology.base.calendar import day
from records.access import audit
from records.forecasts.latest import latest
from records.jobs import jobs, schedules
from testing.country import BASINS
from testing.jobs.in_process import InProcessJobs
from tests.operations.live import FORECAST, ISSUE_DAY, Station, station
from workers.scheduler import fire

STOPPED, *GOING = BASINS


@pytest.fixture
def here(live_jobs: InProcessJobs, monkeypatch: pytest.MonkeyPatch) -> Iterator[Station]:
    """A world in which one basin's data have stopped."""
    with station(live_jobs.database, live_jobs.settings.data) as at:
        at.add("ahead", FORECAST)
        at.stop(STOPPED, day("2005-05-28"))
        for name, value in at.environment.items():
            monkeypatch.setenv(name, value)
        yield at


def test_a_schedule_posts_the_cycle_and_its_job_reports_the_outcome_of_each_basin(
    live_jobs: InProcessJobs, here: Station
) -> None:
    due = schedules.NewSchedule(
        name="daily", kind="daily", params={"horizon": 3}, cron="0 7 * * *", timezone="UTC", next_run_at=ISSUE_DAY
    )
    with live_jobs.database.transaction() as session:
        schedules.create(session, due, datetime.now(UTC))
    assert fire(live_jobs.tools) == 1
    with live_jobs.database.reading() as session:
        (posted,) = jobs.list_jobs(session, kind="daily")
    done = live_jobs.ended(posted.id)
    assert (done.status, done.problem) == ("succeeded", None)
    assert done.result is not None
    assert done.result["counts"] == {"issued": len(GOING), "failed": 1}
    assert done.result["basins"] == {STOPPED: "failed", **dict.fromkeys(GOING, "issued")}
    assert [(run["status"], run["t0"]) for run in done.result["runs"]] == [("issued", "2005-05-31")]
    with live_jobs.database.reading() as session:
        log = [event.data["text"] for event in jobs.events_after(session, done.id, 0) if event.type == "log"]
        run = latest(session, GOING[0], here.clock.now()).run
        trail = [one for one in audit.page(session) if one.action == "feed fetched"]
    assert {one.subject for one in trail} >= {"ahead"}
    assert all(len(file["sha256"]) == 64 for one in trail for file in one.detail["files"])
    assert sum(one.detail["file_count"] for one in trail if one.subject == "ahead") == len(GOING)
    reason = f"{STOPPED}: its live ends on 2005-05-28, more than 3 days ago."
    assert [line for line in log if line.startswith(STOPPED)] == [f"{STOPPED} has no forecast for today. {reason}"]
    assert (run.id, run.purpose, run.forcing_kind) == (done.result["runs"][0]["run"], "operational", "supplied")
