"""Alarms of the service for operators: silent feeds, a disk that fills, poor forecasts; each begins and ends once."""

import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

import structlog
from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from hydrology.base.errors import counted
from records.alerts import issue_notices, subscriptions
from records.alerts.issue_notices import Notice, is_stored, standing_alarms
from records.database.checksums import new_id
from records.database.work import Work
from records.feeds import feeds
from records.jobs import process_heartbeats, schedules
from records.verification import lead_scores
from records.versions import promotions
from runtime.settings import Settings

log = structlog.get_logger()

SILENT_AFTER = timedelta(hours=30)
"""Time after a feed's first scheduled fetch without data from which it is silent: a day, and hours to fetch in."""
FREE_BYTES = 1_000_000_000
"""Free room of the data folder's disk below which it fills."""
_DISK = "the disk of the data folder fills on "  # the machine's name: each has a folder of its own
MIN_PAIRS = 30
"""The fewest verified issues of a basin by which its version is compared with persistence."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """What is wrong, in words that stay the same while it lasts; the code of its cause, and details."""

    name: str
    cause: str
    why: str


Present = Callable[[Session, Settings, datetime], Iterator[Alarm]]


def troubled_parts(session: Session, settings: Settings, now: datetime) -> Iterator[Alarm]:
    """Yield what is wrong now with feeds that schedules fetch, and with the disk."""
    fetched, scheduled = feeds.last_fetched(session), schedules.enabled(session)
    for feed in feeds.list_feeds(session):
        last = fetched.get(feed.id)
        due = _due_after(scheduled, feed.name, last or feed.created_at)
        if due is not None and now - due > SILENT_AFTER:
            since = "never" if last is None else f"last at {last:%Y-%m-%d %H:%M} UTC"
            error = "" if feed.last_error is None else f" Its last error: {feed.last_error}"
            yield Alarm(f"the feed {feed.name} is silent", "silent-feed", f"It was fetched {since}.{error}")
    if settings.data.exists() and (free := shutil.disk_usage(settings.data).free) < FREE_BYTES:
        why = f"{free // 1_000_000} MB are left on the disk of the data folder: free some space."
        yield Alarm(_DISK + socket.gethostname(), "disk", why)


def _due_after(scheduled: Sequence[schedules.Schedule], feed: str, since: datetime) -> datetime | None:
    """Return when a schedule fetches a feed next after an instant; None where none does."""
    due = []
    for one in scheduled:
        of_feeds = {"daily": one.params.get("feeds") or [feed], "fetch": [one.params.get("feed")]}
        if feed in of_feeds.get(one.kind, ()):
            with suppress(schedules.BadCron):  # the scheduler logs it
                due.append(schedules.next_run(one.cron, one.timezone, max(since, one.updated_at)))
    return min(due, default=None)


def poor_versions(session: Session, _settings: Settings, _now: datetime) -> Iterator[Alarm]:
    """Yield the versions in use whose issued forecasts are worse than persistence at the day ahead.

    By the stored verification with the newest weather: the skill of the median basin, of those with enough issues.
    """
    for version in promotions.in_use(session):
        skills = lead_scores.issued_skill(session, version, MIN_PAIRS)
        if skills and (skill := median(skills)) < 0:
            why = f"CRPS skill against the last observed flow, 1 day ahead: {skill:.2f} in the median of "
            why += f"{counted(len(skills), 'basin')}, each with {MIN_PAIRS} or more verified issues."
            yield Alarm(f"version {version} forecasts worse than persistence", "poor-version", why)


CAUSES: dict[Present, tuple[str, ...]] = {troubled_parts: ("silent-feed", "disk"), poor_versions: ("poor-version",)}
"""The causes of alarms by what looks for them."""


def notify(work: Work, present: Present) -> list[Notice]:
    """Store notices, and their deliveries, of alarms that begin or end now."""
    now = work.clock.now()
    if work.clock.replays:
        return []
    with work.database.for_public().reading() as session:
        due = due_notices(session, work.settings, now, present)
    if not due:
        return []
    with work.database.transaction() as session:
        receivers = [one.id for one in subscriptions.active(session, "issues", now)]
        stored = [one for one in due if issue_notices.store(session, one, receivers, now)]
    for notice in stored:
        log.warning("service.alarm", alarm=notice.alarm, kind=notice.kind, receivers=len(receivers))
    return stored


def due_notices(session: Session, settings: Settings, now: datetime, looks: Present) -> list[Notice]:
    """Return the notices to store now: of alarms that begin, and of those that have ended."""
    present = {one.name: one for one in looks(session, settings, now)}
    standing = {name: one for name, one in standing_alarms(session).items() if one.causes in CAUSES[looks]}
    today = day(now.date())
    started = [
        (name, one.cause, one.why)
        for name, one in present.items()
        if name not in standing and not is_stored(session, today, one.cause, name)  # once a day, if it comes and goes
    ]
    over = [
        (name, "", f"It began at {one.at:%Y-%m-%d %H:%M} UTC.")
        for name, one in standing.items()
        if name not in present and not _is_of_other_machine(session, name)
    ]
    return [
        Notice(id=new_id(now), day=today, causes=cause, at=now, why=why, alarm=name)
        for name, cause, why in [*started, *over]
    ]


def _is_of_other_machine(session: Session, alarm: str) -> bool:
    """Return whether an alarm is of the disk of another machine that is running: only that one can see its disk."""
    machines = {one.machine for one in process_heartbeats.live_processes(session)} - {socket.gethostname()}
    return alarm in {_DISK + machine for machine in machines}
