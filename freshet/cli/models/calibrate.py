"""`freshet calibrate`: fit the error model of a version's forecasts."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group

from freshet.cli.context import opened
from freshet.cli.output import PARTLY_DONE, Json, answer, inform_left_out, table
from freshet.cli.progress import reporting
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from records.versions import promotions, versions

if TYPE_CHECKING:
    from operations.verification.calibrate import Calibrated


def calibrate(
    version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="A model version. Default: the newest.")
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(
            metavar="FIRST..LAST",
            help="Days that the weights were not fitted to. Default: the version's validation period.",
        ),
    ] = None,
    forecasts: Annotated[
        bool,
        typer.Option(
            "--forecasts",
            help="Fit it to the forecasts issued with weather forecasts, for each weather model, instead.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Fit the error model of a version: forecasts then carry calibrated quantiles.

    It is fitted on the basins that the version was trained on, and replaces the version's earlier error model. With
    --forecasts it is fitted to issued forecasts that were driven by weather forecasts.
    """
    if forecasts and period:
        raise InvalidInput("--forecasts takes all that have been issued: leave --period out.")
    with opened() as context:
        with context.database.reading() as session:
            chosen = versions.get(session, version) if version else versions.newest(session)
            names = promotions.basins_of(session, chosen.id)
        from operations.verification.calibrate import calibrate as run
        from operations.verification.calibrate import calibrate_forecasts

        if forecasts:
            with reporting():
                models = calibrate_forecasts(context.database, context.clock, chosen.id)
        else:
            days = None if period is None else Period.parse(period)
            with reporting() as reporter:
                show = partial(reporter.show, "basins")
                show(0, len(names))
                models = [run(context.database, context.clock, chosen.id, names, days, show)]
        for done in models:
            shown = {"weather": done.weather, "period": str(done.period), "basins": len(done.basins)}
            context.record("error model fitted", done.fitted, **shown)
    left_out = {basin: reason for done in models for basin, reason in done.left_out.items()}
    inform_left_out(left_out.values())
    answer({"error_models": [*map(_payload, models)]}, as_json, Group(*map(_summary, models)))
    if left_out:
        raise typer.Exit(PARTLY_DONE)


def _payload(done: "Calibrated") -> dict[str, Any]:
    return {
        "version": done.version_id,
        "fitted": done.fitted,
        "weather": done.weather,
        "period": str(done.period),
        "basins": list(done.basins),
        "basins_with_own_numbers": done.own,
        "days": done.days,
        "sha256": done.sha256,
        "left_out": done.left_out,
    }


def _summary(done: "Calibrated") -> Any:
    title = f"Error model of version {done.fitted}"
    if done.fitted != done.version_id:
        title += f", the twin of {done.version_id}"
    rows = [
        ("weather", done.weather),
        ("fitted on", str(done.period)),
        ("basins", len(done.basins)),
        ("basins with numbers of their own", done.own),
        ("observed days", done.days),
        ("sha256", done.sha256),
    ]
    return table(("", ""), rows, title)
