"""`freshet forecast`: issue a forecast run from the newest states."""

from typing import Annotated, Any

import typer
from pydantic import TypeAdapter
from rich.console import Group

from freshet.cli.configuring import valid
from freshet.cli.context import opened
from freshet.cli.devices import Device, take_device
from freshet.cli.forecasts.issuing import HORIZON, T0, Horizon, Version, Weather, WeatherId, named_basins, record_issued
from freshet.cli.forecasts.runs import run_json, run_notes, run_table
from freshet.cli.options import Basins, BasinsFile
from freshet.cli.output import PARTLY_DONE, Json, answer, inform
from freshet.cli.progress import reporting
from jobspec.jobs.forecasting import ForecastParams

_FIELDS = ForecastParams.model_fields


def forecast(
    basin: Basins = None,
    basins_file: BasinsFile = None,
    t0: T0 = None,
    horizon: Horizon = HORIZON,
    version: Version = None,
    product: Annotated[
        str | None, typer.Option(metavar="PRODUCT", help="Refuse unless the version takes this forcing product.")
    ] = None,
    weather: Weather = "observed",
    weather_id: WeatherId = None,
    perturbed_states: Annotated[
        int, typer.Option(metavar="COUNT", help=_FIELDS["perturbed_states"].description)
    ] = _FIELDS["perturbed_states"].default,
    age: Annotated[bool, typer.Option("--age", help=_FIELDS["age"].description)] = False,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Advance the states to T0 and forecast.

    Without --t0: the day before now (FRESHET_AS_OF sets now), or the last day that the record allows. Without --basin:
    every basin that has a model.
    """
    with opened() as context:
        take_device(context.settings, device)
        basins = named_basins(context, basin, basins_file)
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
            record_issued(context, done)
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
