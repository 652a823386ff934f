"""A job that this process and its pool do, as a command's."""

from datetime import UTC, datetime
from typing import Any

from jobspec.kinds import read
from records.database.work import Work
from records.jobs import jobs
from workers.job import JobRun
from workers.tasks import HANDLERS


class AloneRun(JobRun):
    """A job as a command runs it, which shows nothing."""

    works_alone = True

    def store_plan(self, *_session_and_plan: Any) -> None:
        """Store nothing."""

    def log(self, text: str) -> None:
        """Show nothing."""


def alone(work: Work, kind: str, **params: Any) -> tuple[dict[str, Any], list[int]]:
    """Run a job as a command would, and return its result and progress in percent."""
    with work.database.transaction() as session:
        job, _ = jobs.create(session, jobs.NewJob(kind=kind, params=params, queue="default"), datetime.now(UTC))
    shown: list[int] = []

    def report(progress: dict[str, Any], _file: str | None) -> None:
        shown.append(100 * progress["done"] // max(1, progress["total"]))

    return HANDLERS[kind](AloneRun(work, job, report, lambda: None), read(kind, params).params), shown
