"""Liveness and readiness, and the degradations of jobs and of the machine."""

import os
import shutil
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Annotated, Literal

import structlog
from fastapi import APIRouter
from pydantic import Field
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.http.base_schema import Model
from app.http.dependencies import OpenDatabase, ServiceClock, ServiceSettings, of_app
from app.http.problems import documented
from hydrology.base.errors import counted
from jobspec.jobs.training import MemberJob, MembersJob
from records.database.connections import DatabaseProblem, is_locked, sqlite_file, storage_fault
from records.database.engine import Database
from records.jobs import process_heartbeats, queues
from records.upkeep import monitoring
from runtime import watchdog
from runtime.clock import Clock
from runtime.settings import Settings
from workers.queue.broker import write_refusal

MAX_UNTAKEN = timedelta(minutes=5)
"""A running worker takes a job within seconds."""
MAX_QUEUED = timedelta(hours=1)
"""Behind other jobs; members of a training wait for each other for as long as that takes."""
TRAINING_QUEUES = (MemberJob.queue, MembersJob.queue)
MIN_FREE = 200_000_000
"""Bytes."""


class Degraded(Model):
    """A degradation of the service."""

    code: Literal[
        "no-basins",
        "no-model",
        "no-forecast",
        "stale-forecast",
        "stale-basins",
        "stale-input",
        "not-issued",
        "levels-in-doubt",
        "ratings-held",
        "failed-deliveries",
        "mail-server",
        "paused-subscriptions",
        "no-worker",
        "queue-age",
        "failed-job",
        "failing-schedule",
        "schedule-skipped",
        "disk",
        "no-broker",
        "database-locked",
        "part-restarting",
        "clock",
        "job-stopped",
        "gpu-lost",
    ]
    sentence: str


def degraded(session: Session, now: datetime, settings: Settings) -> Iterator[Degraded]:
    """Yield all degradations; `now` is the wall clock's time."""
    yield from of_jobs(session, now)
    yield from of_machine(settings)


def of_jobs(session: Session, now: datetime) -> Iterator[Degraded]:
    """Yield degradations of jobs (waiting, failed or stopped), of clocks and of the database's disk."""
    yield from _waiting(session, now)
    for failed in queues.failing(session):
        if failed.schedule is None:
            sentence = f"The service's last job {failed.kind} has failed: see /v1/jobs/{failed.id}, and mend the cause."
            yield Degraded(code="failed-job", sentence=sentence)
        else:
            sentence = f"The last job of the schedule {failed.schedule!r} has failed: see /v1/jobs/{failed.id}, mend "
            sentence += "the cause and post it again, or wait for the schedule's next."
            yield Degraded(code="failing-schedule", sentence=sentence)
    for skipped in queues.skipping(session, now):
        yield Degraded(code="schedule-skipped", sentence=f"{skipped} See /v1/jobs/{skipped.job}.")
    yield from _clock(session, now)
    yield from _present(session)
    if words := storage_fault(session):
        sentence = f"The database cannot store anything: {words.removesuffix('.')}. Free some space on its disk."
        yield Degraded(code="disk", sentence=sentence)


def of_machine(settings: Settings) -> Iterator[Degraded]:
    """Yield degradations of disk, broker, database lock and parts of the service."""
    yield from _disk(settings)
    yield from _away(settings)
    yield from _restarting(settings)


def _waiting(session: Session, now: datetime) -> Iterator[Degraded]:
    for waiting in queues.waiting_queues(session, now - MAX_UNTAKEN):
        queue, since = waiting.queue, waiting.service_since
        worker = f"worker (freshet worker --queue {queue})"
        if not waiting.runs and now - waiting.since > MAX_UNTAKEN:
            cause = f"no worker runs: start a {worker}."
            if waiting.workers:
                cause = f"{counted(waiting.workers, 'idle worker')} of it took none: read their log, and restart them."
            sentence = f"{_wait(queue, waiting.jobs, now - waiting.since)} and {cause}"
            yield Degraded(code="no-worker", sentence=sentence)
        elif waiting.runs and since is not None and now - since > MAX_QUEUED and queue not in TRAINING_QUEUES:
            behind = _wait(queue, waiting.service_jobs, now - since)
            sentence = f"{behind} behind those that run: start another {worker}."
            yield Degraded(code="queue-age", sentence=sentence)


def _wait(queue: str, jobs: int, wait: timedelta) -> str:
    return (
        f"{counted(jobs, 'job')} of the queue {queue} {'waits' if jobs == 1 else 'wait'}, the first for "
        f"{counted(int(wait.total_seconds() / 60), 'minute')},"
    )


def _disk(settings: Settings) -> Iterator[Degraded]:
    file = sqlite_file(settings.database_url)
    folders = {} if file is None else {file.parent: "database"}
    for folder, name in (folders | {settings.data.absolute(): "data folder"}).items():
        if folder.exists() and (free := shutil.disk_usage(folder).free) < MIN_FREE:
            sentence = f"The disk of the {name} has {free // 1_000_000} MB left: free some space, or nothing more can "
            yield Degraded(code="disk", sentence=sentence + "be stored.")


def _away(settings: Settings) -> Iterator[Degraded]:
    if refusal := write_refusal(settings):
        sentence = f"The broker {refusal.cause}: jobs are stored, and sent to the workers afterwards. {refusal.remedy}."
        sentence += f" It answered: {refusal.words}" if refusal.words else ""
        yield Degraded(code="no-broker", sentence=sentence)
    if is_locked(settings.database_url):
        sentence = "Another process has locked the database: it is read, but nothing is written. End that process."
        yield Degraded(code="database-locked", sentence=sentence)


