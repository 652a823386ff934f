"""What is in the outbox reaches each receiver, signed, at least once, and nobody else."""

import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog.testing
from standardwebhooks import Webhook

from hydrology.alerts import SEVERITIES
from hydrology.base.absent import absent
from hydrology.base.reasons import Reason
from jobspec.subscriptions import MessageTemplate, NewSubscription
from operations.alerts.deliver import deliver
from records.access import keys
from records.alerts import alert_changes, deliveries, dispatch, signatures, subscriptions
from records.alerts.alert_changes import Change, NewChange, as_json
from records.alerts.deliveries import Attempt, Delivery
from records.alerts.dispatch import LEASE, MAX_TRIES, WAITS
from records.alerts.subscriptions import OVERLAP
from records.database.engine import Database
from runtime.settings import Settings
from testing.records import BASIN, NOW, a_basin, a_version
from testing.webhook_receiver import LATE, Received, Receiver, receiving
from testing.work import MovedClock, work_of

PATIENCE = 0.5  # seconds, with receivers that never answer

BROKEN = absent(Reason.RECEIVER_REFUSED, status=500)


@dataclass
class Outbox:
    """A database with a key and a version, receivers, and a clock that the test moves."""

    database: Database
    settings: Settings
    stack: ExitStack
    key: str
    version: str
    now: datetime = NOW
    patience: float = 60.0

    def receiver(self, answers: Callable[[], int] = lambda: 204) -> Receiver:
        """Start a receiver that the settings allow."""
        started = self.stack.enter_context(receiving(Receiver(answers, hung_up=120.0)))
        hosts = (*self.settings.webhook_hosts, started.host)
        self.settings = self.settings.model_copy(update={"webhook_hosts": hosts})
        return started

    def subscribe(self, url: str) -> str:
        """Store a subscription to everything."""
        with self.database.transaction() as session:
            new = NewSubscription(url=url)
            return subscriptions.create(session, new, self.key, self.now, Settings()).id

    def change(self, why: str = "Über.") -> Change:
        """Store a change, as a promotion does."""
        new = NewChange(
            kind="promotion", at=self.now, basin_id=BASIN, severity=SEVERITIES[0], version_id=self.version, why=why
        )
        with self.database.transaction() as session:
            change = alert_changes.record_message(session, [new], self.now)[0]
        assert change is not None
        return change

    def deliver(self) -> dict[str, int]:
        """Do a pass."""
        counts = deliver(work_of(self.database, MovedClock(time=lambda: self.now), self.settings), self.patience)
        return {str(status): count for status, count in counts.items()}

    def signature(self, request: Received, subscription: str, generation: int, at: datetime) -> str:
        """Return the signature of a request by a secret, as the specification's library computes it."""
        secret = signatures.secret(signatures.service_key(self.settings), subscription, generation)
        return Webhook(secret).sign(request.headers["webhook-id"], at.astimezone(UTC), request.body.decode())

    def deliveries(self) -> list[Delivery]:
        with self.database.reading() as session:
            return deliveries.page(session)[::-1]

    def attempts(self, delivery: str) -> list[Attempt]:
        with self.database.reading() as session:
            return deliveries.attempts_of(session, delivery)


def payload(change: Change) -> dict[str, Any]:
    return {"type": "alert.promotion", "timestamp": "2008-10-01T06:00:00Z", "data": as_json(change)}


@pytest.fixture
def outbox(database: Database, tmp_path: Path) -> Iterator[Outbox]:
    with database.transaction() as session:
        a_basin(session)
        key, _ = keys.make(session, "office", "operator", None, NOW)
        version = a_version(session).id
    with ExitStack() as stack:
        yield Outbox(database, Settings(data=tmp_path), stack, key.id, version)


def test_a_change_reaches_each_receiver_once_with_the_same_event(outbox: Outbox) -> None:
    receivers = [outbox.receiver() for _ in range(2)]
    for receiver in receivers:
        outbox.subscribe(receiver.url)
    changes = [outbox.change() for _ in range(3)]
    assert outbox.deliver() == {"delivered": 6}
    assert outbox.deliver() == {}
    for receiver in receivers:
        assert [json.loads(request.body) for request in receiver.requests] == [payload(change) for change in changes]
        assert [request.headers["webhook-id"] for request in receiver.requests] == [one.id for one in changes]
        assert {request.headers["Content-Type"] for request in receiver.requests} == {"application/json"}


