"""`freshet migrate`: the tables at this code's revision."""

from freshet.cli.context import Begins, opened
from freshet.cli.output import Json, answer


def migrate(as_json: Json = False) -> None:
    """Bring the tables to this code's revision, as every command that writes does first.

    End the service that runs on them, and back up: an older Freshet does not work on newer tables.
    """
    with opened(begins=Begins.WHERE_EXPECTED) as context:
        revision = context.database.check().revision
    answer({"revision": revision}, as_json, f"The tables are at revision {revision}.")