def _restarting(settings: Settings) -> Iterator[Degraded]:
    """Yield parts of the service that its supervisor, this process's parent, restarts."""
    for restart in watchdog.load_restarts(settings.data, os.getppid()):
        if not restart.times:
            sentence = f"The {restart.part} {restart.cause} since {restart.since:%Y-%m-%d %H:%M:%S} UTC: it is "
            yield Degraded(code="part-restarting", sentence=sentence + "started again if it stays silent.")
            continue
        often = f", {restart.times} times since {restart.since:%Y-%m-%d %H:%M} UTC" if restart.times > 1 else ""
        sentence = f"The {restart.part} {restart.cause}{often}, and is started again: see the service's log."
        yield Degraded(code="part-restarting", sentence=sentence)


def _clock(session: Session, now: datetime) -> Iterator[Degraded]:
    for ahead in monitoring.ahead(session, now):
        sentence = (
            f"The machine's clock reads {now:%Y-%m-%d %H:%M} UTC, but {ahead.what} is of {ahead.at:%Y-%m-%d %H:%M}: "
            "the clock was ahead for a while, or is behind now. Check it, and the data written while it was wrong."
        )
        yield Degraded(code="clock", sentence=sentence)


def _present(session: Session) -> Iterator[Degraded]:
    processes = process_heartbeats.live_processes(session)
    wrong = [process for process in processes if abs(process.clock_ahead) > monitoring.TOLERANCE]
    for sentence in dict.fromkeys(map(_of_clock, wrong)):  # all processes of a machine share its clock
        yield Degraded(code="clock", sentence=sentence)
    for process in processes:
        if process.trouble is not None:
            yield Degraded(code="job-stopped", sentence=process.trouble)
        if process.gpu is not None and process.gpu.fault is not None:
            sentence = f"The GPU {process.gpu.device} of a worker is not used, and trainings go to others: "
            yield Degraded(code="gpu-lost", sentence=sentence + process.gpu.fault)


def _of_clock(process: process_heartbeats.LiveProcess) -> str:
    minutes = abs(process.clock_ahead) // timedelta(minutes=1)
    side = "ahead of" if process.clock_ahead > timedelta(0) else "behind"
    return (
        f"The clock of a {process.role}'s machine is {counted(minutes, 'minute')} {side} that of the database: set it."
    )


router = APIRouter(prefix="/health", tags=["health"])
log = structlog.get_logger()

REMEMBERED_SECONDS = 5.0
"""Readiness has no rate limit, and each check takes the write lock and a broker connection."""


class Hindered:
    """Checks for degradations at most once in some seconds, and caches the result."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        self._looked_at: float | None = None
        self._codes: list[str] = []

    def codes(self, database: Database, clock: Clock, settings: Settings) -> list[str]:
        """Return the sorted codes of `/v1/status` about jobs; if the check fails, the last ones."""
        if self._looking.acquire(blocking=False):
            try:
                if self._looked_at is None or time.monotonic() - self._looked_at >= REMEMBERED_SECONDS:
                    self._looked_at = time.monotonic()  # a failed check counts too
                    self._codes = _found(database, clock, settings)
            except (SQLAlchemyError, ValueError, OSError) as error:
                log.warning("health.hindered", error=type(error).__name__)
            finally:
                self._looking.release()
        return self._codes


def _found(database: Database, clock: Clock, settings: Settings) -> list[str]:
    with database.reading() as session:
        codes = {each.code for each in of_jobs(session, clock.wall())}
    return sorted(codes | {each.code for each in of_machine(settings)})


class Alive(Model):
    """The process answers."""

    status: Literal["alive"] = "alive"


class Ready(Model):
    """The database can be used."""

    status: Literal["ready"] = "ready"
    revision: str = Field(description="The revision of the database's tables.", examples=["0002"])
    degraded: list[str] = Field(
        description="Degradations of the service, by the codes of `/v1/status`, which has the descriptions."
    )


@router.get("/live", summary="Whether the service runs", responses=documented())
async def read_liveness() -> Alive:
    """Answers as long as the process does, however busy. It does not look at the database."""
    return Alive()


@router.get("/ready", summary="Whether the service can answer questions", responses=documented())
def read_readiness(
    database: OpenDatabase,
    clock: ServiceClock,
    settings: ServiceSettings,
    hindered: Annotated[Hindered, of_app("hindered")],
) -> Ready:
    """Answers when the database is reachable and its tables are those that this service works with; else 503.

    A degraded service is ready all the same: it answers with its data, and `degraded` lists the causes, such as
        `no-worker`, `queue-age`, `failed-job`, `failing-schedule`, `schedule-skipped`, `disk` or `clock`."""
    found = database.check()
    if found.problem is not None:
        # The error contains the database's address, which only the operator may see.
        log.error("health.not_ready", problem=found.problem)
        if not found.reachable:
            raise DatabaseProblem("The database cannot be reached: start it, and see the service's log.")
        raise DatabaseProblem(
            f"The database's tables are at revision {found.revision or 'none'}, and this service needs {found.head}: "
            "run `freshet migrate`, or the service that fits them."
        )
    return Ready(revision=found.head, degraded=hindered.codes(database, clock, settings))
