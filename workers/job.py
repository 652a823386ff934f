"""Running one job: claim it, show that it is alive, do it, and write what came of it.

Every write carries the number of the attempt, so that a worker that was thought dead can change nothing.
"""

import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

import structlog
from sqlalchemy.exc import DBAPIError
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_exponential

from hydrology.errors import Problem
from jobspec import kinds
from records import events, jobs
from records.clock import Clock
from records.engine import Database
from records.settings import Settings
from workers.enqueue import Sender

log = structlog.get_logger()

DATABASE_PATIENCE = 60.0  # seconds that the last write of a job waits for a database that is away


class CancelAsked(Exception):  # noqa: N818 - not a fault: somebody asked
    """The job was asked to stop."""


class Waiting(Exception):  # noqa: N818 - not a fault: the children come first
    """The job has made its children and waits for them."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What every job works with."""

    settings: Settings
    database: Database
    clock: Clock
    sender: Sender


class Running:
    """A claimed job. Its heartbeat is a thread with a session of its own."""

    def __init__(self, tools: Tools, job: jobs.Job) -> None:
        self.tools, self.job = tools, job
        self._progress: dict[str, Any] | None = None
        self._stop = threading.Event()
        self._cancelled = threading.Event()
        self._stale = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat-{job.id}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def show(self, done: int, total: int, detail: str = "") -> None:
        """Say how far the work is.

        Raises:
            CancelAsked: somebody asked the job to stop.
            StaleAttempt: the job belongs to another attempt by now.
        """
        self._progress = {"done": done, "total": total, "detail": detail}
        self.check()

    def show_file(self, name: str) -> None:
        """Say which file is read now, so that a process that dies of it leaves its name; raises as `show` does."""
        progress = self._progress or {"done": 0, "total": 0}
        self.show(progress["done"], progress["total"], f"reading {name}")

    def check(self) -> None:
        """Return if the work may go on; raises as `show` does."""
        if self._stale.is_set():
            raise jobs.StaleAttempt(f"Job {self.job.id} was given to another worker.")
        if self._cancelled.is_set():
            raise CancelAsked

    def log(self, text: str) -> None:
        """Add a line to the job's log."""
        with self.tools.database.transaction() as session:
            events.log(session, self.job.id, self.job.attempt, text, self.tools.clock.wall())

    def _beat(self) -> None:
        lease = self.tools.settings.lease_seconds
        while not self._stop.wait(lease / 4):
            try:
                self._beat_once(lease)
            except DBAPIError as error:  # the database is away: the lease may outlast that
                log.warning("job.heartbeat", job=self.job.id, error=str(error.orig))
            except jobs.StaleAttempt:
                self._stale.set()
                return

    def _beat_once(self, lease: float) -> None:
        now = self.tools.clock.wall()
        with self.tools.database.transaction() as session:
            asked = jobs.heartbeat(
                session,
                self.job.id,
                self.job.attempt,
                lease_until=now + timedelta(seconds=lease),
                progress=self._progress,
                at=now,
            )
        if asked:
            self._cancelled.set()


Handler = Callable[[Running, Any], dict[str, Any]]
"""Does a kind of job. It gets the params as `jobspec.kinds` reads them, and returns the result."""


def run_job(tools: Tools, handlers: Mapping[str, Handler], worker: str, job_id: str) -> None:
    """Do a job if it is waiting to be done; the message of one that is not does nothing."""
    now = tools.clock.wall()
    with tools.database.transaction() as session:
        lease_until = now + timedelta(seconds=tools.settings.lease_seconds)
        job = jobs.claim(session, job_id, worker=worker, lease_until=lease_until, at=now)
    if job is None:
        return
    log.info("job.start", job=job.id, kind=job.kind, attempt=job.attempt)
    with Running(tools, job) as running:
        outcome = _outcome(running, handlers)
    try:
        _write(tools, job, outcome)
    except jobs.StaleAttempt as error:
        log.warning("job.stale", job=job.id, attempt=job.attempt, error=str(error))
        return
    if job.parent_id is not None:
        resume_parent(tools, job.parent_id)


def resume_parent(tools: Tools, parent_id: str) -> None:
    """Let a parent go on if none of its children is left to wait for."""
    with tools.database.transaction() as session:
        resumed = jobs.resume_parent(session, parent_id, tools.clock.wall())
        parent = jobs.get(session, parent_id)
    if resumed:
        tools.sender.send(parent)


@dataclass(frozen=True, slots=True)
class _Outcome:
    status: str  # succeeded, cancelled, failed, waiting, retry, stale
    result: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None


def _outcome(running: Running, handlers: Mapping[str, Handler]) -> _Outcome:
    job = running.job
    try:
        params = kinds.read(job.kind, job.params).params
        return _Outcome("succeeded", result=handlers[job.kind](running, params))
    except CancelAsked:
        return _Outcome("cancelled")
    except Waiting:
        return _Outcome("waiting")
    except jobs.StaleAttempt:
        return _Outcome("stale")
    except Problem as problem:
        return _Outcome("failed", problem={"kind": problem.kind, "detail": str(problem)})
    except Exception as error:  # noqa: BLE001 - whatever it is, the row must tell it and the worker go on
        log.error("job.error", job=job.id, error="".join(traceback.format_exception(error)))
        return _Outcome(
            "retry", problem={"kind": "internal", "detail": f"{type(error).__name__} in the worker; see its log."}
        )


@retry(
    retry=retry_if_exception_type(DBAPIError),
    stop=stop_after_delay(DATABASE_PATIENCE),
    wait=wait_exponential(0.5, max=5),
    reraise=True,
)
def _write(tools: Tools, job: jobs.Job, outcome: _Outcome) -> None:
    now = tools.clock.wall()
    again: jobs.Job | None = None
    with tools.database.transaction() as session:
        if outcome.status == "waiting":
            jobs.wait(session, job.id, job.attempt, now)
        elif outcome.status == "retry":
            assert outcome.problem is not None
            again = jobs.retry(session, job.id, job.attempt, outcome.problem, now)
        elif outcome.status != "stale":
            jobs.finish(
                session,
                job.id,
                job.attempt,
                status=outcome.status,
                result=outcome.result,
                problem=outcome.problem,
                at=now,
            )
    log.info("job.end", job=job.id, status=outcome.status)
    if again is not None and again.status == "queued":
        tools.sender.send(again)
    if outcome.status == "waiting":
        resume_parent(tools, job.id)  # its children may have been quicker
