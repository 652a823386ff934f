"""Deliveries of alert changes, with a log of all attempts; and questions to recipients of e-mail whether they agree.

The questions, and addresses that want none, outlive the subscriptions, so that deleting one allows no further question.
Of an address only a keyed hash of its mailbox is stored. Its key is a row, not the key that signs links: that one may
be replaced, and a refusal must outlast it.
"""

import hmac
import secrets
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Annotated, Literal

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, String, UniqueConstraint, func, or_, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.doc import Doc, Why
from hydrology.base.errors import InvalidInput, NotFound
from jobspec.addresses import mailbox
from records.access.keys import KEYS
from records.database import retention
from records.database.base import Instant
from records.database.stored import add_all, find, find_row, insert_into, narrowed, read, stored, table_of
from runtime.settings import Settings

Status = Literal["pending", "delivered", "failed"]


class UnknownDelivery(NotFound):
    """No delivery with this id is stored."""


@stored(
    "deliveries",
    Column("lease_until", Instant),
    CheckConstraint("(status = 'pending') = (ended_at IS NULL)", name="ended"),
    UniqueConstraint("subscription_id", "change_seq"),
    Index(None, "status", "next_at"),
)
class Delivery:
    """A change or a notice for a subscription, or, without both, the question whether its recipient agrees.

    Attributes:
        tries: attempts since it was created or last replayed, without those that a fault of the mail server ended.
        next_at: None for at once, or if it has ended.
    """

    id: str
    subscription_id: Annotated[str, ForeignKey("subscriptions.id", ondelete="CASCADE")]
    change_seq: Annotated[int | None, ForeignKey("alert_changes.seq")]
    status: Status
    tries: int
    next_at: datetime | None
    ended_at: datetime | None
    notice_id: Annotated[str | None, ForeignKey("issue_notices.id")] = None

    @property
    def is_question(self) -> bool:
        return self.change_seq is None and self.notice_id is None


@stored(
    "delivery_attempts",
    Column("delivery_id", String, ForeignKey("deliveries.id", ondelete="CASCADE")),
    CheckConstraint("status_code IS NULL OR ended_at IS NOT NULL", name="answer"),
    key=("delivery_id", "number"),
)
class Attempt:
    """One attempt to send a delivery. Without a status and a failure it is under way, or its sender was lost."""

    number: int
    at: datetime
    ended_at: Annotated[datetime | None, Why("It is under way.")]
    status_code: Annotated[
        int | None, Doc("The receiver's HTTP status, or the mail server's code."), Why("The receiver has not answered.")
    ]
    failure: Annotated[Absent | None, Doc("Why it does not count as delivered."), Why("It is delivered, or under way.")]


DELIVERIES, ATTEMPTS = table_of(Delivery), table_of(Attempt)


def get(session: Session, delivery: str, *, for_update: bool = False) -> Delivery:
    unknown = UnknownDelivery(f"No delivery {delivery!r} is stored here: list the deliveries to see their ids.")
    return retention.get(session, Delivery, "deliveries", delivery, unknown, for_update=for_update)


def attempts_of(session: Session, delivery: str) -> list[Attempt]:
    return read(session, Attempt, select(ATTEMPTS).filter_by(delivery_id=delivery).order_by(ATTEMPTS.c.number))


