"""A job is done once, by whom it was given to last, whatever happens at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Barrier
from typing import TypeVar

import pytest
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from records.database.engine import Database
from records.jobs import attempts, events, job_messages, jobs, retries
from records.jobs.jobs import IdempotencyConflict, Job, JobEnded, NewJob, StaleAttempt, UnknownJob
from testing.records import BASIN, NOW, a_claimed_job, a_job, contents, instant, row_counts

LEASE = NOW + timedelta(hours=1)
LATER = NOW + timedelta(hours=2)
LOST = {"kind": "internal", "detail": "It broke."}
NEW = NewJob(kind="forecast", params={"basins": [BASIN]}, queue="default")
Result = TypeVar("Result")


def _at_once(database: Database, act: Callable[[Session, int], Result], times: int = 4) -> list[Result]:
    """Do the same in several transactions that begin together."""
    ready = Barrier(times)

    def one(turn: int) -> Result:
        ready.wait(30)
        with database.transaction() as session:
            return act(session, turn)

    with ThreadPoolExecutor(times) as threads:
        return list(threads.map(one, range(times)))


def _claim(session: Session, job: str, worker: str = "second") -> Job | None:
    return attempts.claim(session, job, worker=worker, lease_until=LEASE, at=NOW)


def _finish(session: Session, job: str, attempt: int = 1, status: str = "succeeded") -> Job:
    return attempts.finish(session, job, attempt, status=status, problem=LOST if status == "failed" else None, at=NOW)


def _waiting(session: Session, children: int) -> tuple[str, list[str]]:
    """Post a training that waits for claimed members."""
    parent = a_job(session, kind="training")
    job_messages.mark_sent(session, parent, NOW)
    assert _claim(session, parent)
    members = [a_claimed_job(session, kind="member", queue="training", parent_id=parent) for _ in range(children)]
    assert attempts.wait(session, parent, 1, NOW).status == "waiting"
    return parent, members


def _statuses(session: Session, job: str) -> list[str]:
    output = events.events_after(session, job, 0)
    return [event.data["status"] for event in output if event.type == "status"]


def test_a_job_goes_from_queued_to_succeeded(database: Database) -> None:
    with database.transaction() as session:
        created, new = jobs.create(session, replace(NEW, created_by="key", max_attempts=5), NOW)
        assert (new, created.status, created.attempt, created.request_hash) == (True, "queued", 0, created.request_hash)
        claimed = attempts.claim(session, created.id, worker="w", lease_until=LEASE, at=LATER)
        expected = {"status": "running", "attempt": 1, "worker": "w", "lease_until": LEASE, "started_at": LATER}
        assert claimed == replace(created, **expected)  # type: ignore[arg-type]
        done = attempts.finish(session, created.id, 1, status="succeeded", result={"runs": 1}, at=LATER)
        assert done == replace(claimed, status="succeeded", lease_until=None, result={"runs": 1}, finished_at=LATER)
    with database.reading() as session:
        assert jobs.get(session, created.id) == done
        assert _statuses(session, created.id) == ["queued", "running", "succeeded"]


def test_only_one_of_several_workers_gets_the_job(database: Database) -> None:
    with database.transaction() as session:
        job = a_job(session)
    claims = _at_once(database, lambda session, turn: _claim(session, job, f"worker {turn}"))
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
    ended = _at_once(database, finish)
    assert sorted(ended) == [False, False, False, True]
    with database.reading() as session:
        assert jobs.get(session, job).result == {"turn": ended.index(True)}
        assert _statuses(session, job) == ["queued", "running", "succeeded"]


def _writes(attempt: int) -> dict[str, Callable[[Session, str], object]]:
    return {
        "heartbeat": lambda session, job: attempts.heartbeat(session, job, attempt, lease_until=LATER, at=NOW),
        "finish": lambda session, job: _finish(session, job, attempt),
        "wait": lambda session, job: attempts.wait(session, job, attempt, NOW),
        "retry": lambda session, job: retries.retry(session, job, attempt, LOST, NOW),
        "log": lambda session, job: events.log(session, job, attempt, "a line", NOW),
        "hold": lambda session, job: jobs.hold(session, job, attempt),
    }


@pytest.mark.parametrize("write", _writes(1))
def test_a_stale_attempt_writes_nothing(database: Database, write: str) -> None:
    with database.transaction() as session:
        again = a_claimed_job(session)
        retries.retry(session, again, 1, LOST, NOW)
        assert _claim(session, again)
        ended, queued = a_claimed_job(session), a_job(session)
        _finish(session, ended)
        before = contents(session)
        for job, attempt in ((again, 1), (ended, 1), (queued, 0)):
            with pytest.raises(StaleAttempt, match=f"attempt {attempt} may no longer write"):
                _writes(attempt)[write](session, job)
        with pytest.raises(UnknownJob):
            _writes(1)[write](session, "nothing")
        assert contents(session) == before
        _writes(2)[write](session, again)


def test_a_heartbeat_lengthens_the_lease_and_reports_progress_once(database: Database) -> None:
    progress = {"done": 1, "total": 3, "detail": "epoch 1"}
    with database.transaction() as session:
        job = a_claimed_job(session)
        for lease in (LATER, LATER + timedelta(hours=1)):
            assert not attempts.heartbeat(session, job, 1, lease_until=lease, progress=progress, at=NOW)
        assert not attempts.heartbeat(session, job, 1, lease_until=lease, at=NOW)
        stored = jobs.get(session, job)
        assert (stored.lease_until, stored.progress) == (lease, progress)
        reported = [event.data for event in events.events_after(session, job, 0) if event.type == "progress"]
        assert reported == [progress]


def test_a_job_is_tried_again_until_its_attempts_are_used_up(database: Database) -> None:
    with database.transaction() as session:
        job = a_job(session, max_attempts=2)
        job_messages.mark_sent(session, job, NOW)
        assert _claim(session, job)
        again = retries.retry(session, job, 1, LOST, NOW)
        assert (again.status, again.attempt, again.problem, again.lease_until) == ("queued", 1, None, None)
        assert [unsent.id for unsent in job_messages.unsent(session)] == [job]
        claimed = attempts.claim(session, job, worker="second", lease_until=LATER, at=LATER)
        assert claimed is not None
        assert (claimed.attempt, claimed.started_at) == (2, NOW)
        failed = retries.retry(session, job, 2, LOST, LATER)
        assert (failed.status, failed.problem, failed.finished_at) == ("failed", LOST, LATER)
        assert _claim(session, job) is None
        output = [event.data.get("problem") for event in events.events_after(session, job, 0)]
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
        return {"kind": retries.PROCESS_DIED, "detail": f"It was killed by SIGSEGV {place}."}

    with database.transaction() as session:
        job = a_claimed_job(session)
        assert retries.retry(session, job, 1, died("at 2 of 3"), NOW).status == "queued"
        attempts.claim(session, job, worker="another", lease_until=NOW, at=NOW)
        assert retries.retry(session, job, 2, died(second), NOW).status == status


def test_a_training_shows_how_far_its_members_are(database: Database) -> None:
    with database.transaction() as session:
        parent = a_job(session, kind="training")
        assert _claim(session, parent)
        members = [
            a_claimed_job(
                session, kind="member", queue="training", parent_id=parent, params={"training": "a", "member": label}
            )
            for label in range(3)
        ]
        assert attempts.wait(session, parent, 1, NOW).progress is None

        def reported(member: int, done: int) -> jobs.Job:
            progress = {"done": done, "total": 40, "detail": "loss 0.1"}
            attempts.heartbeat(session, members[member], 1, lease_until=LEASE, progress=progress, at=NOW)
            return jobs.get(session, parent)

        assert reported(0, 10).progress == {
            "done": 10,
            "total": 120,
            "detail": "0 of 3 members are trained; member 0 is at 10 of 40",
        }
        reported(1, 5)
        _finish(session, members[0])
        assert jobs.get(session, parent).progress == {
            "done": 45,
            "total": 120,
            "detail": "1 of 3 members are trained; member 1 is at 5 of 40",
        }
        progress = [event.data["done"] for event in events.events_after(session, parent, 0) if event.type == "progress"]
        assert progress == [10, 15, 45]
        assert reported(1, 5).status == "waiting"
        assert jobs.get(session, members[1]).progress == {"done": 5, "total": 40, "detail": "loss 0.1"}


def test_a_training_that_was_cancelled_shows_no_more_of_its_members(database: Database) -> None:
    with database.transaction() as session:
        parent, (member, _) = _waiting(session, 2)
        attempts.request_cancel(session, parent, NOW)
        progress = {"done": 1, "total": 2, "detail": ""}
        assert attempts.heartbeat(session, member, 1, lease_until=LEASE, progress=progress, at=NOW)
        _finish(session, member, status="cancelled")
        assert jobs.get(session, parent).progress is None


def _died_at(session: Session, job: str, file: str) -> str:
    """Let a job's process die at a file, claim the job again if it is queued, and return its status."""
    problem = {"kind": retries.PROCESS_DIED, "detail": f"It was killed by SIGSEGV (reading {file})."}
    attempt = jobs.get(session, job).attempt
    died = retries.retry(session, job, attempt, problem, NOW, {"file": file, "end": "was killed by SIGSEGV"})
    attempts.claim(session, job, worker="another", lease_until=NOW, at=NOW)
    return died.status


