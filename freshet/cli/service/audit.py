"""`freshet audit`: who changed what."""

from typing import Annotated

import typer

from freshet.cli.context import reading
from freshet.cli.output import Columns, Json, answer_list
from records.access import audit as records


def audit(
    limit: Annotated[int, typer.Option(metavar="COUNT", min=1, help="Maximum number of changes.")] = 50,
    before: Annotated[int | None, typer.Option(metavar="NUMBER", min=0, help="Only changes before this one.")] = None,
    as_json: Json = False,
) -> None:
    """List the changes, the newest first: who, what, when, from where."""
    with reading() as session:
        entries = records.page(session, before=before, limit=limit)
    answer_list("changes", entries, _COLUMNS, as_json)


def _details(entry: records.Entry) -> str:
    return ", ".join(f"{name} {value}" for name, value in entry.detail.items())


_COLUMNS: Columns = {"number": "seq", "when": "at", "who": "who", "from": "address", "what": "action", "of": "subject"}
_COLUMNS |= {"more": _details}
