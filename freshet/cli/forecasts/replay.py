"""`freshet replay`: issue the daily forecasts of an archived period."""

from typing import Annotated, Any

import typer
from pydantic import TypeAdapter

from freshet.cli.configuring import valid
from freshet.cli.context import opened
from freshet.cli.output import PARTLY_DONE, Json, answer, fields_of, inform, table
from freshet.cli.progress import reporting
from hydrology.base.errors import counted
from jobspec.jobs.forecasting import ReplayParams

_FIELDS = ReplayParams.model_fields


def replay(
    first: Annotated[str, typer.Option("--from", metavar="YYYY-MM-DD", help="The first issue day.")],
    last: Annotated[str, typer.Option("--to", metavar="YYYY-MM-DD", help="The last issue day.")],
    latency: Annotated[int, typer.Option(metavar="DAYS", help=_FIELDS["latency_days"].description)] = _FIELDS[
        "latency_days"
    ].default,
    horizon: Annotated[int, typer.Option(metavar="DAYS", help=_FIELDS["horizon"].description)] = _FIELDS[
        "horizon"
    ].default,
    traces: Annotated[int, typer.Option(metavar="COUNT", help=_FIELDS["traces"].description)] = _FIELDS[
        "traces"
    ].default,
    as_json: Json = False,
) -> None:
    """Replay an archive: issue forecasts for each past day as if it were today.

    Observations become known with a latency. Archives contain no weather forecasts: perturbed observations replace
    them, and every answer states this. To look at the results, set FRESHET_AS_OF to the last issue day.
    """
    asked = {"period": f"{first}..{last}", "latency_days": latency, "horizon": horizon, "traces": traces}
    params = valid(TypeAdapter(ReplayParams), asked, "replay")
    with opened() as context:
        from operations.daily.replay import replay as run

        with reporting() as reporter:
            done = run(
                context.database,
                context.clock,
                params,
                on_issue_day=lambda at, total, detail: reporter.show("issue days", at, total, detail),
            )
        context.record("archive replayed", str(params.period), runs=len(done.runs))
    for reason in done.reasons.values():
        inform(str(reason))
    rows = [
        (one.issued_at, one.id, one.t0, one.forcing_kind, one.weather and one.weather.model, one.status)
        for one in done.runs
    ]
    texts = {basin: str(reason) for basin, reason in done.reasons.items()}
    payload: dict[str, Any] = {"runs": [fields_of(one) for one in done.runs], "reasons": texts}
    title = f"{counted(len(rows), 'run')} on {counted(len(params.period), 'issue day')}"
    answer(payload, as_json, table(("issued", "run", "T0", "weather", "of", "status"), rows, title))
    if done.reasons:
        raise typer.Exit(PARTLY_DONE)
