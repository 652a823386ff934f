"""A job that crashes, hangs, floods or ignores its cancel harms itself alone."""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freshet.supervisor.service import commands
from records.access import keys
from records.jobs import attempts, jobs, process_heartbeats
from testing.jobs.processes import PATIENCE, Shop, end
from tests.workers.conftest import harmful_worker
from tests.workers.harmful import MEMORY_LIMIT, SILENCE_LIMIT, TIME_LIMIT, IntakeHarm


def problem(job: jobs.Job) -> tuple[str, str]:
    assert job.status == "failed", job
    assert job.problem is not None
    return job.problem["kind"], job.problem["detail"]


def done(shop: Shop, kind: str = "harm") -> dict[str, Any]:
    """Have a harmless job done, and return its result."""
    job = shop.ended(shop.post(kind, harm="well").id)
    assert (job.status, job.attempt) == ("succeeded", 1)
    assert job.result is not None
    return job.result


def is_running(shop: Shop, job: str) -> jobs.Job:
    return shop.until(job, lambda job: job.status == "running" and job.progress is not None)


@pytest.mark.extended
def test_a_crash_at_the_same_place_twice_fails_its_job_alone(harmful_shop: Shop) -> None:
    job = harmful_shop.ended(harmful_shop.post("intake-harm", harm="segfault").id)
    kind, detail = problem(job)
    assert (kind, job.attempt) == ("process-died", 2)
    assert "SIGSEGV" in detail
    assert "2 of 3 (reading bad.nc)" in detail
    assert done(harmful_shop)["attempt"] == 1


def test_a_job_survives_a_single_crash(harmful_shop: Shop) -> None:
    job = harmful_shop.ended(harmful_shop.post("harm", harm="segfault_once").id)
    assert (job.status, job.attempt) == ("succeeded", 2)


def test_a_process_that_ends_silently_is_reported(harmful_shop: Shop) -> None:
    _, detail = problem(harmful_shop.ended(harmful_shop.post("harm", harm="leave").id))
    assert "exit code 7 before it had reported any progress" in detail


@pytest.mark.extended
def test_the_memory_of_an_ingestion_is_limited(harmful_shop: Shop) -> None:
    job = harmful_shop.ended(harmful_shop.post("intake-harm", harm="flood_memory").id)
    kind, detail = problem(job)
    assert (kind, job.attempt) == ("out-of-memory", 1)
    assert f"({MEMORY_LIMIT // 2**20} MiB) at 1 of 3 (reading huge.nc)" in detail


@pytest.mark.extended
def test_the_memory_of_an_operators_job_is_limited_and_it_is_not_tried_again(harmful_shop: Shop) -> None:
    with harmful_shop.database.transaction() as session:
        key = keys.make(session, "office", "operator", None, harmful_shop.clock.wall())[0].id
    posted = harmful_shop.send(
        jobs.NewJob(kind="harm", params={"harm": "flood_memory"}, queue="default", key_id=key, max_attempts=10)
    )
    ended = harmful_shop.ended(posted.id)
    kind, detail = problem(ended)
    assert (ended.attempt, kind) == (1, "out-of-memory")
    assert "(4096 MiB) at 1 of 3 (reading huge.nc)" in detail
    done(harmful_shop)


@pytest.mark.extended
def test_endless_reports_of_a_process_are_not_held(harmful_shop: Shop) -> None:
    kind, detail = problem(harmful_shop.ended(harmful_shop.post("harm", harm="flood_pipe").id))
    assert kind == "process-died"
    assert "SIGKILL" in detail


def test_output_of_a_library_is_not_a_message(harmful_shop: Shop) -> None:
    assert harmful_shop.ended(harmful_shop.post("harm", harm="print_much").id).status == "succeeded"


@pytest.mark.extended
@pytest.mark.parametrize("harm", ["ignore", "freeze", "read_named_pipe"])
def test_a_job_that_hangs_is_killed_at_its_time_limit(harmful_shop: Shop, harm: str) -> None:
    job = harmful_shop.ended(harmful_shop.post("short-harm", harm=harm).id)
    kind, detail = problem(job)
    assert (kind, job.attempt) == ("time-limit", 1)
    assert f"time limit of {TIME_LIMIT.seconds} s and was killed at 1 of 3" in detail


