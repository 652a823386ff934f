"""`freshet keys` and `freshet audit`: keys for writing over the API, and who changed what."""

from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import Annotated

import typer

from freshet.cli.context import MayCreateDatabase
from freshet.cli.options import argument, option
from freshet.cli.output import Columns, listing
from freshet.cli.reading import Reading, Shown, cut, reads, writes
from hydrology.base.errors import InvalidInput, counted, printable
from records.access import audit as audit_trail
from records.access import keys
from records.access.audit import Writer

MAX_DAYS = 36_525  # a century
_KEYS: Columns = {"key": "id", "name": "name", "scope": "scope"}
_KEYS |= {"created": "created_at", "expires": "expires_at", "revoked": "revoked_at"}


@partial(writes, begins=MayCreateDatabase.WHERE_EXPECTED)
def make_key(
    by: Writer,
    name: Annotated[str, argument("NAME", "Name of its owner.")],
    scope: Annotated[
        keys.Scope,
        typer.Option(
            help="An operator's jobs have results of its own (docs/look-up/jobs.md); a forecaster also adjusts "
            "forecasts and decides held alerts; an admin may do everything."
        ),
    ] = "operator",
    days: Annotated[int | None, option("DAYS", "Days until it expires.", min=1, max=MAX_DAYS)] = None,
) -> Shown:
    """Create a key. Its token is shown only now, and not stored."""
    if name != printable(name) or not name.strip():
        raise InvalidInput("The name of a key's owner has characters that do not show, or none that do: write another.")
    expires_at = by.now + timedelta(days=days) if days else None
    with by.database.transaction() as session:
        key, token = keys.make(session, name, scope, expires_at, by.now)
        by.record(session, "key created", key.id, name=name, scope=scope)
    return Shown(asdict(key) | {"token": token}, lambda: token)


@reads
def list_keys(at: Reading) -> Shown:
    """List the keys, without their tokens."""
    found = keys.list_keys(at.session)
    return Shown({"keys": [asdict(key) for key in found]}, lambda: listing(found, _KEYS, f"{len(found)} keys"))


@writes
def revoke_key(by: Writer, key: Annotated[str, argument("KEY", "Its id.")]) -> Shown:
    """Revoke a key: its token is refused from now on."""
    with by.database.transaction() as session:
        revoked = keys.revoke(session, key, by.now)
        by.record(session, "key revoked", key, name=revoked.name)
    return Shown(asdict(revoked), lambda: f"Key {key} of {revoked.name} is no longer accepted.")


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
        audit_trail.page(at.session, before=before, limit=limit + 1), limit, "/v1/audit", lambda entry: entry.seq
    )
    found = AuditPage(changes=rows, next=following)
    return Shown(found, lambda: listing(found.changes, _COLUMNS, counted(len(rows), "change")))
