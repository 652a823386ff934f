"""`freshet alerts`: active alerts, their changes, and delivery to subscribers."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from freshet.cli.context import opened, reading
from freshet.cli.options import Basin, option
from freshet.cli.output import PARTLY_DONE, Json, answer, answer_list, inform, table
from hydrology.base.errors import counted
from records.alerts import alert_changes
from records.alerts import alerts as records
from records.basins import basins

app = typer.Typer(no_args_is_help=True)

_COLUMNS = {"basin": "basin_id", "level": "level", "m3/s": "discharge", "severity": "severity", "trend": "trend"}
_COLUMNS |= {"chance": "chance", "since": "since", "why": "why"}


@app.callback()
def alerts() -> None:
    """Show alerts and their changes, and send the changes to subscribers."""


@app.command("list")
def list_alerts(as_json: Json = False) -> None:
    """List the alerts of all basins."""
    with reading() as session:
        active = records.active(session)
    answer_list("alerts", active, _COLUMNS, as_json)


@app.command("show")
def show(basin: Basin, as_json: Json = False) -> None:
    """Show the alert state of each level of a basin by its newest forecast, with the reason."""
    with reading() as session:
        basins.require(session, basin)
        standing, levels = records.standing(session, basin), records.of_basin(session, basin)
    if standing is None:
        inform(f"No forecast has decided the alerts of {basin} yet.")
    elif standing.reason is not None:
        inform(f"Run {standing.run_id} could not decide, and the alerts stay as they were: {standing.reason}")
    rows = [[getattr(alert, name) for name in _COLUMNS.values()] for alert in levels]
    payload: dict[str, Any] = {
        "basin": basin,
        "decided_by": standing,
        "levels": [asdict(alert) for alert in levels],
    }
    answer(payload, as_json, table(tuple(_COLUMNS), rows, f"{basin}: {counted(len(levels), 'level')}"))


@app.command("changes")
def changes(
    basin: Basin,
    limit: Annotated[int, option("COUNT", "Maximum number of changes.", min=1)] = 100,
    as_json: Json = False,
) -> None:
    """List the changes of a basin's alerts, the newest first."""
    with reading() as session:
        basins.require(session, basin)
        page = alert_changes.page(session, basins=[basin], limit=limit)
    rows = [(one.at, one.kind, one.level, one.severity, one.chance, one.run_id, one.why) for one in page]
    columns = ("at", "what", "level", "severity", "chance", "run", "why")
    payload = {"basin": basin, "changes": [alert_changes.as_json(one) for one in page]}
    answer(payload, as_json, table(columns, rows, f"{basin}: {counted(len(page), 'change')}"))


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
