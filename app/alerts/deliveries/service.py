"""Builds the answers about deliveries."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy.orm import Session

from app.alerts.deliveries.schemas import Delivery, DeliveryAttempt, DeliveryDetail
from app.alerts.subscriptions import service as subscriptions
from app.http.base_schema import why_null
from records.access.keys import Key
from records.alerts import alert_changes, deliveries
from records.alerts.deliveries import MAX_TRIES

_WHY_OF_ATTEMPT = {
    "ended_at": "It is under way.",
    "status_code": "The receiver has not answered.",
    "failure": "It is delivered, or under way.",
}


def visible_subscriptions(session: Session, key: Key, subscription: str | None) -> list[str] | None:
    """Return the subscriptions whose deliveries a key may see, or the one named; None for all.

    Raises:
        UnknownSubscription: there is none of that id.
        NotYourSubscription: it belongs to another key.
    """
    if subscription is not None:
        return [subscriptions.owned(session, key, subscription).id]
    return None if key.is_admin else [one.id for one in subscriptions.of_key(session, key)]


def owned(session: Session, key: Key, delivery: str) -> deliveries.Delivery:
    """Return a delivery that a key may see and replay.

    Raises:
        UnknownDelivery: there is none of that id.
        NotYourSubscription: its subscription belongs to another key.
    """
    stored = deliveries.get(session, delivery)
    subscriptions.owned(session, key, stored.subscription_id)
    return stored


def detail(session: Session, stored: deliveries.Delivery) -> DeliveryDetail:
    """Return a delivery with its log."""
    attempts = [
        DeliveryAttempt(**fields, missing=why_null(fields, _WHY_OF_ATTEMPT))
        for fields in (asdict(attempt) for attempt in deliveries.attempts_of(session, stored.id))
    ]
    return DeliveryDetail(**_fields(stored, _changes(session, [stored])), attempts=attempts)


def summaries(session: Session, rows: Sequence[deliveries.Delivery]) -> list[Delivery]:
    """Return deliveries as in a list."""
    changes = _changes(session, rows)
    return [Delivery(**_fields(stored, changes)) for stored in rows]


def _changes(session: Session, rows: Sequence[deliveries.Delivery]) -> dict[int, alert_changes.Change]:
    return alert_changes.get_many(session, [stored.change_seq for stored in rows])


def _fields(stored: deliveries.Delivery, changes: dict[int, alert_changes.Change]) -> dict[str, Any]:
    change = changes[stored.change_seq]
    fields = {
        "id": stored.id,
        "subscription": stored.subscription_id,
        "event": change.id,
        "kind": change.kind,
        "basin": change.basin_id,
        "status": stored.status,
        "tries": stored.tries,
        "most_tries": MAX_TRIES,
        "next_at": stored.next_at,
        "ended_at": stored.ended_at,
    }
    at_once = "The next attempt is immediate or under way." if stored.status == "pending" else "It has ended."
    return fields | {"missing": why_null(fields, {"next_at": at_once, "ended_at": "It is under way."})}
