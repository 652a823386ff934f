"""`freshet what-if`: forecast with changed weather, or changed water in the basin at T0."""

from typing import Annotated, Any

import typer
from pydantic import TypeAdapter
from rich.console import Group

from freshet.cli.configuring import valid
from freshet.cli.context import Context, opened
from freshet.cli.forecasts.issuing import HORIZON, T0, Horizon, Version, Weather, WeatherId, named_basins, record_issued
from freshet.cli.forecasts.runs import run_json, run_table
from freshet.cli.options import Basins, BasinsFile
from freshet.cli.output import PARTLY_DONE, Json, answer, inform
from freshet.cli.progress import reporting
from jobspec.changes import Changes, Increment, Storm, Where
from jobspec.jobs.forecasting import WhatIfParams
from records.access import audit
from records.runs.runs import Run

_FIELDS, _CHANGES = WhatIfParams.model_fields, Changes.model_fields
_STORM, _INCREMENT = Storm.model_fields, Increment.model_fields


def what_if(
    basin: Basins = None,
    basins_file: BasinsFile = None,
    t0: T0 = None,
    horizon: Horizon = HORIZON,
    version: Version = None,
    weather: Weather = "observed",
    weather_id: WeatherId = None,
    degrees: Annotated[float, typer.Option(metavar="DEGREES", help=_CHANGES["degrees"].description)] = 0.0,
    precipitation_percent: Annotated[
        float, typer.Option(metavar="PERCENT", help=_CHANGES["precipitation_percent"].description)
    ] = 0.0,
    storm_mm: Annotated[
        float | None, typer.Option(metavar="MM", help=f"Precipitation of a storm. {_STORM['mm'].description}")
    ] = None,
    storm_lead: Annotated[int, typer.Option(metavar="DAYS", help=f"The storm. {_STORM['lead'].description}")] = _STORM[
        "lead"
    ].default,
    increment_mm: Annotated[
        float | None, typer.Option(metavar="MM", help=f"Water added at T0. {_INCREMENT['mm'].description}")
    ] = None,
    increment_where: Annotated[Where, typer.Option(metavar="CELLS", help=_INCREMENT["where"].description)] = _INCREMENT[
        "where"
    ].default,
    assimilate: Annotated[bool, typer.Option("--assimilate", help=_CHANGES["assimilate"].description)] = False,
    note: Annotated[str | None, typer.Option(metavar="TEXT", help=_FIELDS["note"].description)] = None,
    as_json: Json = False,
) -> None:
    """Forecast with changed weather after T0, or with more or less water in the basin at T0.

    The run is stored with its changes, together with the unchanged run to compare it with. Latest forecasts, alerts and
    states are not affected.
    """
    with opened() as context:
        basins = named_basins(context, basin, basins_file)
        changes: dict[str, Any] = {"degrees": degrees, "precipitation_percent": precipitation_percent}
        changes["storm"] = None if storm_mm is None else {"mm": storm_mm, "lead": storm_lead}
        changes["increment"] = None if increment_mm is None else {"mm": increment_mm, "where": increment_where}
        changes["assimilate"] = assimilate
        asked: dict[str, Any] = {"basins": basins, "t0": t0, "horizon": horizon, "version": version, "weather": weather}
        asked |= {"weather_id": weather_id, "changes": changes, "note": note}
        params = valid(TypeAdapter(WhatIfParams), asked, "what-if")
        from operations.what_if.what_if import what_if as make

        with reporting() as reporter:
            created = make(
                context.database,
                context.clock,
                params,
                by=audit.command_line().name,
                on_days=lambda at, total: reporter.show("basin-days to T0", at, total),
            )
        record_issued(context, created)
        _show(context, created, as_json)


def _show(context: Context, created: list[Run], as_json: bool) -> None:
    """Print the runs beside those that they are compared with."""
    with reporting(), context.database.reading() as session:
        shown = [run_json(session, run.id) for run in created]
        bases = [run_json(session, base) for base in dict.fromkeys(_base(run) for run in shown) if base]
    for run_shown in shown:
        if run_shown["t0_note"]:
            inform(f"Warning: {run_shown['t0_note']}")
        for name, result in run_shown["basins"].items():
            if result["reason"]:
                inform(f"{result['status'].capitalize()}: {name}: {result['reason']}")
    answer({"runs": shown, "bases": bases}, as_json, Group(*(run_table(run_shown) for run_shown in [*bases, *shown])))
    if any(run_shown["status"] != "issued" for run_shown in shown):
        raise typer.Exit(PARTLY_DONE)


def _base(run: dict[str, Any]) -> str | None:
    base: str | None = run["what_if"]["base"]
    return base