def page(
    session: Session,
    *,
    subscriptions: Sequence[str] | None = None,
    with_questions: bool = True,
    status: Status | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[Delivery]:
    query = select(DELIVERIES).order_by(DELIVERIES.c.id.desc()).limit(limit)
    if not with_questions:
        query = query.where(or_(DELIVERIES.c.change_seq.is_not(None), DELIVERIES.c.notice_id.is_not(None)))
    query = narrowed(
        query,
        (DELIVERIES.c.subscription_id.in_, subscriptions),
        (DELIVERIES.c.status.__eq__, status),
        (DELIVERIES.c.id.__lt__, after),
    )
    return read(session, Delivery, query)


def outdated(session: Session, before: datetime, ids: Collection[str] | None = None) -> dict[str, int]:
    query = select(DELIVERIES.c.id).where(DELIVERIES.c.ended_at < before).order_by(DELIVERIES.c.id)
    return dict.fromkeys(session.scalars(narrowed(query, (DELIVERIES.c.id.in_, ids))), 1)


def remove(session: Session, ids: Collection[str]) -> list[str]:
    return list(session.scalars(DELIVERIES.delete().where(DELIVERIES.c.id.in_(ids)).returning(DELIVERIES.c.id)))


@stored("mail_questions", Index(None, "mailbox"), Index(None, "key_id", "at"))
class _Question:
    """A question to a recipient of e-mail whether it agrees. It outlives its subscription and its delivery.

    `id` is that of its delivery, `mailbox` a keyed hash. One that is not allowed is not sent, since the mailbox had
    another, or has refused.
    """

    id: str
    mailbox: str
    # Not a foreign key: keys are revoked, never deleted.
    key_id: str
    at: datetime
    is_allowed: bool


@stored("mail_refusals", key=("mailbox",))
class _Refusal:
    """A mailbox that wants no questions."""

    mailbox: str
    at: datetime


@stored("mailbox_salt", CheckConstraint("id = 1", name="id"))
class _Salt:
    """The key that mailboxes are hashed with."""

    id: int
    salt: str


_QUESTIONS, _REFUSALS, _SALT = table_of(_Question), table_of(_Refusal), table_of(_Salt)


class TooManyQuestions(InvalidInput):
    """The key, or who needs none, has reached the limit of subscriptions for e-mail within a day."""

    status = 409
    remedy = "Create the subscription a day later, or have an administrator raise FRESHET_MAIL_QUESTIONS_PER_DAY."


def one_after_another(session: Session) -> None:
    """Let whatever asks or refuses wait until this transaction ends, so that each sees what the others stored."""
    # On SQLite the whole database is locked already, and FOR UPDATE is left out.
    session.execute(select(KEYS.c.id).order_by(KEYS.c.id).with_for_update(key_share=True))


def mailbox_hash(session: Session, email: str) -> str:
    salt = session.scalar(select(_SALT.c.salt))
    if salt is None:
        add_all(session, _SALT, [{"id": 1, "salt": secrets.token_hex(32)}], if_new=True)
        salt = session.scalars(select(_SALT.c.salt)).one()
    return hmac.digest(bytes.fromhex(salt), mailbox(email).encode(), sha256).hex()


def store_question(session: Session, delivery: str, email: str, key: str, at: datetime, settings: Settings) -> None:
    """Store the question that a delivery asks, and whether its recipient may be asked it.

    One that may not counts as well, and nothing that a key sees differs: no key learns who was asked or refused.
    """
    recent = (_QUESTIONS.c.key_id == key, _QUESTIONS.c.at > at - timedelta(days=1))
    limit = settings.mail_questions_per_day
    if session.scalars(select(func.count()).select_from(_QUESTIONS).where(*recent)).one() >= limit:
        raise TooManyQuestions(
            f"A key, or all without one, may create {limit} subscriptions for e-mail within a day: wait until tomorrow."
        )
    hashed = mailbox_hash(session, email)
    since = at - timedelta(days=settings.retain_questions_days)
    earlier = select(_QUESTIONS.c.id).filter_by(mailbox=hashed, is_allowed=True).where(_QUESTIONS.c.at > since)
    is_allowed = session.scalar(earlier.limit(1)) is None and not refuses_questions(session, hashed)
    row = {"id": delivery, "mailbox": hashed, "key_id": key, "at": at, "is_allowed": is_allowed}
    add_all(session, _Question, [row])


def mailbox_to_ask(session: Session, delivery: str) -> str | None:
    """Return the hashed mailbox that a delivery's question goes to; None where it may not be asked."""
    asked = find(session, _Question, id=delivery)
    is_allowed = asked is not None and asked.is_allowed and not refuses_questions(session, asked.mailbox)
    return asked.mailbox if asked is not None and is_allowed else None


def refuses_questions(session: Session, hashed: str) -> bool:
    return find_row(session, _REFUSALS, mailbox=hashed) is not None


def refuse_questions(session: Session, hashed: str, at: datetime) -> bool:
    """Record that a mailbox wants no questions, for good, and return whether that is new."""
    one_after_another(session)
    insert = insert_into(session, _REFUSALS).values(mailbox=hashed, at=at)
    new = insert.on_conflict_do_nothing(index_elements=["mailbox"]).returning(_REFUSALS.c.mailbox)
    return session.execute(new).one_or_none() is not None


def allow_questions(session: Session, hashed: str) -> bool:
    """Record that a mailbox takes questions again; return whether that is new."""
    gone = _REFUSALS.delete().where(_REFUSALS.c.mailbox == hashed).returning(_REFUSALS.c.mailbox)
    return session.execute(gone).one_or_none() is not None


def outdated_questions(session: Session, before: datetime, ids: Collection[str] | None = None) -> dict[str, int]:
    query = select(_QUESTIONS.c.id).where(_QUESTIONS.c.at < before).order_by(_QUESTIONS.c.id)
    return dict.fromkeys(session.scalars(narrowed(query, (_QUESTIONS.c.id.in_, ids))), 1)


def remove_questions(session: Session, ids: Collection[str]) -> list[str]:
    """Delete questions. None of them had an address of its own."""
    session.execute(_QUESTIONS.delete().where(_QUESTIONS.c.id.in_(ids)))
    return []
