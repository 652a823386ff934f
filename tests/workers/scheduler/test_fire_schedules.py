"""Schedules fire on time, once, and a retraining that they start reports its outcome."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from hydrology.base.errors import InvalidInput
from jobspec.network import MCLSTMConfig
from records.access import audit, keys
from records.jobs import attempts, jobs, schedules
from records.jobs.cron import next_run
from records.jobs.tables import ScheduleRow
from records.versions import promotions, versions
from testing.clocks import ClockSetBy
from testing.country import BASINS
from testing.job_service import Shop
from tests.workers.conftest import training
from workers.scheduler.due_jobs import fire
from workers.service_context import ServiceTools

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


def schedule(shop: Shop, name: str = "nightly", key: str | None = None, **params: object) -> schedules.Schedule:
    new = schedules.NewSchedule(
        name=name,
        kind="training",
        params=dict(params),
        cron="0 3 * * *",
        timezone="UTC",
        next_run_at=shop.clock.wall() - timedelta(days=3),
        key_id=key,
    )
    with shop.database.transaction() as session:
        return schedules.create(session, new, shop.clock.wall())


def test_a_schedule_that_was_due_for_days_fires_once(sqlite_shop: Shop) -> None:
    created = schedule(sqlite_shop, **training())
    tools = ServiceTools(sqlite_shop.settings, sqlite_shop.database, sqlite_shop.clock, sqlite_shop.sender)
    for _ in range(5):
        fire(tools)
    with sqlite_shop.database.reading() as session:
        fired = [job for job in jobs.list_jobs(session) if job.schedule_id == created.id]
        after = schedules.get(session, created.id)
    assert len(fired) == 1
    assert after.last_job_id == fired[0].id
    assert after.next_run_at is not None
    assert after.next_run_at > sqlite_shop.clock.wall()


def test_a_schedule_whose_time_zone_is_not_known_here_delays_no_other(sqlite_shop: Shop) -> None:
    shop = sqlite_shop
    unreadable, other = schedule(shop, "a", **training()), schedule(shop, "b", **training())
    with shop.database.transaction() as session:
        session.get_one(ScheduleRow, unreadable.id).timezone = "Moon/Tranquility"
    with capture_logs() as lines:
        fire(ServiceTools(shop.settings, shop.database, shop.clock, shop.sender))
    assert [line["schedule"] for line in lines if line["event"] == "schedule.unreadable"] == ["a"]
    with shop.database.reading() as session:
        fired = {one.id: one.last_job_id is not None for one in schedules.enabled(session)}
    assert fired == {unreadable.id: False, other.id: True}


def test_a_schedule_of_a_key_at_its_cap_is_skipped_and_fires_when_a_job_has_ended(sqlite_shop: Shop) -> None:
    shop, limit = sqlite_shop, sqlite_shop.settings.unfinished_jobs_per_key
    with shop.database.transaction() as session:
        key = keys.make(session, "river office", "operator", None, shop.clock.wall())[0].id
        new = jobs.NewJob(kind="check", params={}, queue="default", key_id=key)
        first, *_ = [jobs.create(session, new, shop.clock.wall())[0].id for _ in range(limit)]
    full, other = schedule(shop, "full", key=key), schedule(shop, "other", **training())

    def fired(by: timedelta) -> tuple[list[jobs.Job], schedules.Schedule]:
        fire(ServiceTools(shop.settings, shop.database, ClockSetBy(by=by), shop.sender))
        with shop.database.reading() as session:
            of_full = [job for job in jobs.list_jobs(session) if job.schedule_id == full.id]
            return of_full, schedules.get(session, full.id)

    with capture_logs() as lines:
        posted, after = fired(timedelta(0))
    assert posted == []
    assert after.next_run_at is not None
    assert after.next_run_at > shop.clock.wall()
    (skipped,) = [line for line in lines if line["event"] == "schedule.skipped"]
    assert f"This key has {limit} unfinished jobs" in skipped["problem"]
    with shop.database.reading() as session:
        assert schedules.get(session, other.id).last_job_id is not None
        (entry,) = [one for one in audit.page(session) if one.action == "schedule skipped"]
    assert (entry.subject, entry.key_id, entry.detail["reason"]) == (full.id, key, skipped["problem"])

    with shop.database.transaction() as session:
        attempts.request_cancel(session, first, shop.clock.wall())
    posted, after = fired(timedelta(days=1))
    assert [job.key_id for job in posted] == [key]
    assert after.last_job_id == posted[0].id


def test_a_schedule_survives_a_clock_that_was_a_year_ahead_for_a_while(sqlite_shop: Shop) -> None:
    """It fires on the wrong day, for it cannot know better, and then every day by its rule."""
    shop = sqlite_shop
    created = schedule(shop, **training())

    def fired(by: timedelta) -> tuple[int, schedules.Schedule]:
        """Look when the clock is set by some time, and return how many jobs there are, and the schedule."""
        clock = ClockSetBy(by=by)
        fire(ServiceTools(shop.settings, shop.database, clock, shop.sender))
        with shop.database.reading() as session:
            after = schedules.get(session, created.id)
            count = len([job for job in jobs.list_jobs(session) if job.schedule_id == created.id])
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


def retrained(shop: Shop, name: str, steps: int) -> dict[str, Any]:
    """Let a schedule retrain a network that learns in few steps, and return the outcome of its job."""
    created = schedule(
        shop,
        name,
        **training(
            network=MCLSTMConfig(cells=5, rank=0, basin_vector=0, antecedent_days=()),
            schedule={"kind": "cosine", "steps": steps, "peak_learning_rate": 0.03, "warmup_steps": 1},
            members=1,
        ),
        compare={"period": HELD_OUT, "promote": True},
    )
    fire(ServiceTools(shop.settings, shop.database, shop.clock, shop.sender))
    with shop.database.reading() as session:
        job = schedules.get(session, created.id).last_job_id
    assert job is not None
    done = shop.ended(job)
    assert done.status == "succeeded", done.problem
    assert done.result is not None
    return done.result


def current(shop: Shop) -> set[str]:
    with shop.database.reading() as session:
        return set(promotions.current(session, BASINS).values())


def test_a_scheduled_retraining_stores_its_comparison_and_explains_its_decision(sqlite_shop: Shop) -> None:
    """What has learnt next to nothing is refused; put in place by hand, it gives way to what has learnt."""
    sqlite_shop.worker()
    before = current(sqlite_shop)
    poor = retrained(sqlite_shop, "two steps", 2)
    assert current(sqlite_shop) == before
    with sqlite_shop.database.transaction() as session:
        promotions.promote(
            session, poor["version"], BASINS, reason="by hand", by="someone", at=sqlite_shop.clock.wall()
        )
    good = retrained(sqlite_shop, "many steps", 120)
    assert current(sqlite_shop) == {good["version"]}
    for result, better in ((poor, False), (good, True)):
        decision = result["decision"]
        deciding, reporting = decision["deciding"], decision["reporting"]
        assert decision["better"] is better
        assert f"median NSE is {deciding['candidate_median']:.3f}" in decision["sentence"]
        assert f"median NSE is {reporting['candidate_median']:.3f}" in decision["sentence"]
        assert not set(deciding["years"]) & set(reporting["years"])


def test_a_fine_tuning_job_takes_over_only_by_its_decision(sqlite_shop: Shop) -> None:
    with sqlite_shop.database.reading() as session:
        (parent,) = set(promotions.current(session, BASINS).values())
    config = {
        "parent": parent,
        "train_period": "2001-10-01..2003-09-30",
        "validation_period": "2003-10-01..2004-09-30",
        "windows": {"spinup_days": 60, "loss_days": 60, "batch": 4},
        "schedule": {"steps": 60, "peak_learning_rate": 0.03, "warmup_steps": 1},
    }
    sqlite_shop.worker()
    refused, posted = (
        sqlite_shop.post("training", config=config, basins=["SYNTH-02"], compare={"period": period, "promote": True})
        for period in ("2004-01-01..2008-09-30", HELD_OUT)
    )
    problem = sqlite_shop.ended(refused.id).problem
    assert problem is not None
    assert "took no part in its training" in problem["detail"]
    done = sqlite_shop.ended(posted.id)
    assert done.status == "succeeded", done.problem
    assert done.result is not None
    decision, created = done.result["decision"], done.result["version"]
    assert (decision["current"], decision["promoted"]) == ([parent], ["SYNTH-02"])
    with sqlite_shop.database.reading() as session:
        assert not [job for job in jobs.list_jobs(session) if job.parent_id == refused.id]
        assert versions.get(session, created).parent_id == parent
        assert len(versions.get(session, created).members) == 2
        assert promotions.current(session, BASINS) == dict.fromkeys(BASINS, parent) | {"SYNTH-02": created}
