"""`freshet migrate`: the tables at this code's revision, or at an older one."""

from contextlib import closing
from typing import Annotated

import typer

from freshet.cli.context import Begins, opened
from freshet.cli.output import Json, answer
from records.database.engine import HEAD, Database, DatabaseProblem
from runtime.settings import Settings


def migrate(
    to: Annotated[
        str,
        typer.Option(
            metavar="REVISION",
            help="An older revision, for an older Freshet: what its tables cannot hold is deleted.",
        ),
    ] = HEAD,
    as_json: Json = False,
) -> None:
    """Bring the tables to this code's revision, as every command that writes does first, or to an older one.

    End the service that runs on them, and back up: an older Freshet does not work on newer tables. To go back to it,
    have the newer one bring the tables to its revision, which its `freshet doctor` tells.
    """
    if to == HEAD:
        with opened(begins=Begins.WHERE_EXPECTED) as context:
            revision = context.database.check().revision
    else:
        revision = _step(to)
    answer({"revision": revision}, as_json, f"The tables are at revision {revision}.")


def _step(to: str) -> str | None:
    """Bring the tables from where they are to a revision, and return it."""
    with closing(Database(Settings.load().database_url)) as database:
        if missing := database.missing:
            raise DatabaseProblem(missing)
        database.migrate(to)
        return database.check().revision
