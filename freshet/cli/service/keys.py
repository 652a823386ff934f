"""`freshet keys`: keys for writing over the API."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer

from freshet.cli.answers import listing
from freshet.cli.context import MayCreateDatabase, changing, reading
from freshet.cli.options import argument, option
from freshet.cli.output import Json, answer
from hydrology.base.errors import InvalidInput, printable
from records.access import keys as records

app = typer.Typer(no_args_is_help=True)

MAX_DAYS = 36_525  # a century


@app.callback()
def keys() -> None:
    """Create, list and revoke the keys for writing over the API."""


@app.command("make")
def make(
    name: Annotated[str, argument("NAME", "Name of its owner.")],
    scope: Annotated[
        records.Scope,
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
        key, token = records.make(change.session, name, scope, expires_at, change.now)
        change.record("key created", key.id, name=name, scope=scope)
    answer(asdict(key) | {"token": token}, as_json, token)


@app.command("list")
def list_keys(as_json: Json = False) -> None:
    """List the keys, without their tokens."""
    with reading() as session:
        found = records.list_keys(session)
    columns = {"key": "id", "name": "name", "scope": "scope"}
    columns |= {"created": "created_at", "expires": "expires_at", "revoked": "revoked_at"}
    shown = listing(found, columns, f"{len(found)} keys")
    answer({"keys": [asdict(key) for key in found]}, as_json, shown)


@app.command("revoke")
def revoke(key: Annotated[str, argument("KEY", "Its id.")], as_json: Json = False) -> None:
    """Revoke a key: its token is refused from now on."""
    with changing() as change:
        revoked = records.revoke(change.session, key, change.now)
        change.record("key revoked", key, name=revoked.name)
    answer(asdict(revoked), as_json, f"Key {key} of {revoked.name} is no longer accepted.")
