"""/v1/audit: the audit trail, for admins."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Response

from app.exports.fields import FieldFilter, fields_of, schema_of
from app.http.api_keys import AdminReader
from app.http.base_schema import why_null
from app.http.conditional import NO_STORE, cached
from app.http.dependencies import Reading
from app.http.pagination import NumberPage
from app.http.problems import Forbidden, documented_keyed
from app.service.schemas import AuditPage, Change
from records.access import audit

router = APIRouter(prefix="/audit", tags=["audit"])

_WHY = {
    "key": "No key was used: the change came from the command line or a schedule.",
    "address": "The change was on this machine.",
}


@router.get(
    "",
    summary="Audit trail of changes",
    response_model=schema_of(AuditPage),
    responses=documented_keyed(Forbidden),
    dependencies=[cached(NO_STORE)],
)
def list_changes(
    session: Reading, _key: AdminReader, page: NumberPage, fields: Annotated[FieldFilter, fields_of(AuditPage)]
) -> Response:
    """Every change over the API and by the command line, the newest first, a page at a time: follow `next` until it is
    null. For admins alone."""
    entries = audit.page(session, before=page.after, limit=page.sought)
    shown, following = page.cut(entries, lambda entry: entry.seq)
    return fields.of(AuditPage(changes=[change_of(entry) for entry in shown], next=following))


def change_of(entry: audit.Entry) -> Change:
    """Return a change as answers show it."""
    fields = asdict(entry)
    fields["key"] = fields.pop("key_id")
    return Change(**fields, missing=why_null(fields, _WHY))