@pytest.mark.extended
def test_a_job_whose_progress_stands_still_is_killed_and_tried_again(harmful_shop: Shop) -> None:
    job = harmful_shop.ended(harmful_shop.post("quiet-harm", harm="ignore").id)
    kind, detail = problem(job)
    assert (kind, job.attempt) == ("no-progress", 2)  # a second time at the same place: it would hang there again
    assert f"did not progress for {SILENCE_LIMIT.seconds} s and was killed at 1 of 3" in detail


@pytest.mark.extended
def test_a_job_whose_process_is_stopped_is_tried_again(harmful_shop: Shop) -> None:
    job = harmful_shop.ended(harmful_shop.post("harm", harm="freeze_once").id)
    assert (job.status, job.attempt) == ("succeeded", 2)


@pytest.mark.extended
def test_a_process_that_is_stopped_is_reported_until_it_is_replaced(harmful_shop: Shop) -> None:
    done(harmful_shop)
    job = harmful_shop.post("harm", harm="freeze_once")
    (trouble,) = troubles(harmful_shop, job.id, until=bool)
    assert trouble.startswith(f"The process of the job {job.id} was stopped (SIGSTOP)")
    assert harmful_shop.ended(job.id).status == "succeeded"
    assert troubles(harmful_shop, job.id, until=lambda sentences: not sentences) == []


def troubles(shop: Shop, job: str, until: Callable[[list[str]], bool]) -> list[str]:
    """Return the reported fault that blocks the workers from a job, once a condition holds."""
    end = time.monotonic() + PATIENCE
    while True:
        with shop.database.reading() as session:
            processes = process_heartbeats.live_processes(session)
        sentences = [each.trouble for each in processes if each.trouble is not None and job in each.trouble]
        if until(sentences):
            return sentences
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.extended
def test_a_job_whose_progress_moves_is_left_alone(harmful_shop: Shop) -> None:
    job = harmful_shop.ended(harmful_shop.post("quiet-harm", harm="go_on").id)
    assert (job.status, job.attempt) == ("succeeded", 1)


@pytest.mark.extended
def test_a_file_at_which_a_job_hangs_twice_is_passed_by(harmful_shop: Shop) -> None:
    job = harmful_shop.ended(harmful_shop.post("quiet-harm", harm="hang_at_a_file").id)
    assert (job.status, job.attempt) == ("succeeded", 3)


@pytest.mark.parametrize(
    "harm",
    ["obey", *(pytest.param(harm, marks=pytest.mark.extended) for harm in ("ignore", "freeze", "read_named_pipe"))],
)
def test_a_cancel_ends_a_job_whether_it_obeys_or_not(harmful_shop: Shop, harm: str) -> None:
    job = harmful_shop.post("harm", harm=harm)
    is_running(harmful_shop, job.id)
    with harmful_shop.database.transaction() as session:
        attempts.request_cancel(session, job.id, harmful_shop.clock.wall())
    ended = harmful_shop.ended(job.id)
    assert (ended.status, ended.attempt, ended.problem) == ("cancelled", 1, None)


@pytest.mark.extended
def test_jobs_share_a_process_but_for_ingestions_and_after_a_death(harmful_shop: Shop) -> None:
    first = done(harmful_shop)["process"]
    assert done(harmful_shop)["process"] == first
    ingestions = {done(harmful_shop, "intake-harm")["process"] for _ in range(2)}
    assert len(ingestions - {first}) == 2
    assert done(harmful_shop)["process"] == first
    harmful_shop.ended(harmful_shop.post("harm", harm="leave").id)
    assert done(harmful_shop)["process"] != first


