"""Deliveries of alert changes: an outbox, one row per change and subscription, with a log of all attempts.

An attempt is written before anything is sent, under a lease. If its sender is lost, another takes over when the lease
has expired, and the attempt counts. A receiver may so get a change twice, but always gets it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from hydrology.base.absent import Absent, absent
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.reasons import Reason
from records.access import keys
from records.alerts import questions
from records.alerts.alert_changes import Change, get_many
from records.alerts.retries import MAX_OUTAGE, MAX_TRIES, WAITS, is_of_server, server_wait
from records.alerts.subscriptions import Subscription
from records.alerts.tables import AlertChangeRow, DeliveryAttemptRow, DeliveryRow, SubscriptionRow
from records.database import retention
from records.database.statements import add_all, as_record

Status = Literal["pending", "delivered", "failed"]

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


class UnknownDelivery(NotFound):
    """No delivery with this id is stored."""

    kind = "unknown-delivery"


class NotEnded(InvalidInput):
    """The delivery is under way: only an ended one can be replayed."""

    kind = "delivery-pending"
    status = 409
    remedy = "Wait until the delivery has ended, then replay it."


class QuestionOver(InvalidInput):
    """The question whether a recipient of e-mail agrees is not asked again."""

    kind = "question-over"
    status = 409
    remedy = "The recipient has the message that asks, has answered it, or had a week to."


class SubscriptionPaused(InvalidInput):
    """Nothing is sent to the subscription while it is paused."""

    kind = "subscription-paused"
    status = 409
    remedy = "Resume the subscription first. Where its recipient has unsubscribed, nothing more is sent."


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A change for a subscription, or the question whether its recipient agrees.

    Attributes:
        change_seq: None for the question.
        tries: attempts since it was created or last replayed, without those that a fault of the mail server ended.
        next_at: time of the next attempt; None for at once, or if it has ended.
    """

    id: str
    subscription_id: str
    change_seq: int | None
    status: Status
    tries: int
    next_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt to send a delivery.

    Attributes:
        ended_at: None while it is under way.
        status_code: the receiver's answer; None without one.
        failure: why it does not count as delivered; None if it does.
    """

    number: int
    at: datetime
    ended_at: datetime | None
    status_code: int | None
    failure: Absent | None


@dataclass(frozen=True, slots=True)
class Sending:
    """What to send now, in the `number`-th attempt of its delivery; without a change, the question to the recipient.

    Attributes:
        mailbox: the hashed mailbox of a question.
    """

    delivery: str
    number: int
    subscription: Subscription
    change: Change | None
    mailbox: str | None = None


def due(session: Session, at: datetime) -> list[Queue]:
    """Return what to attempt now, by receiver, that with the fewest attempts first.

    So a message that the mail server always fails at cannot hold up the others. All that a run, or an adjustment of it,
    changed at a basin is one message, however many levels were crossed.
    """
    attempts = select(func.count()).where(DeliveryAttemptRow.delivery_id == DeliveryRow.id).scalar_subquery()
    columns = (DeliveryRow.id, attempts, SubscriptionRow.id, SubscriptionRow.digest, SubscriptionRow.email)
    of_change = (AlertChangeRow.run_id, AlertChangeRow.basin_id, AlertChangeRow.adjustment_id)
    query = select(*columns, *of_change).join(SubscriptionRow).outerjoin(AlertChangeRow)
    query = query.where(*_is_due(at), SubscriptionRow.paused_at.is_(None))
    tried: dict[str, int] = {}
    queues: dict[str, Queue] = {}
    open_messages: dict[tuple[str | None, ...], Outgoing] = {}
    for delivery, count, subscription, digest, email, run, *of_run in session.execute(
        query.order_by(DeliveryRow.change_seq)
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
    """Return whether a delivery is due."""
    query = select(DeliveryRow.id).join(SubscriptionRow).where(*_is_due(at), SubscriptionRow.paused_at.is_(None))
    return session.scalar(query.limit(1)) is not None


def claim(session: Session, delivery: str, at: datetime, lease: timedelta = LEASE) -> Sending | None:
    """Start the next attempt of a due delivery. Return None if another sender has it or no tries are left.

    A question that its recipient may not be asked is deleted.
    """
    claimed = (
        update(DeliveryRow)
        .where(DeliveryRow.id == delivery, *_is_due(at))
        .values(lease_until=at + lease, tries=DeliveryRow.tries + 1)
        .returning(DeliveryRow.tries)
    )
    tries = session.execute(claimed).scalar_one_or_none()
    if tries is None:
        return None
    lost = update(DeliveryAttemptRow).where(
        DeliveryAttemptRow.delivery_id == delivery, DeliveryAttemptRow.ended_at.is_(None)
    )
    session.execute(lost.values(ended_at=at, failure=absent(Reason.SENDER_LOST)))
    row = _row(session, delivery)
    mailbox = None if row.change_seq is not None else questions.mailbox_to_ask(session, delivery)
    if row.change_seq is None and mailbox is None:
        session.delete(row)
        return None
    if tries > MAX_TRIES:  # the sender of the last attempt was lost
        row.tries = MAX_TRIES
        _end(session, row, "failed", at)
        return None
    number = 1 + (
        session.scalar(select(func.max(DeliveryAttemptRow.number)).where(DeliveryAttemptRow.delivery_id == delivery))
        or 0
    )
    add_all(session, DeliveryAttemptRow, [{"delivery_id": delivery, "number": number, "at": at}])
    subscription = session.get(SubscriptionRow, row.subscription_id)
    assert subscription is not None
    change = None if row.change_seq is None else get_many(session, [row.change_seq])[row.change_seq]
    return Sending(delivery, number, as_record(Subscription, subscription), change, mailbox)


def finish(
    session: Session, delivery: str, number: int, at: datetime, *, status_code: int | None, failure: Absent | None
) -> Status | None:
    """Record the end of an attempt, and return the delivery's state.

    One that a fault of the mail server ended does not count as a try.

    None if the delivery has been deleted, or another sender has taken it over.
    """
    query = select(DeliveryAttemptRow).filter_by(delivery_id=delivery, number=number, ended_at=None)
    attempt = session.scalar(query.with_for_update())
    if attempt is None:
        return None
    attempt.ended_at, attempt.status_code, attempt.failure = at, status_code, failure
    row = _row(session, delivery)
    if failure is None:
        return _end(session, row, "delivered", at)
    if row.status != "pending":  # its subscription was paused meanwhile
        session.flush()
        return "failed"
    if (wait := server_wait(failure)) is not None:
        row.tries -= 1
        is_over = _attempted_first(session, delivery) <= at - MAX_OUTAGE
    else:
        is_over = row.tries >= MAX_TRIES
    if is_over:
        return _end(session, row, "failed", at)
    row.next_at, row.lease_until = at + (wait or WAITS[row.tries - 1]), None
    session.flush()
    return "pending"


def hold_mail(session: Session, until: datetime) -> None:
    """Postpone all pending e-mail until an instant at least; another sender's is left to it."""
    early = or_(DeliveryRow.next_at.is_(None), DeliveryRow.next_at < until)
    query = select(DeliveryRow.id).join(SubscriptionRow).where(SubscriptionRow.email.is_not(None))
    waiting = query.where(DeliveryRow.status == "pending", early).with_for_update(of=DeliveryRow, skip_locked=True)
    held = update(DeliveryRow).where(DeliveryRow.id.in_(waiting)).values(next_at=until)
    session.execute(held.execution_options(synchronize_session=False))


