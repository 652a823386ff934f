"""Strangers get no e-mail beyond one question in a month, whoever asks and however the address is spelt."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier

import pytest

from hydrology.base.absent import absent
from hydrology.base.reasons import Reason
from jobspec.subscriptions import NewSubscription
from records.access import keys
from records.alerts import deliveries, dispatch, subscriptions
from records.database.engine import Database
from runtime.settings import Settings
from testing.records import NOW, contents


def test_an_address_is_asked_once_however_many_ask_at_once(database: Database) -> None:
    with database.transaction() as session:
        asking = [keys.make(session, f"key {number}", "operator", None, NOW)[0].id for number in range(6)]
    together = Barrier(len(asking))

    def ask(key: str) -> None:
        together.wait()
        with database.transaction() as session:
            subscriptions.create(session, NewSubscription(email="a@example.org"), key, NOW, Settings())

    with ThreadPoolExecutor(len(asking)) as pool:
        list(pool.map(ask, asking))
    assert len(sendable(database)) == 1


def sendable(database: Database, at: datetime = NOW) -> list[str]:
    """Send all questions that are due, and return the addresses that got one."""
    with database.transaction() as session:
        waiting = [
            delivery for queue in dispatch.due(session, at) for message in queue.messages for delivery in message
        ]
        sendings = [sent for one in waiting if (sent := dispatch.claim(session, one, at)) is not None]
        for one in sendings:
            dispatch.finish(session, one.delivery, one.number, at, status_code=250, failure=None)
    return [one.subscription.email or "" for one in sendings]


def test_no_deletion_key_or_spelling_brings_a_mailbox_another_question_within_its_days(database: Database) -> None:
    """The same after its recipient has agreed, a bounce, and a clock that is set back."""
    settings = Settings(mail_questions_per_day=100)
    spellings = [
        *("victim@gmail.com", "Victim@gmail.com", "victim+1@GMail.com", "vic.tim+a+b@googlemail.com"),
        *("x@xn--bcher-kva.example", "X+y@XN--BCHER-KVA.example", "+a@b.example", "+A@b.example"),
    ]
    with database.transaction() as session:
        both = [keys.make(session, f"key {number}", "operator", None, NOW)[0].id for number in range(2)]

    def ask(email: str, key: str, at: datetime) -> list[str]:
        with database.transaction() as session:
            new = subscriptions.create(session, NewSubscription(email=email), key, at, settings)
        sent = sendable(database, at)
        with database.transaction() as session:
            match len(email) % 3:
                case 0:
                    subscriptions.confirm(session, new.id, at)
                case 1:
                    subscriptions.pause(session, new.id, absent(Reason.MAIL_ADDRESS_REFUSED, status=550), at)
            subscriptions.remove(session, new.id)
        return sent

    for at in (NOW, NOW - timedelta(days=2), NOW + timedelta(days=29)):
        sent = [email for key in both for email in spellings for email in ask(email, key, at)]
        assert sent == ([spellings[0], spellings[4], spellings[6]] if at == NOW else [])
    later = NOW + timedelta(days=31)
    assert ask(spellings[3], both[1], later) == ["vic.tim+a+b@googlemail.com"]
    with database.reading() as session:
        assert not [email for email in spellings if email in str(contents(session))]


def test_a_refusal_lasts_until_the_recipient_revokes_it(database: Database) -> None:
    with database.transaction() as session:
        key = keys.make(session, "office", "operator", None, NOW)[0].id
        new = subscriptions.create(session, NewSubscription(email="duty@rivers.example"), key, NOW, Settings())
        early = subscriptions.create(session, NewSubscription(email="mayor@rivers.example"), key, NOW, Settings())
        subscriptions.confirm(session, new.id, NOW)
        assert subscriptions.unsubscribe(session, new.id, NOW)
        deliveries.refuse_questions(
            session, deliveries.mailbox_hash(session, early.email or ""), NOW
        )  # before it is sent
        subscriptions.remove(session, new.id)
    assert sendable(database) == []
    years = NOW + timedelta(days=4_000)
    with database.transaction() as session:
        deliveries.remove_questions(session, list(deliveries.outdated_questions(session, years)))
        subscriptions.create(session, NewSubscription(email="Duty+2@rivers.example"), key, years, Settings())
    assert sendable(database, years) == []
    with database.transaction() as session:
        mailbox = deliveries.mailbox_hash(session, "duty@rivers.example")
        assert [deliveries.allow_questions(session, mailbox) for _ in range(2)] == [True, False]
        subscriptions.create(session, NewSubscription(email="duty@rivers.example"), key, years, Settings())
    assert sendable(database, years) == ["duty@rivers.example"]


def test_a_key_asks_so_many_addresses_a_day_whether_they_may_be_asked_or_not(database: Database) -> None:
    settings = Settings(mail_questions_per_day=3)
    with database.transaction() as session:
        key, other = (keys.make(session, name, "operator", None, NOW)[0].id for name in ("a", "b"))
        for _ in range(3):
            new = subscriptions.create(session, NewSubscription(email="a@b.example"), key, NOW, settings)
            subscriptions.remove(session, new.id)
        with pytest.raises(deliveries.TooManyQuestions, match="3 subscriptions"):
            subscriptions.create(session, NewSubscription(email="c@d.example"), key, NOW, settings)
        subscriptions.create(session, NewSubscription(url="https://rivers.example/"), key, NOW, settings)
        subscriptions.create(session, NewSubscription(email="c@d.example"), other, NOW, settings)
        tomorrow = NOW + timedelta(days=1)
        subscriptions.create(session, NewSubscription(email="e@f.example"), key, tomorrow, settings)
