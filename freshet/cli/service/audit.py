"""`freshet audit`: who changed what."""

from dataclasses import asdict
from typing import Annotated

import typer

from freshet.cli.context import opened
from freshet.cli.output import Json, answer, table
from records.access import audit as records


def audit(
    limit: Annotated[int, typer.Option(metavar="COUNT", min=1, help="Maximum number of changes.")] = 50,
    before: Annotated[int | None, typer.Option(metavar="NUMBER", min=0, help="Only changes before this one.")] = None,
    as_json: Json = False,
) -> None:
    """List the changes, the newest first: who, what, when, from where."""
    with opened(reads=True) as context, context.database.reading() as session:
        entries = records.page(session, before=before, limit=limit)
    rows = [(e.seq, e.at, e.who, e.address, e.action, e.subject, _words(e.detail)) for e in entries]
    columns = ("number", "when", "who", "from", "what", "of", "more")
    answer({"changes": [asdict(entry) for entry in entries]}, as_json, table(columns, rows, f"{len(entries)} changes"))


def _words(detail: dict[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in detail.items())
