"""A key has a limited number of unfinished jobs, however they are posted."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy.orm import Session

from records.access import keys
from records.database.engine import Database
from records.jobs import attempts, jobs
from records.jobs.queues import TooManyUnfinishedJobs, require_within_limit
from testing.records import NOW

LIMIT = 3


def a_key(database: Database, scope: keys.Scope) -> str:
    with database.transaction() as session:
        return keys.make(session, scope, scope, None, NOW)[0].id


def post(session: Session, key: str | None, parent: str | None = None) -> str:
    new = jobs.NewJob(kind="forecast", params={}, queue="default", key_id=key, parent_id=parent)
    job, _ = jobs.create(session, new, NOW)
    require_within_limit(session, key, LIMIT)
    return job.id


def test_jobs_that_are_posted_at_once_do_not_pass_the_limit(database: Database) -> None:
    key, posters = a_key(database, "operator"), 8
    together = Barrier(posters)

    def post_one(_number: int) -> str | None:
        together.wait()
        try:
            with database.transaction() as session:
                return post(session, key)
        except TooManyUnfinishedJobs as problem:
            return str(problem)

    with ThreadPoolExecutor(posters) as pool:
        answers = list(pool.map(post_one, range(posters)))
    with database.reading() as session:
        stored = {job.id for job in jobs.list_jobs(session)}
    assert len(stored) == LIMIT
    refusals = [answer for answer in answers if answer not in stored]
    assert len(refusals) == posters - LIMIT
    assert all("This key has 3 unfinished jobs" in str(refusal) for refusal in refusals)


def test_ended_jobs_and_children_do_not_count(database: Database) -> None:
    key = a_key(database, "operator")
    with database.transaction() as session:
        first, *_ = (post(session, key) for _ in range(LIMIT))
        jobs.create(session, jobs.NewJob(kind="member", params={}, queue="training", parent_id=first, key_id=key), NOW)
    with pytest.raises(TooManyUnfinishedJobs), database.transaction() as session:
        post(session, key)
    with database.transaction() as session:
        attempts.request_cancel(session, first, NOW)
    with database.transaction() as session:
        assert post(session, key)


def test_the_service_and_an_administrator_have_no_limit(database: Database) -> None:
    admin = a_key(database, "admin")
    with database.transaction() as session:
        for key in (admin, None):
            assert len({post(session, key) for _ in range(LIMIT + 2)}) == LIMIT + 2
