"""Alert changes by e-mail, over a real mail server that is encrypted: each arrives, once, at who agreed."""

import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import structlog.testing

from hydrology.alerts import Severity
from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from jobspec.subscriptions import Digest, NewSubscription
from operations.alerts import mail
from operations.alerts.deliver import deliver
from records.access import keys
from records.alerts import alert_changes, deliveries, dispatch, signatures, subscriptions
from records.alerts.alert_changes import Change, NewChange
from records.alerts.deliveries import DELIVERIES, Delivery
from records.alerts.dispatch import MAX_OUTAGE, MAX_TRIES, WAITS, Sending
from records.alerts.subscriptions import CONFIRM_WITHIN, SUBSCRIPTIONS
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from runtime.settings import Settings
from testing.messages.mail_server import PASSWORD, PUBLIC_URL, Answer, MailServer, serving_mail
from testing.records import BASIN, NOW, a_run, a_version
from testing.work import MovedClock, work_of

PERSON = "duty@rivers.example"


@dataclass
class Post:
    """A database with a key, a mail server that answers as the test sets, and a clock that the test moves."""

    database: Database
    settings: Settings
    server: MailServer
    key: str
    version: str
    now: datetime = NOW
    answers: list[Answer] = field(default_factory=list)

    def subscribe(self, email: str = PERSON, digest: Digest | None = None, *, confirm: bool = True) -> str:
        with self.database.transaction() as session:
            new = NewSubscription(email=email, digest=digest)
            created = subscriptions.create(session, new, self.key, self.now, self.settings).id
            if confirm:
                subscriptions.confirm(session, created, self.now)
        if confirm:
            self.deliver()
            self.server.mails.clear()
        return created

    def change(self, severity: Severity = "watch", why: str = "Watch begins: <b>0.5</b> & more.") -> Change:
        new = NewChange(
            kind="promotion", at=self.now, basin_id=BASIN, severity=severity, version_id=self.version, why=why
        )
        with self.database.transaction() as session:
            change = alert_changes.record_message(session, [new], self.now)[0]
        assert change is not None
        return change

    def deliver(self) -> dict[str, int]:
        work = work_of(self.database, MovedClock(time=lambda: self.now), self.settings)
        return {str(status): n for status, n in deliver(work).items()}

    def pending(self) -> list[Delivery]:
        with self.database.reading() as session:
            return deliveries.page(session, status="pending")[::-1]

    def attempts(self) -> int:
        with self.database.reading() as session:
            return sum(len(deliveries.attempts_of(session, one.id)) for one in deliveries.page(session))

    def failures(self) -> list[str]:
        with self.database.reading() as session:
            logs = [deliveries.attempts_of(session, one.id) for one in deliveries.page(session)[::-1]]
        return [str(attempt.failure) for log in logs for attempt in log if attempt.failure]


@pytest.fixture
def post(database: Database, tmp_path: Path) -> Iterator[Post]:
    with database.transaction() as session:
        basins.upsert(session, Basin(BASIN, name="FISH R NR\r\nBcc: all@x.example, ME"))
        key, _ = keys.make(session, "office", "admin", None, NOW)
        version = a_version(session).id
    with ExitStack() as stack:
        server = stack.enter_context(serving_mail(MailServer(), tmp_path))
        started = Post(database, server.settings(tmp_path), server, key.id, version)
        server.answers = lambda _recipient: started.answers.pop(0) if started.answers else "take"
        yield started


def test_nothing_but_the_question_is_sent_before_the_recipient_agrees(post: Post) -> None:
    subscription = post.subscribe(confirm=False)
    post.change()
    assert post.deliver() == {"delivered": 1}
    (question,) = post.server.mails
    assert (question.recipient, question.message["To"]) == (PERSON, PERSON)
    text = question.message.get_body(("plain",))
    assert text is not None
    leave = re.search(rf"{PUBLIC_URL}/mail/questions/(\S+)", text.get_content())
    assert leave is not None
    assert question.message["List-Unsubscribe"] == f"<{leave[0]}>"
    token = re.search(rf"{PUBLIC_URL}/mail/confirm/(\S+)", text.get_content())
    assert token is not None
    key = signatures.service_key(post.settings)
    with post.database.reading() as session:
        assert signatures.subscription_of(session, key, "confirm", token[1]).id == subscription
        with pytest.raises(signatures.InvalidMailLink):
            signatures.subscription_of(session, key, "unsubscribe", token[1])


