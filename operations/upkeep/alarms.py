"""Alarms of the service for operators: a feed that is silent, a disk that fills; each begins once and ends once."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from records.alerts.issue_notices import Notice, is_stored, standing_alarms
from records.database.checksums import new_id
from records.feeds import feeds
from runtime.settings import Settings

SILENT_AFTER = timedelta(days=2)
"""Time after its last complete fetch from which a feed is silent."""
FREE_BYTES = 1_000_000_000
"""Free room of the data folder's disk below which it fills."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """What is wrong, in words that stay the same while it lasts; the code of its cause, and details."""

    name: str
    cause: str
    why: str


def present_alarms(session: Session, settings: Settings, now: datetime) -> Iterator[Alarm]:
    """Yield what is wrong now."""
    for feed in feeds.list_feeds(session):
        since = feed.last_success_at or feed.created_at
        if now - since > SILENT_AFTER:
            last = "never" if feed.last_success_at is None else f"last at {since:%Y-%m-%d %H:%M} UTC"
            error = "" if feed.last_error is None else f" Its last error: {feed.last_error}"
            yield Alarm(f"the feed {feed.name} is silent", "silent-feed", f"It was fetched completely {last}.{error}")
    if settings.data.exists() and (free := shutil.disk_usage(settings.data).free) < FREE_BYTES:
        why = f"{free // 1_000_000} MB are left on the disk of the data folder: free some space."
        yield Alarm("the disk of the data folder fills", "disk", why)


def due_notices(session: Session, settings: Settings, now: datetime) -> list[Notice]:
    """Return the notices to store now: of alarms that begin, and of those that have ended."""
    present, standing = {one.name: one for one in present_alarms(session, settings, now)}, standing_alarms(session)
    today = day(now.date())
    started = [
        (name, one.cause, one.why)
        for name, one in present.items()
        if name not in standing and not is_stored(session, today, one.cause, name)  # once a day, if it comes and goes
    ]
    over = [
        (name, "", f"It began at {one.at:%Y-%m-%d %H:%M} UTC.") for name, one in standing.items() if name not in present
    ]
    return [
        Notice(id=new_id(now), day=today, causes=cause, at=now, why=why, alarm=name)
        for name, cause, why in [*started, *over]
    ]
