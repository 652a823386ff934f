"""`freshet changes`: why a forecast differs from the previous one."""

from typing import Annotated

import typer

from freshet.cli.context import opened
from freshet.cli.output import Json, answer, inform, table
from hydrology.attribution.forecast_change import PARTS
from hydrology.base.basins import basin_id
from hydrology.base.units import Units


def changes(
    basin: Annotated[str, typer.Argument(metavar="BASIN", help="The basin.")],
    run: Annotated[str | None, typer.Option(metavar="RUN", help="A run. Default: the latest of the basin.")] = None,
    units: Annotated[Units, typer.Option(metavar="UNIT", help="Of discharge: m3/s, mm/day or cfs.")] = "m3/s",
    as_json: Json = False,
) -> None:
    """Show why a forecast differs from the previous one.

    Splits the change of each day into weather that came, new weather forecast, revised data, model version and observed
    flow. The parts add up to the change.
    """
    from app.forecasts import lookup
    from app.forecasts.changes.service import change_of

    with opened(reads=True) as context, context.database.reading() as session:
        latest, at = lookup.chosen(session, run, basin_id(basin), context.clock.now())
        found = change_of(session, latest, at, units)
    for name, reason in found.missing.items():
        inform(f"{name} is not known. {reason}")
    causes = {} if found.parts is None else found.parts.model_dump()
    columns = [found.before, found.after, found.change, *(causes.get(name) for name in PARTS)]
    headings = ("day", "before", "after", "change", *(name.replace("_", " ") for name in PARTS))
    rows = [
        (str(day), *(None if column is None else column[at] for column in columns)) for at, day in enumerate(found.time)
    ]
    title = found.in_words or f"{found.basin}: no change is known"
    answer(found.model_dump(mode="json", exclude_unset=True), as_json, table(headings, rows, title))
