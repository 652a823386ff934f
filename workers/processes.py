"""Processes of a service besides the API: workers and the scheduler."""

import os
import signal
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import structlog
from celery import Celery
from celery.signals import worker_shutting_down
from celery.worker.consumer import Consumer
from celery.worker.state import maybe_shutdown
from sqlalchemy.exc import DBAPIError

from jobspec.jobs.base import GPU, JobRequest
from jobspec.kinds import KINDS
from models.devices import CPU
from operations.upkeep import alarms
from records.database.connections import DatabaseProblem
from runtime import watchdog
from runtime.clock import Clock
from runtime.settings import Settings
from workers.job_processes.process_pool import MAX_IDLE, Children
from workers.job_processes.worker import GRACE, Worker
from workers.liveness import ExpiredLeases, ProcessHeartbeat, gpu_monitor, hold_lock, new_name
from workers.queue.broker import try_to_write
from workers.queue.enqueue import TASK, make_app, tools_of
from workers.scheduler import fire, post_delivery, post_late, recover, watch_issue

log = structlog.get_logger()

MAX_WAIT = 3.0  # seconds between two attempts to connect: Celery's own grow to 30, and it finally gives up


class PatientConsumer(Consumer):  # type: ignore[misc]
    """Reconnects for as long as it takes, unless the worker is to stop."""

    def ensure_connected(self, conn: Any) -> Any:
        """Return a connection as soon as the broker accepts one."""
        return conn.ensure_connection(
            _log_error, interval_start=0.5, interval_step=0.5, interval_max=MAX_WAIT, callback=maybe_shutdown
        )

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """Wait before the next attempt: a broker that refuses to be written accepts connections at once."""
        _log_error(exc, MAX_WAIT)
        time.sleep(MAX_WAIT)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Reconnect, unless the broker is well and refuses the request: that does not pass."""
        if isinstance(exc, self.channel_errors):
            if self._is_well():
                raise exc
            time.sleep(MAX_WAIT)
        super().on_connection_error_after_connected(exc)

    def _is_well(self) -> bool:
        try:
            try_to_write(self.connection.default_channel.client)
        except (*self.connection_errors, *self.channel_errors):
            return False
        return True


def _log_error(error: Exception, wait: float) -> None:
    log.warning("worker.broker", error=str(error), again_in_seconds=wait)


SECONDS_BETWEEN_SCORES = 3600.0  # between two looks at stored scores: they are many, and change by the day
SECONDS_BETWEEN_NOTICES = 5.0  # at least, between two looks at what operators get a notice of, and at missed issues
SECONDS_BETWEEN_LOOKS = 2.0
MAX_LOOK = 60.0  # seconds: waiting for a hanging database or broker is not the scheduler's fault


def work(
    settings: Settings,
    queues: Sequence[str],
    *,
    child_module: str = "workers.job_processes.job_process",
    kinds: Mapping[str, type[JobRequest]] = KINDS,
    grace: float = GRACE,
) -> None:
    """Run jobs of some queues until stopped: one at a time, in a child process.

    On SIGTERM or SIGINT the current job may stop within the grace period; it is queued again, and a training continues
    where it stopped. If the worker itself is killed, its job is queued again at once.

    The processes of a worker with a GPU end with their jobs, which gives its memory back.
    """
    with Path(os.devnull).open("w") as nothing:  # standard output is for answers
        os.dup2(nothing.fileno(), 1)
    gpu = gpu_monitor(settings.device) if GPU in queues else None
    with (
        tools_of(settings) as tools,
        Children(settings, child_module, max_idle=MAX_IDLE if settings.device == CPU else 0.0) as children,
        hold_lock(settings.data) as name,
        watchdog.given(),
    ):
        tools.database.require_migrated()
        attendance = ProcessHeartbeat(tools, name, "worker", queues, gpu=gpu)
        worker = Worker(
            name,
            tools,
            children,
            kinds=kinds,
            grace=grace,
            on_trouble=attendance.report,
            on_gpu_lost=attendance.lose_gpu,
        )
        app: Celery = make_app(settings)

        @app.task(name=TASK)  # type: ignore[untyped-decorator]
        def run(job_id: str) -> None:
            worker.run(job_id)

        def stop(**_: object) -> None:
            worker.stopping.set()

        worker_shutting_down.connect(stop)
        app.finalize()
        log.info("worker.start", worker=name, queues=list(queues))
        consumer: Any = app.Worker(
            pool="solo",
            queues=list(queues),
            hostname=f"freshet-{os.getpid()}@{socket.gethostname()}",
            quiet=True,
            loglevel="WARNING",
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        consumer.set_process_status = lambda _: None  # Celery would change the process title
        with attendance:
            consumer.start()
        if consumer.exitcode:  # Celery reports its error only in the log
            raise SystemExit(consumer.exitcode)


def run_scheduler(settings: Settings, clock: Clock | None = None) -> None:
    """Fire schedules, recover lost jobs and send alert changes until stopped."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    looked_at = scores_due = notices_due = time.monotonic()
    with tools_of(settings, clock) as tools, watchdog.given(lambda: time.monotonic() - looked_at < MAX_LOOK):
        tools.database.require_migrated()
        leases = ExpiredLeases(settings.lease_seconds)
        log.info("scheduler.start")
        with ProcessHeartbeat(tools, new_name(), "scheduler"):
            while not stop.wait(SECONDS_BETWEEN_LOOKS):
                looked_at = time.monotonic()
                try:
                    fire(tools)
                    recover(tools, leases)
                    if looked_at >= notices_due:
                        notices_due = looked_at + SECONDS_BETWEEN_NOTICES
                        post_late(tools)
                        watch_issue(tools)
                        alarms.notify(tools, alarms.troubled_parts)
                    if looked_at >= scores_due:
                        scores_due = looked_at + SECONDS_BETWEEN_SCORES
                        alarms.notify(tools, alarms.poor_versions)
                    post_delivery(tools)
                except (DBAPIError, DatabaseProblem) as error:  # it is unavailable, or at another revision, for a while
                    leases.forget()
                    log.warning("scheduler.database", error=str(getattr(error, "orig", error)))
