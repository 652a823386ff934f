"""Questions to recipients of e-mail whether they agree, and addresses that want none.

They outlive the subscriptions, so that deleting one allows no further question. Of an address only a keyed hash of its
mailbox is stored. Its key is a row, not the key that signs links: that one may be replaced, and a refusal must outlast
it.
"""

import hmac
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy import CheckConstraint, Index, delete, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from hydrology.base.errors import InvalidInput
from jobspec.addresses import mailbox
from records.access.keys import KEYS
from records.database.base import Base
from records.database.stored import add_all, insert_into
from runtime.settings import Settings

_DAY = timedelta(days=1)


class MailQuestionRow(Base):
    """A question to a recipient of e-mail whether it agrees. It outlives its subscription and its delivery."""

    __tablename__ = "mail_questions"
    __table_args__ = (Index(None, "mailbox"), Index(None, "key_id", "at"))

    # Of its delivery.
    id: Mapped[str] = mapped_column(primary_key=True)
    # A keyed hash.
    mailbox: Mapped[str]
    # Not a foreign key: keys are revoked, never deleted.
    key_id: Mapped[str]
    at: Mapped[datetime]
    # False: it is not sent, since the mailbox had another, or has refused.
    is_allowed: Mapped[bool]


class MailRefusalRow(Base):
    """A mailbox that wants no questions."""

    __tablename__ = "mail_refusals"

    mailbox: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]


class MailboxSaltRow(Base):
    """The key that mailboxes are hashed with."""

    __tablename__ = "mailbox_salt"
    __table_args__ = (CheckConstraint("id = 1", name="id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    salt: Mapped[str]


class TooManyQuestions(InvalidInput):
    """The key has reached its limit of subscriptions for e-mail within a day."""

    kind = "too-many-questions"
    status = 409
    remedy = "Create the subscription a day later, or have an administrator raise FRESHET_MAIL_QUESTIONS_PER_DAY."


def one_after_another(session: Session) -> None:
    """Let whatever asks or refuses wait until this transaction ends, so that each sees what the others stored."""
    # On SQLite the whole database is locked already, and FOR UPDATE is left out.
    session.execute(select(KEYS.c.id).order_by(KEYS.c.id).with_for_update(key_share=True))


def mailbox_hash(session: Session, email: str) -> str:
    """Return the keyed hash of the mailbox that an address reaches."""
    salt = session.scalar(select(MailboxSaltRow.salt)) or _new_salt(session)
    return hmac.digest(bytes.fromhex(salt), mailbox(email).encode(), sha256).hex()


def _new_salt(session: Session) -> str:
    fresh = {"id": 1, "salt": secrets.token_hex(32)}
    session.execute(insert_into(session, MailboxSaltRow).values(fresh).on_conflict_do_nothing(index_elements=["id"]))
    return session.scalars(select(MailboxSaltRow.salt)).one()


def store(session: Session, delivery: str, email: str, key: str, at: datetime, settings: Settings) -> None:
    """Store the question that a delivery asks, and whether its recipient may be asked it.

    One that may not counts as well, and nothing that a key sees differs: no key learns who was asked or refused.
    """
    recent = (MailQuestionRow.key_id == key, MailQuestionRow.at > at - _DAY)
    limit = settings.mail_questions_per_day
    if session.scalars(select(func.count()).select_from(MailQuestionRow).where(*recent)).one() >= limit:
        raise TooManyQuestions(f"A key may create {limit} subscriptions for e-mail within a day: wait until tomorrow.")
    hashed = mailbox_hash(session, email)
    since = at - timedelta(days=settings.retain_questions_days)
    earlier = select(MailQuestionRow.id).filter_by(mailbox=hashed, is_allowed=True).where(MailQuestionRow.at > since)
    is_allowed = session.scalar(earlier.limit(1)) is None and not is_refused(session, hashed)
    row = {"id": delivery, "mailbox": hashed, "key_id": key, "at": at, "is_allowed": is_allowed}
    add_all(session, MailQuestionRow, [row])


def mailbox_to_ask(session: Session, delivery: str) -> str | None:
    """Return the hashed mailbox that a delivery's question goes to; None where it may not be asked."""
    row = session.get(MailQuestionRow, delivery)
    return row.mailbox if row is not None and row.is_allowed and not is_refused(session, row.mailbox) else None


def is_refused(session: Session, hashed: str) -> bool:
    return session.get(MailRefusalRow, hashed) is not None


def refuse(session: Session, hashed: str, at: datetime) -> bool:
    """Record that a mailbox wants no questions, for good, and return whether that is new."""
    one_after_another(session)
    insert = insert_into(session, MailRefusalRow).values(mailbox=hashed, at=at)
    new = insert.on_conflict_do_nothing(index_elements=["mailbox"]).returning(MailRefusalRow.mailbox)
    return session.execute(new).one_or_none() is not None


def allow(session: Session, hashed: str) -> bool:
    """Record that a mailbox takes questions again; return whether that is new."""
    gone = delete(MailRefusalRow).where(MailRefusalRow.mailbox == hashed).returning(MailRefusalRow.mailbox)
    return session.execute(gone).one_or_none() is not None


def outdated(session: Session, before: datetime, ids: Collection[str] | None = None) -> dict[str, int]:
    """Return the questions that were stored before an instant, each with a count of 1."""
    query = select(MailQuestionRow.id).where(MailQuestionRow.at < before).order_by(MailQuestionRow.id)
    return dict.fromkeys(session.scalars(query if ids is None else query.where(MailQuestionRow.id.in_(ids))), 1)


def remove(session: Session, ids: Collection[str]) -> list[str]:
    """Delete questions. None of them had an address of its own."""
    session.execute(delete(MailQuestionRow).where(MailQuestionRow.id.in_(ids)))
    return []
