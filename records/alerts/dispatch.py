"""The outbox: what is sent to subscriptions now, and when it is attempted again.

An attempt is written before anything is sent, under a lease. If its sender is lost, another takes over when the lease
has expired, and the attempt counts: a receiver may get a change twice, but always gets it.

A receiver that fails delays its own deliveries, by growing waits and a limited number of tries. A fault of the
operator's mail server, before it was given a message, delays all e-mail by a short constant wait and takes no try.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Column, ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from records.access import keys
from records.alerts import deliveries, issue_notices, subscriptions
from records.alerts.alert_changes import CHANGES, Change, get_many
from records.alerts.deliveries import ATTEMPTS, DELIVERIES, Attempt, Delivery, Status
from records.alerts.issue_notices import Notice
from records.alerts.subscriptions import SUBSCRIPTIONS, Subscription
from records.database.stored import add_all

WAITS = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=6),
    timedelta(hours=12),
    timedelta(hours=24),
)
"""Waits between tries. After the last one a delivery has failed until somebody replays it."""
MAX_TRIES = len(WAITS) + 1

_SHORT = timedelta(minutes=1)
_AFTER_A_REFUSAL = timedelta(minutes=15)
"""Servers lock out who is refused every minute."""
_SERVER_WAITS = {
    Reason.MAIL_NOT_CONNECTED: _SHORT,
    Reason.MAIL_NOT_ENCRYPTED: _SHORT,
    Reason.MAIL_BROKE_OFF: _SHORT,
    Reason.MAIL_SLOW: _SHORT,
    Reason.MAIL_UNAVAILABLE: _SHORT,
    Reason.MAIL_NOT_SET: _SHORT,
    Reason.MAIL_LOGIN_REFUSED: _AFTER_A_REFUSAL,
    Reason.MAIL_SERVICE_REFUSED: _AFTER_A_REFUSAL,
}
MAX_OUTAGE = timedelta(days=5)
"""A delivery that meets a fault of the mail server this long after its first attempt has failed."""


MAX_WAIT = timedelta(hours=26)
"""No wait is longer, not even that for the digest of the next day where the clocks go back."""
LEASE = timedelta(seconds=20)
"""Lease of an attempt: longer than a receiver has to answer."""
MAX_LEASE = timedelta(minutes=6)
MAX_IN_A_DIGEST = 100
"""Number of changes in a message; the rest are in further ones."""
Outgoing = list[str]
"""Deliveries that are sent in one message: those of a basin that one run changed, or all of a digest."""


@dataclass(frozen=True, slots=True)
class Queue:
    """The messages that are due to one receiver: those with the fewest attempts first, then the oldest change."""

    by_mail: bool
    messages: list[Outgoing]


class NotEnded(InvalidInput):
    """The delivery is under way: only an ended one can be replayed."""

    kind = "delivery-pending"
    status = 409
    remedy = "Wait until the delivery has ended, then replay it."


class QuestionOver(InvalidInput):
    """The question whether a recipient of e-mail agrees is not asked again."""

    status = 409
    remedy = "The recipient has the message that asks, has answered it, or had a week to."


class SubscriptionPaused(InvalidInput):
    """Nothing is sent to the subscription while it is paused."""

    status = 409
    remedy = "Resume the subscription first. Where its recipient has unsubscribed, nothing more is sent."


@dataclass(frozen=True, slots=True)
class Sending:
    """What to send now, in the `number`-th attempt of its delivery; without a change and a notice, the question to the
    recipient, whose hashed `mailbox` it has."""

    delivery: str
    number: int
    subscription: Subscription
    change: Change | None
    mailbox: str | None = None
    notice: Notice | None = None


def server_wait(failure: Absent | None) -> timedelta | None:
    """Return how long all e-mail waits after a fault of the mail server; None if the failure is not one."""
    return None if failure is None else _SERVER_WAITS.get(Reason[failure.code.upper()])


def due(session: Session, at: datetime) -> list[Queue]:
    """Return what to attempt now, by receiver, that with the fewest attempts first.

    So a message that the mail server always fails at cannot hold up the others. All that a run, or an adjustment of it,
    changed at a basin is one message.
    """
    attempts = select(func.count()).where(ATTEMPTS.c.delivery_id == DELIVERIES.c.id).scalar_subquery()
    columns = (DELIVERIES.c.id, attempts, SUBSCRIPTIONS.c.id, SUBSCRIPTIONS.c.digest, SUBSCRIPTIONS.c.email)
    of_change = (CHANGES.c.run_id, CHANGES.c.basin_id, CHANGES.c.adjustment_id)
    query = select(*columns, *of_change).join_from(DELIVERIES, SUBSCRIPTIONS).outerjoin(CHANGES)
    query = query.where(*_is_due(at), SUBSCRIPTIONS.c.paused_at.is_(None))
    tried: dict[str, int] = {}
    queues: dict[str, Queue] = {}
    open_messages: dict[tuple[str | None, ...], Outgoing] = {}
    for delivery, count, subscription, digest, email, run, *of_run in session.execute(
        query.order_by(DELIVERIES.c.change_seq)
    ):
        tried[delivery] = count
        messages = queues.setdefault(subscription, Queue(email is not None, [])).messages
        key = (subscription, "digest") if digest is not None else (subscription, run or delivery, *of_run)
        if len(open_messages.get(key, ())) % MAX_IN_A_DIGEST == 0:
            open_messages[key] = []
            messages.append(open_messages[key])
        open_messages[key].append(delivery)
    for queue in queues.values():
        queue.messages.sort(key=lambda message: tried[message[0]])
    return sorted(queues.values(), key=lambda queue: tried[queue.messages[0][0]])


def is_any_due(session: Session, at: datetime) -> bool:
    query = select(DELIVERIES.c.id).join(SUBSCRIPTIONS).where(*_is_due(at), SUBSCRIPTIONS.c.paused_at.is_(None))
    return session.scalar(query.limit(1)) is not None


def claim(session: Session, delivery: str, at: datetime, lease: timedelta = LEASE) -> Sending | None:
    """Start the next attempt of a due delivery. Return None if another sender has it or no tries are left. A question
    that its recipient may not be asked is deleted."""
    more = {"lease_until": at + lease, "tries": DELIVERIES.c.tries + 1}
    due = DELIVERIES.update().where(DELIVERIES.c.id == delivery, *_is_due(at)).values(more)
    tries = session.execute(due.returning(DELIVERIES.c.tries)).scalar_one_or_none()
    if tries is None:
        return None
    of_delivery = ATTEMPTS.c.delivery_id == delivery
    lost = ATTEMPTS.update().where(of_delivery, ATTEMPTS.c.ended_at.is_(None))
    session.execute(lost.values(ended_at=at, failure=absent(Reason.SENDER_LOST)))
    record = deliveries.get(session, delivery)
    mailbox = deliveries.mailbox_to_ask(session, delivery) if record.is_question else None
    if record.is_question and mailbox is None:
        deliveries.remove(session, [delivery])
        return None
    if tries > MAX_TRIES:  # the sender of the last attempt was lost
        _change(session, delivery, tries=MAX_TRIES)
        _end(session, delivery, "failed", at)
        return None
    number = 1 + (session.scalar(select(func.max(ATTEMPTS.c.number)).where(of_delivery)) or 0)
    add_all(session, Attempt, [{"delivery_id": delivery, "number": number, "at": at}])
    subscription = subscriptions.get(session, record.subscription_id)
    change = None if record.change_seq is None else get_many(session, [record.change_seq])[record.change_seq]
    notice = None if record.notice_id is None else issue_notices.get_many(session, [record.notice_id])[record.notice_id]
    return Sending(delivery, number, subscription, change, mailbox, notice)


def finish(
    session: Session, delivery: str, number: int, at: datetime, *, status_code: int | None, failure: Absent | None
) -> Status | None:
    """Record the end of an attempt, and return the delivery's state. None if the delivery has been deleted, or another
    sender has taken it over."""
    own = (ATTEMPTS.c.delivery_id == delivery, ATTEMPTS.c.number == number, ATTEMPTS.c.ended_at.is_(None))
    ended = ATTEMPTS.update().where(*own).values(ended_at=at, status_code=status_code, failure=failure)
    if session.execute(ended.returning(ATTEMPTS.c.number)).one_or_none() is None:
        return None
    record = deliveries.get(session, delivery, for_update=True)
    if failure is None:
        return _end(session, delivery, "delivered", at)
    if record.status != "pending":  # its subscription was paused meanwhile
        return "failed"
    tries = record.tries
    if (wait := server_wait(failure)) is not None:
        tries -= 1
        first = session.scalars(select(func.min(ATTEMPTS.c.at)).where(ATTEMPTS.c.delivery_id == delivery)).one()
        is_over = first <= at - MAX_OUTAGE
    else:
        is_over = tries >= MAX_TRIES
    if is_over:
        _change(session, delivery, tries=tries)
        return _end(session, delivery, "failed", at)
    _change(session, delivery, tries=tries, next_at=at + (wait or WAITS[tries - 1]), lease_until=None)
    return "pending"


def hold_mail(session: Session, until: datetime) -> None:
    """Postpone all pending e-mail until an instant at least; another sender's is left to it."""
    early = or_(DELIVERIES.c.next_at.is_(None), DELIVERIES.c.next_at < until)
    query = select(DELIVERIES.c.id).join(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.email.is_not(None))
    waiting = query.where(DELIVERIES.c.status == "pending", early).with_for_update(of=DELIVERIES, skip_locked=True)
    session.execute(DELIVERIES.update().where(DELIVERIES.c.id.in_(waiting)).values(next_at=until))


