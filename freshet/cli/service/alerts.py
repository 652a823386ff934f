"""`freshet alerts`: active alerts, their changes, and delivery to subscribers."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from freshet.cli.context import opened
from freshet.cli.output import PARTLY_DONE, Json, answer, inform, table
from hydrology.base.basins import basin_id
from records.alerts import alert_changes
from records.alerts import alerts as records
from records.basins import basins

app = typer.Typer(no_args_is_help=True)

Basin = Annotated[str, typer.Argument(metavar="BASIN", help="USGS number or full identifier.")]
_COLUMNS = ("basin", "level", "m3/s", "severity", "trend", "chance", "since", "why")


@app.callback()
def alerts() -> None:
    """Show alerts and their changes, and send the changes to subscribers."""


@app.command("list")
def list_alerts(as_json: Json = False) -> None:
    """List the alerts of all basins."""
    with opened(reads=True) as context, context.database.reading() as session:
        active = records.active(session)
    payload = {"alerts": [asdict(alert) for alert in active]}
    answer(payload, as_json, table(_COLUMNS, [_row(alert) for alert in active], f"{len(active)} alerts"))


@app.command("show")
def show(basin: Basin, as_json: Json = False) -> None:
    """Show the alert state of each level of a basin by its newest forecast, with the reason."""
    name = basin_id(basin)
    with opened(reads=True) as context, context.database.reading() as session:
        basins.require(session, name)
        standing, levels = records.standing(session, name), records.of_basin(session, name)
    if standing is None:
        inform(f"No forecast has decided the alerts of {name} yet.")
    elif standing.reason is not None:
        inform(f"Run {standing.run_id} could not decide, and the alerts stay as they were: {standing.reason}")
    payload: dict[str, Any] = {
        "basin": name,
        "decided_by": standing,
        "levels": [asdict(alert) for alert in levels],
    }
    answer(payload, as_json, table(_COLUMNS, [_row(alert) for alert in levels], f"{name}: {len(levels)} levels"))


@app.command("changes")
def changes(
    basin: Basin,
    limit: Annotated[int, typer.Option(metavar="COUNT", min=1, help="Maximum number of changes.")] = 100,
    as_json: Json = False,
) -> None:
    """List the changes of a basin's alerts, the newest first."""
    name = basin_id(basin)
    with opened(reads=True) as context, context.database.reading() as session:
        basins.require(session, name)
        page = alert_changes.page(session, basin=name, limit=limit)
    rows = [(one.at, one.kind, one.level, one.severity, one.chance, one.run_id, one.why) for one in page]
    columns = ("at", "what", "level", "severity", "chance", "run", "why")
    payload = {"basin": name, "changes": [alert_changes.as_json(one) for one in page]}
    answer(payload, as_json, table(columns, rows, f"{name}: {len(page)} changes"))


@app.command("deliver")
def deliver(as_json: Json = False) -> None:
    """Send pending changes to subscribers, once. `freshet serve` does this continuously."""
    with opened() as context:
        from operations.alerts.deliver import deliver as run

        counts = run(context.database, context.settings, context.clock.wall)
    shown = ", ".join(f"{count} {status}" for status, count in counts.items()) or "nothing was due"
    answer({"deliveries": dict(counts)}, as_json, f"Sent: {shown}.")
    if counts["pending"] or counts["failed"]:
        raise typer.Exit(PARTLY_DONE)


def _row(alert: records.Alert) -> tuple[object, ...]:
    return (
        alert.basin_id,
        alert.level,
        alert.discharge,
        alert.severity,
        alert.trend,
        alert.chance,
        alert.since,
        alert.why,
    )
