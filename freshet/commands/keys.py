"""`freshet keys` and `freshet audit`: keys for writing over the API, and who changed what."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer

from freshet.cli.context import MayCreateDatabase, changing, reading
from freshet.cli.options import argument, option
from freshet.cli.output import Columns, Json, answer, listing
from freshet.cli.reading import Reading, Shown, cut, reads
from hydrology.base.errors import InvalidInput, counted, printable
from records.access import audit as audit_trail
from records.access import keys

MAX_DAYS = 36_525  # a century


def make_key(
    name: Annotated[str, argument("NAME", "Name of its owner.")],
    scope: Annotated[
        keys.Scope,
        typer.Option(
            help="An operator's jobs have results of its own (docs/look-up/jobs.md); a forecaster also adjusts "
            "forecasts and decides held alerts; an admin may do everything."
        ),
    ] = "operator",
    days: Annotated[int | None, option("DAYS", "Days until it expires.", min=1, max=MAX_DAYS)] = None,
    as_json: Json = False,
) -> None:
    """Create a key. Its token is shown only now, and not stored."""
    if name != printable(name) or not name.strip():
        raise InvalidInput("The name of a key's owner has characters that do not show, or none that do: write another.")
    with changing(MayCreateDatabase.WHERE_EXPECTED) as change:
        expires_at = change.now + timedelta(days=days) if days else None
        key, token = keys.make(change.session, name, scope, expires_at, change.now)
        change.record("key created", key.id, name=name, scope=scope)
    answer(asdict(key) | {"token": token}, as_json, token)


def list_keys(as_json: Json = False) -> None:
    """List the keys, without their tokens."""
    with reading() as session:
        found = keys.list_keys(session)
    columns = {"key": "id", "name": "name", "scope": "scope"}
    columns |= {"created": "created_at", "expires": "expires_at", "revoked": "revoked_at"}
    shown = listing(found, columns, f"{len(found)} keys")
    answer({"keys": [asdict(key) for key in found]}, as_json, shown)


def revoke_key(key: Annotated[str, argument("KEY", "Its id.")], as_json: Json = False) -> None:
    """Revoke a key: its token is refused from now on."""
    with changing() as change:
        revoked = keys.revoke(change.session, key, change.now)
        change.record("key revoked", key, name=revoked.name)
    answer(asdict(revoked), as_json, f"Key {key} of {revoked.name} is no longer accepted.")


_COLUMNS: Columns = {"number": "seq", "when": "at", "who": "who", "from": "address", "what": "action"}
_COLUMNS |= {"of": "subject", "more": "detail"}


@reads
def audit(
    at: Reading,
    limit: Annotated[int, option("COUNT", "Maximum number of changes.", min=1)] = 50,
    before: Annotated[int | None, option("NUMBER", "Only changes before this one.", min=0)] = None,
) -> Shown:
    """List the changes, the newest first: who, what, when, from where."""
    from app.service.metrics import AuditPage

    rows, following = cut(
        audit_trail.page(at.session, before=before, limit=limit + 1), limit, "/v1/audit", lambda entry: entry.seq
    )
    found = AuditPage(changes=rows, next=following)
    return Shown(found, lambda: listing(found.changes, _COLUMNS, counted(len(rows), "change")))