def replay(session: Session, delivery: str, at: datetime) -> Delivery:
    """Attempt an ended delivery again, at once, under the same event."""
    record = deliveries.get(session, delivery, for_update=True)
    if record.status == "pending":
        raise NotEnded(f"Delivery {delivery} is under way, at its attempt {record.tries}: wait until it has ended.")
    subscription = subscriptions.get(session, record.subscription_id)
    if subscription.paused_because is not None:
        raise SubscriptionPaused(f"Nothing is sent to subscription {subscription.id}: {subscription.paused_because}")
    if record.is_question and (record.status == "delivered" or not subscription.awaits_answer(at)):
        raise QuestionOver(f"The recipient of subscription {subscription.id} is asked once, and no more after that.")
    _change(session, delivery, status="pending", tries=0, next_at=None, ended_at=None)
    return deliveries.get(session, delivery)


def count_failed_of_service(session: Session) -> int:
    query = select(func.count()).select_from(DELIVERIES).join(SUBSCRIPTIONS)
    return session.scalar(query.where(DELIVERIES.c.status == "failed", keys.official(SUBSCRIPTIONS.c.key_id))) or 0


def mail_server_fault(session: Session) -> Absent | None:
    """Return why an operator should look at the mail server, which may have failed for a single message only.

    The last attempt decides, while an e-mail waits.
    """
    of_mail = select(DELIVERIES.c.id).join(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.email.is_not(None))
    if session.scalar(of_mail.where(DELIVERIES.c.status == "pending").limit(1)) is None:
        return None
    query = select(ATTEMPTS.c.failure).where(ATTEMPTS.c.delivery_id.in_(of_mail), ATTEMPTS.c.ended_at.is_not(None))
    newest = (ATTEMPTS.c[name].desc() for name in ("ended_at", "delivery_id", "number"))
    failure = session.scalar(query.order_by(*newest).limit(1))
    of_server = *_SERVER_WAITS, Reason.MAIL_REFUSED, Reason.MAIL_UNANSWERED
    return failure if failure is not None and Reason[failure.code.upper()] in of_server else None


def _is_due(at: datetime) -> tuple[ColumnElement[bool], ...]:
    return (
        DELIVERIES.c.status == "pending",
        _is_over(DELIVERIES.c.next_at, at, MAX_WAIT),
        _is_over(DELIVERIES.c.lease_until, at, MAX_LEASE),
    )


def _is_over(until: Column[Any], at: datetime, longest_run: timedelta) -> ColumnElement[bool]:
    """Return whether a wait is over, also after the clock was set back."""
    return or_(until.is_(None), until <= at, until > at + longest_run)


def _end(session: Session, delivery: str, status: Literal["delivered", "failed"], at: datetime) -> Status:
    _change(session, delivery, status=status, next_at=None, lease_until=None, ended_at=at)
    return status


def _change(session: Session, delivery: str, **values: Any) -> None:
    session.execute(DELIVERIES.update().where(DELIVERIES.c.id == delivery).values(values))
