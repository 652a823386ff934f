"""Operators are notified once of each alarm of the service, and once of its end."""

import json
import socket
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from jobspec.feed_kinds import USUAL, NewFeed
from operations.upkeep import alarms
from records.alerts import subscriptions
from records.basins import basins
from records.database.stored import add_all, as_values, table_of
from records.database.work import Work
from records.feeds import feeds
from records.feeds.feeds import FetchedBasin
from records.jobs import process_heartbeats, schedules
from records.jobs.schedules import NewSchedule
from records.verification import lead_scores
from testing.records import BASIN, NOW, a_basin, a_promoted_version
from testing.work import MovedClock
from tests.operations.alerts.test_deliveries import Outbox, outbox
from tests.operations.alerts.test_issue_notices import DUE, TODAY, bodies, start, subscribe
from tests.operations.alerts.test_issue_notices import look as look_at_issue
from tests.operations.alerts.test_mail import PERSON, Post, post
from tests.records.verification.test_lead_scores import SCORES, a_verification

__all__ = ["outbox", "post"]

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def add_feed(at: Outbox | Post, name: str, *, basins: int = 1, every: str | None = "0 7 * * *") -> None:
    """Add a feed of some basins, which a schedule fetches, or nothing does."""
    with at.database.transaction() as session:
        feeds.create(session, NewFeed(name=name, settings=USUAL[name]), None, NOW)
        for number in range(basins):
            a_basin(session, f"usgs-0101350{number}")
        if every is not None:
            new = NewSchedule(name=name, kind="fetch", params={"feed": name}, cron=every, timezone="UTC")
            schedules.create(session, replace(new, next_run_at=NOW + DAY), NOW)


def fetch(at: Outbox | Post, name: str, when: datetime, failed: Sequence[str] = ()) -> None:
    """Store that all basins of a feed were fetched at an instant, but for some that failed."""
    with at.database.transaction() as session:
        feed = feeds.get(session, name)
        before = {one.basin_id: one.fetched_at for one in feeds.basins_of(session, feed)}
        fetched = [
            FetchedBasin(basin_id=basin, status="failed", reason="gone", tried_at=when, fetched_at=before.get(basin))
            if basin in failed
            else FetchedBasin(basin_id=basin, status="new", tried_at=when, fetched_at=when)
            for basin in basins.chosen(session)
        ]
        feeds.note_basins(session, feed, fetched)
        feeds.note_fetch(session, feed, when, "1 of 2 failed" if failed else None)


def look(at: Outbox | Post, now: datetime, looks: alarms.Present = alarms.troubled_parts) -> list[str]:
    """Look as the scheduler does, and return the headlines of what was stored."""
    work = Work(at.settings, at.database, MovedClock(time=lambda: now))
    return [one.headline for one in alarms.notify(work, looks)]


