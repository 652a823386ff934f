"""`freshet archive`: write issued forecasts to an archive."""

from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.context import opened
from freshet.cli.options import Basins, BasinsFile, listed
from freshet.cli.output import Json, answer
from freshet.cli.progress import reporting
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from operations.basin_data.basins import chosen


def archive(
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder to write, such as forecasts.zarr. Default: the archive of FRESHET_ARCHIVE.",
        ),
    ] = None,
    basin: Basins = None,
    basins_file: BasinsFile = None,
    period: Annotated[
        str | None, typer.Option(metavar="FIRST..LAST", help="Only runs with a T0 on these days.")
    ] = None,
    members: Annotated[
        bool, typer.Option("--members", help="Create the archive with every member, as far as they are stored.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Append issued forecasts and reforecasts to a Zarr archive, each once.

    Readers may open the archive meanwhile: they see whole issues alone. An archive of chosen basins stays one of these.
    The daily cycle extends the archive that FRESHET_ARCHIVE names, which is of all basins.
    """
    names = [*(basin or []), *listed(basins_file)]
    with opened(reads=True) as context, reporting() as reporter:
        from operations.archive.archive_runs import Chosen, archive_runs
        from records.archive.forecast_archive import STORE

        if to is None and (names or context.settings.archive is None):
            raise InvalidInput("Name the folder of the archive with --to: FRESHET_ARCHIVE names one of all basins.")
        folder = to or context.settings.archive / STORE
        with context.database.reading() as session:
            ids = chosen(session, names) if names else None
        of_runs = Chosen(ids, None if period is None else Period.parse(period))
        done = archive_runs(
            context.database,
            context.clock,
            folder,
            of_runs,
            members=members,
            on_run=lambda at, total, run: reporter.show("runs", at, total, run),
        )
    payload = {"folder": str(folder), "appended": done.appended, "before": done.before}
    answer(payload, as_json, f"{done.appended} runs appended to {folder}; it had {done.before} of the chosen before.")
