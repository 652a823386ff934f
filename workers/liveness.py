"""Liveness: of jobs by leases, of workers and schedulers by heartbeats in the database and a lock file on the machine.

The kernel releases a worker's lock however the worker dies, so that its job need not wait for the end of its lease.
"""

import fcntl
import os
import secrets
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

import structlog
from sqlalchemy.exc import DBAPIError

from hydrology.base.errors import Problem
from jobspec.extensions import extensions
from models.devices import NEEDS_EXTENSION
from records.database.connections import DatabaseProblem
from records.database.work import Work
from records.jobs import attempts, jobs, process_heartbeats, queues
from records.jobs.process_heartbeats import GPUState, Role
from runtime import stored_files
from runtime.watchdog import Repeated
from workers.job import Progress

log = structlog.get_logger()


class Heartbeat(Repeated):
    """Extends the lease of a running job four times in its length, with a session of its own.

    Attributes:
        progress: set it, and the next beat writes it.
        cancelled: whether somebody asked to cancel the job.
        awaited: whether jobs of others wait in its queue.
        stale: whether the worker has lost the job, or can no longer renew it.
    """

    def __init__(self, tools: Work, job: jobs.Job) -> None:
        self.progress: Progress | None = None
        self.cancelled = self.awaited = self.stale = False
        self._tools, self._job, self._lease = tools, job, tools.settings.lease_seconds
        super().__init__(f"heartbeat-{job.id}", self._beat, first=self._lease / 4)

    def _beat(self) -> float | None:
        now = self._tools.clock.wall()
        try:
            with self._tools.database.transaction() as session:
                self.cancelled = attempts.heartbeat(
                    session,
                    self._job.id,
                    self._job.attempt,
                    lease_until=now + timedelta(seconds=self._lease),
                    progress=self.progress,
                    at=now,
                )
                self.awaited = queues.is_awaited(session, self._job)
        except (DBAPIError, DatabaseProblem) as error:  # the database is unavailable: the lease may outlast that
            log.warning("job.heartbeat", job=self._job.id, error=str(getattr(error, "orig", error)))
        except jobs.StaleAttempt:
            self.stale = True
            return None
        except Exception as error:  # without further beats another worker takes the job
            log.error("job.heartbeat_failed", job=self._job.id, exc_info=error)
            self.stale = True
            return None
        return self._lease / 4


class ExpiredLeases:
    """Leases that have lapsed by the machine's clock, and since when by the monotonic clock.

    If the machine's clock was set, or the database was unavailable, a worker gets the time of two heartbeats before its
    job counts as lost. `lease` is in seconds.
    """

    def __init__(self, lease: float) -> None:
        self._patience = lease / 2
        self._since: dict[tuple[str, int, datetime | None], float] = {}

    def ended(self, lapsed: Sequence[jobs.Job]) -> list[jobs.Job]:
        """Return the jobs whose lapsed lease was not renewed for long enough."""
        now = time.monotonic()
        self._since = {_lease(job): self._since.get(_lease(job), now) for job in lapsed}
        return [job for job in lapsed if now - self._since[_lease(job)] >= self._patience]

    def forget(self) -> None:
        """Start again: no lease could be renewed meanwhile."""
        self._since.clear()


def _lease(job: jobs.Job) -> tuple[str, int, datetime | None]:
    return job.id, job.attempt, job.lease_until


AGAIN_SECONDS = 1.0
"""Seconds until the next heartbeat after the database refused one."""


class GPUMonitor(Protocol):
    """An extension's reader of a worker's GPU, built from the device's name."""

    def state(self) -> GPUState:
        """Return its present state."""

    def fail(self, cause: str) -> None:
        """Report the GPU as unusable for some minutes, because of a sentence."""


def gpu_monitor(device: str) -> GPUMonitor | None:
    """Return an extension's reader of a GPU; None, with a warning, without such an extension."""
    for extension in extensions():
        if extension.gpu_monitor is not None:
            monitor: GPUMonitor = extension.load(extension.gpu_monitor)(device)
            return monitor
    log.warning("worker.no_gpu", device=device, reason=NEEDS_EXTENSION)
    return None


class ProcessHeartbeat(Repeated):
    """Sends a process's heartbeats to the database, and removes them at the end."""

    def __init__(
        self, tools: Work, name: str, role: Role, queues: Sequence[str] = (), *, gpu: GPUMonitor | None = None
    ) -> None:
        self._tools, self._name, self._role, self._queues, self._gpu = tools, name, role, queues, gpu
        self._trouble: str | None = None
        self._file = tools.settings.heartbeat_file
        super().__init__("heartbeats in the database", self._beat)

    def report(self, trouble: str | None) -> None:
        """Report at once what prevents the process from working, in a sentence. None once it can work again."""
        if trouble != self._trouble:
            self._trouble = trouble
            self.call_now()

    def lose_gpu(self, cause: str) -> None:
        """Report at once that the GPU failed, because of a sentence, so that it gets no other training for a while."""
        if self._gpu is not None:
            self._gpu.fail(cause)
            self.call_now()

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        if self._file is not None:
            self._file.unlink(missing_ok=True)
        with suppress(DBAPIError, Problem), self._tools.database.transaction() as session:
            process_heartbeats.remove(session, self._name)

    def _beat(self) -> float:
        gpu = None if self._gpu is None else self._gpu.state()  # before the transaction: it may take seconds
        who = (self._name, self._role, self._queues)
        try:
            with self._tools.database.transaction() as session:
                process_heartbeats.beat(session, *who, self._tools.clock.wall(), trouble=self._trouble, gpu=gpu)
        except (DBAPIError, Problem) as error:  # it is unavailable for a while
            log.warning("attendance.database", error=str(getattr(error, "orig", error)))
            return AGAIN_SECONDS
        if self._file is not None:
            with suppress(OSError):
                self._file.touch()
        return process_heartbeats.SIGN_EVERY.total_seconds()


def lock_folder(data: Path) -> Path:
    """Return the folder of the workers' lock files in a data folder."""
    return data / "workers"


def new_name() -> str:
    """Return a name that no earlier process had: containers reuse process ids."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


@contextmanager
def hold_lock(data: Path) -> Iterator[str]:
    """Hold a worker's lock, under a new name."""
    name = new_name()
    path = lock_folder(data) / name
    stored_files.make_folder(path.parent)
    with ExitStack() as files:
        while True:
            file = files.enter_context(open(path, "a", opener=stored_files.opener))
            fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists():  # otherwise a scheduler saw it before it was locked, and removed it
                break
        file.write(_kernel())
        file.flush()
        try:
            yield name
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def dead_workers(data: Path) -> Iterator[list[str]]:
    """Yield the names of workers that died on this machine. Forget them afterwards unless there was an error."""
    with ExitStack() as locks:
        free = [path for path in lock_folder(data).glob("*") if _is_free(path, locks)]
        # If machines share the data folder and its file system has no locks, all files look free.
        yield [path.name for path in free if path.read_text() == _kernel()]
        for path in free:
            path.unlink(missing_ok=True)


def _is_free(path: Path, locks: ExitStack) -> bool:
    """Return whether nobody holds a file; if so, hold it here."""
    try:
        file = locks.enter_context(path.open())
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError):
        return False
    return True


def _kernel() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text()
