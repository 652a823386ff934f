"""Operators are notified that the forecasts of a day are not complete at the stated time, and that they are again."""

import json
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from hydrology.base.absent import absent
from hydrology.base.calendar import Day, day
from hydrology.base.reasons import Reason
from jobspec.subscriptions import NewSubscription
from records.access import keys
from records.alerts import deliveries, issue_notices, subscriptions
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.forecasts import completeness, issues
from records.forecasts.issues import Issue, Outcome, Settled
from testing.messages.mail_server import Mail
from testing.records import BASIN, NOW, a_run
from tests.operations.alerts.test_deliveries import Outbox, outbox
from tests.operations.alerts.test_mail import PERSON, Post, post

__all__ = ["outbox", "post"]

STATED = time(7, 30)
OTHER = "SYNTH-01"
TODAY = day(NOW.date())
DUE = NOW.replace(hour=7, minute=30)
"""NOW is 06:00 of the same day."""


def start(at: Outbox | Post, of_day: Day) -> None:
    with at.database.transaction() as session:
        basins.upsert(session, Basin(OTHER))
        issues.start(session, Issue(day=of_day, opened_at=NOW), dict.fromkeys((BASIN, OTHER), at.version))


def settle(at: Outbox | Post, of_day: Day, first: Outcome, second: Outcome) -> None:
    with at.database.transaction() as session:
        run = a_run(session, at.version).id
        settled = {
            basin: Settled(outcome, run)
            if outcome == "issued"
            else Settled(outcome, None, absent(Reason.FAILED, message=f"It is {outcome}."))
            for basin, outcome in ((BASIN, first), (OTHER, second))
        }
        issues.settle(session, of_day, settled, NOW)


def look(database: Database, now: datetime) -> str | None:
    """Look as the scheduler does, and return the causes of what was stored."""
    with database.transaction() as session:
        if (notice := completeness.due(session, now, STATED)) is None:
            return None
        receivers = [one.id for one in subscriptions.active(session, "issues", now)]
        return notice.causes if issue_notices.store(session, notice, receivers, now) else None


def subscribe(at: Outbox | Post, **new: Any) -> str:
    with at.database.transaction() as session:
        asked = NewSubscription.model_validate({"about": "issues", **new})
        return subscriptions.create(session, asked, at.key, at.now, at.settings).id


def bodies(mail: Mail) -> list[str]:
    """Return the text and the HTML of a message."""
    found = [mail.message.get_body((kind,)) for kind in ("plain", "html")]
    return [part.get_content() for part in found if part is not None]


def test_each_cause_is_one_message_and_the_end_of_all_is_one(outbox: Outbox) -> None:
    receiver, of_alerts = outbox.receiver(), outbox.receiver()
    subscribe(outbox, url=receiver.url)
    outbox.subscribe(of_alerts.url)
    assert look(outbox.database, DUE) is None  # there was no issue yet
    start(outbox, TODAY - 1)
    settle(outbox, TODAY - 1, "issued", "unchanged")
    seen = [look(outbox.database, DUE - timedelta(minutes=1)), look(outbox.database, DUE), look(outbox.database, DUE)]
    start(outbox, TODAY)
    seen += [look(outbox.database, DUE), look(outbox.database, DUE)]
    settle(outbox, TODAY, "issued", "failed")
    seen += [look(outbox.database, DUE)]
    settle(outbox, TODAY, "issued", "issued")
    seen += [look(outbox.database, DUE), look(outbox.database, DUE)]
    assert seen == [None, "not_started", None, "unfinished", None, "failed", "", None]

    assert outbox.deliver() == {"delivered": 4}
    assert of_alerts.requests == []
    payloads = [json.loads(request.body) for request in receiver.requests]
    assert [(one["type"], one["data"]["day"]) for one in payloads] == [
        *[("issue.incomplete", str(TODAY))] * 3,
        ("issue.complete", str(TODAY)),
    ]
    assert [one["data"]["why"] for one in payloads] == [
        "No cycle of it was started by 07:30 UTC.",
        "Its cycle has not ended: 0 of 2 basins have a forecast of this day.",
        f"1 of 2 basins have a forecast of this day, 1 lack one. {OTHER}: It is failed.",
        "2 of 2 basins have a forecast of this day.",
    ]
    (first, *_), events = receiver.requests, [one["data"]["event"] for one in payloads]
    assert [request.headers["webhook-id"] for request in receiver.requests] == events
    (subscription,) = [one for one in outbox.deliveries() if one.notice_id == events[0]]
    assert outbox.signature(first, subscription.subscription_id, 1, NOW) == first.headers["webhook-signature"]


