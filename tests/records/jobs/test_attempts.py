"""A job is done once, by whom it was given to last, whatever happens at once."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from records.database.engine import Database
from records.jobs import attempts, jobs, queues
from records.jobs.jobs import Job, StaleAttempt, UnknownJob
from testing.records import NOW, a_claimed_job, a_job, contents
from tests.records.jobs.transitions import (
    LATER,
    LEASE,
    LOST,
    NEW,
    at_once,
    claim,
    died_at,
    finish,
    statuses,
    take_lapsed,
    waiting,
    writes,
)


def test_a_job_goes_from_queued_to_succeeded(database: Database) -> None:
    with database.transaction() as session:
        created, new = jobs.create(session, replace(NEW, created_by="key", max_attempts=5), NOW)
        assert (new, created.status, created.attempt, created.request_hash) == (True, "queued", 0, created.request_hash)
        claimed = attempts.claim(session, created.id, worker="w", lease_until=LEASE, at=LATER)
        expected = {"status": "running", "attempt": 1, "worker": "w", "lease_until": LEASE}
        expected |= {"started_at": LATER, "claimed_at": LATER}
        assert claimed == replace(created, **expected)  # type: ignore[arg-type]
        done = attempts.finish(session, created.id, 1, status="succeeded", result={"runs": 1}, at=LATER)
        assert done == replace(claimed, status="succeeded", lease_until=None, result={"runs": 1}, finished_at=LATER)
    with database.reading() as session:
        assert jobs.get(session, created.id) == done
        assert statuses(session, created.id) == ["queued", "running", "succeeded"]


def test_a_job_that_succeeded_has_done_all_though_its_last_report_was_not_written(database: Database) -> None:
    progress = {"done": 2, "total": 12, "detail": "basin"}
    for status, done, detail in (("succeeded", 12, ""), ("failed", 2, "basin")):
        with database.transaction() as session:
            job = claim(session, a_job(session), "w")
            assert job is not None
            attempts.heartbeat(session, job.id, 1, lease_until=LEASE, progress=progress, at=NOW)
            problem = {"kind": "x", "detail": "It broke."} if status == "failed" else None
            ended = attempts.finish(session, job.id, 1, status=status, problem=problem, at=NOW)
        assert ended.progress == {"done": done, "total": 12, "detail": detail}


def test_only_one_of_several_workers_gets_the_job(database: Database) -> None:
    with database.transaction() as session:
        job = a_job(session)
    claims = at_once(database, lambda session, turn: claim(session, job, f"worker {turn}"))
    [won] = [claim for claim in claims if claim is not None]
    with database.reading() as session:
        assert jobs.get(session, job) == won
        assert (won.status, won.attempt) == ("running", 1)


def test_only_one_of_several_ends_is_stored(database: Database) -> None:
    def finish(session: Session, turn: int) -> bool:
        try:
            attempts.finish(session, job, 1, status="succeeded", result={"turn": turn}, at=NOW)
        except StaleAttempt:
            return False
        return True

    with database.transaction() as session:
        job = a_claimed_job(session)
    ended = at_once(database, finish)
    assert sorted(ended) == [False, False, False, True]
    with database.reading() as session:
        assert jobs.get(session, job).result == {"turn": ended.index(True)}
        assert statuses(session, job) == ["queued", "running", "succeeded"]


@pytest.mark.parametrize("write", writes(1))
def test_a_stale_attempt_writes_nothing(database: Database, write: str) -> None:
    with database.transaction() as session:
        again = a_claimed_job(session)
        attempts.retry(session, again, 1, LOST, NOW)
        assert claim(session, again)
        ended, queued = a_claimed_job(session), a_job(session)
        finish(session, ended)
        before = contents(session)
        for job, attempt in ((again, 1), (ended, 1), (queued, 0)):
            with pytest.raises(StaleAttempt, match=f"attempt {attempt} may no longer write"):
                writes(attempt)[write](session, job)
        with pytest.raises(UnknownJob):
            writes(1)[write](session, "nothing")
        assert contents(session) == before
        writes(2)[write](session, again)


def test_a_heartbeat_lengthens_the_lease_and_reports_progress_once(database: Database) -> None:
    progress = {"done": 1, "total": 3, "detail": "epoch 1"}
    with database.transaction() as session:
        job = a_claimed_job(session)
        for lease in (LATER, LATER + timedelta(hours=1)):
            assert not attempts.heartbeat(session, job, 1, lease_until=lease, progress=progress, at=NOW)
        assert not attempts.heartbeat(session, job, 1, lease_until=lease, at=NOW)
        stored = jobs.get(session, job)
        assert (stored.lease_until, stored.progress) == (lease, progress)
        reported = [event.data for event in jobs.events_after(session, job, 0) if event.type == "progress"]
        assert reported == [progress]


def test_a_job_is_tried_again_until_its_attempts_are_used_up(database: Database) -> None:
    with database.transaction() as session:
        job = a_job(session, max_attempts=2)
        queues.mark_sent(session, job, NOW)
        assert claim(session, job)
        again = attempts.retry(session, job, 1, LOST, NOW)
        assert (again.status, again.attempt, again.problem, again.lease_until) == ("queued", 1, None, None)
        assert [unsent.id for unsent in queues.unsent(session)] == [job]
        claimed = attempts.claim(session, job, worker="second", lease_until=LATER, at=LATER)
        assert claimed is not None
        assert (claimed.attempt, claimed.started_at) == (2, NOW)
        failed = attempts.retry(session, job, 2, LOST, LATER)
        assert (failed.status, failed.problem, failed.finished_at) == ("failed", LOST, LATER)
        assert claim(session, job) is None
        output = [event.data.get("problem") for event in jobs.events_after(session, job, 0)]
        assert output == [None, None, LOST, None, LOST]


def test_a_job_waits_in_no_queue_that_has_no_worker(database: Database) -> None:
    with database.transaction() as session, pytest.raises(ValueError, match="no queue 'nowhere'"):
        a_job(session, queue="nowhere")


def test_a_released_attempt_costs_none(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        left = jobs.get(session, job).max_attempts - 1
        released = attempts.release(session, job, 1, NOW, "It stops.")
        assert (released.status, released.problem, released.sent_at) == ("queued", None, None)
        assert released.max_attempts - released.attempt == left + 1
        with pytest.raises(StaleAttempt):
            attempts.release(session, job, 1, NOW, "It stops.")


def test_a_released_job_that_was_asked_to_stop_is_cancelled(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        attempts.request_cancel(session, job, NOW)
        assert attempts.release(session, job, 1, NOW, "It stops.").status == "cancelled"


@pytest.mark.parametrize(("second", "status"), [("at 2 of 3", "failed"), ("at 3 of 3", "queued")])
def test_a_process_that_dies_twice_at_the_same_place_fails_its_job(
    database: Database, second: str, status: str
) -> None:
    def died(place: str) -> dict[str, str]:
        return {"kind": attempts.PROCESS_DIED, "detail": f"It was killed by SIGSEGV {place}."}

    with database.transaction() as session:
        job = a_claimed_job(session)
        assert attempts.retry(session, job, 1, died("at 2 of 3"), NOW).status == "queued"
        attempts.claim(session, job, worker="another", lease_until=NOW, at=NOW)
        assert attempts.retry(session, job, 2, died(second), NOW).status == status


def test_a_process_that_dies_twice_at_a_file_goes_on_without_it(database: Database) -> None:
    with database.transaction() as session:
        job, other = a_claimed_job(session), a_claimed_job(session)
        assert (died_at(session, job, "a.nc"), attempts.deadly_files(session, job)) == ("queued", {})
        assert died_at(session, job, "a.nc") == "queued"
        assert attempts.deadly_files(session, job) == {"a.nc": "was killed by SIGSEGV"}
        assert attempts.deadly_files(session, other) == {}
        assert jobs.get(session, job).max_attempts - 2 == jobs.get(session, other).max_attempts
        logs = [event.data for event in jobs.events_after(session, job, 0) if event.type == "log"]
        assert [log["text"] for log in logs] == ["The process that read a.nc was killed by SIGSEGV."] * 2


def test_a_file_that_is_read_again_all_the_same_fails_its_job(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        assert [died_at(session, job, "a.nc") for _ in range(3)] == ["queued", "queued", "failed"]


def test_the_number_of_skipped_files_is_limited(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        for number in range(attempts.MAX_DEADLY_FILES):
            assert [died_at(session, job, f"{number}.nc") for _ in range(2)] == ["queued", "queued"]
        assert [died_at(session, job, "another.nc") for _ in range(2)] == ["queued", "failed"]


def test_a_job_that_was_to_stop_when_its_process_died_at_a_file_is_cancelled(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        assert died_at(session, job, "a.nc") == "queued"
        attempts.request_cancel(session, job, NOW)
        assert died_at(session, job, "a.nc") == "cancelled"


def test_a_lease_that_ends_later_than_one_that_begins_now_has_lapsed(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        hour = timedelta(hours=1)
        assert attempts.lapsed(session, NOW, hour) == []
        assert [lapsed.id for lapsed in attempts.lapsed(session, NOW - timedelta(seconds=1), hour)] == [job]


def test_a_job_is_not_taken_from_a_worker_that_lives_after_all(database: Database) -> None:
    with database.transaction() as session:
        renewed, retried, ended = (jobs.get(session, a_claimed_job(session)) for _ in range(3))
        attempts.heartbeat(session, renewed.id, 1, lease_until=LATER, at=NOW)
        attempts.retry(session, retried.id, 1, LOST, NOW)
        assert claim(session, retried.id, "another")
        finish(session, ended.id)
        before = contents(session)
        assert [attempts.take(session, job, LATER) for job in (renewed, retried, ended)] == [None] * 3
        assert contents(session) == before


def test_the_jobs_of_a_worker_are_those_that_it_runs(database: Database) -> None:
    with database.transaction() as session:
        mine, ended, other = a_claimed_job(session), a_claimed_job(session), a_job(session)
        finish(session, ended)
        assert claim(session, other, "second")
        assert [job.id for job in attempts.running_at(session, ["first", "third"])] == [mine]
        assert attempts.running_at(session, []) == []


def test_the_job_of_a_lost_worker_is_queued_again_and_finally_fails(database: Database) -> None:
    with database.transaction() as session:
        job, alive = a_claimed_job(session, max_attempts=2), a_claimed_job(session)
        attempts.heartbeat(session, alive, 1, lease_until=LATER + timedelta(seconds=1), at=NOW)
        assert take_lapsed(session, LEASE) == []
        assert take_lapsed(session, LATER) == [job]
        assert jobs.get(session, job).status == "queued"
        assert take_lapsed(session, LATER) == []
        assert claim(session, job)
        assert take_lapsed(session, LATER) == [job]
        lost = jobs.get(session, job)
        assert lost.status == "failed"
        assert lost.problem is not None
        assert lost.problem["kind"] == "worker-lost"
        assert "attempt 2 of 2 (second)" in lost.problem["detail"]
        assert jobs.get(session, alive).status == "running"


def test_each_lost_job_is_requeued_by_only_one_of_several_reapers(database: Database) -> None:
    with database.transaction() as session:
        families = [waiting(session, 3) for _ in range(3)]
        lost = [member for _, members in families for member in members] + [a_claimed_job(session)]
    with database.reading() as session:
        seen = attempts.lapsed(session, LATER, timedelta(hours=4))

    def take(session: Session, turn: int) -> list[Job | None]:
        return [attempts.take(session, seen[turn % len(seen)], LATER)]

    taken = at_once(database, take, times=2 * len(seen))
    assert sorted(job.id for part in taken for job in part if job is not None) == sorted(lost)
    with database.reading() as session:
        assert {(jobs.get(session, job).status, jobs.get(session, job).attempt) for job in lost} == {("queued", 1)}


def test_a_job_that_was_lost_when_it_was_to_stop_is_cancelled(database: Database) -> None:
    with database.transaction() as session:
        lost, broken = a_claimed_job(session), a_claimed_job(session)
        for job in (lost, broken):
            attempts.request_cancel(session, job, NOW)
        assert attempts.retry(session, broken, 1, LOST, NOW).status == "cancelled"
        assert take_lapsed(session, LATER) == [lost]
        assert jobs.get(session, lost).status == "cancelled"


def test_a_running_job_is_asked_to_stop_at_its_next_heartbeat(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        asked = attempts.request_cancel(session, job, NOW)
        assert (asked.status, asked.cancel_requested_at, asked.finished_at) == ("running", NOW, None)
        before = contents(session)
        assert attempts.request_cancel(session, job, LATER) == asked
        assert contents(session) == before
        assert attempts.heartbeat(session, job, 1, lease_until=LATER, at=NOW)
        assert finish(session, job, status="cancelled").status == "cancelled"
        flags = [event.data["cancel_requested"] for event in jobs.events_after(session, job, 0)]
        assert flags == [False, False, True, True]
