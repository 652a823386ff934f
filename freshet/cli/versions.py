"""`freshet versions`: the models that were trained, and which one serves a basin."""

import getpass
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer

from freshet.cli.context import opened
from freshet.cli.output import Json, answer, say, table
from freshet.cli.train import Basins
from operations.basins import chosen
from records import promotions
from records import versions as records

app = typer.Typer(help="List, show and promote model versions.", no_args_is_help=True)


@app.callback()
def versions() -> None:
    """List, show and promote model versions."""


@app.command("list")
def list_versions(as_json: Json = False) -> None:
    """List the versions, the newest first."""
    with opened() as context, context.database.reading() as session:
        found = records.list_versions(session)
    columns = ("version", "label", "architecture", "product", "basins", "members", "created", "status")
    rows = [
        (v.id, v.label, v.architecture, v.product, len(v.basins), len(v.members), v.created_at, v.status) for v in found
    ]
    answer({"versions": [asdict(one) for one in found]}, as_json, table(columns, rows, f"{len(found)} versions"))


@app.command("show")
def show(version: Annotated[str, typer.Argument(metavar="VERSION", help="Its id.")], as_json: Json = False) -> None:
    """Show a version: what it was trained as, on what, and how it did."""
    with opened() as context, context.database.reading() as session:
        one = records.get(session, version)
        logs = {member.label: member.log for member in records.members_of(session, version)}
    payload = {**asdict(one), "log": logs}
    rows = [(name, value) for name, value in asdict(one).items() if name not in ("scaler", "basins", "config")]
    rows += [("basins", len(one.basins)), *_lines(one.config)]
    answer(payload, as_json, table(("", ""), rows, f"Version {one.id}"))


def _lines(config: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in config.items():
        if isinstance(value, dict):
            yield from _lines({f"{name} {key}": one for key, one in value.items()})
        else:
            yield name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@app.command("promote")
def promote(
    version: Annotated[str, typer.Argument(metavar="VERSION", help="Its id.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept.")],
    basin: Basins = None,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who. Default: the user of this machine.")] = None,
    as_json: Json = False,
) -> None:
    """Make a version the current one of its basins, or of those named."""
    with opened() as context, context.database.transaction() as session:
        ids = chosen(session, basin) if basin else list(records.get(session, version).basins)
        changed = promotions.promote(
            session, version, ids, reason=reason, by=by or getpass.getuser(), at=context.clock.now()
        )
    if not changed:
        say("Nothing changed: it is the current version of these basins already.")
    answer({"version": version, "changed": changed}, as_json, f"{len(changed)} basins now use {version}.")
