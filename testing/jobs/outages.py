"""A service whose days are replayed hour by hour, through outages of its parts: what it has issued in the end."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

import numpy as np
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import Pool

from hydrology.base.calendar import Period, as_date, day
from operations.alerts.deliver import deliver
from operations.upkeep import alarms
from records.alerts import deliveries
from records.alerts.issue_notices import Notice, get_many
from records.forecasts import issues, latest
from records.forecasts.issues import Issue
from records.jobs import jobs, schedules
from runtime.settings import Settings
from testing.feed_services.world import Fault, World
from testing.jobs.in_process import InProcessJobs
from testing.work import MovedClock
from workers.queue.enqueue import WorkerContext
from workers.scheduler import fire, post_late, watch_issue

Part = Literal["feed", "worker", "scheduler", "database", "disk"]
FAULT: Fault = "meteo-400"
FIRED_AT, STATED_AT, LOOKS_AT = 7, 9, (7, 8, 9, 12, 18, 23)
"""Hours of the day: of the cycle, by which it is to be complete, and at which the service is looked at."""
LAST_HOURS = 60
"""The longest outage, in hours: a few days, less than those that a schedule issues late."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A part of the service that does nothing from an instant to another; without the database nothing does.

    On a full disk the database grows no more: the scheduler goes on, and workers wait.
    """

    part: Part
    since: datetime
    until: datetime


def drawn(seed: int, first: datetime, days: int, count: int) -> list[Outage]:
    """Return outages from a seed, some of which overlap; the first and the last days are without."""
    chance = np.random.default_rng(seed)
    parts = get_args(Part)
    outages = []
    for number in range(count):
        since = first + timedelta(hours=int(chance.integers(24, 24 * (days - 4))))
        until = since + timedelta(hours=int(chance.integers(4, LAST_HOURS)))
        outages.append(Outage(parts[number % len(parts)], since, until))
    return outages


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a replay has issued.

    Attributes:
        missing: days without a closed issue.
        on_time: days on which a cycle that is not late began.
        incomplete: stated times at which the scheduler found an issue that was not complete.
        notices: those about issues that were delivered, in order; alarms: those about alarms.
        late_as_latest: how often a late run was the latest of a basin.
    """

    issues: Sequence[Issue]
    missing: Sequence[str]
    on_time: set[str]
    incomplete: Sequence[datetime]
    notices: Sequence[Notice]
    alarms: Sequence[Notice]
    late_as_latest: int

    @property
    def late(self) -> set[str]:
        """The days that are marked late."""
        return {str(issue.day) for issue in self.issues if issue.late}


@dataclass
class ReplayedService:
    """A scheduler and a worker in this process, which stand at the time of a world."""

    settings: Settings
    world: World
    outages: Sequence[Outage]
    basins: Sequence[str]
    horizon: int = 5
    _incomplete: list[datetime] = field(default_factory=list)
    _late_as_latest: int = 0

    def replay(self, first: datetime, days: int) -> Outcome:
        """Replay days from midnight of the first on, and return what has been issued in the end."""
        self.world.now = first
        with self._jobs() as service:
            with service.database.transaction() as session:
                new = schedules.NewSchedule(
                    name="daily",
                    kind="daily",
                    params={"horizon": self.horizon},
                    cron=f"0 {FIRED_AT} * * *",
                    timezone="UTC",
                    next_run_at=first + timedelta(hours=FIRED_AT),
                )
                schedules.create(session, new, first)
            for ahead in range(days):
                for hour in LOOKS_AT:
                    self.world.now = first + timedelta(days=ahead, hours=hour)
                    self._look(service)
            return self._outcome(service, first, days)

    @contextmanager
    def _jobs(self) -> Iterator["_Jobs"]:
        service = _Jobs(self.settings, self.world)
        yield service
        service.close()

    def _out(self, *parts: Part) -> bool:
        return any(one.part in parts and one.since <= self.world.now < one.until for one in self.outages)

    def _look(self, service: "_Jobs") -> None:
        """Let each part that is there do what is due."""
        today = day(self.world.now.date())
        self.world.faults = {today: [FAULT]} if self._out("feed") else {}
        if self._out("database"):
            return
        tools, service.is_full = service.tools, self._out("disk")
        if not self._out("scheduler"):
            with suppress(OperationalError) if service.is_full else nullcontext():
                fire(tools)
                post_late(tools)
        if not self._out("worker", "disk"):
            service.run_queued()
        if not self._out("scheduler", "disk"):
            if self.world.now.hour == STATED_AT and not self._is_complete(service):
                self._incomplete.append(self.world.now)
            watch_issue(tools)
            alarms.notify(tools, alarms.troubled_parts)
            deliver(tools)
        with service.database.reading() as session:
            found = latest.latest_many(session, self.basins, self.world.now).values()
        self._late_as_latest += sum(isinstance(one, latest.Latest) and one.run.purpose == "late" for one in found)

    def _is_complete(self, service: "_Jobs") -> bool:
        today = day(self.world.now.date())
        with service.database.reading() as session:
            found = issues.page(session, first=today, limit=1)
        return bool(found) and found[0].closed_at is not None and found[0].tally.lacking == 0

    def _outcome(self, service: "_Jobs", first: datetime, days: int) -> Outcome:
        period = Period(day(first.date()), day(first.date()) + days - 1)
        with service.database.reading() as session:
            cycles = [job for job in jobs.list_jobs(session, kind="daily") if "day" not in job.params]
            sent = [one for one in deliveries.page(session) if one.notice_id and one.status == "delivered"]
            by_id = get_many(session, {one.notice_id for one in sent if one.notice_id})
            notices = sorted(by_id.values(), key=lambda one: one.at)
            return Outcome(
                issues=issues.page(session, first=period.first),
                missing=[str(as_date(one)) for one in issues.missed(session, period)],
                on_time={str(job.started_at.date()) for job in cycles if job.started_at is not None},
                incomplete=self._incomplete,
                notices=[one for one in notices if not one.alarm],
                alarms=[one for one in notices if one.alarm],
                late_as_latest=self._late_as_latest,
            )


class _Jobs(InProcessJobs):
    """Jobs that run in this process at the time of a world."""

    def __init__(self, settings: Settings, world: World) -> None:
        super().__init__(settings)
        self._clock, self.is_full = MovedClock(time=lambda: world.now), False
        event.listen(Pool, "checkout", self._limit)

    @property
    def tools(self) -> WorkerContext:
        return replace(super().tools, clock=self._clock)

    def close(self) -> None:
        """Close the connections."""
        event.remove(Pool, "checkout", self._limit)
        super().close()

    def _limit(self, connection: Any, *_: object) -> None:
        """Let SQLite's file grow, or not."""
        connection.execute(f"PRAGMA max_page_count = {1 if self.is_full else 2**32 - 2}")

    def run_queued(self) -> None:
        """Run the jobs that wait, the oldest first."""
        with self.database.reading() as session:
            waiting = [job.id for job in jobs.list_jobs(session, status="queued") if job.parent_id is None]
        for job in reversed(waiting):
            self.ended(job)
