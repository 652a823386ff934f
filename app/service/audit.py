"""/v1/audit: the audit trail, for admins."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from app.http.api_keys import AdminReader
from app.http.base_schema import Missing, Model
from app.http.dependencies import PageLimit, Reading
from app.http.pagination import next_page
from app.http.problems import Forbidden, documented_keyed
from records.access import audit

router = APIRouter(prefix="/audit", tags=["audit"])

LARGEST_NUMBER = 2**31 - 1
After = Annotated[
    int | None, Query(description="Start after this number: the last one of the page before.", ge=0, le=LARGEST_NUMBER)
]
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
    next: str | None = Field(
        description="Where the next page is, also in the `Link` header; null on the last page.",
        examples=["/v1/audit?limit=100&after=42"],
    )


@router.get("", summary="Audit trail of changes", responses=documented_keyed(Forbidden))
def list_changes(
    request: Request,
    response: Response,
    session: Reading,
    _key: AdminReader,
    after: After = None,
    limit: PageLimit = 100,
) -> AuditPage:
    """Every change over the API and by the command line, the newest first, a page at a time: follow `next` until it is
    null. For admins alone."""
    entries = audit.page(session, before=after, limit=limit + 1)
    response.headers["Cache-Control"] = "no-store"
    last = str(entries[limit - 1].seq) if len(entries) > limit else None
    following = next_page(request, response, {"limit": limit}, last)
    return AuditPage(changes=[_answer(entry) for entry in entries[:limit]], next=following)


def _answer(entry: audit.Entry) -> Change:
    fields = asdict(entry)
    fields["key"] = fields.pop("key_id")
    return Change(**fields, missing={name: why for name, why in _WHY.items() if fields[name] is None})
