"""A queue of the broker gets no more messages than it has jobs, and each job gets one in the end."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import redis

from records.jobs import attempts, jobs, queues
from runtime.clock import Clock
from runtime.settings import Settings
from testing.clocks import ClockSetBy
from testing.jobs.processes import end
from workers.liveness import ExpiredLeases
from workers.queue.broker import socket_path, start_embedded
from workers.queue.enqueue import WorkerContext, tools_of
from workers.scheduler import recover

JOBS = 20
YEAR = timedelta(days=365)


@pytest.fixture
def tools(migrated_sqlite: Path, tmp_path: Path) -> Iterator[WorkerContext]:
    """What a scheduler works with, with a broker and without a worker."""
    file = shutil.copy(migrated_sqlite, tmp_path / "freshet.sqlite")
    settings = Settings(data=tmp_path, database_url=f"sqlite:///{file}")
    broker = start_embedded(settings)
    with tools_of(settings) as opened:
        yield opened
    end(broker)


@pytest.fixture
def broker(tools: WorkerContext) -> Iterator[redis.Redis]:
    """The broker itself."""
    with redis.Redis(unix_socket_path=str(socket_path(tools.settings))) as client:
        yield client


def post(tools: WorkerContext, queue: str = "default") -> str:
    """Post a job, and send its message."""
    with tools.database.transaction() as session:
        job, _ = jobs.create(session, jobs.NewJob(kind="forecast", params={}, queue=queue), tools.clock.wall())
    tools.sender.send(job)
    return job.id


def recover_at(tools: WorkerContext) -> Callable[[timedelta], None]:
    """Return what has the scheduler look at some time from now."""
    leases = ExpiredLeases(60)
    return lambda by: recover(replace(tools, clock=ClockSetBy(by=by)), leases)


def test_jobs_that_wait_behind_a_busy_worker_are_not_sent_again(tools: WorkerContext, broker: redis.Redis) -> None:
    for _ in range(JOBS):
        post(tools)
    look_at = recover_at(tools)
    for minutes in range(60):
        look_at(timedelta(minutes=minutes))
    assert broker.llen("default") == JOBS


def test_only_messages_that_the_broker_lost_are_sent_again(tools: WorkerContext, broker: redis.Redis) -> None:
    for _ in range(JOBS):
        post(tools)
    post(tools, "ingest")
    look_at = recover_at(tools)
    broker.lpop("default", 3)
    look_at(timedelta(seconds=5))
    assert broker.llen("default") == JOBS - 3
    for minutes in range(1, 10):
        look_at(timedelta(minutes=minutes))
        assert (broker.llen("default"), broker.llen("ingest")) == (JOBS, 1)
    broker.flushall()
    look_at(timedelta(minutes=20))
    assert (broker.llen("default"), broker.llen("ingest")) == (JOBS, 1)


def test_in_the_end_the_lost_message_is_among_those_that_are_sent_again(
    tools: WorkerContext, broker: redis.Redis
) -> None:
    """Of five jobs the last one's message is lost. Whatever a worker takes, it does not wait for ever."""
    waiting = [post(tools) for _ in range(5)]
    broker.lpop("default")  # the newest: messages are pushed on this side, and taken from the other
    look_at = recover_at(tools)
    for minutes in range(1, 100):
        look_at(timedelta(minutes=minutes))
        message = broker.rpop("default")
        assert isinstance(message, bytes)
        for job in [job for job in waiting if job.encode() in message]:
            waiting.remove(job)
            with tools.database.transaction() as session:
                now = Clock().wall()
                assert attempts.claim(session, job, worker="w", lease_until=now + timedelta(days=1), at=now)
        if not waiting:
            return
    raise AssertionError(f"{waiting} were never sent again")


def test_a_message_that_was_sent_before_the_clock_was_set_back_is_missed_all_the_same(
    tools: WorkerContext, broker: redis.Redis
) -> None:
    job = post(tools)
    with tools.database.transaction() as session:
        queues.mark_sent(session, job, tools.clock.wall() + YEAR)
    broker.flushall()
    recover_at(tools)(timedelta(0))
    assert broker.llen("default") == 1
