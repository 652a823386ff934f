"""What is degraded of the work: nobody takes it, it fails, or there is no room for it."""

import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from app.status.schemas import Degraded
from records import job_health
from records.settings import Settings

LONGEST_UNTAKEN = timedelta(minutes=5)
"""A worker that is there takes a job within seconds."""
LEAST_FREE = 200_000_000
"""Bytes."""


def degraded(session: Session, now: datetime, settings: Settings) -> Iterator[Degraded]:
    """Tell what is not as it should be; `now` is the wall's time."""
    for left in job_health.left_queues(session):
        if now - left.since > LONGEST_UNTAKEN:
            minutes = int((now - left.since).total_seconds() / 60)
            sentence = (
                f"{left.jobs} jobs of the queue {left.queue} wait, the first for {minutes} minutes, and none runs: "
                f"start a worker (freshet worker --queue {left.queue}), or see why it hangs."
            )
            yield Degraded(code="no-worker", sentence=sentence)
    for failed in job_health.failed_kinds(session):
        sentence = f"The last job {failed.kind} has failed: see /v1/jobs/{failed.id}, mend the cause and post it again."
        yield Degraded(code="failed-job", sentence=sentence)
    for failed in job_health.failing_schedules(session):
        sentence = f"The last job of the schedule {failed.schedule!r} has failed: see /v1/jobs/{failed.id}."
        yield Degraded(code="failing-schedule", sentence=sentence)
    yield from _disk(settings)


def _disk(settings: Settings) -> Iterator[Degraded]:
    if not settings.data.exists():
        return
    free = shutil.disk_usage(settings.data).free
    if free < LEAST_FREE:
        sentence = (
            f"The disk of the data folder has {free // 1_000_000} MB left: make room, or nothing more can be kept."
        )
        yield Degraded(code="disk", sentence=sentence)
