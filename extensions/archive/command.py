"""`freshet archive`: write issued forecasts to an archive."""

from dataclasses import asdict, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from extensions.archive.settings import ArchiveSettings
from freshet.cli.context import opened
from freshet.cli.options import Basins
from freshet.cli.output import Json, answer, inform_left_out, reporting
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput, counted
from operations.basin_data.basins import chosen
from records.database.work import Work

if TYPE_CHECKING:
    from extensions.archive.archive_runs import RunSelection


class Form(StrEnum):
    """What to write."""

    ZARR = "zarr"
    TEEHR = "teehr"


def archive(
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder to write, such as forecasts.zarr. Default: the archive of FRESHET_ARCHIVE.",
        ),
    ] = None,
    basin: Basins = None,
    period: Annotated[
        str | None, typer.Option(metavar="FIRST..LAST", help="Only runs with a T0 on these days.")
    ] = None,
    members: Annotated[
        bool, typer.Option("--members", help="Create the archive with every member, as far as they are stored.")
    ] = False,
    form: Annotated[
        Form, typer.Option("--format", metavar="zarr|teehr", help="A Zarr store, or Parquet tables that TEEHR loads.")
    ] = Form.ZARR,
    as_json: Json = False,
) -> None:
    """Append issued forecasts and reforecasts to a Zarr archive, each once; or write them as tables of TEEHR.

    Readers may open the archive meanwhile: they see whole issues alone. An archive of chosen basins stays one of these.
    The daily cycle extends the archive that FRESHET_ARCHIVE names, which is of all basins.

    With --format teehr: the median of calibrated discharge, with --members its paths and the members too, beside
    observed flow, locations and their crosswalk. A folder holds one export: another one replaces it.
    """
    names = basin or []
    with opened(reads=True) as context, reporting() as reporter:
        from extensions.archive.archive_runs import RunSelection, archive_runs
        from extensions.archive.forecast_archive import STORE

        served = ArchiveSettings.load().archive
        if to is None and (names or served is None or form is Form.TEEHR):
            raise InvalidInput("Name the folder to write with --to: FRESHET_ARCHIVE names a Zarr store of all basins.")
        folder = to or Path(served or "", STORE)
        with context.database.reading() as session:
            ids = chosen(session, names) if names else None
        of_runs = RunSelection(ids, None if period is None else Period.parse(period))
        work = replace(context, progress=partial(reporter.show, "runs"))
        if form is Form.TEEHR:
            _teehr(work, folder, of_runs, members=members, as_json=as_json)
            return
        done = archive_runs(work, folder, of_runs, members=members)
    payload = {"folder": str(folder), "appended": done.appended, "before": done.before}
    answer(
        payload,
        as_json,
        f"{counted(done.appended, 'run')} appended to {folder}; it had {done.before} of the chosen before.",
    )


def _teehr(work: Work, folder: Path, chosen_runs: "RunSelection", *, members: bool, as_json: bool) -> None:
    from extensions.archive.teehr_export import export_teehr

    done = export_teehr(work, folder, chosen_runs, members=members)
    inform_left_out(f"{basin}: the place of its gauge is not known" for basin in done.without_place)
    answer(
        {"folder": str(folder), **asdict(done)},
        as_json,
        f"{counted(done.runs, 'run')} of {counted(done.basins, 'basin')} in {folder}.",
    )
