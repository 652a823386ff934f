"""A job that waits for its children, and what becomes of both."""

import pytest
from sqlalchemy.orm import Session

from records.database.engine import Database
from records.jobs import attempts, jobs, queues
from records.jobs.jobs import JobEnded, UnknownJob
from testing.records import NOW, a_claimed_job, a_job
from tests.records.jobs.transitions import LATER, LEASE, LOST, at_once, claim, finish, take_lapsed, waiting


def test_a_training_shows_how_far_its_members_are(database: Database) -> None:
    with database.transaction() as session:
        parent = a_job(session, kind="training")
        assert claim(session, parent)
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
        finish(session, members[0])
        assert jobs.get(session, parent).progress == {
            "done": 45,
            "total": 120,
            "detail": "1 of 3 members are trained; member 1 is at 5 of 40",
        }
        progress = [event.data["done"] for event in jobs.events_after(session, parent, 0) if event.type == "progress"]
        assert progress == [10, 15, 45]
        assert reported(1, 5).status == "waiting"
        assert jobs.get(session, members[1]).progress == {"done": 5, "total": 40, "detail": "loss 0.1"}


def test_a_training_on_a_gpu_shows_all_members_and_after_the_gpu_each(database: Database) -> None:
    with database.transaction() as session:
        parent = a_job(session, kind="training")
        assert claim(session, parent)
        of_all = a_claimed_job(
            session, kind="members", queue="gpu", parent_id=parent, params={"training": "a", "members": 3}
        )
        attempts.wait(session, parent, 1, NOW)
        progress = {"done": 30, "total": 120, "detail": "member 0: loss 0.1"}
        attempts.heartbeat(session, of_all, 1, lease_until=LEASE, progress=progress, at=NOW)
        assert jobs.get(session, parent).progress == {
            "done": 30,
            "total": 120,
            "detail": "0 of 3 members are trained; all on a GPU are at 30 of 120",
        }
        attempts.finish(session, of_all, 1, status="failed", problem=LOST, at=NOW)
        members = [
            a_claimed_job(
                session, kind="member", queue="training", parent_id=parent, params={"training": "a", "member": label}
            )
            for label in range(3)
        ]
        progress = {"done": 20, "total": 40, "detail": "loss 0.1"}
        attempts.heartbeat(session, members[1], 1, lease_until=LEASE, progress=progress, at=NOW)
        finish(session, members[0])
        assert jobs.get(session, parent).progress == {
            "done": 60,
            "total": 120,
            "detail": "1 of 3 members are trained; member 1 is at 20 of 40",
        }


def test_a_queued_job_that_nobody_takes_is_given_up_unless_it_has_changed(database: Database) -> None:
    with database.transaction() as session:
        first, second = (jobs.get(session, a_job(session, kind="members", queue="gpu")) for _ in range(2))
        assert claim(session, second.id)
        given_up = attempts.give_up(session, first, LOST, NOW)
        assert given_up is not None
        assert (given_up.status, given_up.problem) == ("failed", LOST)
        assert attempts.give_up(session, first, LOST, NOW) is None
        assert attempts.give_up(session, second, LOST, NOW) is None
        assert jobs.get(session, second.id).status == "running"


def test_a_training_that_was_cancelled_shows_no_more_of_its_members(database: Database) -> None:
    with database.transaction() as session:
        parent, (member, _) = waiting(session, 2)
        attempts.request_cancel(session, parent, NOW)
        progress = {"done": 1, "total": 2, "detail": ""}
        assert attempts.heartbeat(session, member, 1, lease_until=LEASE, progress=progress, at=NOW)
        finish(session, member, status="cancelled")
        assert jobs.get(session, parent).progress is None


def test_a_waiting_job_is_cancelled_with_its_children(database: Database) -> None:
    with database.transaction() as session:
        parent, [running, done] = waiting(session, 2)
        queued = a_job(session, kind="member", parent_id=parent)
        finish(session, done)
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
        take_lapsed(session, LATER)
        assert [jobs.get(session, job).status for job in (parent, child)] == ["failed", "cancelled"]
        with pytest.raises(JobEnded, match=parent):
            a_job(session, kind="member", parent_id=parent)
        with pytest.raises(UnknownJob):
            a_job(session, kind="member", parent_id="nothing")


@pytest.mark.parametrize("status", jobs.ENDED)
def test_a_parent_goes_on_when_no_child_is_left(database: Database, status: str) -> None:
    with database.transaction() as session:
        parent, [first, second] = waiting(session, 2)
        finish(session, first)
        assert not attempts.resume_parent(session, parent, NOW)
        attempts.retry(session, second, 1, LOST, NOW)
        assert not attempts.resume_parent(session, parent, NOW)
        assert claim(session, second)
        finish(session, second, 2, status)
        assert attempts.resume_parent(session, parent, NOW)
        assert not attempts.resume_parent(session, parent, NOW)
        assert [job.id for job in queues.unsent(session)] == [parent]
        assert [child.id for child in jobs.children(session, parent)] == [first, second]
        claimed = claim(session, parent)
        assert claimed is not None
        assert (claimed.attempt, claimed.max_attempts - claimed.attempt) == (2, 2), "creating children is not a failure"
        assert not attempts.resume_parent(session, parent, NOW)


def test_children_that_end_at_once_resume_their_parent_once(database: Database) -> None:
    def end(session: Session, turn: int) -> bool:
        jobs.log(session, members[turn], 1, "done", NOW)
        finish(session, members[turn])
        return attempts.resume_parent(session, parent, NOW)

    for _ in range(5):
        with database.transaction() as session:
            parent, members = waiting(session, 4)
        assert sorted(at_once(database, end)) == [False, False, False, True]
        with database.reading() as session:
            assert jobs.get(session, parent).status == "queued"


def test_cancelling_while_children_end_leaves_none_behind(database: Database) -> None:
    def act(session: Session, turn: int) -> None:
        if turn == 3:
            attempts.request_cancel(session, parent, NOW)
            return
        attempts.heartbeat(session, members[turn], 1, lease_until=LATER, at=NOW)
        finish(session, members[turn])
        attempts.resume_parent(session, parent, NOW)

    for _ in range(5):
        with database.transaction() as session:
            parent, members = waiting(session, 3)
        at_once(database, act)
        with database.reading() as session:
            assert jobs.get(session, parent).status == "cancelled"
            assert {jobs.get(session, member).status for member in members} == {"succeeded"}


def test_what_a_job_has_started_is_there_after_its_children(database: Database) -> None:
    plan = {"parts": [{"candidate": "a", "shares": {"": 0.5}}]}
    with database.transaction() as session:
        parent = a_job(session, kind="retraining")
        assert claim(session, parent)
        jobs.store_plan(session, parent, 1, plan)
        assert attempts.wait(session, parent, 1, NOW).plan == plan
        with pytest.raises(jobs.StaleAttempt):
            jobs.store_plan(session, parent, 1, {})
