"""`freshet backup`: all that is kept, of one instant, in one file."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.context import opened
from freshet.cli.output import Json, answer
from freshet.cli.progress import reporting
from records.upkeep.backup import make


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it; it must not be there yet.")],
    as_json: Json = False,
) -> None:
    """Write all that is kept, weights and states included, into one file, while the service runs on."""
    with opened(reads=True) as context, reporting() as reporter:
        manifest = make(context.settings, context.database, context.clock, file, partial(reporter.show, "rows"))
    size = file.stat().st_size
    answer({"file": str(file), "bytes": size, **asdict(manifest)}, as_json, f"{file}: {manifest.row_count} rows.")
