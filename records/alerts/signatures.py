"""Signs webhooks by the Standard Webhooks specification, and the links of e-mail that need no API key.

Secrets and links are derived from the service's own key, and not stored: the secret of a subscription from its id and
the number of the secret, a link from its subscription, address and purpose, or from a mailbox. The service's key is a
setting, or a file in the data folder that only its owner can read.

The specification's library would be a dependency for one call of `hmac`. Source:
https://github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md, version 1.0.0.
"""

import hmac
import os
import secrets
import time
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

from sqlalchemy.orm import Session

from hydrology.base.errors import DataProblem, NotFound
from records.alerts import subscriptions
from records.alerts.subscriptions import Subscription, UnknownSubscription
from runtime import stored_files
from runtime.settings import Settings
from runtime.stored_files import move_to_free_name

KEY_FILE = "webhook.key"
KEY_BYTES = 32
_PREFIX = "whsec_"
_MAX_EMPTY = 1.0  # seconds
Purpose = Literal["confirm", "unsubscribe"]
PATHS: dict[Purpose, str] = {"confirm": "/mail/confirm", "unsubscribe": "/mail/unsubscribe"}
FORM = r"^[0-9a-f]{1,64}\.[0-9a-f]{32}$"
"""A token: the id of a subscription, or a hashed mailbox, and the first 128 bits of its signature."""
QUESTIONS_PATH = "/mail/questions"
"""Where the recipient of a question refuses all others, or allows them again."""


class NoWebhookKey(DataProblem):
    """The key that the secrets of webhooks are derived from cannot be used."""

    remedy = "Restore the file that `detail` names, or delete it and rotate the secret of every subscription."


class InvalidMailLink(NotFound):
    """The link is not one that this service sent, or its subscription has been deleted."""

    remedy = "Use the link of the message as it is. If the subscription has been deleted, nothing more is sent."


def service_key(settings: Settings) -> bytes:
    """Return the key that all secrets are derived from. Create its file if it is missing."""
    if settings.webhook_key is not None:
        return settings.webhook_key.encode()
    file = settings.data / KEY_FILE
    if not file.exists():
        _make(file)
    key = _read(file)
    if len(key) != KEY_BYTES:
        raise NoWebhookKey(
            f"{KEY_FILE} in the data folder is damaged: restore it, or delete it and rotate the "
            "secret of every subscription."
        )
    return key


def secret(key: bytes, subscription: str, generation: int) -> str:
    digest = hmac.digest(key, f"freshet webhook {subscription} {generation}".encode(), sha256)
    return f"{_PREFIX}{b64encode(digest).decode()}"


def signed_headers(valid_secrets: Sequence[str], message: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers that identify and sign a message. Its id has no full stop, and is the same at every
    attempt."""
    seconds = int(at.timestamp())
    signed = f"{message}.{seconds}.".encode() + body
    digests = [hmac.digest(b64decode(one.removeprefix(_PREFIX)), signed, sha256) for one in valid_secrets]
    signatures = " ".join(f"v1,{b64encode(digest).decode()}" for digest in digests)
    return {"webhook-id": message, "webhook-timestamp": str(seconds), "webhook-signature": signatures}


def _make(file: Path) -> None:
    """Write the key's file atomically: of two processes, the second finds the key of the first."""
    stored_files.make_folder(file.parent)
    draft = file.with_suffix(f".{os.getpid()}.{secrets.token_hex(4)}")
    with open(draft, "wb", opener=stored_files.opener) as opened:
        opened.write(secrets.token_bytes(KEY_BYTES))
        opened.flush()
        os.fsync(opened.fileno())
    try:
        move_to_free_name(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)


def _read(file: Path) -> bytes:
    """Read the key. Where there are no hard links, the file of another process is empty for an instant."""
    deadline = time.monotonic() + _MAX_EMPTY
    while not (key := file.read_bytes()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return key


def mail_link(service: str, key: bytes, purpose: Purpose, subscription: Subscription) -> str:
    return f"{service}{PATHS[purpose]}/{_token(key, purpose, subscription)}"


def subscription_of(session: Session, key: bytes, purpose: Purpose, token: str) -> Subscription:
    invalid = InvalidMailLink("This link is not valid, or its subscription has been deleted: nothing was changed.")
    try:
        subscription = subscriptions.get(session, token.partition(".")[0])
    except UnknownSubscription:
        raise invalid from None
    if not hmac.compare_digest(_token(key, purpose, subscription), token):
        raise invalid
    return subscription


def questions_link(service: str, key: bytes, mailbox: str) -> str:
    """Return the link by which a hashed mailbox refuses questions, also without a subscription."""
    return f"{service}{QUESTIONS_PATH}/{_mailbox_token(key, mailbox)}"


def mailbox_of(key: bytes, token: str) -> str:
    mailbox = token.partition(".")[0]
    if not hmac.compare_digest(_mailbox_token(key, mailbox), token):
        raise InvalidMailLink("This link is not valid: nothing was changed.")
    return mailbox


def _mailbox_token(key: bytes, mailbox: str) -> str:
    return f"{mailbox}.{hmac.digest(key, f'freshet mail questions {mailbox}'.encode(), sha256).hex()[:32]}"


def _token(key: bytes, purpose: Purpose, subscription: Subscription) -> str:
    signed = f"freshet mail {purpose} {subscription.id} {subscription.email}".encode()
    return f"{subscription.id}.{hmac.digest(key, signed, sha256).hex()[:32]}"
