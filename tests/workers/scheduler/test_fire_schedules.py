"""Schedules fire on time, once, and a retraining that they start reports its outcome."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from hydrology.base.errors import InvalidInput
from jobspec.network import MCLSTMConfig
from records.access import audit, keys
from records.jobs import attempts, jobs, queues, schedules
from records.jobs.schedules import SCHEDULES, next_run
from records.versions import promotions, versions
from testing.clocks import ClockSetBy
from testing.country import BASINS
from testing.jobs.in_process import InProcessJobs
from tests.workers.conftest import training
from workers.scheduler import fire

HELD_OUT = "2004-10-01..2008-09-30"


@pytest.fixture(scope="session")
def trained_file(long_trained_file: Path) -> Path:
    """The country with the longer record."""
    return long_trained_file


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("cron", "zone", "after", "expected"),
    [
        ("30 6 * * *", "UTC", "2026-03-01T06:29:00+00:00", "2026-03-01T06:30:00+00:00"),
        ("30 6 * * *", "UTC", "2026-03-01T06:30:00+00:00", "2026-03-02T06:30:00+00:00"),
        ("0 6 * * *", "America/Denver", "2026-03-07T20:00:00+00:00", "2026-03-08T12:00:00+00:00"),  # summer time
        ("0 6 * * *", "America/Denver", "2026-03-06T20:00:00+00:00", "2026-03-07T13:00:00+00:00"),
        ("0 0 1 10 *", "UTC", "2026-11-20T00:00:00+00:00", "2027-10-01T00:00:00+00:00"),
    ],
)
def test_cron_in_a_time_zone(cron: str, zone: str, after: str, expected: str) -> None:
    assert next_run(cron, zone, at(after)) == at(expected)


@pytest.mark.parametrize(("cron", "zone"), [("every day", "UTC"), ("61 * * * *", "UTC"), ("* * * * *", "Mars/Base")])
def test_an_unreadable_schedule_is_refused(cron: str, zone: str) -> None:
    with pytest.raises(InvalidInput, match="write"):
        next_run(cron, zone, datetime.now(UTC))


def schedule(
    posted_jobs: InProcessJobs, name: str = "nightly", key: str | None = None, **params: object
) -> schedules.Schedule:
    new = schedules.NewSchedule(
        name=name,
        kind="training",
        params=dict(params),
        cron="0 3 * * *",
        timezone="UTC",
        next_run_at=posted_jobs.clock.wall() - timedelta(days=3),
        key_id=key,
    )
    with posted_jobs.database.transaction() as session:
        return schedules.create(session, new, posted_jobs.clock.wall())


def test_a_schedule_that_was_due_for_days_fires_once(country_jobs: InProcessJobs) -> None:
    created = schedule(country_jobs, **training())
    for _ in range(5):
        fire(country_jobs.tools)
    with country_jobs.database.reading() as session:
        fired = [job for job in jobs.list_jobs(session) if job.schedule_id == created.id]
        after = schedules.get(session, created.id)
    assert len(fired) == 1
    assert after.last_job_id == fired[0].id
    assert after.next_run_at is not None
    assert after.next_run_at > country_jobs.clock.wall()


def test_a_schedule_whose_time_zone_is_not_known_here_delays_no_other(country_jobs: InProcessJobs) -> None:
    unreadable, other = schedule(country_jobs, "a", **training()), schedule(country_jobs, "b", **training())
    with country_jobs.database.transaction() as session:
        of_row = SCHEDULES.c.id == unreadable.id
        session.execute(SCHEDULES.update().where(of_row).values(timezone="Moon/Tranquility"))
    with capture_logs() as lines:
        fire(country_jobs.tools)
    assert [line["schedule"] for line in lines if line["event"] == "schedule.unreadable"] == ["a"]
    with country_jobs.database.reading() as session:
        fired = {one.id: one.last_job_id is not None for one in schedules.enabled(session)}
    assert fired == {unreadable.id: False, other.id: True}


def test_a_schedule_of_a_key_at_its_cap_is_skipped_and_fires_when_a_job_has_ended(country_jobs: InProcessJobs) -> None:
    limit = country_jobs.settings.unfinished_jobs_per_key
    with country_jobs.database.transaction() as session:
        key = keys.make(session, "river office", "operator", None, country_jobs.clock.wall())[0].id
        new = jobs.NewJob(kind="check", params={}, queue="default", key_id=key)
        first, *_ = [jobs.create(session, new, country_jobs.clock.wall())[0].id for _ in range(limit)]
    full, other = schedule(country_jobs, "full", key=key), schedule(country_jobs, "other", **training())

    def fired(by: timedelta) -> tuple[list[jobs.Job], schedules.Schedule]:
        fire(replace(country_jobs.tools, clock=ClockSetBy(by=by)))
        with country_jobs.database.reading() as session:
            of_full = [job for job in jobs.list_jobs(session) if job.schedule_id == full.id]
            return of_full, schedules.get(session, full.id)

    with capture_logs() as lines:
        posted, after = fired(timedelta(0))
    assert posted == []
    assert after.next_run_at is not None
    assert after.next_run_at > country_jobs.clock.wall()
    (skipped,) = [line for line in lines if line["event"] == "schedule.skipped"]
    assert f"This key has {limit} unfinished jobs" in skipped["problem"]
    with country_jobs.database.reading() as session:
        assert schedules.get(session, other.id).last_job_id is not None
        (entry,) = [one for one in audit.page(session) if one.action == "schedule skipped"]
    assert (entry.subject, entry.key_id, entry.detail["reason"]) == (full.id, key, skipped["problem"])

    with country_jobs.database.transaction() as session:
        attempts.request_cancel(session, first, country_jobs.clock.wall())
    posted, after = fired(timedelta(days=1))
    assert [job.key_id for job in posted] == [key]
    assert after.last_job_id == posted[0].id


def test_a_schedule_leaves_out_the_times_at_which_its_last_job_is_unfinished(country_jobs: InProcessJobs) -> None:
    created, other = schedule(country_jobs, **training()), schedule(country_jobs, "other", **training())
    later = ClockSetBy(by=timedelta(days=1))
    fire(country_jobs.tools)
    fire(replace(country_jobs.tools, clock=later))
    with country_jobs.database.reading() as session:
        (posted,) = [job for job in jobs.list_jobs(session) if job.schedule_id == created.id]
        lines = [one.data["text"] for one in jobs.events_after(session, posted.id, 0) if one.type == "log"]
        entries = {one.subject: one.detail for one in audit.page(session) if one.action == "schedule skipped"}
        assert queues.skipping(session, country_jobs.clock.wall()) == []
        assert {skipped.job for skipped in queues.skipping(session, later.wall())} >= {posted.id}
    assert entries.keys() == {created.id, other.id}
    reason, following = entries[created.id]["reason"], entries[created.id]["next_run_at"]
    assert reason.startswith(f"The schedule 'nightly' was due and left this time out, because its last job {posted.id}")
    assert lines == [f"{reason} It is due next at {following}."]

    with country_jobs.database.transaction() as session:
        attempts.request_cancel(session, posted.id, later.wall())
    assert fire(replace(country_jobs.tools, clock=ClockSetBy(by=timedelta(days=2)))) == 1
    with country_jobs.database.reading() as session:
        assert posted.id not in {skipped.job for skipped in queues.skipping(session, later.wall())}


def test_a_schedule_survives_a_clock_that_was_a_year_ahead_for_a_while(country_jobs: InProcessJobs) -> None:
    """It fires on the wrong day, for it cannot know better, and then every day by its rule."""
    created = schedule(country_jobs, **training())

    def fired(by: timedelta) -> tuple[int, schedules.Schedule]:
        """Look when the clock is set by some time, and return how many jobs there are, and the schedule."""
        clock = ClockSetBy(by=by)
        fire(replace(country_jobs.tools, clock=clock))
        with country_jobs.database.transaction() as session:
            after = schedules.get(session, created.id)
            of_schedule = [job for job in jobs.list_jobs(session) if job.schedule_id == created.id]
            for job in of_schedule:
                attempts.request_cancel(session, job.id, clock.wall())
        count = len(of_schedule)
        assert after.next_run_at is not None
        assert timedelta(0) < after.next_run_at - clock.wall() <= timedelta(days=1)
        return count, after

    count, before = fired(timedelta(0))
    assert count == 1
    assert fired(timedelta(days=365))[0] == 2
    count, back = fired(timedelta(0))
    assert (count, back.next_run_at) == (2, before.next_run_at)
    assert fired(timedelta(days=1))[0] == 3
    assert fired(timedelta(days=1))[0] == 3


def retrained(posted_jobs: InProcessJobs, name: str, steps: int) -> dict[str, Any]:
    """Let a schedule retrain a network that learns in few steps, and return the outcome of its job."""
    created = schedule(
        posted_jobs,
        name,
        **training(
            network=MCLSTMConfig(cells=5, rank=0, basin_vector=0, antecedent_days=()),
            schedule={"kind": "cosine", "steps": steps, "peak_learning_rate": 0.03, "warmup_steps": 1},
            members=1,
        ),
        compare={"period": HELD_OUT, "promote": True},
    )
    fire(posted_jobs.tools)
    with posted_jobs.database.reading() as session:
        job = schedules.get(session, created.id).last_job_id
    assert job is not None
    done = posted_jobs.ended(job)
    assert done.status == "succeeded", done.problem
    assert done.result is not None
    return done.result


def current(posted_jobs: InProcessJobs) -> set[str]:
    with posted_jobs.database.reading() as session:
        return set(promotions.current(session, BASINS).values())


@pytest.mark.extended
def test_a_scheduled_retraining_stores_its_comparison_and_explains_its_decision(country_jobs: InProcessJobs) -> None:
    """What has learnt next to nothing is refused; put in place by hand, it gives way to what has learnt."""
    before = current(country_jobs)
    poor = retrained(country_jobs, "two steps", 2)
    assert current(country_jobs) == before
    with country_jobs.database.transaction() as session:
        promotions.promote(
            session, poor["version"], BASINS, reason="by hand", by="someone", at=country_jobs.clock.wall()
        )
    good = retrained(country_jobs, "many steps", 120)
    assert current(country_jobs) == {good["version"]}
    for result, better in ((poor, False), (good, True)):
        decision = result["decision"]
        deciding, reporting = decision["deciding"], decision["reporting"]
        assert decision["better"] is better
        assert f"median NSE is {deciding['candidate_median']:.3f}" in decision["sentence"]
        assert f"median NSE is {reporting['candidate_median']:.3f}" in decision["sentence"]
        assert not set(deciding["years"]) & set(reporting["years"])


def test_a_fine_tuning_job_takes_over_only_by_its_decision(country_jobs: InProcessJobs) -> None:
    with country_jobs.database.reading() as session:
        (parent,) = set(promotions.current(session, BASINS).values())
    config = {
        "parent": parent,
        "train_period": "2001-10-01..2003-09-30",
        "validation_period": "2003-10-01..2004-09-30",
        "windows": {"spinup_days": 60, "loss_days": 60, "batch": 4},
        "schedule": {"steps": 60, "peak_learning_rate": 0.03, "warmup_steps": 1},
    }
    refused, posted = (
        country_jobs.post("training", config=config, basins=["SYNTH-02"], compare={"period": period, "promote": True})
        for period in ("2004-01-01..2008-09-30", HELD_OUT)
    )
    problem = country_jobs.ended(refused.id).problem
    assert problem is not None
    assert "took no part in its training" in problem["detail"]
    done = country_jobs.ended(posted.id)
    assert done.status == "succeeded", done.problem
    assert done.result is not None
    decision, created = done.result["decision"], done.result["version"]
    assert (decision["current"], decision["promoted"]) == ([parent], ["SYNTH-02"])
    with country_jobs.database.reading() as session:
        assert not [job for job in jobs.list_jobs(session) if job.parent_id == refused.id]
        assert versions.get(session, created).parent_id == parent
        assert len(versions.get(session, created).members) == 2
        assert promotions.current(session, BASINS) == dict.fromkeys(BASINS, parent) | {"SYNTH-02": created}
