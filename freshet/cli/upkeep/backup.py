"""`freshet backup`: write all stored data of one instant into one file."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

from freshet.cli.context import opened
from freshet.cli.options import argument
from freshet.cli.output import Json, answer
from freshet.cli.progress import reporting
from hydrology.base.errors import counted
from records.upkeep.backup import make


def backup(
    file: Annotated[Path, argument("FILE", "File to write; it must not exist yet.")],
    as_json: Json = False,
) -> None:
    """Write all stored data, weights and states included, into one file, while the service runs."""
    with opened(reads=True) as context, reporting() as reporter:
        manifest = make(context.settings, context.database, context.clock, file, partial(reporter.show, "rows"))
    size = file.stat().st_size
    answer(
        {"file": str(file), "bytes": size, **asdict(manifest)},
        as_json,
        f"{file}: {counted(manifest.row_count, 'row')}.",
    )