def test_each_cause_is_one_message_and_its_end_is_one(outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    receiver, of_alerts = outbox.receiver(), outbox.receiver()
    subscribe(outbox, url=receiver.url)
    outbox.subscribe(of_alerts.url)
    for name in ("flow", "past"):
        add_feed(outbox, name)
    monkeypatch.setattr(alarms, "FREE_BYTES", 0)
    seen = {}
    for hours in range(0, 24 * 12, 6):
        now = NOW + hours * HOUR
        if not 2 * DAY <= now - NOW < 6 * DAY:  # an outage of the service that both feeds ask
            fetch(outbox, "flow", now)
        if not 2 * DAY <= now - NOW < 5 * DAY:
            fetch(outbox, "past", now)
        is_full = 7 * DAY <= now - NOW < 8 * DAY
        monkeypatch.setattr(alarms, "FREE_BYTES", 2**60 if is_full else 0)
        if headlines := look(outbox, now):
            seen[hours / 24] = headlines
        assert look(outbox, now) == []
    flow, past, disk = "the feed flow is silent", "the feed past is silent", own_disk()
    assert {at: sorted(headlines) for at, headlines in seen.items()} == {
        3.5: [f"Alarm: {flow}", f"Alarm: {past}"],
        5.0: [f"Over: {past}"],
        6.0: [f"Over: {flow}"],
        7.0: [f"Alarm: {disk}"],
        8.0: [f"Over: {disk}"],
    }
    assert outbox.deliver() == {"delivered": 6}
    assert of_alerts.requests == []
    payloads = [json.loads(request.body) for request in receiver.requests]
    started, over = (
        [one["data"]["alarm"] for one in payloads if one["type"] == f"alarm.{kind}"] for kind in ("begins", "ends")
    )
    assert sorted(started) == sorted(over) == sorted([flow, past, disk])
    assert {one["data"]["causes"][0] for one in payloads if one["data"]["causes"]} == {"silent-feed", "disk"}


def own_disk() -> str:
    return f"the disk of the data folder fills on {socket.gethostname()}"


def test_the_disk_of_another_machine_is_that_ones_to_watch_while_it_runs(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = socket.gethostname(), "other-machine"
    with outbox.database.transaction() as session:
        for machine in (own, other):
            process_heartbeats.beat(session, f"{machine}:7:0a", "scheduler", [], NOW)

    def look_on(machine: str, free: int) -> list[str]:
        monkeypatch.setattr(socket, "gethostname", lambda: machine)
        monkeypatch.setattr(alarms, "FREE_BYTES", 0 if free else 2**60)
        return look(outbox, NOW)

    its_disk = own_disk().replace(own, other)
    assert look_on(other, free=0) == [f"Alarm: {its_disk}"]
    assert look_on(own, free=1) == []
    assert look_on(own, free=0) == [f"Alarm: {own_disk().replace(other, own)}"]
    assert look_on(other, free=1) == [f"Over: {its_disk}"]
    with outbox.database.transaction() as session:
        process_heartbeats.remove(session, f"{own}:7:0a")  # whoever is left ends the alarms of one that has gone
    assert look_on(other, free=1) == [f"Over: {own_disk().replace(other, own)}"]


def test_what_comes_and_goes_is_one_message_a_day(outbox: Outbox) -> None:
    add_feed(outbox, "flow")
    late = NOW + 3 * DAY
    assert len(look(outbox, late)) == 1
    fetch(outbox, "flow", late)
    assert len(look(outbox, late + HOUR)) == 1
    fetch(outbox, "flow", NOW)
    assert look(outbox, late + 2 * HOUR) == []
    assert len(look(outbox, late + DAY)) == 1


def test_a_basin_that_fails_for_good_does_not_make_its_feed_silent(outbox: Outbox) -> None:
    add_feed(outbox, "flow", basins=2)
    for days in range(10):
        fetch(outbox, "flow", NOW + days * DAY, failed=["USGS-01013501"])
        assert look(outbox, NOW + days * DAY) == []
    assert look(outbox, NOW + 12 * DAY) == ["Alarm: the feed flow is silent"]


@pytest.mark.parametrize(("every", "silent_after"), [(None, None), ("0 7 * * *", 1), ("0 7 * * 1", 6)])
def test_only_what_is_fetched_regularly_can_be_silent(
    outbox: Outbox, every: str | None, silent_after: int | None
) -> None:
    add_feed(outbox, "flow", every=every)
    fetch(outbox, "flow", NOW)  # a Wednesday
    started = next((days for days in range(30) if look(outbox, NOW + days * DAY + 8 * HOUR)), None)
    assert started == silent_after


def test_the_daily_cycle_fetches_all_feeds_or_those_that_it_names(outbox: Outbox) -> None:
    for name in ("flow", "past"):
        add_feed(outbox, name, every=None)
    new = NewSchedule(name="cycle", kind="daily", params={"feeds": ["past"]}, cron="0 7 * * *", timezone="UTC")
    with outbox.database.transaction() as session:
        stored = schedules.create(session, replace(new, next_run_at=NOW + DAY), NOW)
    assert look(outbox, NOW + 3 * DAY) == ["Alarm: the feed past is silent"]
    with outbox.database.transaction() as session:
        schedules.update(session, stored.id, 1, replace(new, params={}, next_run_at=NOW + DAY), NOW)
    assert look(outbox, NOW + 4 * DAY) == ["Alarm: the feed flow is silent"]
    with outbox.database.transaction() as session:
        schedules.update(session, stored.id, 2, replace(new, enabled=False), NOW)
    assert len(look(outbox, NOW + 5 * DAY)) == 2  # both are over


def test_a_version_worse_than_persistence_is_one_message_and_its_end_is_one(outbox: Outbox) -> None:
    receiver = outbox.receiver()
    subscribe(outbox, url=receiver.url)
    others = [f"USGS-0101350{number}" for number in range(1, 4)]
    with outbox.database.transaction() as session:
        version = a_promoted_version(session)
        for basin in others:
            a_basin(session, basin)
    seen = []
    for days in range(90):
        if days % 10 == 0:  # `freshet verify`
            skills = (-0.3, -0.1, 0.5) if 30 <= days < 60 else (-0.3, 0.2, 0.5)
            with outbox.database.transaction() as session:
                for basin, skill in zip(others, skills, strict=True):
                    store_skill(session, version, basin, skill, pairs=max(days, 1))
        seen += [(days, one) for one in look(outbox, NOW + days * DAY, alarms.poor_versions)]
        assert look(outbox, NOW + days * DAY, alarms.troubled_parts) == []  # which ends no alarm of another cause
    name = f"version {version} forecasts worse than persistence"
    assert seen == [(30, f"Alarm: {name}"), (60, f"Over: {name}")]
    assert outbox.deliver() == {"delivered": 2}
    first = json.loads(receiver.requests[0].body)["data"]
    assert first["causes"] == ["poor-version"]
    assert "-0.10 in the median of 3 basins" in first["why"]


@pytest.mark.parametrize(
    "chosen", [{"pairs": 29}, {"lead": 2}, {"origin": "reforecast"}, {"forecaster": "raw"}, {"season": "DJF"}]
)
def test_other_scores_and_few_pairs_do_not_count(outbox: Outbox, chosen: dict[str, Any]) -> None:
    with outbox.database.transaction() as session:
        store_skill(session, a_promoted_version(session), BASIN, -0.5, **chosen)
    assert look(outbox, NOW, alarms.poor_versions) == []


def test_the_weather_that_was_verified_last_counts(outbox: Outbox) -> None:
    with outbox.database.transaction() as session:
        version = a_promoted_version(session)
        store_skill(session, version, BASIN, -0.5, weather="retired", last_day=day("2007-09-30"))
        store_skill(session, version, BASIN, 0.5, weather="present", last_day=day("2008-09-20"))
    assert look(outbox, NOW, alarms.poor_versions) == []


def store_skill(session: Session, version: str, basin: str, skill: float, pairs: int = 30, **chosen: Any) -> None:
    """Store the skill of issued forecasts against persistence, in place of an earlier one."""
    own = {"version_id": version, "basin_id": basin, "origin": "issued", "weather": "ecmwf"}
    scores = replace(SCORES, n=pairs, crpss_persistence=skill)
    row = a_verification(session, **own | {"last_day": day("2008-09-20"), "scores": scores} | chosen)
    key = {name: getattr(row, name) for name in ("version_id", "basin_id", "weather")}
    session.execute(table_of(lead_scores.BasinVerification).delete().filter_by(**key))
    add_all(session, lead_scores.BasinVerification, [as_values(row)])


def test_an_alarm_changes_nothing_about_issues(outbox: Outbox) -> None:
    start(outbox, TODAY - 1)
    assert look_at_issue(outbox.database, DUE) == "not_started"
    add_feed(outbox, "flow")
    assert len(look(outbox, DUE + 3 * DAY)) == 1
    assert look_at_issue(outbox.database, DUE) is None


def test_a_person_reads_what_is_wrong_in_a_mail(post: Post) -> None:
    subscription = subscribe(post, email=PERSON)
    with post.database.transaction() as session:
        subscriptions.confirm(session, subscription, post.now)
    add_feed(post, "flow")
    look(post, NOW + 3 * DAY)
    post.deliver()
    mail = post.server.mails[-1]
    assert mail.message["Subject"] == "Alarm: the feed flow is silent"
    for words in bodies(mail):
        assert "It was fetched never." in words
        assert "/status" in words
