"""Links in e-mail that need no key: each is signed for one subscription, its address and one purpose.

They are derived from the service's own key, as the secrets of webhooks are, and not stored.
"""

import hmac
from hashlib import sha256
from typing import Literal

from sqlalchemy.orm import Session

from hydrology.base.errors import NotFound
from records.alerts import subscriptions
from records.alerts.subscriptions import Subscription, UnknownSubscription

Purpose = Literal["confirm", "unsubscribe"]
PATHS: dict[Purpose, str] = {"confirm": "/mail/confirm", "unsubscribe": "/mail/unsubscribe"}
FORM = r"^[0-9a-f]{1,64}\.[0-9a-f]{32}$"
"""A token: the subscription's id and the first 128 bits of its signature."""


class InvalidMailLink(NotFound):
    """The link is not one that this service sent, or its subscription has been deleted."""

    kind = "invalid-mail-link"
    remedy = "Use the link of the message as it is. If the subscription has been deleted, nothing more is sent."


def link(service: str, key: bytes, purpose: Purpose, subscription: Subscription) -> str:
    """Return the address behind a link of an e-mail to a subscription's recipient.

    Args:
        service: the service's own address.
    """
    return f"{service}{PATHS[purpose]}/{_token(key, purpose, subscription)}"


def subscription_of(session: Session, key: bytes, purpose: Purpose, token: str) -> Subscription:
    """Return the subscription of a token.

    Raises:
        InvalidMailLink: this service did not create it for this purpose, or the subscription has been deleted.
    """
    invalid = InvalidMailLink("This link is not valid, or its subscription has been deleted: nothing was changed.")
    try:
        subscription = subscriptions.get(session, token.partition(".")[0])
    except UnknownSubscription:
        raise invalid from None
    if not hmac.compare_digest(_token(key, purpose, subscription), token):
        raise invalid
    return subscription


def _token(key: bytes, purpose: Purpose, subscription: Subscription) -> str:
    signed = f"freshet mail {purpose} {subscription.id} {subscription.email}".encode()
    return f"{subscription.id}.{hmac.digest(key, signed, sha256).hex()[:32]}"
