"""Answers about the audit trail."""

from datetime import datetime
from typing import Any

from pydantic import Field

from app.http.base_schema import Missing, Model, next_page
from records.access import audit


class Change(Model):
    """A change with its actor, time and origin."""

    seq: int = Field(description="Grows with every change.")
    at: datetime
    who: str = Field(description="The name of the key, `command line (unix user)`, or a schedule's name.")
    key: str | None = Field(description="The id of the key.")
    address: str | None = Field(description="Where the request came from.")
    action: audit.Action
    subject: str = Field(description="The identifier of what was changed.")
    detail: dict[str, Any]
    missing: Missing


class AuditPage(Model):
    """Changes, the newest first."""

    changes: list[Change]
    next: str | None = next_page("/v1/audit?limit=100&after=42")
