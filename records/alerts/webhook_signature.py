"""Signatures of webhooks: HMAC-SHA256 by derived secrets, which are not stored.

The secret of a subscription is derived from the service's own key, the subscription's id and the number of the secret.
The service's key is a setting, or a file in the data folder that only its owner can read.
"""

import hmac
import os
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from hydrology.base.errors import DataProblem
from runtime import private_files
from runtime.settings import Settings

KEY_FILE = "webhook.key"
KEY_BYTES = 32


class NoWebhookKey(DataProblem):
    """The key that the secrets of webhooks are derived from cannot be used."""

    kind = "no-webhook-key"
    remedy = "Restore the file that `detail` names, or delete it and rotate the secret of every subscription."


def service_key(settings: Settings) -> bytes:
    """Return the key that all secrets are derived from. Create its file if it is missing.

    Raises:
        NoWebhookKey: the file is damaged.
    """
    if settings.webhook_key is not None:
        return settings.webhook_key.encode()
    file = settings.data / KEY_FILE
    if not file.exists():
        _make(file)
    key = file.read_bytes()
    if len(key) != KEY_BYTES:
        raise NoWebhookKey(
            f"{KEY_FILE} in the data folder is damaged: restore it, or delete it and rotate the "
            "secret of every subscription."
        )
    return key


def secret(key: bytes, subscription: str, generation: int) -> str:
    """Return a secret of a subscription."""
    digest = hmac.digest(key, f"freshet webhook {subscription} {generation}".encode(), sha256)
    return f"freshet_webhook_{urlsafe_b64encode(digest).decode().rstrip('=')}"


def signature(good: Sequence[str], at: datetime, body: bytes) -> str:
    """Return the signature header of a body: the seconds since 1970, and a signature by each valid secret."""
    seconds = int(at.timestamp())
    signed = f"{seconds}.".encode() + body
    return ",".join([f"t={seconds}", *(f"v1={hmac.new(one.encode(), signed, sha256).hexdigest()}" for one in good)])


def _make(file: Path) -> None:
    """Write the key's file atomically: of two processes, the second finds the key of the first."""
    private_files.make_folder(file.parent)
    draft = file.with_suffix(f".{os.getpid()}.{secrets.token_hex(4)}")
    with open(draft, "wb", opener=private_files.opener) as opened:
        opened.write(secrets.token_bytes(KEY_BYTES))
        opened.flush()
        os.fsync(opened.fileno())
    try:
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
