"""A job as its handler sees it. The handler runs in a worker's child process (`workers.job_processes.job_process`)."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from sqlalchemy.orm import Session

from ingestion.base import SourceError
from operations.basin_data.sources import Intake
from records.access import audit
from records.database.base import JsonObject
from records.database.work import Work
from records.job_permissions.permissions import SERVICE, Grant
from records.job_permissions.write_guard import UndeclaredWriteError
from records.jobs import attempts, jobs
from records.runs.runs import Params, RunRequest

MAX_REPORTED = 100  # basins whose refusals a job's result lists; its log lists all
_LOOK_SECONDS = 0.5  # between two checks whether the job has to stop
StopReason = Literal["cancel", "shutdown"]
Progress = dict[str, Any]


class CancelAsked(Exception):  # noqa: N818 - not a fault: somebody asked for it
    """The job was asked to stop."""


class ShutdownAsked(Exception):  # noqa: N818 - not a fault: the worker is stopping
    """The worker is being stopped: the job stops here and will be run later."""


class Waiting(Exception):  # noqa: N818 - not a fault: the children come first
    """The job has posted its children and waits for them."""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How an attempt ended.

    Attributes:
        status: `succeeded`, `cancelled` or `failed` end the job; `waiting` is for its children; `retry` is a failure
            that another attempt may avoid; `released` means that the worker stops; `hindered` means a transient fault,
            and `stale` that another attempt has the job.
        problem: if it failed, was hindered or is tried again: `kind` and `detail`.
        death: if its process died while it read a file: `file` and `end`.
    """

    status: Literal["succeeded", "cancelled", "failed", "waiting", "retry", "released", "hindered", "stale"]
    result: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None
    death: dict[str, str] | None = None


class JobRun:
    """A running job, and its handler's means to report.

    Attributes:
        works_alone: whether it does its parts itself instead of posting a job for each.
        roots: the folders that it may read files from; None: any.

    Args:
        report: receives the progress, and the file that is being read, if any.
        asked_to_stop: returns why the job has to stop; None while it may continue.
        folders: settings whose folders its kind declares to write.
    """

    works_alone = False

    def __init__(
        self,
        work: Work,
        job: jobs.Job,
        report: Callable[[Progress, str | None], None],
        asked_to_stop: Callable[[], StopReason | None],
        grant: Grant = SERVICE,
        *,
        folders: Collection[str] = (),
    ) -> None:
        self.work, self.job, self.grant = replace(work, progress=self.show), job, grant
        self._send, self._asked_to_stop, self._folders = report, asked_to_stop, folders
        self.progress: Progress | None = None
        self.roots: tuple[Path, ...] | None = work.settings.ingest_roots

    def request(self, params: Params) -> RunRequest[Params]:
        """Return the request for runs; repeating a stored job returns its runs."""
        return RunRequest(params, self.grant.purpose, self.grant.owner, None if self.works_alone else self.job.id)

    def show(self, done: int, total: int, detail: str = "") -> None:
        self._show({"done": done, "total": total, "detail": detail})

    def show_file(self, name: str) -> None:
        """Report the file being read, in case it kills the process. Raises as `show` does."""
        progress = self.progress or {"done": 0, "total": 0}
        self._show(progress | {"detail": f"reading {name}"}, name)

    def _show(self, progress: Progress, file: str | None = None) -> None:
        self.progress = progress
        self._send(progress, file)
        self.check()

    def pause(self, seconds: float) -> None:
        """Wait for some seconds; raises as `check` does."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, _LOOK_SECONDS))

    def check(self) -> None:
        """Return if the work may continue; raise CancelAsked or ShutdownAsked if not."""
        match self._asked_to_stop():
            case "cancel":
                raise CancelAsked
            case "shutdown":
                raise ShutdownAsked

    def require_folder(self, setting: str) -> None:
        """Raise UndeclaredWriteError unless the job's kind declares to write in the folder that a setting names."""
        if setting not in self._folders:
            raise UndeclaredWriteError(f"A job of the kind {self.job.kind} does not declare to write in {setting}.")

    def intake(self) -> Intake:
        """Return the places that it may read files from."""
        settings = self.work.settings

        def show(received: int, size: int | None) -> None:
            self.show(received, size or received, "bytes")

        return Intake(settings.data / "downloads", settings.ingest_hosts, self.roots, show, self.on_file())

    def on_file(self) -> Callable[[str], None]:
        """Return what shows each file before it is read, and refuses files at which the process died twice."""
        with self.work.database.reading() as session:
            deadly = attempts.deadly_files(session, self.job.id)

        def show(name: str) -> None:
            if name in deadly:
                cause = f"the process that read it {deadly[name]}, twice"
                raise SourceError(name, cause, "get it from its publisher again, or leave it out")
            self.show_file(name)

        return show

    def store_plan(self, session: Session, plan: JsonObject) -> None:
        """Store what the job has started, for a later attempt to continue, in the transaction that starts it."""
        jobs.store_plan(session, self.job.id, self.job.attempt, plan)

    def record(self, action: audit.Action, subject: str, **detail: Any) -> None:
        """Add a change by the job to the audit trail."""
        actor = audit.Actor(self.job.created_by or f"job {self.job.id}", self.job.key_id)
        with self.work.database.transaction() as session:
            audit.record(session, actor, action, subject, self.work.clock.wall(), job=self.job.id, **detail)

    def log(self, text: str) -> None:
        """Add a line to the job's log. Raise StaleAttempt if another attempt has the job by now."""
        with self.work.database.transaction() as session:
            jobs.log(session, self.job.id, self.job.attempt, text, self.work.clock.wall())


Handler = Callable[[JobRun, Any], dict[str, Any]]
"""Runs one kind of job: takes the params as `jobspec.kinds` reads them, and returns the result."""


def progress_in_words(progress: Progress | None) -> str:
    """Return the end of a sentence about an interrupted job, with its progress: ` at 3 of 16 (basin ...)`."""
    if progress is None:
        return " before it had reported any progress"
    detail = f" ({progress['detail']})" if progress["detail"] else ""
    return f" at {progress['done']} of {progress['total']}{detail}"
