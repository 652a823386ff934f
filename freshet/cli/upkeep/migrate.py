"""`freshet migrate`: migrate the tables to this code's revision, or to an older one."""

from contextlib import closing
from typing import Annotated

from freshet.cli.context import MayCreateDatabase, opened
from freshet.cli.options import option
from freshet.cli.output import Json, answer
from records.database.engine import HEAD, Database, DatabaseProblem
from runtime.settings import Settings


def migrate(
    to: Annotated[
        str, option("REVISION", "An older revision, for an older Freshet: data that its tables cannot hold is deleted.")
    ] = HEAD,
    as_json: Json = False,
) -> None:
    """Migrate the tables to this code's revision, as every writing command does first, or to an older one.

    Stop the service that uses them, and back up first: an older Freshet does not work on newer tables. To go back to
    it, migrate the tables with the newer one to the older one's revision, which the older one's `freshet doctor`
    reports.
    """
    if to == HEAD:
        with opened(begins=MayCreateDatabase.WHERE_EXPECTED) as context:
            revision = context.database.check().revision
    else:
        revision = _step(to)
    answer({"revision": revision}, as_json, f"The tables are at revision {revision}.")


def _step(to: str) -> str | None:
    """Migrate the tables to a revision, and return it."""
    with closing(Database(Settings.load().database_url)) as database:
        if missing := database.missing:
            raise DatabaseProblem(missing)
        database.migrate(to)
        return database.check().revision
