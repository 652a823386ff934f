"""`freshet calibrate`: fit the error model of a version's forecasts."""

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshet.cli.context import Context, opened
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
            help="Recalibrate forecasts with each weather model by the flow that came after those issued, instead.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Fit the error model of a version: forecasts then carry calibrated quantiles.

    It is fitted on the basins that the version was trained on, and replaces the version's earlier error model. With
    --forecasts the forecasts with a weather forecast are recalibrated by the flow that came after those issued.
    """
    if forecasts and period:
        raise InvalidInput("--forecasts takes all that have been issued: leave --period out.")
    with opened() as context:
        with context.database.reading() as session:
            chosen = versions.get(session, version) if version else versions.newest(session)
            names = promotions.basins_of(session, chosen.id)
        if forecasts:
            _recalibrate(context, chosen.id, as_json)
            return
        from operations.verification.calibrate import calibrate as run

        days = None if period is None else Period.parse(period)
        with reporting() as reporter:
            show = partial(reporter.show, "basins")
            show(0, len(names))
            done = run(context.database, context.clock, chosen.id, names, days, show)
        context.record("error model fitted", done.fitted, period=str(done.period), basins=len(done.basins))
    inform_left_out(done.left_out.values())
    answer({"error_model": _payload(done)}, as_json, _summary(done))
    if done.left_out:
        raise typer.Exit(PARTLY_DONE)


def _recalibrate(context: Context, version: str, as_json: bool) -> None:
    from operations.verification.recalibrate import recalibrate

    with reporting():
        done = recalibrate(context.database, context.clock, version)
    for of in done:
        context.record("forecasts recalibrated", version, weather=of.weather, issue_days=of.fitted.issue_days)
    rows = [(of.weather, of.fitted.fitted_on, of.fitted.issue_days, of.fitted.days) for of in done]
    shown = table(("weather", "fitted on", "issue days", "observed flows"), rows, f"Forecasts of version {version}")
    answer({"recalibrations": [asdict(of) for of in done]}, as_json, shown)


def _payload(done: "Calibrated") -> dict[str, Any]:
    return {
        "version": done.version_id,
        "fitted": done.fitted,
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
        ("fitted on", str(done.period)),
        ("basins", len(done.basins)),
        ("basins with numbers of their own", done.own),
        ("observed days", done.days),
        ("sha256", done.sha256),
    ]
    return table(("", ""), rows, title)