def test_a_cause_that_goes_on_is_no_news_and_a_further_one_is(outbox: Outbox) -> None:
    subscribe(outbox, url="https://rivers.example/")
    start(outbox, TODAY - 1)
    outcomes: list[tuple[Outcome, Outcome]] = [("issued", "failed"), ("failed", "failed"), ("issued", "issued")]
    settle(outbox, TODAY - 1, "issued", "issued")
    seen = []
    for ahead, both in enumerate(outcomes):
        start(outbox, TODAY + ahead)
        settle(outbox, TODAY + ahead, *both)
        seen.append(look(outbox.database, DUE + timedelta(days=ahead)))
    assert seen == ["failed", None, ""]
    assert len(outbox.deliveries()) == 2


def test_two_schedulers_store_one_notice(outbox: Outbox) -> None:
    subscribe(outbox, url="https://rivers.example/")
    start(outbox, TODAY - 1)
    with outbox.database.reading() as session:
        both = [completeness.due(session, DUE, STATED) for _ in range(2)]
        receivers = [one.id for one in subscriptions.active(session, "issues", DUE)]
    stored = []
    for notice in both:
        assert notice is not None
        with outbox.database.transaction() as session:
            stored.append(issue_notices.store(session, notice, receivers, DUE))
    assert (stored, len(outbox.deliveries())) == ([True, False], 1)


def test_a_gateway_gets_it_in_the_words_of_its_template(outbox: Outbox) -> None:
    receiver = outbox.receiver()
    subscribe(outbox, url=receiver.url, template={"body": '{"text": "$headline: $why"}'})
    start(outbox, TODAY - 1)
    look(outbox.database, DUE)
    outbox.deliver()
    (request,) = receiver.requests
    assert json.loads(request.body)["text"] == (
        f"The issue of {TODAY} is not complete: No cycle of it was started by 07:30 UTC."
    )


def test_a_message_by_e_mail_names_the_day_and_why_and_stops_on_request(post: Post) -> None:
    subscription = subscribe(post, email=PERSON)
    post.deliver()
    (question,) = post.server.mails
    assert all("when the forecasts of a day are not complete" in words for words in bodies(question))
    post.server.mails.clear()
    with post.database.transaction() as session:
        subscriptions.confirm(session, subscription, post.now)
    start(post, TODAY - 1)
    look(post.database, DUE)
    assert post.deliver() == {"delivered": 1}
    (mail,) = post.server.mails
    assert mail.message["Subject"] == f"The issue of {TODAY} is not complete"
    for words in bodies(mail):
        assert "No cycle of it was started by 07:30 UTC." in words
        assert f"/issues?day={TODAY}" in words
        assert "/mail/unsubscribe/" in words


@pytest.mark.parametrize("more", [{"basins": [BASIN]}, {"email": PERSON, "url": None, "digest": {"at": "07:00"}}])
def test_what_concerns_alerts_alone_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="messages about issues are of all basins, and are sent at once"):
        NewSubscription.model_validate({"url": "https://rivers.example/", "about": "issues", **more})


def test_a_revoked_key_gets_no_more_messages_about_issues(outbox: Outbox) -> None:
    subscribe(outbox, url="https://rivers.example/")
    start(outbox, TODAY - 1)
    with outbox.database.transaction() as session:
        keys.revoke(session, outbox.key, NOW)
    assert look(outbox.database, DUE) == "not_started"
    with outbox.database.reading() as session:
        assert deliveries.page(session) == []