def test_a_change_is_a_message_of_plain_text_and_html_with_a_link_to_unsubscribe(post: Post) -> None:
    post.subscribe()
    change = post.change()
    assert post.deliver() == {"delivered": 1}
    message = post.server.mails[0].message
    assert message["From"] == "Freshet <alerts@rivers.example>"
    assert message["Bcc"] is None
    assert "\n" not in message["Subject"]
    assert message["Subject"].startswith("Another model version: FISH R near Bcc: all@x.example")
    assert re.fullmatch(rf"<{PUBLIC_URL}/mail/unsubscribe/[0-9a-f.]+>", message["List-Unsubscribe"])
    assert re.search(rf"^List-Unsubscribe: <{PUBLIC_URL}/\S+>\r$".encode(), post.server.mails[0].content, re.MULTILINE)
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    plain, html = message.get_body(("plain",)), message.get_body(("html",))
    assert plain is not None
    assert html is not None
    assert change.why in plain.get_content()
    assert "&lt;b&gt;0.5&lt;/b&gt; &amp; more." in html.get_content()
    assert change.why not in html.get_content()


def test_every_change_arrives_once_however_the_server_behaves(post: Post) -> None:
    """Deferred, refused and broken off: within a minute; sent again after an unknown outcome under the same id."""
    people = [f"{name}@rivers.example" for name in ("duty", "office", "mayor")]
    for person in people:
        post.subscribe(person)
    post.answers = ["defer", "die", "refuse", "drop", "take", "by policy"]
    changes = [post.change() for _ in range(2)]
    started = post.now
    for _ in changes:
        post.deliver()
    post.now += WAITS[0]
    while post.deliver():
        pass
    assert post.now - started == timedelta(seconds=60)
    got = [(one.recipient, str(one.message["Message-ID"])) for one in post.server.mails]
    assert len(set(got)) == len(people) * len(changes)
    assert len(got) - len(set(got)) == sum(one.answer == "die" for one in post.server.mails) == 1
    assert post.failures().__len__() == 5
    with post.database.reading() as session:
        assert {one.status for one in deliveries.page(session)} == {"delivered"}


def test_a_recipient_who_is_not_there_pauses_the_subscription_and_a_refused_server_does_not(post: Post) -> None:
    subscription = post.subscribe()
    post.answers = ["by policy", "no address"]
    post.now += timedelta(seconds=1)
    post.change()
    assert post.deliver() == {"pending": 1}
    with post.database.reading() as session:
        assert dispatch.mail_server_fault(session) == absent(Reason.MAIL_REFUSED, status=554)
    post.now += WAITS[0]
    assert post.deliver() == {"failed": 1}
    with post.database.reading() as session:
        stored = subscriptions.get(session, subscription)
        assert str(stored.paused_because) == "The mail server refused the address with 550."
        assert subscriptions.count_paused_of_service(session) == 1
        (failed,) = deliveries.page(session, status="failed")
    post.change()
    assert post.deliver() == {}
    with post.database.transaction() as session:
        with pytest.raises(dispatch.SubscriptionPaused):
            dispatch.replay(session, failed.id, post.now)
        subscriptions.resume(session, subscription)
        dispatch.replay(session, failed.id, post.now)
    assert post.deliver() == {"delivered": 1}


