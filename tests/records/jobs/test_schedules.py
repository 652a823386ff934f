"""A schedule fires once, and no change to it is lost."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier

import pytest

from hydrology.base.errors import InvalidInput
from records.database.engine import Database
from records.jobs import attempts, jobs, schedules
from records.jobs.schedules import NewSchedule, Schedule, ScheduleConflict, UnknownSchedule
from testing.records import NOW, a_claimed_job, a_job, contents, row_counts

LATER = NOW + timedelta(days=1)
DAILY = NewSchedule(
    name="daily forecast",
    kind="forecast",
    params={"horizon": 10},
    cron="0 6 * * *",
    timezone="America/Denver",
    next_run_at=NOW,
)


class _Beaten(Exception):  # noqa: N818 - not a fault
    """Another scheduler was first."""


def _fire(database: Database, schedule: Schedule) -> str | None:
    """Post the job and advance, or do neither."""
    try:
        with database.transaction() as session:
            job = a_job(session, schedule_id=schedule.id)
            if not schedules.advance(
                session, schedule.id, schedule.revision, ran_at=NOW, next_run_at=LATER, job_id=job
            ):
                raise _Beaten
            return job
    except _Beaten:
        return None


def test_a_schedule_comes_back_and_is_changed(database: Database) -> None:
    with database.transaction() as session:
        created = schedules.create(session, DAILY, NOW)
        assert (created.revision, created.created_at, created.last_run_at, created.last_job_id) == (1, NOW, None, None)
        weekly = replace(DAILY, name="weekly", cron="0 6 * * 1", enabled=False, params={"horizon": 30})
        changed = schedules.update(session, created.id, 1, weekly, LATER)
        assert (changed.id, changed.revision, changed.created_at, changed.updated_at) == (created.id, 2, NOW, LATER)
        assert (changed.name, changed.cron, changed.enabled, changed.params) == (
            *("weekly", "0 6 * * 1", False),
            {"horizon": 30},
        )
        first = schedules.create(session, DAILY, NOW)
    with database.reading() as session:
        assert schedules.get(session, created.id) == changed
        assert schedules.list_schedules(session) == [first, changed]


def test_only_one_of_several_schedulers_fires(database: Database) -> None:
    with database.transaction() as session:
        schedule = schedules.create(session, DAILY, NOW)
    ready = Barrier(4)

    def fire(_: int) -> str | None:
        ready.wait(30)
        return _fire(database, schedule)

    with ThreadPoolExecutor(4) as threads:
        fired = [job for job in threads.map(fire, range(4)) if job is not None]
    with database.reading() as session:
        assert [job.id for job in jobs.list_jobs(session)] == fired
        [job] = fired
        stored = schedules.get(session, schedule.id)
    assert (stored.last_job_id, stored.last_run_at, stored.next_run_at, stored.revision) == (job, NOW, LATER, 2)
    assert stored.updated_at == NOW


def test_a_change_does_not_overwrite_another(database: Database) -> None:
    with database.transaction() as session:
        schedule = schedules.create(session, DAILY, NOW)
    ready = Barrier(4)

    def change(turn: int) -> bool:
        ready.wait(30)
        try:
            with database.transaction() as session:
                schedules.update(session, schedule.id, 1, replace(DAILY, params={"turn": turn}), LATER)
        except ScheduleConflict:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        changed = list(threads.map(change, range(4)))
    assert sorted(changed) == [False, False, False, True]
    with database.reading() as session:
        assert schedules.get(session, schedule.id).params == {"turn": changed.index(True)}


def test_a_schedule_that_changed_does_not_fire_as_it_was(database: Database) -> None:
    with database.transaction() as session:
        seen = schedules.create(session, DAILY, NOW)
        schedules.update(session, seen.id, 1, replace(DAILY, enabled=False), NOW)
    assert _fire(database, seen) is None
    with database.transaction() as session:
        assert row_counts(session) == {"schedules": 1}
        with pytest.raises(ScheduleConflict, match="is at revision 2, not 1"):
            schedules.update(session, seen.id, 1, DAILY, NOW)


def test_only_enabled_schedules_are_followed_the_soonest_due_first(database: Database) -> None:
    with database.transaction() as session:

        def created(name: str, **chosen: object) -> str:
            new = replace(DAILY, name=name, **chosen)  # type: ignore[arg-type]
            return schedules.create(session, new, NOW).id

        now, early = created("now"), created("early", next_run_at=NOW - timedelta(days=3))
        created("never", next_run_at=None)
        created("disabled", enabled=False)
        later = created("later", next_run_at=LATER)
        assert [schedule.id for schedule in schedules.enabled(session)] == [early, now, later]


def test_the_due_time_of_a_schedule_is_updated_unless_it_has_changed(database: Database) -> None:
    with database.transaction() as session:
        seen = schedules.create(session, DAILY, NOW)
        schedules.advance(session, seen.id, seen.revision, LATER)
        schedules.advance(session, seen.id, seen.revision, NOW)
        after = schedules.get(session, seen.id)
        assert after == replace(seen, next_run_at=LATER, revision=seen.revision + 1)


def test_a_name_is_taken_once(database: Database) -> None:
    with database.transaction() as session:
        created = schedules.create(session, DAILY, NOW)
        other = schedules.create(session, replace(DAILY, name="other"), NOW)
        before = contents(session)
        with pytest.raises(ScheduleConflict, match="'daily forecast'"):
            schedules.create(session, DAILY, NOW)
        with pytest.raises(ScheduleConflict, match=f"{created.id} has the name"):
            schedules.update(session, other.id, 1, DAILY, NOW)
        for name in ("", " "):
            with pytest.raises(InvalidInput, match="needs a name"):
                schedules.create(session, replace(DAILY, name=name), NOW)
        assert contents(session) == before


def test_a_deleted_schedule_leaves_its_jobs_and_a_pruned_job_its_schedule(database: Database) -> None:
    with database.transaction() as session:
        schedule, gone = schedules.create(session, DAILY, NOW), schedules.create(session, replace(DAILY, name="b"), NOW)
        ended, stored = a_claimed_job(session), a_job(session, schedule_id=gone.id)
        attempts.finish(session, ended, 1, status="succeeded", at=NOW)
        for one, job in ((schedule, ended), (gone, stored)):
            assert schedules.advance(session, one.id, 1, ran_at=NOW, next_run_at=LATER, job_id=job)
        schedules.delete(session, gone.id)
        assert jobs.get(session, stored).schedule_id == gone.id
        assert jobs.outdated(session, LATER) == {}  # a schedule names it
        assert jobs.remove(session, [ended]) == [ended]
        left = schedules.get(session, schedule.id)
        assert (left.last_job_id, left.last_run_at) == (None, NOW)


def test_an_unknown_schedule_is_missed(database: Database) -> None:
    with database.transaction() as session:
        job = a_job(session)
        with pytest.raises(UnknownSchedule, match="'nothing'"):
            schedules.get(session, "nothing")
        with pytest.raises(UnknownSchedule):
            schedules.update(session, "nothing", 1, DAILY, NOW)
        with pytest.raises(UnknownSchedule):
            schedules.delete(session, "nothing")
        assert not schedules.advance(session, "nothing", 1, ran_at=NOW, next_run_at=LATER, job_id=job)
