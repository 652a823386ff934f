"""Setting the clock takes no job from a live worker and leaves none with a lost one."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from records.jobs import attempts, jobs
from runtime.settings import Settings
from testing.clocks import ClockSetBy
from workers.liveness import ExpiredLeases, Heartbeat
from workers.queue.enqueue import WorkerContext, tools_of
from workers.scheduler import recover

YEAR = timedelta(days=365)
LEASE = 60.0


@pytest.fixture
def tools(migrated_sqlite: Path, tmp_path: Path) -> Iterator[WorkerContext]:
    """What a scheduler works with."""
    file = shutil.copy(migrated_sqlite, tmp_path / "freshet.sqlite")
    settings = Settings(data=tmp_path, database_url=f"sqlite:///{file}", broker_url="memory://", lease_seconds=LEASE)
    with tools_of(settings) as opened:
        yield opened


def claimed(tools: WorkerContext, by: timedelta) -> jobs.Job:
    """Have a worker elsewhere begin a job while the clock is set by some time."""
    now = ClockSetBy(by=by).wall()
    with tools.database.transaction() as session:
        job, _ = jobs.create(session, jobs.NewJob(kind="forecast", params={}, queue="default"), now)
        running = attempts.claim(session, job.id, worker="w", lease_until=now + timedelta(seconds=LEASE), at=now)
    assert running is not None
    return running


def status(tools: WorkerContext, job: jobs.Job) -> tuple[str, int]:
    with tools.database.reading() as session:
        stored = jobs.get(session, job.id)
    return stored.status, stored.attempt


@pytest.mark.parametrize("by", [-YEAR, YEAR], ids=["behind", "ahead"])
def test_a_lost_job_whose_lease_lies_a_year_away_is_queued_again(tools: WorkerContext, by: timedelta) -> None:
    lost = claimed(tools, by)
    recover(tools, ExpiredLeases(0))
    assert status(tools, lost) == ("queued", 1)


def test_a_lease_that_was_renewed_since_the_clock_was_set_holds(tools: WorkerContext) -> None:
    running, leases = claimed(tools, YEAR), ExpiredLeases(0.0)
    with Heartbeat(replace(tools, settings=tools.settings.model_copy(update={"lease_seconds": 1.0})), running):
        while _lease_of(tools, running) == running.lease_until:
            pass
    recover(tools, leases)
    assert status(tools, running) == ("running", 1)


def test_a_job_that_can_no_longer_be_renewed_is_no_longer_the_workers(tools: WorkerContext) -> None:
    running = replace(claimed(tools, timedelta(0)), id="gone")
    beat = Heartbeat(tools, running)
    assert beat._beat() is None
    assert beat.stale


def test_a_worker_gets_time_to_renew_its_lease_after_the_clock_was_set(tools: WorkerContext) -> None:
    running, leases = claimed(tools, timedelta(0)), ExpiredLeases(LEASE)
    for by in (YEAR, -YEAR, timedelta(0)):
        recover(replace(tools, clock=ClockSetBy(by=by)), leases)
        assert status(tools, running) == ("running", 1)


def _lease_of(tools: WorkerContext, job: jobs.Job) -> object:
    with tools.database.reading() as session:
        return jobs.get(session, job.id).lease_until
