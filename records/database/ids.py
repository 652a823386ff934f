"""Identifiers of stored records, and the check of a blob against its checksum."""

import secrets
from datetime import datetime

from hydrology.base.digests import sha256
from hydrology.base.errors import DataProblem


class Corrupt(DataProblem):
    """A stored blob is not as it was written."""

    kind = "corrupt"
    status = 500
    remedy = "Restore the database from a backup: its content is not as it was written."


FORM = "^[0-9a-f]{22}$"
"""The pattern of identifiers."""


def new_id(wall: datetime) -> str:
    """Return a new identifier: the machine's milliseconds (12 hex digits) and 10 random digits. Sorts by time."""
    return f"{int(wall.timestamp() * 1000):012x}{secrets.token_hex(5)}"


def first_of(instant: datetime) -> str:
    """Return the lower bound of identifiers created at an instant or later."""
    return f"{int(instant.timestamp() * 1000):012x}"


def verified(content: bytes, expected: str, what: str) -> bytes:
    """Return the bytes when their SHA-256 is the expected one."""
    if sha256(content) != expected:
        raise Corrupt(f"The stored {what} is damaged (its SHA-256 is not {expected}): restore the database.")
    return content
