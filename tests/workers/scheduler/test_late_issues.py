"""A schedule of the daily cycle issues the days that it missed lately, each once, one after another."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hydrology.base.calendar import Day, day
from records.forecasts import issues
from records.forecasts.issues import Issue
from records.jobs import attempts, jobs, schedules
from testing.jobs.in_process import InProcessJobs
from testing.work import MovedClock
from workers.scheduler import LATE_DAYS, fire, post_late

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
TODAY = day(NOW.date())


def schedule(at: InProcessJobs, since: datetime, cron: str = "0 7 * * *", kind: str = "daily") -> schedules.Schedule:
    new = schedules.NewSchedule(
        name=kind, kind=kind, params={"horizon": 3}, cron=cron, timezone="UTC", next_run_at=NOW + timedelta(days=1)
    )
    with at.database.transaction() as session:
        return schedules.create(session, new, since)


def issued(at: InProcessJobs, days: Sequence[Day], *, closed: bool = True) -> None:
    with at.database.transaction() as session:
        for one in days:
            issues.start(session, Issue(day=one, opened_at=NOW), {})
            if closed:
                issues.settle(session, one, {}, NOW)


def posted(at: InProcessJobs, now: datetime = NOW) -> list[str]:
    """Look again and again, each time after the jobs have ended, and return the days of the late issues."""
    tools = replace(at.tools, clock=MovedClock(time=lambda: now))
    days = []
    while post_late(tools):
        assert not post_late(tools)  # one at a time
        with at.database.transaction() as session:
            (job,) = jobs.unfinished(session, "daily")
            days.append(job.params["day"])
            assert (job.params["horizon"], job.queue) == (3, "service")
            attempts.request_cancel(session, job.id, now)
    return days


def before(*days: int) -> list[Day]:
    return [TODAY - ago for ago in days]


def test_the_missed_days_are_issued_once_the_oldest_first(empty_jobs: InProcessJobs) -> None:
    issued(empty_jobs, before(20, 5, 3, 0))
    issued(empty_jobs, before(2), closed=False)
    schedule(empty_jobs, NOW - timedelta(days=30))
    schedule(empty_jobs, NOW - timedelta(days=30), kind="fetch")
    assert posted(empty_jobs) == [str(one) for one in before(7, 6, 4, 2, 1)]
    assert LATE_DAYS == 7
    assert posted(empty_jobs) == []


@pytest.mark.parametrize(
    ("since", "cron", "missed"),
    [
        (timedelta(days=3), "0 7 * * *", (2, 1)),
        (timedelta(days=30), "0 7 * * 1", (2,)),  # 2026-05-18 was a Monday
        (timedelta(hours=1), "0 7 * * *", ()),
    ],
)
def test_a_day_counts_as_missed_where_the_schedule_fires_since_it_was_last_changed(
    empty_jobs: InProcessJobs, since: timedelta, cron: str, missed: Sequence[int]
) -> None:
    issued(empty_jobs, before(20, 0))
    schedule(empty_jobs, NOW - since, cron)
    assert posted(empty_jobs) == [str(one) for one in before(*missed)]


def test_days_before_the_first_issue_and_of_a_replay_are_not_issued_late(empty_jobs: InProcessJobs) -> None:
    schedule(empty_jobs, NOW - timedelta(days=30))
    assert posted(empty_jobs) == []
    issued(empty_jobs, before(2))
    assert not post_late(replace(empty_jobs.tools, clock=MovedClock(as_of=NOW, time=lambda: NOW)))
    assert posted(empty_jobs) == [str(one) for one in before(1)]


def test_a_late_issue_holds_up_no_cycle(empty_jobs: InProcessJobs) -> None:
    issued(empty_jobs, before(2))
    created = schedule(empty_jobs, NOW - timedelta(days=30))
    tools = replace(empty_jobs.tools, clock=MovedClock(time=lambda: NOW + timedelta(days=1)))
    assert post_late(tools)
    assert fire(tools) == 1
    with empty_jobs.database.reading() as session:
        late, cycle = sorted(jobs.unfinished(session, "daily"), key=lambda job: "day" not in job.params)
        assert schedules.get(session, created.id).last_job_id == cycle.id
        assert (late.created_by, cycle.created_by) == ("schedule daily", "schedule daily")
