"""`freshet keys`: keys for writing over the API."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Literal

import typer

from freshet.cli.context import Begins, opened
from freshet.cli.output import Json, answer, table
from records.access import audit
from records.access import keys as records

app = typer.Typer(no_args_is_help=True)


@app.callback()
def keys() -> None:
    """Create, list and revoke the keys for writing over the API."""


@app.command("make")
def make(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of its owner.")],
    scope: Annotated[
        Literal["operator", "admin"],
        typer.Option(
            help="An operator's jobs have results of its own (docs/look-up/jobs.md); an admin may do everything."
        ),
    ] = "operator",
    days: Annotated[int | None, typer.Option(metavar="DAYS", min=1, help="Days until it expires.")] = None,
    as_json: Json = False,
) -> None:
    """Create a key. Its token is shown only now, and not stored."""
    with opened(begins=Begins.WHERE_EXPECTED) as context, context.database.transaction() as session:
        now = context.clock.wall()
        key, token = records.make(session, name, scope, now + timedelta(days=days) if days else None, now)
        audit.record(session, audit.command_line(), "key created", key.id, now, name=name, scope=scope)
    answer(asdict(key) | {"token": token}, as_json, token)


@app.command("list")
def list_keys(as_json: Json = False) -> None:
    """List the keys, without their tokens."""
    with opened(reads=True) as context, context.database.reading() as session:
        found = records.list_keys(session)
    rows = [(k.id, k.name, k.scope, k.created_at, k.expires_at, k.revoked_at) for k in found]
    columns = ("key", "name", "scope", "created", "expires", "revoked")
    answer({"keys": [asdict(one) for one in found]}, as_json, table(columns, rows, f"{len(found)} keys"))


@app.command("revoke")
def revoke(key: Annotated[str, typer.Argument(metavar="KEY", help="Its id.")], as_json: Json = False) -> None:
    """Revoke a key: its token is refused from now on."""
    with opened() as context, context.database.transaction() as session:
        revoked = records.revoke(session, key, context.clock.wall())
        audit.record(session, audit.command_line(), "key revoked", key, context.clock.wall(), name=revoked.name)
    answer(asdict(revoked), as_json, f"Key {key} of {revoked.name} is no longer accepted.")