def test_a_change_is_signed_as_the_specifications_library_checks_it(outbox: Outbox) -> None:
    receiver = outbox.receiver()
    subscription = outbox.subscribe(receiver.url)
    outbox.change()
    outbox.deliver()
    (request,) = receiver.requests
    assert request.headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert request.headers["webhook-signature"] == outbox.signature(request, subscription, 1, NOW)


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("application/json", '{"text": "$headline: $why", "cost": "$$1"}', None),
        ("application/x-www-form-urlencoded", "to=1&text=$why", b"to=1&text=A+%22b%22%26c%3Dd+e"),
        ("text/plain", "$why ($kind, $basin)", f'A "b"&c=d e (promotion, {BASIN})'.encode()),
    ],
)
def test_a_gateway_gets_the_body_of_its_template_with_escaped_values_and_a_signature(
    outbox: Outbox, content_type: str, body: str, expected: bytes | None
) -> None:
    receiver = outbox.receiver()
    template = MessageTemplate.model_validate({"content_type": content_type, "body": body})
    with outbox.database.transaction() as session:
        new = NewSubscription(url=receiver.url, template=template)
        subscription = subscriptions.create(session, new, outbox.key, outbox.now, Settings()).id
    outbox.change('A "b"&c=d\ne')
    assert outbox.deliver() == {"delivered": 1}
    (request,) = receiver.requests
    assert request.headers["Content-Type"] == content_type
    assert request.headers["webhook-signature"] == outbox.signature(request, subscription, 1, NOW)
    if expected is None:
        assert json.loads(request.body) == {"text": f'Another model version: {BASIN}: A "b"&c=d e', "cost": "$1"}
    else:
        assert request.body == expected


def test_after_a_rotation_both_secrets_sign_for_a_while(outbox: Outbox) -> None:
    receiver = outbox.receiver()
    subscription = outbox.subscribe(receiver.url)
    with outbox.database.transaction() as session:
        subscriptions.rotate(session, subscription, NOW)
    for at, good in ((NOW, [2, 1]), (NOW + OVERLAP, [2])):
        outbox.now = at
        outbox.change()
        outbox.deliver()
        request = receiver.requests[-1]
        expected = [outbox.signature(request, subscription, generation, at) for generation in good]
        assert request.headers["webhook-signature"].split(" ") == expected


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (500, "It answered 500."),
        (410, "It answered 410."),
        (307, "It answered 307: redirections are not followed."),
        (LATE, "It did not answer within 0.5 seconds."),
    ],
)
def test_a_failed_delivery_is_retried_with_growing_waits_and_fails_in_the_end(
    outbox: Outbox, answer: int, failure: str
) -> None:
    receiver = outbox.receiver(lambda: answer)
    outbox.patience = PATIENCE if answer == LATE else outbox.patience
    outbox.subscribe(receiver.url)
    change = outbox.change()
    for wait in WAITS:
        assert outbox.deliver() == {"pending": 1}
        assert outbox.deliver() == {}
        (waiting,) = outbox.deliveries()
        assert waiting.next_at == outbox.now + wait
        outbox.now = waiting.next_at
    assert outbox.deliver() == {"failed": 1}
    outbox.now += timedelta(days=365)
    assert outbox.deliver() == {}
    (failed,) = outbox.deliveries()
    assert (failed.status, failed.tries, failed.next_at) == ("failed", MAX_TRIES, None)
    log = outbox.attempts(failed.id)
    code = None if answer == LATE else answer
    assert [(one.number, one.status_code, str(one.failure)) for one in log] == [
        (number, code, failure) for number in range(1, MAX_TRIES + 1)
    ]
    assert list(WAITS) == sorted(WAITS)
    assert {request.headers["webhook-id"] for request in receiver.requests} == {change.id}
    assert len({request.body for request in receiver.requests}) == 1


def test_a_delivery_that_has_ended_is_replayed_under_the_same_event(outbox: Outbox) -> None:
    answers = iter([500] * MAX_TRIES + [204, 204])
    receiver = outbox.receiver(lambda: next(answers))
    outbox.subscribe(receiver.url)
    change = outbox.change()
    for _ in range(MAX_TRIES):
        outbox.deliver()
        outbox.now += WAITS[-1]
    (failed,) = outbox.deliveries()
    for attempts in (MAX_TRIES + 1, MAX_TRIES + 2):
        with outbox.database.transaction() as session:
            assert dispatch.replay(session, failed.id, outbox.now).status == "pending"
            with pytest.raises(dispatch.NotEnded):
                dispatch.replay(session, failed.id, outbox.now)
        assert outbox.deliver() == {"delivered": 1}
        assert len(outbox.attempts(failed.id)) == attempts
    assert {request.headers["webhook-id"] for request in receiver.requests} == {change.id}


def test_a_receiver_that_hangs_holds_up_nothing_but_itself(outbox: Outbox) -> None:
    hanging, well = outbox.receiver(lambda: LATE), outbox.receiver()
    outbox.patience = 10 * PATIENCE
    for receiver in (hanging, well):
        outbox.subscribe(receiver.url)
    for _ in range(4):
        outbox.change()
    assert outbox.deliver() == {"pending": 1, "delivered": 4}
    assert len(hanging.requests) == 1


