"""`freshet audit`: who changed what."""

from typing import Annotated

from freshet.cli.context import reading
from freshet.cli.options import option
from freshet.cli.output import Columns, Json, answer_list
from records.access import audit as records


def audit(
    limit: Annotated[int, option("COUNT", "Maximum number of changes.", min=1)] = 50,
    before: Annotated[int | None, option("NUMBER", "Only changes before this one.", min=0)] = None,
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
