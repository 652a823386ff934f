"""`freshet errors`: the worst forecasts, and what went wrong."""

from typing import Annotated

import typer

from freshet.cli.context import opened
from freshet.cli.output import Json, answer, inform, table
from hydrology.attribution.forecast_error import CAUSES, Measure
from hydrology.base.basins import basin_id
from hydrology.verification.results import ALL_YEAR, Season
from records.basins import basins
from records.verification.error_splits import ErrorFilter
from records.versions import versions


def errors(
    of: Annotated[Measure, typer.Option(metavar="MEASURE", help="Error of the volume or of the peak.")] = "volume",
    version: Annotated[str | None, typer.Option(metavar="VERSION", help="A model version. Default: all.")] = None,
    basin: Annotated[str | None, typer.Option(metavar="BASIN", help="A basin. Default: all.")] = None,
    season: Annotated[
        Season, typer.Option(metavar="SEASON", help="Season of the first day ahead: all, DJF, MAM, JJA or SON.")
    ] = ALL_YEAR,
    limit: Annotated[int, typer.Option(metavar="COUNT", min=1, max=100, help="Number of forecasts.")] = 10,
    as_json: Json = False,
) -> None:
    """List the worst verified forecasts, with their errors split by cause.

    The error of a forecast's volume or peak is that of the weather after T0, of the initial state and of the network.
    `freshet verify` splits it once the flow of all days has settled.
    """
    from app.forecasts.errors.service import worst_errors

    chosen = ErrorFilter(version=version, basin=None if basin is None else basin_id(basin), season=season)
    with opened(reads=True) as context, context.database.reading() as session:
        if chosen.version is not None:
            versions.get(session, chosen.version)
        if chosen.basin is not None:
            basins.require(session, chosen.basin)
        found = worst_errors(session, of, chosen, limit)
    for reason in found.missing.values():
        inform(reason)
    names = ("observed", "error", *CAUSES)
    rows = [
        (case.basin, case.days.first_day, case.days.last_day, *(getattr(getattr(case, of), name) for name in names))
        for case in found.cases
    ]
    headings = ("basin", "first day", "last day", *(name.replace("_", " ") for name in names))
    unit = "mm" if of == "volume" else "mm/day"
    answer(found.model_dump(mode="json"), as_json, table(headings, rows, f"Worst of {found.forecasts}, {of} in {unit}"))
