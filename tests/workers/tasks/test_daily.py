"""A schedule posts the daily cycle, whose job reports the outcome of every basin."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hydrology.base.calendar import day
from hydrology.base.errors import DataProblem
from operations.daily import issue_record
from operations.daily.daily_forecasts import issue_newest
from operations.feeds.fetch import fetch_part
from records.access import audit
from records.alerts import alerts
from records.database.engine import Database
from records.forecasts import issues
from records.forecasts.latest import latest
from records.jobs import jobs, schedules
from records.runs import runs
from testing.country import BASINS
from testing.jobs.in_process import InProcessJobs
from testing.work import work_of
from tests.operations.live import FORECAST, HORIZON, ISSUE_DAY, Station, station
from tests.workers.tasks.divided import in_parts_of
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
        issue = issues.get(session, day("2005-06-01"))
        (missing,) = issues.basins_of(session, issue.day, issues.MISSING)
        trail = [one for one in audit.page(session) if one.action == "feed fetched"]
    assert {one.subject for one in trail} >= {"ahead"}
    assert all(len(file["sha256"]) == 64 for one in trail for file in one.detail["files"])
    assert sum(one.detail["file_count"] for one in trail if one.subject == "ahead") == len(GOING)
    reason = f"{STOPPED}: its live ends on 2005-05-28, more than 3 days ago."
    assert [line for line in log if line.startswith(STOPPED)] == [f"{STOPPED} has no forecast for today. {reason}"]
    assert (run.id, run.purpose, run.forcing_kind) == (done.result["runs"][0]["run"], "operational", "supplied")
    assert (issue.job_id, issue.tally.counts) == (done.id, {"issued": len(GOING), "failed": 1})
    assert (missing.basin_id, str(missing.reason)) == (STOPPED, reason)


def test_what_is_issued_again_for_a_missing_basin_completes_the_issue(live_jobs: InProcessJobs, here: Station) -> None:
    issue_record.start(work_of(here.database, here.clock), None)
    with live_jobs.database.transaction() as session:
        params = {"basins": [*GOING], "weather": "climatology", "horizon": 3}
        posted, _ = jobs.create(session, jobs.NewJob(kind="forecast", params=params, queue="service"), here.clock.now())
    assert live_jobs.ended(posted.id).status == "succeeded"
    with live_jobs.database.reading() as session:
        assert issues.get(session, day("2005-06-01")).tally.counts == {"issued": len(GOING), "pending": 1}
    run_cycle(live_jobs)
    with live_jobs.database.reading() as session:
        assert issues.get(session, day("2005-06-01")).tally.counts == {"issued": len(GOING), "failed": 1}


def run_cycle(live_jobs: InProcessJobs, **params: str) -> jobs.Job:
    with live_jobs.database.transaction() as session:
        new = jobs.NewJob(kind="daily", params={"horizon": HORIZON, **params}, queue="service")
        posted, _ = jobs.create(session, new, datetime.now(UTC))
    return live_jobs.ended(posted.id)


def stored(database: Database, here: Station, basin: str) -> tuple[str | None, dict[str, Any]]:
    """Return the state that a basin's latest forecast starts from, and its values by name."""
    with database.reading() as session:
        found = latest(session, basin, here.clock.now())
        series = runs.series_of(session, found.run.id, basin)
    return found.basin.state_hash, {name: one.values for name, one in series.items()}


