"""`freshet forecast`: issue a forecast run from the newest states."""

from typing import Annotated, Any

import typer
from pydantic import TypeAdapter
from rich.console import Group

from freshet.cli.configuring import valid
from freshet.cli.context import opened
from freshet.cli.forecasts.runs import run_json, run_notes, run_table
from freshet.cli.options import Basins, BasinsFile, listed
from freshet.cli.output import PARTLY_DONE, Json, answer, inform
from freshet.cli.progress import reporting
from hydrology.weather.forcing import ForcingKind
from jobspec.jobs.forecasting import ForecastParams
from operations.data.basins import chosen

_FIELDS = ForecastParams.model_fields


def forecast(
    basin: Basins = None,
    basins_file: BasinsFile = None,
    t0: Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="Last day that the states consume.")] = None,
    horizon: Annotated[int, typer.Option(metavar="DAYS", help=_FIELDS["horizon"].description)] = _FIELDS[
        "horizon"
    ].default,
    version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="A model version. Default: the current one of each basin.")
    ] = None,
    product: Annotated[
        str | None, typer.Option(metavar="PRODUCT", help="Refuse unless the version takes this forcing product.")
    ] = None,
    weather: Annotated[ForcingKind, typer.Option(metavar="KIND", help=_FIELDS["weather"].description)] = "observed",
    weather_id: Annotated[str | None, typer.Option(metavar="ID", help=_FIELDS["weather_id"].description)] = None,
    perturbed_states: Annotated[
        int, typer.Option(metavar="COUNT", help=_FIELDS["perturbed_states"].description)
    ] = _FIELDS["perturbed_states"].default,
    age: Annotated[bool, typer.Option("--age", help=_FIELDS["age"].description)] = False,
    as_json: Json = False,
) -> None:
    """Advance the states to T0 and forecast.

    Without --t0: the day before now (FRESHET_AS_OF sets now), or the last day that the record allows. Without --basin:
    every basin that has a model.
    """
    with opened() as context:
        with context.database.reading() as session:
            names = [*(basin or []), *listed(basins_file)]
            basins = chosen(session, names) if names else []
        asked = {"basins": basins, "t0": t0, "horizon": horizon, "version": version, "product": product}
        asked |= {"weather": weather, "weather_id": weather_id, "perturbed_states": perturbed_states, "age": age}
        params = valid(TypeAdapter(ForecastParams), asked, "forecast")
        from operations.forecasting.forecast import forecast as run

        with reporting() as reporter:
            done = run(
                context.database,
                context.clock,
                params,
                on_days=lambda at, total: reporter.show("basin-days to T0", at, total),
            )
            for issued_run in done:
                facts = {"version": issued_run.version_id, "t0": str(issued_run.t0), "status": issued_run.status}
                context.record("forecast issued", issued_run.id, **facts)
            with context.database.reading() as session:
                payload: dict[str, Any] = {"runs": [run_json(session, one.id) for one in done]}
    for issued in payload["runs"]:
        for name, result in issued["basins"].items():
            if result["reason"]:
                inform(f"{result['status'].capitalize()}: {name}: {result['reason']}")
        for note in run_notes(issued):
            inform(note)
    answer(payload, as_json, Group(*(run_table(one) for one in payload["runs"])))
    if any(one["status"] != "issued" for one in payload["runs"]):
        raise typer.Exit(PARTLY_DONE)