def test_a_process_that_dies_twice_at_a_file_goes_on_without_it(database: Database) -> None:
    with database.transaction() as session:
        job, other = a_claimed_job(session), a_claimed_job(session)
        assert (_died_at(session, job, "a.nc"), retries.deadly_files(session, job)) == ("queued", {})
        assert _died_at(session, job, "a.nc") == "queued"
        assert retries.deadly_files(session, job) == {"a.nc": "was killed by SIGSEGV"}
        assert retries.deadly_files(session, other) == {}
        assert jobs.get(session, job).max_attempts - 2 == jobs.get(session, other).max_attempts
        logs = [event.data for event in events.events_after(session, job, 0) if event.type == "log"]
        assert [log["text"] for log in logs] == ["The process that read a.nc was killed by SIGSEGV."] * 2


def test_a_file_that_is_read_again_all_the_same_fails_its_job(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        assert [_died_at(session, job, "a.nc") for _ in range(3)] == ["queued", "queued", "failed"]


def test_the_number_of_skipped_files_is_limited(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        for number in range(retries.MAX_DEADLY_FILES):
            assert [_died_at(session, job, f"{number}.nc") for _ in range(2)] == ["queued", "queued"]
        assert [_died_at(session, job, "another.nc") for _ in range(2)] == ["queued", "failed"]


def test_a_job_that_was_to_stop_when_its_process_died_at_a_file_is_cancelled(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        assert _died_at(session, job, "a.nc") == "queued"
        attempts.request_cancel(session, job, NOW)
        assert _died_at(session, job, "a.nc") == "cancelled"


def _take_lapsed(session: Session, at: datetime) -> list[str]:
    """Take the jobs whose lease has lapsed, and return those that this took."""
    lapsed = retries.lapsed(session, at, timedelta(hours=4))
    taken = [retries.take(session, job, at) for job in lapsed]
    return [job.id for job in taken if job is not None]


def test_a_lease_that_ends_later_than_one_that_begins_now_has_lapsed(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        hour = timedelta(hours=1)
        assert retries.lapsed(session, NOW, hour) == []
        assert [lapsed.id for lapsed in retries.lapsed(session, NOW - timedelta(seconds=1), hour)] == [job]


def test_a_job_is_not_taken_from_a_worker_that_lives_after_all(database: Database) -> None:
    with database.transaction() as session:
        renewed, retried, ended = (jobs.get(session, a_claimed_job(session)) for _ in range(3))
        attempts.heartbeat(session, renewed.id, 1, lease_until=LATER, at=NOW)
        retries.retry(session, retried.id, 1, LOST, NOW)
        assert _claim(session, retried.id, "another")
        _finish(session, ended.id)
        before = contents(session)
        assert [retries.take(session, job, LATER) for job in (renewed, retried, ended)] == [None] * 3
        assert contents(session) == before


def test_the_jobs_of_a_worker_are_those_that_it_runs(database: Database) -> None:
    with database.transaction() as session:
        mine, ended, other = a_claimed_job(session), a_claimed_job(session), a_job(session)
        _finish(session, ended)
        assert _claim(session, other, "second")
        assert [job.id for job in retries.running_at(session, ["first", "third"])] == [mine]
        assert retries.running_at(session, []) == []


def test_the_job_of_a_lost_worker_is_queued_again_and_finally_fails(database: Database) -> None:
    with database.transaction() as session:
        job, alive = a_claimed_job(session, max_attempts=2), a_claimed_job(session)
        attempts.heartbeat(session, alive, 1, lease_until=LATER + timedelta(seconds=1), at=NOW)
        assert _take_lapsed(session, LEASE) == []
        assert _take_lapsed(session, LATER) == [job]
        assert jobs.get(session, job).status == "queued"
        assert _take_lapsed(session, LATER) == []
        assert _claim(session, job)
        assert _take_lapsed(session, LATER) == [job]
        lost = jobs.get(session, job)
        assert lost.status == "failed"
        assert lost.problem is not None
        assert lost.problem["kind"] == "worker-lost"
        assert "attempt 2 of 2 (second)" in lost.problem["detail"]
        assert jobs.get(session, alive).status == "running"


def test_each_lost_job_is_requeued_by_only_one_of_several_reapers(database: Database) -> None:
    with database.transaction() as session:
        families = [_waiting(session, 3) for _ in range(3)]
        lost = [member for _, members in families for member in members] + [a_claimed_job(session)]
    with database.reading() as session:
        seen = retries.lapsed(session, LATER, timedelta(hours=4))

    def take(session: Session, turn: int) -> list[Job | None]:
        return [retries.take(session, seen[turn % len(seen)], LATER)]

    taken = _at_once(database, take, times=2 * len(seen))
    assert sorted(job.id for part in taken for job in part if job is not None) == sorted(lost)
    with database.reading() as session:
        assert {(jobs.get(session, job).status, jobs.get(session, job).attempt) for job in lost} == {("queued", 1)}


def test_a_job_that_was_lost_when_it_was_to_stop_is_cancelled(database: Database) -> None:
    with database.transaction() as session:
        lost, broken = a_claimed_job(session), a_claimed_job(session)
        for job in (lost, broken):
            attempts.request_cancel(session, job, NOW)
        assert retries.retry(session, broken, 1, LOST, NOW).status == "cancelled"
        assert _take_lapsed(session, LATER) == [lost]
        assert jobs.get(session, lost).status == "cancelled"


def test_a_queued_job_is_cancelled_at_once(database: Database) -> None:
    with database.transaction() as session:
        job = a_job(session)
        cancelled = attempts.request_cancel(session, job, NOW)
        assert (cancelled.status, cancelled.cancel_requested_at, cancelled.finished_at) == ("cancelled", NOW, NOW)
        assert _claim(session, job) is None
        assert job_messages.unsent(session) == []


def test_a_running_job_is_asked_to_stop_at_its_next_heartbeat(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        asked = attempts.request_cancel(session, job, NOW)
        assert (asked.status, asked.cancel_requested_at, asked.finished_at) == ("running", NOW, None)
        before = contents(session)
        assert attempts.request_cancel(session, job, LATER) == asked
        assert contents(session) == before
        assert attempts.heartbeat(session, job, 1, lease_until=LATER, at=NOW)
        assert _finish(session, job, status="cancelled").status == "cancelled"
        flags = [event.data["cancel_requested"] for event in events.events_after(session, job, 0)]
        assert flags == [False, False, True, True]


@pytest.mark.parametrize("status", jobs.ENDED)
def test_a_job_that_has_ended_is_not_cancelled(database: Database, status: str) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        ended = _finish(session, job, status=status)
        before = contents(session)
        assert attempts.request_cancel(session, job, LATER) == ended
        assert contents(session) == before


def test_a_waiting_job_is_cancelled_with_its_children(database: Database) -> None:
    with database.transaction() as session:
        parent, [running, done] = _waiting(session, 2)
        queued = a_job(session, kind="member", parent_id=parent)
        _finish(session, done)
        assert attempts.request_cancel(session, parent, NOW).status == "cancelled"
        states = [jobs.get(session, job) for job in (running, queued, done)]
        assert [job.status for job in states] == ["running", "cancelled", "succeeded"]
        assert [job.cancel_requested_at for job in states] == [NOW, NOW, None]


def test_a_parent_that_was_to_stop_while_it_created_children_does_not_wait(database: Database) -> None:
    with database.transaction() as session:
        parent = a_claimed_job(session, kind="training")
        early = a_job(session, kind="member", parent_id=parent)
        assert attempts.request_cancel(session, parent, NOW).status == "running"
        late = a_job(session, kind="member", parent_id=parent)
        assert [jobs.get(session, job).status for job in (early, late)] == ["cancelled", "queued"]
        assert attempts.wait(session, parent, 1, NOW).status == "cancelled"
        assert jobs.get(session, late).status == "cancelled"


def test_a_parent_that_fails_takes_its_children_with_it_and_gets_no_more(database: Database) -> None:
    with database.transaction() as session:
        parent = a_claimed_job(session, kind="training", max_attempts=1)
        child = a_job(session, kind="member", parent_id=parent)
        _take_lapsed(session, LATER)
        assert [jobs.get(session, job).status for job in (parent, child)] == ["failed", "cancelled"]
        with pytest.raises(JobEnded, match=parent):
            a_job(session, kind="member", parent_id=parent)
        with pytest.raises(UnknownJob):
            a_job(session, kind="member", parent_id="nothing")


@pytest.mark.parametrize("status", jobs.ENDED)
def test_a_parent_goes_on_when_no_child_is_left(database: Database, status: str) -> None:
    with database.transaction() as session:
        parent, [first, second] = _waiting(session, 2)
        _finish(session, first)
        assert not attempts.resume_parent(session, parent, NOW)
        retries.retry(session, second, 1, LOST, NOW)
        assert not attempts.resume_parent(session, parent, NOW)
        assert _claim(session, second)
        _finish(session, second, 2, status)
        assert attempts.resume_parent(session, parent, NOW)
        assert not attempts.resume_parent(session, parent, NOW)
        assert [job.id for job in job_messages.unsent(session)] == [parent]
        assert [child.id for child in jobs.children(session, parent)] == [first, second]
        claimed = _claim(session, parent)
        assert claimed is not None
        assert (claimed.attempt, claimed.max_attempts - claimed.attempt) == (2, 2), "creating children is not a failure"
        assert not attempts.resume_parent(session, parent, NOW)


def test_children_that_end_at_once_resume_their_parent_once(database: Database) -> None:
    def end(session: Session, turn: int) -> bool:
        events.log(session, members[turn], 1, "done", NOW)
        _finish(session, members[turn])
        return attempts.resume_parent(session, parent, NOW)

    for _ in range(5):
        with database.transaction() as session:
            parent, members = _waiting(session, 4)
        assert sorted(_at_once(database, end)) == [False, False, False, True]
        with database.reading() as session:
            assert jobs.get(session, parent).status == "queued"


def test_cancelling_while_children_end_leaves_none_behind(database: Database) -> None:
    def act(session: Session, turn: int) -> None:
        if turn == 3:
            attempts.request_cancel(session, parent, NOW)
            return
        attempts.heartbeat(session, members[turn], 1, lease_until=LATER, at=NOW)
        _finish(session, members[turn])
        attempts.resume_parent(session, parent, NOW)

    for _ in range(5):
        with database.transaction() as session:
            parent, members = _waiting(session, 3)
        _at_once(database, act)
        with database.reading() as session:
            assert jobs.get(session, parent).status == "cancelled"
            assert {jobs.get(session, member).status for member in members} == {"succeeded"}


def test_a_repeated_request_is_the_same_job(database: Database) -> None:
    new = replace(NEW, idempotency_key="one")
    with database.transaction() as session:
        created, _ = jobs.create(session, new, NOW)
        _claim(session, created.id)
        before = contents(session)
        assert jobs.create(session, new, LATER) == (jobs.get(session, created.id), False)
        with pytest.raises(IdempotencyConflict, match=f"'one' belongs to job {created.id}"):
            jobs.create(session, replace(new, params={"basins": []}), LATER)
        with pytest.raises(IdempotencyConflict):
            jobs.create(session, replace(new, kind="evaluation"), LATER)
        assert contents(session) == before
        assert jobs.create(session, NEW, NOW)[0].id != jobs.create(session, NEW, NOW)[0].id


def test_requests_that_are_posted_at_once_are_one_job(database: Database) -> None:
    new = replace(NEW, idempotency_key="one")
    created = _at_once(database, lambda session, _: jobs.create(session, new, NOW))
    assert len({job.id for job, _ in created}) == 1
    assert sorted(is_new for _, is_new in created) == [False, False, False, True]
    with database.reading() as session:
        assert row_counts(session) == {"jobs": 1, "job_events": 1}


def test_the_key_of_a_request_that_was_rolled_back_is_free(database: Database) -> None:
    new = replace(NEW, idempotency_key="one")

    def posted() -> tuple[Job, bool]:
        with database.transaction() as session:
            return jobs.create(session, new, NOW)

    with ThreadPoolExecutor(1) as other:
        with database.transaction() as session:
            first, _ = jobs.create(session, new, NOW)
            waiting = other.submit(posted)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.5)
            session.rollback()
        second, is_new = waiting.result(timeout=30)
    assert is_new
    assert second.id != first.id


def test_jobs_are_listed_newest_first_page_by_page(database: Database) -> None:
    with database.transaction() as session:
        first, second, third = a_job(session), a_job(session, kind="training"), a_claimed_job(session)
        child = a_job(session, kind="member", parent_id=second)

        def ids(**wanted: object) -> list[str]:
            return [job.id for job in jobs.list_jobs(session, **wanted)]  # type: ignore[arg-type]

        assert ids() == [child, third, second, first]
        assert ids(limit=2) == [child, third]
        assert ids(after=third, limit=2) == [second, first]
        assert ids(status="running") == [third]
        assert ids(kind="forecast") == [third, first]
        assert ids(parent=second) == [child]
        assert ids(kind="member", status="running") == []


def test_the_time_at_which_a_queued_jobs_message_was_sent_is_known(database: Database) -> None:
    with database.transaction() as session:
        never, fresh, old, running = a_job(session), a_job(session), a_job(session), a_claimed_job(session)
        for job, at in ((old, NOW), (fresh, LATER), (running, NOW)):
            job_messages.mark_sent(session, job, at)
        assert [job.id for job in job_messages.unsent(session)] == [never]
        assert [job.id for job in job_messages.sent(session)] == [old, fresh]


def test_families_that_ended_long_ago_are_pruned_as_a_whole(database: Database) -> None:
    def ended(job: str, at: str) -> str:
        attempts.finish(session, job, 1, status="succeeded", at=instant(at))
        return job

    with database.transaction() as session:
        a_job(session)
        ended(a_claimed_job(session), "2009-01-01")
        stored = {job.id for job in jobs.list_jobs(session)}
        ended(a_claimed_job(session), "2008-12-31")
        for child_ended in ("2008-12-30", "2009-01-02", None):
            parent = a_claimed_job(session, kind="training")
            child = a_claimed_job(session, kind="member", parent_id=parent)
            attempts.finish(session, parent, 1, status="succeeded", at=instant("2008-12-31"))
            if child_ended is not None:
                ended(child, child_ended)
            if child_ended != "2008-12-30":
                stored |= {parent, child}
        waiting, [done] = _waiting(session, 1)
        ended(done, "2008-12-01")
        stored |= {waiting, done}
        outdated = jobs.outdated(session, instant("2009-01-01"))
        assert sorted(outdated.values()) == [1, 2]
        assert jobs.outdated(session, instant("2009-01-01"), [waiting, *outdated]) == outdated
        assert len(jobs.remove(session, [*outdated])) == 3
        assert {job.id for job in jobs.list_jobs(session)} == stored
        assert {row[1] for row in contents(session)["job_events"]} == stored
        assert jobs.outdated(session, instant("2009-01-01")) == {}


def _impossible(session: Session) -> Iterator[Callable[[], object]]:
    yield lambda: a_job(session, max_attempts=-1)
    job = a_claimed_job(session)
    yield lambda: attempts.finish(session, job, 1, status="queued", at=NOW)
    yield lambda: attempts.finish(session, job, 1, status="failed", at=NOW)
    yield lambda: attempts.finish(session, job, 1, status="succeeded", problem=LOST, at=NOW)


def test_the_database_refuses_impossible_jobs(database: Database) -> None:
    with database.transaction() as session:
        for act in _impossible(session):
            before = contents(session)
            with pytest.raises(IntegrityError), session.begin_nested():
                act()
            assert contents(session) == before


def test_an_unknown_job_is_missed(database: Database) -> None:
    with database.transaction() as session:
        for act in (jobs.get, _claim, _finish):
            with pytest.raises(UnknownJob, match="'nothing'"):
                act(session, "nothing")
        with pytest.raises(UnknownJob):
            attempts.request_cancel(session, "nothing", NOW)
        with pytest.raises(UnknownJob):
            attempts.resume_parent(session, "nothing", NOW)
        with pytest.raises(ValueError, match="Out of range float"):
            a_job(session, params={"value": float("nan")})
