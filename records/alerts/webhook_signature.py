"""Signs webhooks by the Standard Webhooks specification, with derived secrets, which are not stored.

The secret of a subscription is derived from the service's own key, the subscription's id and the number of the secret.
The service's key is a setting, or a file in the data folder that only its owner can read.

The signature is computed here, because the specification's library would be a dependency for one call of `hmac`.

Source: https://github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md, version 1.0.0.
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

from hydrology.base.errors import DataProblem
from runtime import stored_files
from runtime.settings import Settings
from runtime.stored_files import move_to_free_name

KEY_FILE = "webhook.key"
KEY_BYTES = 32
_PREFIX = "whsec_"
_MAX_EMPTY = 1.0  # seconds


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
    key = _read(file)
    if len(key) != KEY_BYTES:
        raise NoWebhookKey(
            f"{KEY_FILE} in the data folder is damaged: restore it, or delete it and rotate the "
            "secret of every subscription."
        )
    return key


def secret(key: bytes, subscription: str, generation: int) -> str:
    """Return a secret of a subscription, as its receiver gets it."""
    digest = hmac.digest(key, f"freshet webhook {subscription} {generation}".encode(), sha256)
    return f"{_PREFIX}{b64encode(digest).decode()}"


def signed_headers(valid_secrets: Sequence[str], message: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers that identify and sign a message.

    Args:
        valid_secrets: the valid secrets; each adds a signature.
        message: its id, the same at every attempt, without a full stop.
        at: when it is sent.
    """
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
