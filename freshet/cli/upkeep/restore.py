"""`freshet restore`: an empty database filled from a backup."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

from freshet.cli.context import MayCreateDatabase, opened
from freshet.cli.options import argument
from freshet.cli.output import Json, answer
from freshet.cli.progress import reporting
from hydrology.base.errors import counted
from records.upkeep.backup import restore as fill


def restore(
    file: Annotated[Path, argument("FILE", "What `freshet backup` wrote, here or elsewhere.")],
    as_json: Json = False,
) -> None:
    """Fill an empty database, on SQLite or PostgreSQL, from a backup; start the service afterwards."""
    with opened(begins=MayCreateDatabase.WHERE_EXPECTED) as context, reporting() as reporter:
        manifest = fill(context.settings, context.database, file, partial(reporter.show, "rows"))
    words = (
        f"{context.database.shown}: {counted(manifest.row_count, 'row as it was', 'rows as they were')} at "
        f"{manifest.created_at:%Y-%m-%d %H:%M} UTC."
    )
    answer({"file": str(file), **asdict(manifest)}, as_json, words)
