"""Data older than their rule are deleted; younger data, and data that others refer to, stay."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from jobspec.subscriptions import NewSubscription
from operations.upkeep import prune as pruning
from operations.upkeep.prune import prune
from records.access import audit, keys
from records.alerts import deliveries, dispatch, subscriptions
from records.database import retention
from records.database.engine import Database
from records.database.retention import RULES, RuleName
from records.database.work import Progress
from records.jobs import attempts, jobs, schedules
from records.versions import trainings
from records.weather import weather_issues
from runtime.clock import Clock
from runtime.settings import Settings
from testing.records import (
    BASIN,
    NOW,
    a_basin,
    a_claimed_job,
    a_job,
    a_promoted_version,
    a_weather_forecast,
    an_issue,
    contents,
)
from testing.work import work_of
from tests.records.alerts.test_alerts import chance, issue_day, settle, subscribed

ACTOR = audit.Actor("a test")
SETTINGS = Settings()


class At(Clock):
    """A clock that stands still a day after the rule for something created at `NOW` has run out."""

    def wall(self) -> datetime:
        """Return that instant."""
        return NOW + timedelta(days=max(retention.days_of(name, SETTINGS) for name in RULES) + 1)


def counts(database: Database, *, dry_run: bool = False, **chosen: object) -> dict[RuleName, int]:
    """Prune, and return how much of each rule went."""
    done = prune(work_of(database, At(), SETTINGS, **chosen), ACTOR, dry_run=dry_run)
    return {of.rule: of.count for of in done if of.count}


def an_ended_job(session: Session, at: datetime = NOW) -> str:
    job = a_claimed_job(session)
    attempts.finish(session, job, 1, status="succeeded", at=at)
    return job


def an_issue_stored(session: Session, reference: str, at: datetime = NOW) -> str:
    forecast = a_weather_forecast(an_issue(reference))
    return weather_issues.store(session, [forecast], at, operational=True).issue_id


def test_data_older_than_their_rule_are_deleted_and_the_rest_stays(database: Database) -> None:
    young = At().wall() - timedelta(days=1)
    with database.transaction() as session:
        a_basin(session)
        queued, old, new = a_job(session), an_ended_job(session), an_ended_job(session, young)
        stale, fresh = an_issue_stored(session, "2008-10-01"), an_issue_stored(session, "2008-10-02", young)
    assert counts(database) == {"jobs": 1, "weather": 1}
    with database.reading() as session:
        assert {job.id for job in jobs.list_jobs(session)} == {queued, new}
        assert [issue.id for issue in weather_issues.list_issues(session, young + timedelta(days=9))] == [fresh]
        for missing in (lambda: jobs.get(session, old), lambda: weather_issues.get(session, stale)):
            with pytest.raises(retention.Gone, match="stored for"):
                missing()
        with pytest.raises(jobs.UnknownJob):
            jobs.get(session, "0" * 22)


def test_pruning_again_deletes_nothing_and_the_trail_has_one_entry(database: Database) -> None:
    with database.transaction() as session:
        an_ended_job(session)
    assert counts(database) == {"jobs": 1}
    with database.reading() as session:
        before = contents(session)
        (entry,) = audit.page(session)
    assert (entry.who, entry.action, entry.subject, entry.detail) == (
        "a test",
        "store pruned",
        "jobs",
        {"count": 1, "days": SETTINGS.retain_jobs_days},
    )
    assert counts(database) == {}
    with database.reading() as session:
        after = contents(session)
    del before["storage_sizes"], after["storage_sizes"]  # what PostgreSQL's tables take changes by the minute
    assert after == before


def test_a_dry_run_counts_and_deletes_nothing(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        parent = a_claimed_job(session, kind="training")
        child = a_claimed_job(session, kind="member", parent_id=parent)
        for job in (child, parent):
            attempts.finish(session, job, 1, status="succeeded", at=NOW)
        an_issue_stored(session, "2008-10-01")
        before = contents(session)
    assert counts(database, dry_run=True) == {"jobs": 2, "weather": 1}
    with database.reading() as session:
        assert contents(session) == before
    assert counts(database) == {"jobs": 2, "weather": 1}


def test_the_last_job_of_a_schedule_stays(database: Database) -> None:
    with database.transaction() as session:
        last = an_ended_job(session)
        daily = schedules.NewSchedule(
            name="daily", kind="forecast", params={}, cron="0 6 * * *", timezone="UTC", next_run_at=NOW
        )
        created = schedules.create(session, daily, NOW)
        schedules.advance(session, created.id, 1, ran_at=NOW, next_run_at=NOW, job_id=last)
    assert counts(database) == {}


def test_deliveries_that_ended_go_and_the_changes_that_they_reported_stay(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_promoted_version(session)
        subscribed(session)
        runs = [issue_day(session, version, number) for number in range(5)]
        for run, value in zip(runs, (0.9, 0.9, 0.01, 0.01, 0.01), strict=True):
            settle(session, run, chance(value))
        ended, pending = deliveries.page(session)
        sending = dispatch.claim(session, ended.id, NOW)
        assert sending is not None
        dispatch.finish(session, ended.id, sending.number, NOW, status_code=200, failure=None)
        changes = contents(session)["alert_changes"]
    assert counts(database) == {"deliveries": 1}
    with database.reading() as session:
        assert [one.id for one in deliveries.page(session)] == [pending.id]
        assert (contents(session)["alert_changes"], contents(session)["delivery_attempts"]) == (changes, [])
        with pytest.raises(retention.Gone):
            deliveries.get(session, ended.id)


def test_checkpoints_of_a_training_go_unless_a_job_works_on_it(database: Database) -> None:
    with database.transaction() as session:
        left, busy = (trainings.start(session, {"basins": [BASIN], "at": at}, NOW).id for at in range(2))
        for training in (left, busy):
            trainings.save_checkpoint(session, training, trainings.Checkpoint(0, 7, b"half way", {"steps": 8}, NOW))
        a_claimed_job(session, kind="member", params={"training": busy, "member": 0})
    assert counts(database) == {"checkpoints": 1}
    with database.reading() as session:
        assert trainings.checkpoint(session, left, 0) is None
        assert trainings.checkpoint(session, busy, 0) is not None


def test_checkpoints_of_a_training_that_is_started_again_go_again(database: Database) -> None:
    for _ in range(2):
        with database.transaction() as session:
            training = trainings.start(session, {"basins": [BASIN]}, NOW).id
            trainings.save_checkpoint(session, training, trainings.Checkpoint(0, 7, b"half way", {"steps": 8}, NOW))
        assert counts(database) == {"checkpoints": 1}


def test_broken_off_it_goes_on_where_it_was(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(pruning.ACTIONS, "jobs", pruning.RuleActions(jobs.outdated, jobs.remove, together=2))
    with database.transaction() as session:
        old = [an_ended_job(session) for _ in range(5)]

    def broken_off_after(count: int) -> Progress:
        def show(done: int, total: int, _rule: str) -> None:
            assert total == len(old)
            if done >= count:
                raise KeyboardInterrupt

        return show

    with pytest.raises(KeyboardInterrupt):
        counts(database, progress=broken_off_after(2))
    with database.reading() as session:
        assert len(jobs.list_jobs(session)) == 3
    assert counts(database) == {"jobs": 3}
    with database.reading() as session:
        assert [entry.detail["count"] for entry in audit.page(session)] == [3, 2]


def test_questions_to_recipients_go_and_refusals_stay(database: Database) -> None:
    with database.transaction() as session:
        key = keys.make(session, "office", "operator", None, NOW)[0].id
        new = subscriptions.create(session, NewSubscription(email="a@b.example"), key, NOW, SETTINGS)
        assert subscriptions.unsubscribe(session, new.id, NOW)
    assert counts(database) == {"deliveries": 1, "questions": 1}
    with database.reading() as session:
        stored = contents(session)
    assert (len(stored["mail_questions"]), len(stored["mail_refusals"])) == (0, 1)


def test_every_rule_is_a_setting_and_is_applied() -> None:
    assert pruning.ACTIONS.keys() == RULES.keys()
    for rule in RULES:
        days = retention.days_of(rule, SETTINGS)
        assert str(days) in retention.in_words(rule, days)
