"""`freshet reforecast`: verify a version's reforecasts by lead time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import TypeAdapter

from freshet.cli.configuring import valid
from freshet.cli.context import opened
from freshet.cli.devices import Device, take_device
from freshet.cli.options import Basins, BasinsFile
from freshet.cli.output import PARTLY_DONE, Json, answer, inform, inform_left_out, table
from freshet.cli.progress import reporting
from freshet.cli.text_files import listed
from freshet.cli.versions import verified
from hydrology.base.errors import counted
from jobspec.jobs.judging import ReforecastParams
from operations.basin_data.basins import chosen
from records.verification import lead_scores
from records.versions import promotions, versions

if TYPE_CHECKING:
    from operations.verification.reforecast import Reforecast

_FIELDS = ReforecastParams.model_fields


def reforecast(
    period: Annotated[str, typer.Option(metavar="FIRST..LAST", help=_FIELDS["period"].description)],
    version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="A model version. Default: the newest.")
    ] = None,
    every: Annotated[int, typer.Option(metavar="DAYS", help=_FIELDS["every"].description)] = _FIELDS["every"].default,
    horizon: Annotated[int, typer.Option(metavar="DAYS", help=_FIELDS["horizon"].description)] = _FIELDS[
        "horizon"
    ].default,
    basin: Basins = None,
    basins_file: BasinsFile = None,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Forecast past days with observed weather, and report forecast skill by lead time.

    The forecasts are verified against observed flow, along with the uncalibrated members, the flow of other years
    (climatology) and the last observed flow (persistence). Without --basin: the basins that the version was trained on.
    """
    asked = {"period": period, "every": every, "horizon": horizon}
    params = valid(TypeAdapter(ReforecastParams), asked, "reforecast")
    with opened() as context:
        take_device(context.settings, device)
        with context.database.reading() as session:
            stored = versions.get(session, version) if version else versions.newest(session)
            names = [*(basin or []), *listed(basins_file)]
            ids = chosen(session, names) if names else promotions.basins_of(session, stored.id)
        from operations.verification.reforecast import reforecast as run

        with reporting() as reporter:
            reporter.show("basins", 0, len(ids))
            done = run(
                context.database,
                context.clock,
                stored.id,
                ids,
                params.period,
                every=params.every,
                horizon=params.horizon,
                on_basins=lambda at, total: reporter.show("basins", at, total),
            )
        context.record("forecasts verified", stored.id, period=period, basins=len(done.basins))
        with context.database.reading() as session:
            figures = lead_scores.pooled(
                session, done.scored, origin="reforecast", period=done.period, basins=done.basins
            )
    inform_left_out(done.left_out.values())
    for note in verified.notes(figures):
        inform(note)
    answer(_payload(done, figures), as_json, _table(done, figures))
    if done.left_out:
        raise typer.Exit(PARTLY_DONE)


def _payload(done: "Reforecast", figures: Sequence[lead_scores.PooledVerification]) -> dict[str, Any]:
    return {
        "version": done.version_id,
        "scored": done.scored,
        "period": str(done.period),
        "basins": list(done.basins),
        "error_model": done.error_model,
        "left_out": done.left_out,
        "verification": [verified.payload(of_lead) for of_lead in figures],
    }


def _table(done: "Reforecast", figures: Sequence[lead_scores.PooledVerification]) -> Any:
    title = (
        f"Version {done.version_id}, forecasts over {done.period} with observed weather, "
        f"{counted(len(done.basins), 'basin')}"
    )
    if done.scored != done.version_id:
        title += f", of its twin {done.scored}, which has not learnt from these years"
    title += ". Medians over basins:"
    return table(verified.COLUMNS, [verified.row(of_lead) for of_lead in figures], title)
