"""Transitions of jobs that their tests share."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier
from typing import TypeVar

from sqlalchemy.orm import Session

from records.database.engine import Database
from records.jobs import attempts, jobs, queues
from records.jobs.jobs import Job, NewJob
from testing.records import BASIN, NOW, a_claimed_job, a_job

LEASE = NOW + timedelta(hours=1)


LATER = NOW + timedelta(hours=2)


LOST = {"kind": "internal", "detail": "It broke."}


NEW = NewJob(kind="forecast", params={"basins": [BASIN]}, queue="default")


Result = TypeVar("Result")


def at_once(database: Database, act: Callable[[Session, int], Result], times: int = 4) -> list[Result]:
    """Do the same in several transactions that begin together."""
    ready = Barrier(times)

    def one(turn: int) -> Result:
        ready.wait(30)
        with database.transaction() as session:
            return act(session, turn)

    with ThreadPoolExecutor(times) as threads:
        return list(threads.map(one, range(times)))


def claim(session: Session, job: str, worker: str = "second") -> Job | None:
    return attempts.claim(session, job, worker=worker, lease_until=LEASE, at=NOW)


def finish(session: Session, job: str, attempt: int = 1, status: str = "succeeded") -> Job:
    return attempts.finish(session, job, attempt, status=status, problem=LOST if status == "failed" else None, at=NOW)


def waiting(session: Session, children: int) -> tuple[str, list[str]]:
    """Post a training that waits for claimed members."""
    parent = a_job(session, kind="training")
    queues.mark_sent(session, parent, NOW)
    assert claim(session, parent)
    members = [a_claimed_job(session, kind="member", queue="training", parent_id=parent) for _ in range(children)]
    assert attempts.wait(session, parent, 1, NOW).status == "waiting"
    return parent, members


def statuses(session: Session, job: str) -> list[str]:
    output = jobs.events_after(session, job, 0)
    return [event.data["status"] for event in output if event.type == "status"]


def writes(attempt: int) -> dict[str, Callable[[Session, str], object]]:
    return {
        "heartbeat": lambda session, job: attempts.heartbeat(session, job, attempt, lease_until=LATER, at=NOW),
        "finish": lambda session, job: finish(session, job, attempt),
        "wait": lambda session, job: attempts.wait(session, job, attempt, NOW),
        "retry": lambda session, job: attempts.retry(session, job, attempt, LOST, NOW),
        "log": lambda session, job: jobs.log(session, job, attempt, "a line", NOW),
        "hold": lambda session, job: jobs.hold(session, job, attempt),
    }


def died_at(session: Session, job: str, file: str) -> str:
    """Let a job's process die at a file, claim the job again if it is queued, and return its status."""
    problem = {"kind": attempts.PROCESS_DIED, "detail": f"It was killed by SIGSEGV (reading {file})."}
    attempt = jobs.get(session, job).attempt
    died = attempts.retry(session, job, attempt, problem, NOW, {"file": file, "end": "was killed by SIGSEGV"})
    attempts.claim(session, job, worker="another", lease_until=NOW, at=NOW)
    return died.status


def take_lapsed(session: Session, at: datetime) -> list[str]:
    """Take the jobs whose lease has lapsed, and return those that this took."""
    lapsed = attempts.lapsed(session, at, timedelta(hours=4))
    taken = [attempts.take(session, job, at) for job in lapsed]
    return [job.id for job in taken if job is not None]


def impossible(session: Session) -> Iterator[Callable[[], object]]:
    yield lambda: a_job(session, max_attempts=-1)
    job = a_claimed_job(session)
    yield lambda: attempts.finish(session, job, 1, status="queued", at=NOW)
    yield lambda: attempts.finish(session, job, 1, status="failed", at=NOW)
    yield lambda: attempts.finish(session, job, 1, status="succeeded", problem=LOST, at=NOW)