def replay(session: Session, delivery: str, at: datetime) -> Delivery:
    """Attempt an ended delivery again, at once, under the same event.

    Raises:
        UnknownDelivery: there is none with this id.
        Gone: it was pruned.
        NotEnded: it is under way.
        SubscriptionPaused: nothing is sent to its subscription.
        QuestionOver: it is a question that was delivered or answered, or whose time is over.
    """
    row = _row(session, delivery)
    if row.status == "pending":
        raise NotEnded(f"Delivery {delivery} is under way, at its attempt {row.tries}: wait until it has ended.")
    subscription = as_record(Subscription, session.get_one(SubscriptionRow, row.subscription_id))
    if subscription.paused_because is not None:
        raise SubscriptionPaused(f"Nothing is sent to subscription {subscription.id}: {subscription.paused_because}")
    if row.change_seq is None and (row.status == "delivered" or not subscription.awaits_answer(at)):
        raise QuestionOver(f"The recipient of subscription {subscription.id} is asked once, and no more after that.")
    row.status, row.tries, row.next_at, row.ended_at = "pending", 0, None, None
    session.flush()
    return as_record(Delivery, row)


def get(session: Session, delivery: str) -> Delivery:
    """Return a delivery.

    Raises:
        UnknownDelivery: there is none with this id.
        Gone: it was pruned.
    """
    row = session.get(DeliveryRow, delivery, populate_existing=True)
    if row is None:
        raise _unknown(session, delivery)
    return as_record(Delivery, row)


