"""The processes that a service is made of besides the API: workers and the scheduler."""

import os
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import structlog
from celery import Celery
from sqlalchemy.exc import DBAPIError

from records.clock import Clock
from records.engine import Database
from records.settings import Settings
from workers.celery_app import TASK, make_app
from workers.enqueue import Sender
from workers.job import Tools, run_job
from workers.recovery import recover
from workers.schedule import fire

log = structlog.get_logger()

SECONDS_BETWEEN_LOOKS = 1.0


@contextmanager
def tools_of(settings: Settings) -> Iterator[Tools]:
    """Open what jobs work with."""
    database, clock = Database(settings.database_url), Clock(settings.as_of)
    sender = Sender(settings, database, clock)
    try:
        yield Tools(settings, database, clock, sender)
    finally:
        sender.close()
        database.close()


def work(settings: Settings, queues: Sequence[str]) -> None:
    """Run jobs of some queues until told to stop: one at a time, in this very process.

    The first SIGTERM or SIGINT lets the job at hand end, the second ends the process; another worker then takes
    the job over when its lease has run out.
    """
    from workers.tasks import HANDLERS

    name = f"{socket.gethostname()}:{os.getpid()}"
    with tools_of(settings) as tools:
        tools.database.require_migrated()
        app: Celery = make_app(settings)

        @app.task(name=TASK)  # type: ignore[untyped-decorator]
        def run(job_id: str) -> None:
            run_job(tools, HANDLERS, name, job_id)

        app.finalize()
        log.info("worker.start", worker=name, queues=list(queues))
        worker: Any = app.Worker(
            pool="solo",
            queues=list(queues),
            hostname=f"freshet-{os.getpid()}@{socket.gethostname()}",
            quiet=True,
            loglevel="WARNING",
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        worker.start()


def keep_time(settings: Settings) -> None:
    """Fire schedules and recover lost jobs until told to stop."""
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
            except DBAPIError as error:  # the database is away for a while
                log.warning("scheduler.database", error=str(error.orig))
