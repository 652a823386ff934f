"""`freshet audit`: who changed what."""

from typing import Annotated

from freshet.cli.answers import Columns, listing
from freshet.cli.options import option
from freshet.cli.reading import Reading, Shown, cut, reads
from hydrology.base.errors import counted
from records.access import audit as records

_COLUMNS: Columns = {"number": "seq", "when": "at", "who": "who", "from": "address", "what": "action"}
_COLUMNS |= {"of": "subject", "more": "detail"}


@reads
def audit(
    at: Reading,
    limit: Annotated[int, option("COUNT", "Maximum number of changes.", min=1)] = 50,
    before: Annotated[int | None, option("NUMBER", "Only changes before this one.", min=0)] = None,
) -> Shown:
    """List the changes, the newest first: who, what, when, from where."""
    from app.service.audit import AuditPage

    rows, following = cut(
        records.page(at.session, before=before, limit=limit + 1), limit, "/v1/audit", lambda entry: entry.seq
    )
    found = AuditPage(changes=rows, next=following)
    return Shown(found, lambda: listing(found.changes, _COLUMNS, counted(len(rows), "change")))