def attempts_of(session: Session, delivery: str) -> list[Attempt]:
    """Return the log of a delivery, oldest attempt first."""
    query = select(DeliveryAttemptRow).filter_by(delivery_id=delivery).order_by(DeliveryAttemptRow.number)
    return [as_record(Attempt, row) for row in session.scalars(query)]


def page(
    session: Session,
    *,
    subscriptions: Sequence[str] | None = None,
    with_questions: bool = True,
    status: Status | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[Delivery]:
    """Return deliveries, newest first. `after` is the last id of the previous page.

    Args:
        subscriptions: restrict to these; None for all.
        with_questions: whether to include the questions to recipients.
    """
    query = select(DeliveryRow).order_by(DeliveryRow.id.desc()).limit(limit)
    if not with_questions:
        query = query.where(DeliveryRow.change_seq.is_not(None))
    if subscriptions is not None:
        query = query.where(DeliveryRow.subscription_id.in_(subscriptions))
    if status is not None:
        query = query.where(DeliveryRow.status == status)
    if after is not None:
        query = query.where(DeliveryRow.id < after)
    return [as_record(Delivery, row) for row in session.scalars(query)]


def count_failed_of_service(session: Session) -> int:
    """Return the number of failed deliveries to receivers of administrators."""
    query = select(func.count()).select_from(DeliveryRow).join(SubscriptionRow)
    return session.scalar(query.where(DeliveryRow.status == "failed", keys.official(SubscriptionRow.key_id))) or 0


def mail_server_fault(session: Session) -> Absent | None:
    """Return why the mail server takes nothing; None if it does.

    The last attempt of any e-mail decides, while one waits.
    """
    of_mail = select(DeliveryRow.id).join(SubscriptionRow).where(SubscriptionRow.email.is_not(None))
    if session.scalar(of_mail.where(DeliveryRow.status == "pending").limit(1)) is None:
        return None
    query = select(DeliveryAttemptRow.failure).where(
        DeliveryAttemptRow.delivery_id.in_(of_mail), DeliveryAttemptRow.ended_at.is_not(None)
    )
    newest = (
        DeliveryAttemptRow.ended_at.desc(),
        DeliveryAttemptRow.delivery_id.desc(),
        DeliveryAttemptRow.number.desc(),
    )
    failure = session.scalar(query.order_by(*newest).limit(1))
    return failure if failure is not None and is_of_server(failure) else None


def outdated(session: Session, before: datetime, ids: Collection[str] | None = None) -> dict[str, int]:
    """Return the deliveries that ended before an instant, each with a count of 1.

    Args:
        ids: restrict to these; None for all.
    """
    query = select(DeliveryRow.id).where(DeliveryRow.ended_at < before).order_by(DeliveryRow.id)
    return dict.fromkeys(session.scalars(query if ids is None else query.where(DeliveryRow.id.in_(ids))), 1)


def remove(session: Session, ids: Collection[str]) -> list[str]:
    """Delete deliveries with their log, and return their ids."""
    return list(session.scalars(delete(DeliveryRow).where(DeliveryRow.id.in_(ids)).returning(DeliveryRow.id)))


def _attempted_first(session: Session, delivery: str) -> datetime:
    query = select(func.min(DeliveryAttemptRow.at)).where(DeliveryAttemptRow.delivery_id == delivery)
    return session.scalars(query).one()


def _is_due(at: datetime) -> tuple[ColumnElement[bool], ...]:
    return (
        DeliveryRow.status == "pending",
        _is_over(DeliveryRow.next_at, at, MAX_WAIT),
        _is_over(DeliveryRow.lease_until, at, MAX_LEASE),
    )


def _is_over(
    until: InstrumentedAttribute[datetime | None], at: datetime, longest_run: timedelta
) -> ColumnElement[bool]:
    """Return whether a wait is over, also after the clock was set back."""
    return or_(until.is_(None), until <= at, until > at + longest_run)


def _end(session: Session, row: DeliveryRow, status: Literal["delivered", "failed"], at: datetime) -> Status:
    row.status, row.next_at, row.lease_until, row.ended_at = status, None, None, at
    session.flush()
    return status


def _row(session: Session, delivery: str) -> DeliveryRow:
    row = session.get(DeliveryRow, delivery, populate_existing=True, with_for_update=True)
    if row is None:
        raise _unknown(session, delivery)
    return row


def _unknown(session: Session, delivery: str) -> NotFound:
    return retention.pruned_row(session, "deliveries", delivery) or UnknownDelivery(
        f"No delivery {delivery!r} is stored here: list the deliveries to see their ids."
    )