@pytest.mark.parametrize(
    ("chosen", "failure"),
    [
        ({"smtp_password": "wrong"}, "refused the user and password"),
        ({"smtp_ca": None}, "its certificate is not valid"),
        ({"smtp_security": "tls"}, "its certificate is not valid"),
        ({"smtp_port": 1}, "could not be connected to"),
        ({"smtp_host": None}, "sends no e-mail"),
        ({"smtp_host": "a..b"}, "could not be connected to"),
        ({"smtp_password": "h\xfcsh"}, "could not be connected to"),
    ],
)
def test_what_lies_with_the_server_is_retried_and_reveals_no_secret(
    post: Post, chosen: dict[str, object], failure: str
) -> None:
    post.subscribe()
    good = post.settings
    post.settings = good.model_copy(update=chosen)
    post.change()
    with structlog.testing.capture_logs() as logs:
        assert post.deliver() == {"pending": 1}
    (reason,) = post.failures()
    assert failure in reason
    for secret in (PASSWORD, "wrong", PERSON):
        assert secret not in str(logs) + reason
    assert PASSWORD not in repr(good)
    (waiting,) = post.pending()
    assert waiting.next_at is not None
    assert waiting.next_at - post.now == timedelta(minutes=15 if "user and password" in failure else 1)
    post.settings, post.now = good, waiting.next_at
    assert post.deliver() == {"delivered": 1}


def test_a_server_that_is_out_is_asked_once_a_minute_and_gets_everything_when_it_is_back(post: Post) -> None:
    """It takes no tries, and each pass attempts one message: that with the fewest attempts."""
    people = [f"{name}@rivers.example" for name in ("duty", "office", "mayor")]
    for person in people:
        post.subscribe(person)
    changes = [post.change() for _ in range(2)]
    before, minutes = post.attempts(), len(people) * len(changes) * (MAX_TRIES + 1)
    good = post.settings
    post.settings = good.model_copy(update={"smtp_port": 1})
    for _ in range(minutes):
        assert post.deliver() == {"pending": 1}
        assert post.deliver() == {}
        post.now += timedelta(minutes=1)
    assert post.attempts() - before == minutes
    assert [(one.tries, one.next_at) for one in post.pending()] == [(0, post.now)] * 6
    with post.database.reading() as session:
        assert {len(deliveries.attempts_of(session, one.id)) for one in post.pending()} == {MAX_TRIES + 1}
    post.settings = good
    assert post.deliver() == {"delivered": 6}
    got = [(one.recipient, str(one.message["Message-ID"])) for one in post.server.mails]
    assert len(set(got)) == len(got) == len(people) * len(changes)


def test_a_digest_waits_for_its_time_while_the_server_is_out(post: Post) -> None:
    post.subscribe()
    post.subscribe("mayor@rivers.example", Digest(at="07:00", timezone="America/Boise"))
    post.change()
    (digest,) = [one for one in post.pending() if one.next_at is not None]
    post.answers = ["closing"]
    assert post.deliver() == {"pending": 1}
    assert digest in post.pending()


@pytest.mark.parametrize("answer", ["closing", "full"])
def test_a_message_that_the_server_never_takes_holds_up_no_other(post: Post, answer: Answer) -> None:
    post.server.answers = lambda recipient: answer if recipient == PERSON else "take"
    for person in ("office@rivers.example", PERSON, "mayor@rivers.example"):
        post.subscribe(person)
    for number in range(1, 4):
        post.change()
        post.deliver()
        post.now += timedelta(minutes=1)
        post.deliver()
        got = Counter(one.recipient for one in post.server.mails)
        assert got == {"office@rivers.example": number, "mayor@rivers.example": number}


def test_after_a_failure_the_other_messages_of_its_recipient_wait_for_the_next_pass(post: Post) -> None:
    post.subscribe()
    for _ in range(2):
        post.change()
    post.answers = ["defer"]
    assert post.deliver() == {"pending": 1}
    assert post.deliver() == {"delivered": 1}


@pytest.mark.parametrize(("answer", "wait"), [("defer", 5), ("die", 5), ("refuse", 5), ("closing", 1), ("full", 1)])
def test_a_fault_of_a_single_message_takes_a_try_and_one_of_the_server_does_not(
    post: Post, answer: Answer, wait: int
) -> None:
    post.subscribe()
    post.change()
    for expected in (1, wait):
        post.answers = [answer]
        assert post.deliver() == {"pending": 1}
        (waiting,) = post.pending()
        assert waiting.next_at == post.now + timedelta(minutes=expected)
        assert waiting.tries == (0 if wait == 1 else 1 if expected == 1 else 2)
        post.now = waiting.next_at