@pytest.mark.parametrize(
    ("url", "failure"),
    [
        ("https://127.0.0.1:9/", "has no public address"),
        ("https://2130706433/", "has no public address"),
        ("https://169.254.169.254/latest/meta-data", "has no public address"),
        ("https://[::ffff:10.0.0.1]/", "has no public address"),
        ("https://localhost:9/", "Its host has no public address"),
        ("http://rivers.example/", "It is not https"),
    ],
)
def test_nothing_is_sent_to_an_address_of_the_own_network_or_without_tls(
    outbox: Outbox, url: str, failure: str
) -> None:
    outbox.subscribe(url)
    outbox.change()
    assert outbox.deliver() == {"pending": 1}
    (attempt,) = outbox.attempts(outbox.deliveries()[0].id)
    assert failure in str(attempt.failure)


def test_a_redirection_into_the_own_network_is_not_followed(outbox: Outbox) -> None:
    inside = outbox.receiver()
    front = outbox.receiver(lambda: 307)
    outbox.subscribe(front.url)
    outbox.change()
    assert outbox.deliver() == {"pending": 1}
    assert (len(front.requests), inside.requests) == (1, [])


def test_neither_secrets_nor_addresses_nor_answers_are_reported(outbox: Outbox, tmp_path: Path) -> None:
    receiver = outbox.receiver(lambda: 500)
    subscription = outbox.subscribe(f"{receiver.url}?token=hush")
    outbox.change()
    with structlog.testing.capture_logs() as logs:
        outbox.deliver()
    (attempt,) = outbox.attempts(outbox.deliveries()[0].id)
    secret = signatures.secret(signatures.service_key(outbox.settings), subscription, 1)
    for text in (str(logs), str(attempt), receiver.requests[0].body.decode()):
        assert "hush" not in text
        assert secret not in text
    assert secret not in str(receiver.requests[0].headers)
    assert oct((tmp_path / signatures.KEY_FILE).stat().st_mode)[-3:] == "600"


def _deliver_and_die(url: str, settings: Settings, at: datetime) -> None:
    """Send, and be killed once the attempt has been written down."""
    looks = iter([at, at])

    def now() -> datetime:
        look = next(looks, None)
        if look is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return at

    deliver(work_of(Database(url), MovedClock(time=now), settings))


def test_the_delivery_of_a_killed_sender_is_sent_by_the_next_after_its_lease(outbox: Outbox) -> None:
    receiver = outbox.receiver()
    outbox.subscribe(receiver.url)
    change = outbox.change()
    url = outbox.database.url
    killed = multiprocessing.get_context("spawn").Process(target=_deliver_and_die, args=(url, outbox.settings, NOW))
    killed.start()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    assert outbox.deliver() == {}
    outbox.now += LEASE
    assert outbox.deliver() == {"delivered": 1}
    log = outbox.attempts(outbox.deliveries()[0].id)
    assert [one.failure for one in log] == [absent(Reason.SENDER_LOST), None]
    assert [request.headers["webhook-id"] for request in receiver.requests] == [change.id]


def test_senders_that_are_lost_again_and_again_end_too(outbox: Outbox) -> None:
    outbox.subscribe("https://rivers.example/")
    outbox.change()
    (delivery,) = outbox.deliveries()
    for _ in range(MAX_TRIES):
        with outbox.database.transaction() as session:
            assert dispatch.claim(session, delivery.id, outbox.now) is not None
        outbox.now += LEASE
    assert outbox.deliver() == {}
    (failed,) = outbox.deliveries()
    assert (failed.status, failed.tries) == ("failed", MAX_TRIES)


def test_one_of_two_senders_holds_a_delivery_and_the_late_one_stores_nothing(outbox: Outbox) -> None:
    outbox.subscribe("https://rivers.example/")
    outbox.change()
    (delivery,) = outbox.deliveries()
    with outbox.database.transaction() as session:
        first = dispatch.claim(session, delivery.id, NOW)
        assert first is not None
        assert dispatch.claim(session, delivery.id, NOW) is None
        second = dispatch.claim(session, delivery.id, NOW + LEASE)
        assert second is not None
        assert (
            dispatch.finish(
                session,
                delivery.id,
                first.number,
                NOW,
                status_code=500,
                failure=absent(Reason.RECEIVER_REFUSED, status=500),
            )
            is None
        )
        assert dispatch.finish(session, delivery.id, second.number, NOW, status_code=204, failure=None) == "delivered"


def test_a_subscription_goes_with_its_deliveries(outbox: Outbox) -> None:
    subscription = outbox.subscribe("https://rivers.example/")
    outbox.change()
    with outbox.database.transaction() as session:
        subscriptions.remove(session, subscription)
    assert outbox.deliveries() == []
    assert outbox.deliver() == {}
