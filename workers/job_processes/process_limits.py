"""Ends of an attempt that are not its own: transient faults, the death of its process, a limit of its kind, a stop."""

import sqlite3
import time
from collections.abc import Iterator
from datetime import timedelta

import structlog
from sqlalchemy.exc import DBAPIError, OperationalError

from jobspec.jobs.base import JobRequest
from records.database.connections import DatabaseProblem, is_full
from records.jobs import attempts
from workers.job import JobOutcome, Progress, progress_in_words
from workers.job_processes.process_pool import Child

_FULL = "The disk is full: the job is tried again until there is room."
_AWAY = "The database cannot be used: the job is tried again until it is available."

_SQLITE_AWAY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
_POSTGRESQL_AWAY = ("08", "25P03", "40", "53", "55", "57", "58")
"""Classes of SQLSTATE: connections, transactions (and one that paused too long), resources, states of objects,
operators, the system."""


def hindrance(error: BaseException) -> str | None:
    """Return a sentence on the transient fault behind an error. None if it is not transient."""
    sentences = [_sentence_for(cause) for cause in _causes(error)]
    return next((sentence for sentence in sentences if sentence is not None), None)


def _sentence_for(error: BaseException) -> str | None:
    if is_full(error):
        return _FULL
    if isinstance(error, DatabaseProblem):  # the tables are at another revision
        return _AWAY
    return _AWAY if isinstance(error, DBAPIError) and _is_away(error) else None


def _is_away(error: DBAPIError) -> bool:
    if isinstance(error.orig, sqlite3.Error):
        return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF in _SQLITE_AWAY  # the higher bits only refine the code
    state = getattr(error.orig, "sqlstate", None)
    return isinstance(error, OperationalError) if state is None else state.startswith(_POSTGRESQL_AWAY)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


log = structlog.get_logger()

START_LIMIT = timedelta(minutes=5)  # for a process to load everything; the limits of its job count from then on
STOPPED_SECONDS = 5.0  # after which a stopped process (SIGSTOP) counts as dead


class Watch:
    """Watches the process of one attempt; `trouble` is what stops it, in a sentence, or None."""

    def __init__(self, child: Child, request: JobRequest, job_id: str) -> None:
        self.progress: Progress | None = None
        self.trouble: str | None = None
        self._child, self._request, self._job_id = child, request, job_id
        self._file: str | None = None
        self._started_at = self._moved_at = self._ran_at = time.monotonic()

    @property
    def turn_is_over(self) -> bool:
        """Whether the job has run for so long that it lets others go first."""
        turn = self._request.turn
        return turn is not None and time.monotonic() - self._started_at > turn.total_seconds()

    def note(self, progress: Progress, file: str | None) -> None:
        """Record the process's progress, and the file that it reads, if any."""
        if progress != self.progress:
            self._moved_at = time.monotonic()
        self.progress, self._file = progress, file

    def died(self) -> JobOutcome:
        """Return the outcome of an attempt whose process has ended without one."""
        end = self._child.end_in_words()
        log.error("job.process_died", end=end)
        return self._again(attempts.PROCESS_DIED, f"The process of the job {end}", end)

    def fault(self) -> JobOutcome | None:
        """Return the outcome of an attempt whose process must be killed. None if it may continue."""
        now = time.monotonic()
        ready_at = self._child.started_at
        began_at = now if ready_at is None else max(self._started_at, ready_at)
        if ready_at is None and now - self._started_at > START_LIMIT.total_seconds():
            end = f"could not take it within {_in_words(START_LIMIT)} and was killed"
            return self._again(attempts.NO_PROGRESS, f"The process of the job {end}", end)
        if now - began_at > self._request.time_limit.total_seconds():
            limit = _in_words(self._request.time_limit)
            detail = f"The job passed its time limit of {limit} and was killed{progress_in_words(self.progress)}."
            return JobOutcome("failed", problem={"kind": "time-limit", "detail": detail})
        if now - max(began_at, self._moved_at) > self._request.silence_limit.total_seconds():
            end = f"did not progress for {_in_words(self._request.silence_limit)} and was killed"
            return self._again(attempts.NO_PROGRESS, f"The job {end}", end)
        if not self._child.is_stopped():
            self._ran_at, self.trouble = now, None
            return None
        self.trouble = (
            f"The process of the job {self._job_id} was stopped (SIGSTOP): it is killed after {STOPPED_SECONDS:g} "
            "seconds, and the job is tried again within its attempts."
        )
        if now - self._ran_at > STOPPED_SECONDS:
            end = "was stopped, and then killed"
            return self._again(attempts.PROCESS_DIED, f"The process of the job {end}", end)
        return None

    def _again(self, kind: str, sentence: str, end: str) -> JobOutcome:
        death = None if self._file is None else {"file": self._file, "end": end}
        problem = {"kind": kind, "detail": f"{sentence}{progress_in_words(self.progress)}."}
        return JobOutcome("retry", problem=problem, death=death)


def _in_words(limit: timedelta) -> str:
    seconds = limit.total_seconds()
    return f"{seconds:g} s" if seconds < 3600 else f"{seconds / 3600:g} h"
