"""/v1/audit: the audit trail, for admins."""

from typing import Annotated

from fastapi import APIRouter, Response

from app.exports.fields import FieldFilter, fields_of, schema_of
from app.http.api_keys import AdminReader
from app.http.base_schema import Model, next_page
from app.http.conditional import NO_STORE, cached
from app.http.dependencies import NumberPage, Reading
from app.http.problems import Forbidden, documented_keyed
from app.http.shown import As
from records.access import audit

router = APIRouter(prefix="/audit", tags=["audit"])

_CHANGE = As(name="Change", rename=(("key_id", "key"),), exact=True, missing=True)


class AuditPage(Model):
    """Changes, the newest first."""

    changes: list[Annotated[audit.Entry, _CHANGE]]
    next: str | None = next_page("/v1/audit?limit=100&after=42")


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
    return fields.of(AuditPage(changes=shown, next=following))
