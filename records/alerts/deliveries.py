"""Deliveries of alert changes: one row per change and subscription, with a log of all attempts."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, String, UniqueConstraint, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.errors import NotFound
from records.database import retention
from records.database.base import Instant
from records.database.stored import find, read, stored, table_of

Status = Literal["pending", "delivered", "failed"]


class UnknownDelivery(NotFound):
    """No delivery with this id is stored."""

    kind = "unknown-delivery"


@stored(
    "deliveries",
    Column("lease_until", Instant),
    CheckConstraint("(status = 'pending') = (ended_at IS NULL)", name="ended"),
    UniqueConstraint("subscription_id", "change_seq"),
    Index(None, "status", "next_at"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A change for a subscription, or the question whether its recipient agrees.

    Attributes:
        change_seq: None for the question.
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


@stored(
    "delivery_attempts",
    Column("delivery_id", String, ForeignKey("deliveries.id", ondelete="CASCADE")),
    CheckConstraint("status_code IS NULL OR ended_at IS NOT NULL", name="answer"),
    key=("delivery_id", "number"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt to send a delivery. Without a status and a failure it is under way, or its sender was lost."""

    number: int
    at: datetime
    ended_at: datetime | None
    status_code: int | None
    failure: Absent | None


DELIVERIES, ATTEMPTS = table_of(Delivery), table_of(Attempt)


def get(session: Session, delivery: str, *, for_update: bool = False) -> Delivery:
    record = find(session, Delivery, id=delivery, for_update=for_update)
    if record is None:
        raise retention.pruned_row(session, "deliveries", delivery) or UnknownDelivery(
            f"No delivery {delivery!r} is stored here: list the deliveries to see their ids."
        )
    return record


def attempts_of(session: Session, delivery: str) -> list[Attempt]:
    """Return the log, oldest attempt first."""
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
        query = query.where(DELIVERIES.c.change_seq.is_not(None))
    if subscriptions is not None:
        query = query.where(DELIVERIES.c.subscription_id.in_(subscriptions))
    if status is not None:
        query = query.where(DELIVERIES.c.status == status)
    if after is not None:
        query = query.where(DELIVERIES.c.id < after)
    return read(session, Delivery, query)


def outdated(session: Session, before: datetime, ids: Collection[str] | None = None) -> dict[str, int]:
    """Return the deliveries that ended before an instant, each with a count of 1."""
    query = select(DELIVERIES.c.id).where(DELIVERIES.c.ended_at < before).order_by(DELIVERIES.c.id)
    return dict.fromkeys(session.scalars(query if ids is None else query.where(DELIVERIES.c.id.in_(ids))), 1)


def remove(session: Session, ids: Collection[str]) -> list[str]:
    """Delete deliveries with their log, and return their ids."""
    return list(session.scalars(DELIVERIES.delete().where(DELIVERIES.c.id.in_(ids)).returning(DELIVERIES.c.id)))
