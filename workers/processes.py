"""The processes that a service is made of besides the API: workers and the scheduler."""

import os
import signal
import socket
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from celery import Celery
from celery.signals import worker_shutting_down
from sqlalchemy.exc import DBAPIError

from jobspec.kinds import KINDS, JobRequest
from records.settings import Settings
from workers.celery_app import TASK, make_app
from workers.children import Children
from workers.outbox import post_delivery
from workers.recovery import recover
from workers.schedule import fire
from workers.tools import tools_of
from workers.worker import GRACE, Worker

log = structlog.get_logger()

SECONDS_BETWEEN_LOOKS = 1.0


def work(
    settings: Settings,
    queues: Sequence[str],
    *,
    child_module: str = "workers.child",
    kinds: Mapping[str, type[JobRequest]] = KINDS,
    grace: float = GRACE,
) -> None:
    """Run jobs of some queues until told to stop: one at a time, in a child process.

    SIGTERM or SIGINT lets the job at hand leave off within the grace; it is queued again, and a training goes on from
    there. Where the worker itself is killed, another takes the job over when its lease has run out.

    Args:
        child_module: the program of the child processes.
        kinds: the params and the limits of each kind of job.
        grace: seconds that a job has to stop when it is asked to.
    """
    name = f"{socket.gethostname()}:{os.getpid()}"
    with tools_of(settings) as tools, Children(settings, child_module) as children:
        tools.database.require_migrated()
        worker = Worker(name, tools, children, kinds=kinds, grace=grace)
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
        consumer.start()


def keep_time(settings: Settings) -> None:
    """Fire schedules, recover lost jobs and have alert changes sent until told to stop."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with tools_of(settings) as tools:
        tools.database.require_migrated()
        log.info("scheduler.start")
        while not stop.wait(SECONDS_BETWEEN_LOOKS):
            try:
                fire(tools)
                recover(tools)
                post_delivery(tools)
            except DBAPIError as error:  # the database is away for a while
                log.warning("scheduler.database", error=str(error.orig))
