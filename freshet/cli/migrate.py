"""`freshet migrate`: the tables at this code's revision, or at an older one."""

from typing import Annotated

import typer

from freshet.cli.context import Begins, opened
from freshet.cli.output import Json, answer
from records.engine import HEAD


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
    with opened(begins=Begins.WHERE_EXPECTED) as context:
        if to != HEAD:
            context.database.migrate(to)
        revision = context.database.check().revision
    answer({"revision": revision}, as_json, f"The tables are at revision {revision}.")
