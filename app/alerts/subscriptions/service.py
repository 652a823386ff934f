"""Checks requests about subscriptions and builds their answers."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.alerts.subscriptions.schemas import Subscription, SubscriptionWithSecret
from app.http.api_keys import require_owner
from app.http.base_schema import why_null
from app.http.problems import Forbidden
from hydrology.base.errors import InvalidInput
from jobspec.addresses import why_no_target
from records.access.keys import Key
from records.alerts import subscriptions, webhook_signature
from records.alerts.subscriptions import OVERLAP
from runtime.settings import Settings

_COPIED = ("id", "url", "basins", "least_severity", "created_at", "rotated_at")


class NotYourSubscription(Forbidden):
    """The subscription belongs to another key."""

    kind = "not-your-subscription"


class ForbiddenTarget(InvalidInput):
    """The service may not send to this address."""

    kind = "forbidden-target"


def require_target(settings: Settings, url: str | None) -> None:
    """Refuse a URL that the service may not send to, judged by the URL alone.

    Raises:
        ForbiddenTarget: the URL is not allowed.
    """
    if url is not None and (reason := why_no_target(url, settings.webhook_hosts)):
        raise ForbiddenTarget(reason)


def owned(session: Session, key: Key, subscription: str) -> subscriptions.Subscription:
    """Return a subscription that belongs to a key; an admin's key may take any.

    Raises:
        UnknownSubscription: there is none of that id.
        NotYourSubscription: it belongs to another key.
    """
    stored = subscriptions.get(session, subscription)
    require_owner(key, stored.key_id, NotYourSubscription, f"Subscription {stored.id}")
    return stored


def of_key(session: Session, key: Key) -> list[subscriptions.Subscription]:
    """Return the subscriptions that a key may see."""
    return subscriptions.list_subscriptions(session, None if key.is_admin else key.id)


def answer(stored: subscriptions.Subscription, at: datetime) -> Subscription:
    """Return the public fields of a subscription, without its secret."""
    return Subscription(**_fields(stored, at))


def with_secret(stored: subscriptions.Subscription, settings: Settings, at: datetime) -> SubscriptionWithSecret:
    """Return a subscription with the newest of its secrets.

    Raises:
        NoWebhookKey: the key that secrets follow from is damaged.
    """
    secret = webhook_signature.secret(webhook_signature.service_key(settings), stored.id, stored.generation)
    return SubscriptionWithSecret(**_fields(stored, at), secret=secret)


def _fields(stored: subscriptions.Subscription, at: datetime) -> dict[str, Any]:
    values = asdict(stored)
    fields = {name: values[name] for name in _COPIED}
    overlaps = stored.rotated_at is not None and len(stored.generations(at)) > 1
    fields["old_secret_until"] = stored.rotated_at + OVERLAP if overlaps and stored.rotated_at else None
    why = {
        "basins": "Changes of all basins are sent.",
        "rotated_at": "Its secret is the first.",
        "old_secret_until": "Its secret is the only one that is good.",
    }
    return fields | {"missing": why_null(fields, why)}