@pytest.mark.parametrize(
    ("answer", "wait", "failure"),
    [
        ("451 4.7.0 Later", 1, absent(Reason.MAIL_UNAVAILABLE, status=451)),
        ("550 5.7.1 Not from you", 15, absent(Reason.MAIL_SERVICE_REFUSED, status=550)),
    ],
)
def test_a_server_that_takes_nothing_from_this_sender_delays_all_e_mail(
    post: Post, answer: str, wait: int, failure: Absent
) -> None:
    for person in (PERSON, "office@rivers.example"):
        post.subscribe(person)
    post.now += timedelta(seconds=1)
    post.change()
    post.server.of_sender = answer
    assert post.deliver() == {"pending": 1}
    assert post.failures() == [str(failure)]
    assert [(one.tries, one.next_at) for one in post.pending()] == [(0, post.now + timedelta(minutes=wait))] * 2
    with post.database.reading() as session:
        assert dispatch.mail_server_fault(session) == failure


def test_a_delivery_fails_where_the_server_is_out_for_too_long(post: Post) -> None:
    post.subscribe()
    post.change()
    good = post.settings
    post.settings = good.model_copy(update={"smtp_port": 1})
    assert post.deliver() == {"pending": 1}
    post.now += MAX_OUTAGE - timedelta(seconds=1)
    assert post.deliver() == {"pending": 1}
    post.now += timedelta(minutes=1)
    assert post.deliver() == {"failed": 1}
    post.settings = good
    with post.database.transaction() as session:
        (failed,) = deliveries.page(session, status="failed")
        dispatch.replay(session, failed.id, post.now)
    assert post.deliver() == {"delivered": 1}


def test_a_message_that_cannot_be_written_ends_no_other(post: Post) -> None:
    with post.database.transaction() as session:
        unwritable = NewSubscription.model_construct(email="=?utf-8?q?a?=@example.org")
        subscriptions.create(session, unwritable, post.key, post.now, post.settings)
    with structlog.testing.capture_logs() as logs:
        post.subscribe()
    assert post.failures() == [str(absent(Reason.MESSAGE_FAILED))]
    assert "delivery.fault" in str(logs)
    assert "example.org" not in str(logs)
    post.change()
    assert post.deliver() == {"delivered": 1}


def test_the_question_is_asked_once(post: Post) -> None:
    subscription = post.subscribe(confirm=False)
    post.subscribe("Duty@rivers.example", confirm=False)
    assert post.deliver() == {"delivered": 1}
    with post.database.transaction() as session:
        (question,) = deliveries.page(session)
        with pytest.raises(dispatch.QuestionOver):
            dispatch.replay(session, question.id, post.now)
        session.execute(DELIVERIES.update().where(DELIVERIES.c.id == question.id).values(status="failed"))
        for at in (post.now, post.now + CONFIRM_WITHIN * 2):
            if at == post.now:
                subscriptions.confirm(session, subscription, at)
            with pytest.raises(dispatch.QuestionOver):
                dispatch.replay(session, question.id, at)


def test_a_refusal_pauses_at_once_only_where_the_address_does_not_exist(post: Post) -> None:
    subscription = post.subscribe()
    unclear: list[Answer] = ["unclear"]
    post.answers = ["no room", *unclear * (MAX_TRIES - 1)]
    post.change()
    for left in range(MAX_TRIES)[::-1]:
        assert post.deliver() == {"pending" if left else "failed": 1}
        with post.database.reading() as session:
            assert (subscriptions.get(session, subscription).paused_at is None) == bool(left)
        post.now += WAITS[-1]


def test_a_server_that_takes_a_later_message_has_no_fault(post: Post) -> None:
    post.subscribe()
    post.answers = ["by policy"]
    post.change()
    assert post.deliver() == {"pending": 1}
    post.now += timedelta(seconds=1)
    post.subscribe("office@rivers.example")
    with post.database.reading() as session:
        assert dispatch.mail_server_fault(session) is None


