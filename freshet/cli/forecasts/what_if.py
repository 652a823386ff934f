"""`freshet what-if`: forecast with changed weather, or changed water in the basin at T0."""

from typing import Annotated, Any

import typer
from pydantic import TypeAdapter
from rich.console import Group

from freshet.cli.configuring import valid
from freshet.cli.context import opened
from freshet.cli.forecasts.runs import run_json, run_table
from freshet.cli.options import Basins, BasinsFile, listed
from freshet.cli.output import PARTLY_DONE, Json, answer, inform
from freshet.cli.progress import reporting
from hydrology.weather.forcing import ForcingKind
from jobspec.changes import Changes, Increment, Storm, Where
from jobspec.jobs.forecasting import WhatIfParams
from operations.data.basins import chosen
from records.access import audit

_FIELDS, _CHANGES = WhatIfParams.model_fields, Changes.model_fields
_STORM, _INCREMENT = Storm.model_fields, Increment.model_fields


def what_if(
    basin: Basins = None,
    basins_file: BasinsFile = None,
    t0: Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="Last day that the states consume.")] = None,
    horizon: Annotated[int, typer.Option(metavar="DAYS", help=_FIELDS["horizon"].description)] = _FIELDS[
        "horizon"
    ].default,
    version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="A model version. Default: the current one of each basin.")
    ] = None,
    weather: Annotated[ForcingKind, typer.Option(metavar="KIND", help=_FIELDS["weather"].description)] = "observed",
    weather_id: Annotated[str | None, typer.Option(metavar="ID", help=_FIELDS["weather_id"].description)] = None,
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
        with context.database.reading() as session:
            names = [*(basin or []), *listed(basins_file)]
            basins = chosen(session, names) if names else []
        changes: dict[str, Any] = {"degrees": degrees, "precipitation_percent": precipitation_percent}
        changes["assimilate"] = assimilate
        if storm_mm is not None:
            changes["storm"] = {"mm": storm_mm, "lead": storm_lead}
        if increment_mm is not None:
            changes["increment"] = {"mm": increment_mm, "where": increment_where}
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
        for run in created:
            facts = {"version": run.version_id, "t0": str(run.t0), "status": run.status}
            context.record("forecast issued", run.id, **facts)
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
