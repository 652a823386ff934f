"""Links in e-mail that need no key: each is signed for one subscription, its address and one purpose, or for a
mailbox, to refuse questions.

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
"""A token: the id of a subscription, or a hashed mailbox, and the first 128 bits of its signature."""
QUESTIONS_PATH = "/mail/questions"
"""Where the recipient of a question refuses all others, or allows them again."""


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


def questions_link(service: str, key: bytes, mailbox: str) -> str:
    """Return the address behind the link by which a hashed mailbox refuses questions, whatever became of its
    subscriptions."""
    return f"{service}{QUESTIONS_PATH}/{_mailbox_token(key, mailbox)}"


def mailbox_of(key: bytes, token: str) -> str:
    """Return the hashed mailbox of a token.

    Raises:
        InvalidMailLink: this service did not create it.
    """
    mailbox = token.partition(".")[0]
    if not hmac.compare_digest(_mailbox_token(key, mailbox), token):
        raise InvalidMailLink("This link is not valid: nothing was changed.")
    return mailbox


def _mailbox_token(key: bytes, mailbox: str) -> str:
    return f"{mailbox}.{hmac.digest(key, f'freshet mail questions {mailbox}'.encode(), sha256).hex()[:32]}"


def _token(key: bytes, purpose: Purpose, subscription: Subscription) -> str:
    signed = f"freshet mail {purpose} {subscription.id} {subscription.email}".encode()
    return f"{subscription.id}.{hmac.digest(key, signed, sha256).hex()[:32]}"
