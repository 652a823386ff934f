"""Subscriptions of receivers to alert changes. Secrets are not stored (`records.alerts.webhook_signature`)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from hydrology.base.errors import InvalidInput, NotFound
from hydrology.extremes.alerting import Severity, rank
from jobspec.subscriptions import NewSubscription, SubscriptionPatch
from records.access.tables import KeyRow
from records.alerts.tables import SubscriptionRow
from records.basins import basins
from records.database.base import JsonList
from records.database.ids import new_id
from records.database.statements import add_all, as_record, as_values

MAX_OF_A_KEY = 100
"""Limit per key: every change is written once for each matching subscription."""
OVERLAP = timedelta(days=1)
"""After a rotation the old secret stays valid for this long."""


class UnknownSubscription(NotFound):
    """No subscription with this id is stored."""

    kind = "unknown-subscription"


class TooManySubscriptions(InvalidInput):
    """The key has reached its limit of subscriptions."""

    kind = "too-many-subscriptions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A receiver of alert changes.

    Attributes:
        key_id: the key that created it. While it is revoked or expired, nothing new is sent.
        basins: the basins whose changes it receives; None for all.
        least_severity: changes of alerts that stay below it are not sent.
        generation: number of its secret; rotated_at: when it replaced the last one.
    """

    id: str
    key_id: str
    url: str
    basins: JsonList | None
    least_severity: Severity
    generation: int
    rotated_at: datetime | None
    created_at: datetime

    def generations(self, at: datetime) -> list[int]:
        """Return the generations whose secrets are valid at an instant, newest first."""
        overlaps = self.rotated_at is not None and at < self.rotated_at + OVERLAP
        return [self.generation, self.generation - 1] if overlaps else [self.generation]


def create(session: Session, new: NewSubscription, key: str, at: datetime) -> Subscription:
    """Store a new subscription of a key.

    Raises:
        TooManySubscriptions: the key has reached its limit.
        InvalidInput: a basin that it names is not stored.
    """
    if len(list_subscriptions(session, key)) >= MAX_OF_A_KEY:
        raise TooManySubscriptions(f"A key may have at most {MAX_OF_A_KEY} subscriptions: delete one first.")
    _require_basins(session, new.basins)
    subscription = Subscription(
        id=new_id(at),
        key_id=key,
        url=new.url,
        basins=new.basins,
        least_severity=new.least_severity,
        generation=1,
        rotated_at=None,
        created_at=at,
    )
    add_all(session, SubscriptionRow, [as_values(subscription)])
    return subscription


def get(session: Session, subscription: str) -> Subscription:
    """Return a subscription.

    Raises:
        UnknownSubscription: there is none with this id.
    """
    row = session.get(SubscriptionRow, subscription, populate_existing=True)
    if row is None:
        raise _unknown(subscription)
    return as_record(Subscription, row)


def list_subscriptions(session: Session, key: str | None = None) -> list[Subscription]:
    """Return the subscriptions of a key, or all, oldest first."""
    query = select(SubscriptionRow).order_by(SubscriptionRow.id)
    if key is not None:
        query = query.where(SubscriptionRow.key_id == key)
    return [as_record(Subscription, row) for row in session.scalars(query)]


def update(session: Session, subscription: str, patch: SubscriptionPatch) -> Subscription:
    """Change the fields that a patch names.

    Raises:
        UnknownSubscription: there is none with this id.
        InvalidInput: a basin that it names is not stored.
    """
    row = _locked(session, subscription)
    _require_basins(session, patch.basins)
    for name, value in patch.changes().items():
        setattr(row, name, value)
    session.flush()
    return as_record(Subscription, row)


def rotate(session: Session, subscription: str, at: datetime) -> Subscription:
    """Rotate a subscription's secret.

    Raises:
        UnknownSubscription: there is none with this id.
    """
    row = _locked(session, subscription)
    row.generation, row.rotated_at = row.generation + 1, at
    session.flush()
    return as_record(Subscription, row)


def remove(session: Session, subscription: str) -> None:
    """Delete a subscription with its deliveries.

    Raises:
        UnknownSubscription: there is none with this id.
    """
    session.delete(_locked(session, subscription))
    session.flush()


def matching(session: Session, basin: str, severity: Severity | None, at: datetime) -> list[Subscription]:
    """Return the subscriptions that receive a change: those whose key is valid at an instant.

    Args:
        severity: the highest that the change begins or ends; None for a change of the whole basin.
    """
    good = KeyRow.revoked_at.is_(None) & or_(KeyRow.expires_at.is_(None), KeyRow.expires_at > at)
    query = select(SubscriptionRow).join(KeyRow, KeyRow.id == SubscriptionRow.key_id).where(good)
    stored = [as_record(Subscription, row) for row in session.scalars(query.order_by(SubscriptionRow.id))]
    return [
        one
        for one in stored
        if (one.basins is None or basin in one.basins)
        and (severity is None or rank(severity) >= rank(one.least_severity))
    ]


def _locked(session: Session, subscription: str) -> SubscriptionRow:
    row = session.get(SubscriptionRow, subscription, populate_existing=True, with_for_update=True)
    if row is None:
        raise _unknown(subscription)
    return row


def _unknown(subscription: str) -> UnknownSubscription:
    return UnknownSubscription(
        f"No subscription {subscription!r} is stored here: list the subscriptions to see their ids."
    )


def _require_basins(session: Session, names: list[str] | None) -> None:
    if unknown := basins.unknown(session, names or []):
        raise InvalidInput(str(next(iter(unknown.values()))))
