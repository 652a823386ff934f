"""A job's events are numbered in the order of their commits: a reader misses none."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from records.database.engine import Database
from records.jobs import attempts, jobs
from records.jobs.jobs import Event
from testing.records import NOW, a_claimed_job, a_job, row_counts

LATER = NOW + timedelta(hours=2)


def _log(database: Database, job: str, text: str) -> None:
    with database.transaction() as session:
        jobs.log(session, job, 1, text, LATER)


def _after(database: Database, job: str, seq: int, limit: int = 100) -> list[Event]:
    with database.reading() as session:
        return jobs.events_after(session, job, seq, limit)


def test_events_are_read_on_from_the_last_one_seen(database: Database) -> None:
    with database.transaction() as session:
        job, other = a_claimed_job(session), a_claimed_job(session)
        jobs.log(session, job, 1, "first", LATER)
        jobs.log(session, other, 1, "elsewhere", LATER)
        jobs.log(session, job, 1, "second", LATER)
    queued, running, first, second = _after(database, job, 0)
    assert queued.data == {"status": "queued", "attempt": 0, "cancel_requested": False}
    assert running.data == {"status": "running", "attempt": 1, "cancel_requested": False}
    assert first == Event(seq=first.seq, job_id=job, at=LATER, type="log", data={"text": "first"})
    assert second.data == {"text": "second"}
    assert queued.seq < running.seq < first.seq < second.seq
    assert _after(database, job, running.seq) == [first, second]
    assert _after(database, job, running.seq, limit=1) == [first]
    assert _after(database, job, second.seq) == []
    assert _after(database, "nothing", 0) == []


def test_an_event_that_is_committed_late_is_not_passed_by(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
    seen = _after(database, job, 0)[-1].seq
    with ThreadPoolExecutor(1) as other:
        with database.transaction() as session:
            jobs.log(session, job, 1, "numbered first", NOW)
            later = other.submit(_log, database, job, "numbered second")
            with pytest.raises(TimeoutError):
                later.result(timeout=0.5)
            assert _after(database, job, seen) == []
        later.result(timeout=30)
    assert [event.data["text"] for event in _after(database, job, seen)] == ["numbered first", "numbered second"]


def test_a_reader_beside_many_writers_sees_every_event_in_order(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
    seen = _after(database, job, 0)
    with ThreadPoolExecutor(4) as others:
        writing = [others.submit(_log, database, job, f"line {number}") for number in range(40)]
        under_way = True
        while under_way:
            under_way = not all(one.done() for one in writing)
            seen += _after(database, job, seen[-1].seq, limit=3)
        while more := _after(database, job, seen[-1].seq, limit=3):
            seen += more
        for one in writing:
            one.result()
    assert seen == _after(database, job, 0)
    assert len(seen) == 42


def test_numbers_of_pruned_events_are_not_used_again(database: Database) -> None:
    with database.transaction() as session:
        pruned = a_claimed_job(session)
        attempts.finish(session, pruned, 1, status="succeeded", at=NOW)
    last = _after(database, pruned, 0)[-1].seq
    with database.transaction() as session:
        assert jobs.remove(session, [*jobs.outdated(session, LATER)]) == [pruned]
        assert row_counts(session) == {}
    with database.transaction() as session:
        job = a_job(session)
    assert _after(database, job, 0)[0].seq > last


def test_an_event_of_a_change_that_is_rolled_back_is_not_there(database: Database) -> None:
    with database.transaction() as session:
        job = a_claimed_job(session)
        before = jobs.events_after(session, job, 0)
    with database.transaction() as session:
        attempts.finish(session, job, 1, status="succeeded", at=NOW)
        session.rollback()
    assert _after(database, job, 0) == before