@pytest.mark.extended
def test_a_hung_ingestion_delays_no_forecast(empty_shop: Shop) -> None:
    for queue in ("ingest", "default"):
        harmful_worker(empty_shop, queue)
    ingestion = jobs.NewJob(kind="intake-harm", params={"harm": "ignore"}, queue=IntakeHarm.queue)
    hung = [empty_shop.send(ingestion) for _ in range(2)]
    is_running(empty_shop, hung[0].id)
    done(empty_shop)
    assert [empty_shop.job(job.id).status for job in hung] == ["running", "queued"]


@pytest.mark.extended
def test_a_long_job_of_a_key_gives_way_to_the_service_at_no_cost_and_continues(empty_shop: Shop) -> None:
    harmful_worker(empty_shop, "default")
    with empty_shop.database.transaction() as session:
        key = keys.make(session, "eager", "operator", None, empty_shop.clock.wall())[0].id
    eager = jobs.NewJob(kind="long-harm", params={"harm": "obey"}, queue="default", key_id=key)
    posted = empty_shop.send(eager).id
    is_running(empty_shop, posted)
    for _ in range(2):
        done(empty_shop)
        running = is_running(empty_shop, posted)
    assert running.attempt > 2
    assert running.max_attempts - running.attempt == eager.max_attempts - 1
    with empty_shop.database.transaction() as session:
        attempts.request_cancel(session, posted, empty_shop.clock.wall())
    assert empty_shop.ended(posted).status == "cancelled"


@pytest.mark.extended
def test_a_job_of_the_service_starts_while_operators_jobs_fill_their_queue(empty_shop: Shop) -> None:
    parts = commands("127.0.0.1", 0, workers=1, training_workers=1)
    for name in ("service worker 1", "default worker 1"):
        harmful_worker(empty_shop, *(queue for queue in parts[name][1:] if queue != "--queue"))
    operators = [empty_shop.post("harm", harm="ignore") for _ in range(2)]
    is_running(empty_shop, operators[0].id)
    duty = jobs.NewJob(kind="duty-harm", params={"harm": "well"}, queue="service")
    for _ in range(2):  # one after the other, with nobody else to take them
        assert empty_shop.ended(empty_shop.send(duty).id).status == "succeeded"
    assert [empty_shop.job(job.id).status for job in operators] == ["running", "queued"]


@pytest.mark.extended
@pytest.mark.parametrize("harm", ["obey", "ignore"])
def test_a_worker_that_is_stopped_queues_its_job_again_at_no_cost(empty_shop: Shop, harm: str) -> None:
    job = empty_shop.post("harm", harm=harm)
    for _ in range(4):
        worker = harmful_worker(empty_shop)
        is_running(empty_shop, job.id)
        assert end(worker, signal.SIGTERM) == 0
        stopped = empty_shop.job(job.id)
        assert (stopped.status, stopped.problem) == ("queued", None)
        assert stopped.max_attempts - stopped.attempt == job.max_attempts - job.attempt
    with empty_shop.database.reading() as session:
        lines = [event.data for event in jobs.events_after(session, job.id, 0) if event.type == "log"]
    assert len(lines) == 4


@pytest.mark.extended
def test_a_cancel_of_a_job_whose_worker_is_stopped_takes_effect(empty_shop: Shop) -> None:
    job = empty_shop.post("harm", harm="ignore")
    worker = harmful_worker(empty_shop)
    is_running(empty_shop, job.id)
    with empty_shop.database.transaction() as session:
        attempts.request_cancel(session, job.id, empty_shop.clock.wall())
    assert end(worker, signal.SIGTERM) == 0
    assert empty_shop.job(job.id).status == "cancelled"


@pytest.mark.extended
def test_the_process_of_a_job_ends_with_its_worker(empty_shop: Shop) -> None:
    worker = harmful_worker(empty_shop)
    job = is_running(empty_shop, empty_shop.post("harm", harm="obey").id)
    assert job.progress is not None
    process = Path("/proc") / job.progress["detail"] / "cmdline"
    assert b"tests.workers.harmful" in process.read_bytes()
    end(worker)
    empty_shop.until(job.id, lambda _: not process.exists() or not process.read_bytes())
    empty_shop.until(job.id, lambda job: job.status == "queued")
