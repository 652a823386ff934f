"""/v1/audit: the audit trail, for admins."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from app.http.api_keys import AdminReader
from app.http.base_schema import Missing, Model, next_page, why_null
from app.http.conditional import NO_STORE, cached
from app.http.dependencies import Reading
from app.http.pagination import NumberPage
from app.http.problems import Forbidden, documented_keyed
from records.access import audit

router = APIRouter(prefix="/audit", tags=["audit"])

_WHY = {
    "key": "No key was used: the change came from the command line or a schedule.",
    "address": "The change was on this machine.",
}


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


@router.get(
    "", summary="Audit trail of changes", responses=documented_keyed(Forbidden), dependencies=[cached(NO_STORE)]
)
def list_changes(session: Reading, _key: AdminReader, page: NumberPage) -> AuditPage:
    """Every change over the API and by the command line, the newest first, a page at a time: follow `next` until it is
    null. For admins alone."""
    entries = audit.page(session, before=page.after, limit=page.sought)
    shown, following = page.cut(entries, lambda entry: entry.seq)
    return AuditPage(changes=[_answer(entry) for entry in shown], next=following)


def _answer(entry: audit.Entry) -> Change:
    fields = asdict(entry)
    fields["key"] = fields.pop("key_id")
    return Change(**fields, missing=why_null(fields, _WHY))
