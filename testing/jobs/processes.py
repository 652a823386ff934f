"""A broker, a scheduler and workers as processes, without the API, and handles to harm them."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from jobspec.kinds import queue_of
from records.database.connections import is_locked
from records.database.engine import Database
from records.jobs import jobs
from runtime.child_processes import Process
from runtime.clock import Clock
from runtime.settings import Settings
from testing.parts.forked_parts import ForkedPart
from workers.queue.broker import start_embedded
from workers.queue.enqueue import Sender

PATIENCE = 240.0  # seconds: a bound for what hangs, not for what is slow
LEASE = 2.0  # seconds
ROOT = Path(__file__).parents[2]


class PostedJobs:
    """Jobs of a database, posted and followed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database = Database(settings.database_url)
        self.clock = Clock()
        self.sender = Sender(settings, self.database, self.clock)

    def post(self, kind: str, key: str | None = None, **params: Any) -> jobs.Job:
        """Make a job and send it to the queue of its kind."""
        return self.send(jobs.NewJob(kind=kind, params=params, queue=queue_of(kind), idempotency_key=key))

    def send(self, new: jobs.NewJob) -> jobs.Job:
        """Make a job and send it."""
        with self.database.transaction() as session:
            job, _ = jobs.create(session, new, self.clock.wall())
        self.sender.send(job)
        return job

    def job(self, job: str) -> jobs.Job:
        """Return a job as it stands."""
        with self.database.reading() as session:
            return jobs.get(session, job)

    def close(self) -> None:
        """Close the connections."""
        self.sender.close()
        self.database.close()


class Shop(PostedJobs):
    """Everything that a service has besides the API, and handles to harm it."""

    def __init__(self, settings: Settings, stack: ExitStack) -> None:
        super().__init__(settings)
        self._stack = stack
        self.broker = start_embedded(settings)

    def start(self, *arguments: str, module: str = "freshet") -> ForkedPart:
        """Start a part of the service; it ends with the test."""
        log = self.settings.data / "parts.log"
        process = ForkedPart(module, arguments, environment=self.environment, log=log, folder=ROOT)
        self._stack.callback(end, process)
        return process

    @property
    def environment(self) -> dict[str, str]:
        """The environment of all parts."""
        return os.environ | {
            "FRESHET_DATA": str(self.settings.data),
            "FRESHET_DATABASE_URL": self.settings.database_url,
            "FRESHET_LEASE_SECONDS": str(self.settings.lease_seconds),
            "OMP_NUM_THREADS": "2",  # a job computes on one thread all the same
            "PYTHONPATH": str(ROOT),  # no process of Freshet looks for modules in its working folder
        }

    def worker(self, *queues: str) -> ForkedPart:
        """Start a worker of some queues, or of all."""
        return self.start("worker", *(part for queue in queues for part in ("--queue", queue)))

    def until(self, job: str, holds: Callable[[jobs.Job], bool]) -> jobs.Job:
        """Wait until something holds of a job, and return it."""
        end = time.monotonic() + PATIENCE
        while not holds(found := self.job(job)):
            assert time.monotonic() < end, f"{found}\n{(self.settings.data / 'parts.log').read_text()}"
            time.sleep(0.05)
        return found

    def ended(self, job: str) -> jobs.Job:
        """Wait until a job has ended, and return it."""
        return self.until(job, lambda found: found.status in jobs.ENDED)

    def close(self) -> None:
        """Stop the broker and close the connections."""
        super().close()
        end(self.broker)


def end(process: Process | ForkedPart, how: signal.Signals = signal.SIGKILL) -> int:
    """End a process, whatever state it is in, and return its exit code."""
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.send_signal(how)
    return process.wait(PATIENCE)


def freeze(shop: Shop, process: ForkedPart) -> None:
    """Stop a process (SIGSTOP) while it holds no lock on SQLite's file, so that others can still write."""
    end_at = time.monotonic() + PATIENCE
    process.send_signal(signal.SIGSTOP)
    while is_locked(shop.settings.database_url):
        assert time.monotonic() < end_at
        process.send_signal(signal.SIGCONT)
        time.sleep(0.05)
        process.send_signal(signal.SIGSTOP)
