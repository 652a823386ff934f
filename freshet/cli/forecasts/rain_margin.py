"""`freshet rain-margin`: how much rain takes flow to each level."""

from typing import Annotated, Any

import typer

from freshet.cli.context import opened
from freshet.cli.options import Basin
from freshet.cli.output import Json, answer, inform, table
from hydrology.base.errors import InvalidInput
from hydrology.base.units import Units


def rain_margin(
    basin: Basin,
    run: Annotated[str | None, typer.Option(metavar="RUN", help="A run. Default: the latest forecast.")] = None,
    discharge: Annotated[
        float | None, typer.Option(metavar="FLOW", help="A level. Default: the basin's floods and rising levels.")
    ] = None,
    units: Annotated[Units, typer.Option(metavar="UNITS", help="The unit of every level.")] = "m3/s",
    as_json: Json = False,
) -> None:
    """Show how much rain within 1, 2 or 3 days takes flow to each level.

    From the water in the basin at T0, corrected by the last observed flow. No other rain falls; all other weather is
    the mean of the forecast. Median and range of the members.
    """
    if discharge is not None and discharge <= 0:
        raise InvalidInput("The level must be above 0.")
    with opened(reads=True) as context, context.database.reading() as session:
        from app.forecasts.lookup import chosen
        from app.forecasts.rain_margin.service import rain_margin_of_run

        found, at = chosen(session, run, basin, context.clock.now())
        margins = rain_margin_of_run(session, found, at, units, discharge)
    if margins.levels is None:
        inform(margins.missing["levels"])
    shown: dict[str, Any] = margins.model_dump(mode="json")
    rows = [
        (
            level.name,
            level.discharge,
            window.first_day,
            window.days,
            window.status,
            *(window.median, window.p05, window.p95),
        )
        for level in margins.levels or []
        for window in level.windows or []
    ]
    columns = ("level", units, "first day", "days", "answer", "median mm", "5 %", "95 %")
    answer(shown, as_json, table(columns, rows, f"Rain that takes {basin} to each level, run {margins.run}"))
