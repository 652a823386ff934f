"""`freshet alerts`: active alerts, their changes, and delivery to subscribers."""

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import RenderableType

from freshet.cli.answers import Columns, listing
from freshet.cli.job_command import Done, job_command
from freshet.cli.options import Basin, option
from freshet.cli.output import inform
from freshet.cli.reading import Reading, Shown, cut, reads
from hydrology.base.errors import counted
from jobspec.jobs.upkeep import DeliveryJob
from records.basins import basins

app = typer.Typer(no_args_is_help=True)

_ALERTS: Columns = {"basin": "basin", "level": "level", "m3/s": "discharge", "severity": "severity", "trend": "trend"}
_ALERTS |= {"chance": "chance", "since": "since", "why": "why"}
_CHANGES: Columns = {"at": "at", "what": "kind", "level": "level", "severity": "severity", "chance": "chance"}
_CHANGES |= {"run": "run", "why": "why", "event": "event"}


@app.callback()
def alerts() -> None:
    """Show alerts and their changes, and send the changes to subscribers."""


@app.command("list")
@reads
def list_alerts(at: Reading) -> Shown:
    """List the alerts of all rivers, each by the level that stands for it."""
    from app.alerts.schemas import Alerts
    from app.alerts.service import answers_of
    from records.alerts.alerts import rivers

    found = Alerts(alerts=answers_of(at.session, rivers(at.session), at.clock.today()), next=None)
    return Shown(found, lambda: listing(found.alerts, _ALERTS, counted(len(found.alerts), "alert")))


@app.command("show")
@reads
def show(at: Reading, basin: Basin) -> Shown:
    """Show the alert state of each level of a basin by its newest forecast, with the reason."""
    from app.alerts.service import of_basin

    basins.require(at.session, basin)
    found = of_basin(at.session, basin, at.clock.today())

    def text() -> RenderableType:
        if found.run is None:
            inform(f"{basin}: {found.missing['run']}")
        elif found.reason is not None:
            inform(f"Run {found.run} could not decide, and the alerts stay as they were: {found.reason}")
        return listing(found.levels, _ALERTS, f"{basin}: {counted(len(found.levels), 'level')}")

    return Shown(found, text)


@app.command("changes")
@reads
def changes(
    at: Reading, basin: Basin, limit: Annotated[int, option("COUNT", "Maximum number of changes.", min=1)] = 100
) -> Shown:
    """List the changes of a basin's alerts, the newest first."""
    from app.alerts.schemas import AlertChanges
    from app.alerts.service import change
    from records.alerts.alert_changes import page

    basins.require(at.session, basin)
    rows, following = cut(
        page(at.session, basins=[basin], limit=limit + 1),
        limit,
        f"/v1/basins/{basin}/alerts/changes",
        lambda one: one.seq,
    )
    found = AlertChanges(changes=[change(one) for one in rows], next=following)
    return Shown(found, lambda: listing(found.changes, _CHANGES, f"{basin}: {counted(len(rows), 'change')}"))


@app.command("deliver")
@job_command(DeliveryJob, partly=["deliveries.pending", "deliveries.failed"])
def deliver(done: Done) -> Iterator[RenderableType]:
    """Carry out what forecasters decided, and send pending changes to subscribers. `freshet serve` does so always."""
    sent = ", ".join(f"{count} {status}" for status, count in done.result["deliveries"].items())
    yield f"Sent: {sent or 'nothing was due'}."