def test_the_parts_of_a_cycle_are_jobs_and_forecast_as_one_would(
    live_jobs: InProcessJobs, here: Station, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    copy = Database(f"sqlite:///{shutil.copy(live_jobs.settings.data / 'freshet.sqlite', tmp_path / 'whole.sqlite')}")
    other = replace(here, database=copy)
    other.add("ahead", FORECAST)
    whole = other.cycle()
    in_parts_of(monkeypatch, "daily-part", 1)
    done = run_cycle(live_jobs)
    assert (done.status, done.result and done.result["counts"]) == ("succeeded", {"issued": len(GOING), "failed": 1})
    with live_jobs.database.reading() as session:
        parts = jobs.children(session, done.id)
        assert {(part.kind, part.queue) for part in parts} == {("daily-part", "service")}
        asked = sorted((part.params["feed"] or "", part.params["basins"]) for part in parts)
        assert asked == [(feed, [basin]) for feed in ("", "ahead", "past") for basin in BASINS]
    for basin in GOING:
        (hash_of_parts, of_parts), (hash_of_whole, of_whole) = (
            stored(database, here, basin) for database in (live_jobs.database, copy)
        )
        assert hash_of_parts == hash_of_whole is not None
        assert of_parts.keys() == of_whole.keys()
        for name, values in of_parts.items():
            np.testing.assert_array_equal(values, of_whole[name])
    assert {basin.basin: basin.status for basin in whole.basins} == (done.result or {})["basins"]
    copy.close()
    again = run_cycle(live_jobs)
    assert again.result is not None
    assert (again.result["runs"], again.result["counts"]) == ([], {"unchanged": len(GOING), "failed": 1})


def test_a_late_issue_that_is_complete_by_now_is_closed_without_an_error(
    live_jobs: InProcessJobs, here: Station
) -> None:
    late = day("2005-05-30")
    work = work_of(live_jobs.database, here.clock, live_jobs.settings)
    issue_record.start(work, None, late)
    issue_record.settle(work, [(name, issues.Settled("issued")) for name in BASINS], late)
    done = run_cycle(live_jobs, day=str(late))
    assert (done.status, done.result and done.result["counts"]) == ("succeeded", {})
    with live_jobs.database.reading() as session:
        assert issues.get(session, late).closed_at is not None


@pytest.mark.usefixtures("here")
def test_a_part_that_fails_costs_its_basins_alone(live_jobs: InProcessJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts are listed in another order than they were posted in, as those of one millisecond may be."""
    in_parts_of(monkeypatch, "daily-part", 1)
    ids = (f"{number:022x}" for number in range(1000, 0, -1))
    monkeypatch.setattr("records.jobs.jobs.new_id", lambda _at: next(ids))

    def failing(work: Any, names: Any, asked: Any) -> Any:
        if names == [GOING[-1]]:
            raise DataProblem("The disk is full: make room.")
        return issue_newest(work, names, asked)

    monkeypatch.setattr("operations.daily.daily_cycle.issue_newest", failing)
    done = run_cycle(live_jobs)
    assert (done.status, done.result and done.result["counts"]) == ("succeeded", {"issued": 1, "failed": 2})
    assert (done.result or {})["reasons"][GOING[-1]] == "The disk is full: make room."


def test_alerts_are_decided_also_of_a_part_that_is_lost_after_its_forecasts(
    live_jobs: InProcessJobs, here: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts_of(monkeypatch, "daily-part", 1)

    def losing(work: Any, names: Any, asked: Any) -> Any:
        done = issue_newest(work, names, asked)
        if names == [GOING[-1]]:
            raise DataProblem("The disk is full: make room.")
        return done

    monkeypatch.setattr("operations.daily.daily_cycle.issue_newest", losing)
    assert run_cycle(live_jobs).status == "succeeded"
    with live_jobs.database.reading() as session:
        decided = {name: one.run_id for name, one in alerts.standings(session, GOING).items()}
        assert decided == {name: latest(session, name, here.clock.now()).run.id for name in GOING}


@pytest.mark.usefixtures("here")
def test_a_group_that_cannot_be_fetched_costs_its_basins_alone(
    live_jobs: InProcessJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(work: Any, intake: Any, feed: str, names: Any, *, pause: Any) -> Any:
        if (feed, names) == ("ahead", [GOING[-1]]):
            raise DataProblem("The disk is full: make room.")
        return fetch_part(work, intake, feed, names, pause=pause)

    in_parts_of(monkeypatch, "daily-part", 1)
    monkeypatch.setattr("operations.daily.daily_cycle.fetch_part", failing)
    result = run_cycle(live_jobs).result or {}
    assert result["counts"] == {"issued": len(GOING), "failed": 1}
    assert result["problems"]["ahead"].startswith("2 basins failed.")
    with live_jobs.database.reading() as session:
        issued = runs.get_many(session, [run["run"] for run in result["runs"]])
    assert {run.forcing_kind for run in issued.values()} == {"supplied", "climatology"}