def test_a_greeting_that_never_ends_is_cut_off(tmp_path: Path) -> None:
    lines = 100
    sent = []

    def greet(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            for _ in range(lines):
                connection.sendall(b"220-wait\r\n")
                sent.append(1)
                time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=greet, args=(listener,))
        thread.start()
        server = MailServer(security="none", port=listener.getsockname()[1])
        outcome = mail.hand_over(server.settings(tmp_path, smtp_seconds=1), PERSON, b"")
        thread.join()
    assert outcome.failure == absent(Reason.MAIL_SLOW, seconds=1)
    assert len(sent) < lines


def test_a_digest_in_a_time_zone_that_this_machine_does_not_know_is_sent_at_once(post: Post) -> None:
    subscription = post.subscribe(digest=Digest(at="07:00", timezone="America/Boise"))
    with post.database.transaction() as session:
        digest = {"at": "07:00", "timezone": "Mars/Olympus"}
        session.execute(SUBSCRIPTIONS.update().where(SUBSCRIPTIONS.c.id == subscription).values(digest=digest))
    post.change()
    assert [one.next_at for one in post.pending()] == [None]


def test_a_digest_has_the_changes_of_a_day_in_one_message(post: Post) -> None:
    post.subscribe(digest=Digest(at="07:00", timezone="America/Boise"))
    changes = [post.change(why=f"Reason {number}.") for number in range(3)]
    assert post.deliver() == {}
    post.now = NOW.replace(hour=13, minute=0)  # 07:00 in Boise in summer
    post.answers = ["die"]
    assert post.deliver() == {"pending": 3}
    post.now += WAITS[0]
    assert post.deliver() == {"delivered": 3}
    first, second = post.server.mails
    assert first.message["Message-ID"] == second.message["Message-ID"]
    text = second.message.get_body(("plain",))
    assert text is not None
    assert all(change.why in text.get_content() for change in changes)
    assert "3 changes" in second.message["Subject"]


def test_what_a_run_changed_at_a_river_is_one_message_with_the_other_levels_as_details(post: Post) -> None:
    post.subscribe()
    levels: tuple[tuple[str, Severity | None, float, float], ...] = (
        *(("low", "advisory", 0.98, 1.0), ("street", "warning", 0.95, 2.0)),
        *(("mill", "warning", 0.8, 3.0), ("weir", None, 0.02, 4.0)),
    )
    standing = [{"level": name, "severity": severity, "chance": chance} for name, severity, chance, _ in levels[2::-1]]
    with post.database.transaction() as session:
        for run in (a_run(session, post.version), a_run(session, post.version)):
            changes = [
                NewChange(
                    kind="begins",
                    at=post.now,
                    basin_id=BASIN,
                    level=level,
                    direction="rising",
                    discharge=discharge,
                    severity=severity,
                    severity_before="advisory",
                    chance=chance,
                    window_days=10,
                    run_id=run.id,
                    version_id=post.version,
                    why=f"{level} begins.",
                    levels=standing,
                )
                for level, severity, chance, discharge in levels
            ]
            assert len(alert_changes.record_message(session, changes, post.now)) == len(levels)
    assert post.deliver() == {"delivered": 2 * len(levels)}
    assert len(post.server.mails) == 2
    for sent in post.server.mails:
        text, html = (sent.message.get_body((kind,)) for kind in ("plain", "html"))
        assert text is not None
        assert html is not None
        details = "mill begins. Other levels with an alert: street (warning, 95 %), low (advisory, 98 %). "
        details += "Advisory ended: weir."
        assert details in " ".join(text.get_content().split())
        assert html.get_content().count("<h2>") == 1
        assert "Warning (was advisory): mill" in sent.message["Subject"]
        assert "more" not in sent.message["Subject"]


def test_a_message_is_the_same_to_its_recipient_however_often_it_is_written(post: Post) -> None:
    subscription, other = post.subscribe(), post.subscribe("office@rivers.example")
    change = post.change()
    with post.database.reading() as session:
        receivers = [subscriptions.get(session, one) for one in (subscription, other)]
    key, names = signatures.service_key(post.settings), {BASIN: "Fish"}
    written = [
        mail.written(post.settings, key, [Sending("a", number, receiver, change)], names, post.now)["Message-ID"]
        for receiver in receivers
        for number in (1, 2)
    ]
    assert written[0] == written[1] != written[2] == written[3]
