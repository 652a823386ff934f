"""Operators are notified once of each alarm of the service, and once of its end."""

import json
from datetime import datetime, timedelta

import pytest

from jobspec.feed_kinds import USUAL, NewFeed
from operations.upkeep import alarms
from records.alerts import issue_notices, subscriptions
from records.database.stored import table_of
from records.feeds import feeds
from records.feeds.feeds import Feed
from testing.records import NOW
from tests.operations.alerts.test_deliveries import Outbox, outbox
from tests.operations.alerts.test_issue_notices import DUE, TODAY, bodies, start, subscribe
from tests.operations.alerts.test_issue_notices import look as look_at_issue
from tests.operations.alerts.test_mail import PERSON, Post, post

__all__ = ["outbox", "post"]

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def add_feed(at: Outbox | Post, name: str) -> None:
    with at.database.transaction() as session:
        feeds.create(session, NewFeed(name=name, settings=USUAL[name]), None, NOW)


def fetch(at: Outbox | Post, name: str, when: datetime) -> None:
    with at.database.transaction() as session:
        session.execute(table_of(Feed).update().filter_by(name=name).values(last_success_at=when))


def look(at: Outbox | Post, now: datetime) -> list[str]:
    """Look as the scheduler does, and return the headlines of what was stored."""
    with at.database.transaction() as session:
        due = alarms.due_notices(session, at.settings, now)
        receivers = [one.id for one in subscriptions.active(session, "issues", now)]
        return [one.headline for one in due if issue_notices.store(session, one, receivers, now)]


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
    flow, past, disk = "the feed flow is silent", "the feed past is silent", "the disk of the data folder fills"
    assert {at: sorted(headlines) for at, headlines in seen.items()} == {
        4.0: [f"Alarm: {flow}", f"Alarm: {past}"],
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


def test_what_comes_and_goes_is_one_message_a_day(outbox: Outbox) -> None:
    add_feed(outbox, "flow")
    late = NOW + 3 * DAY
    assert len(look(outbox, late)) == 1
    fetch(outbox, "flow", late)
    assert len(look(outbox, late + HOUR)) == 1
    fetch(outbox, "flow", NOW)
    assert look(outbox, late + 2 * HOUR) == []
    assert len(look(outbox, late + DAY)) == 1


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
        assert "It was fetched completely never." in words
        assert "/status" in words
