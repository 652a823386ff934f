"""Jobs are posted once, listed, cancelled and pruned."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from records.database.engine import Database
from records.jobs import attempts, jobs, queues
from records.jobs.jobs import IdempotencyConflict, Job, UnknownJob
from testing.records import NOW, a_claimed_job, a_job, contents, instant, row_counts
from tests.records.jobs.transitions import LATER, NEW, at_once, claim, finish, impossible, waiting


def test_a_queued_job_is_cancelled_at_once(database: Database) -> None:
    with database.transaction() as session:
        job = a_job(session)
        cancelled = attempts.request_cancel(session, job, NOW)
        assert (cancelled.status, cancelled.cancel_requested_at, cancelled.finished_at) == ("cancelled", NOW, NOW)
        assert claim(session, job) is None
        assert queues.unsent(session) == []


@pytest.mark.parametrize("status", jobs.ENDED)
def test_a_job_that_has_ended_is_not_cancelled(database: Database, status: str) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        ended = finish(session, job, status=status)
        before = contents(session)
        assert attempts.request_cancel(session, job, LATER) == ended
        assert contents(session) == before


def test_a_repeated_request_is_the_same_job(database: Database) -> None:
    new = replace(NEW, idempotency_key="one")
    with database.transaction() as session:
        created, _ = jobs.create(session, new, NOW)
        claim(session, created.id)
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
    created = at_once(database, lambda session, _: jobs.create(session, new, NOW))
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
            queues.mark_sent(session, job, at)
        assert [job.id for job in queues.unsent(session)] == [never]
        assert [job.id for job in queues.sent(session)] == [old, fresh]


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
        family, [done] = waiting(session, 1)
        ended(done, "2008-12-01")
        stored |= {family, done}
        outdated = jobs.outdated(session, instant("2009-01-01"))
        assert sorted(outdated.values()) == [1, 2]
        assert jobs.outdated(session, instant("2009-01-01"), [family, *outdated]) == outdated
        assert len(jobs.remove(session, [*outdated])) == 3
        assert {job.id for job in jobs.list_jobs(session)} == stored
        assert {row[1] for row in contents(session)["job_events"]} == stored
        assert jobs.outdated(session, instant("2009-01-01")) == {}


def test_the_database_refuses_impossible_jobs(database: Database) -> None:
    with database.transaction() as session:
        for act in impossible(session):
            before = contents(session)
            with pytest.raises(IntegrityError), session.begin_nested():
                act()
            assert contents(session) == before


def test_an_unknown_job_is_missed(database: Database) -> None:
    with database.transaction() as session:
        for act in (jobs.get, claim, finish):
            with pytest.raises(UnknownJob, match="'nothing'"):
                act(session, "nothing")
        with pytest.raises(UnknownJob):
            attempts.request_cancel(session, "nothing", NOW)
        with pytest.raises(UnknownJob):
            attempts.resume_parent(session, "nothing", NOW)
        with pytest.raises(ValueError, match="Out of range float"):
            a_job(session, params={"value": float("nan")})
