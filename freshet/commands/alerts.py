"""`freshet alerts` and `freshet subscriptions`: alerts, their changes, and their receivers."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from rich.console import RenderableType
from starlette import responses

from app.alerts import changes, schemas, subscriptions
from freshet.cli.job_command import Done, job_command
from freshet.cli.options import Basin, OnlyBasins, argument, option
from freshet.cli.output import inform, listing
from freshet.cli.reading import Reading, Shown, cut, reads, writes
from freshet.cli.text_files import read_text, valid
from hydrology.base.errors import counted
from jobspec.jobs.data import DeliveryJob
from jobspec.subscriptions import NewSubscription
from records.access import keys
from records.access.audit import Writer
from records.alerts import alert_changes, deliveries
from records.alerts.alerts import rivers
from records.basins import basins
from runtime.settings import Settings

_ALERTS = "basin | level | m3/s: discharge | severity | trend | chance | since | why"
_CHANGES = "at | what: kind | level | severity | chance | run | why | event"


@reads
def list_alerts(at: Reading) -> Shown:
    """List the alerts of all rivers, each by the level that stands for it."""
    found = schemas.Alerts(alerts=schemas.answers_of(at.session, rivers(at.session), at.clock.today()), next=None)
    return Shown(found, lambda: listing(found.alerts, _ALERTS, counted(len(found.alerts), "alert")))


@reads
def show_alerts(at: Reading, basin: Basin) -> Shown:
    """Show the alert state of each level of a basin by its newest forecast, with the reason."""
    basins.require(at.session, basin)
    found = schemas.of_basin(at.session, basin, at.clock.today())

    def text() -> RenderableType:
        if found.run is None:
            inform(f"{basin}: {found.missing['run']}")
        elif found.reason is not None:
            inform(f"Run {found.run} could not decide, and the alerts stay as they were: {found.reason}")
        return listing(found.levels, _ALERTS, f"{basin}: {counted(len(found.levels), 'level')}")

    return Shown(found, text)


@reads
def list_alert_changes(
    at: Reading, basin: Basin, limit: Annotated[int, option("COUNT", "Maximum number of changes.", min=1)] = 100
) -> Shown:
    """List the changes of a basin's alerts, the newest first."""
    basins.require(at.session, basin)
    sought = alert_changes.page(at.session, basins=[basin], limit=limit + 1)
    rows, following = cut(sought, limit, f"/v1/basins/{basin}/alerts/changes", "seq")
    found = changes.AlertChanges(changes=[changes.change_of(one) for one in rows], next=following)
    return Shown(found, lambda: listing(found.changes, _CHANGES, f"{basin}: {counted(len(rows), 'change')}"))


@job_command(DeliveryJob, partly=["deliveries.pending", "deliveries.failed"])
def deliver(done: Done) -> Iterator[RenderableType]:
    """Carry out what forecasters decided, and send pending changes to subscribers. `freshet serve` does so always."""
    sent = ", ".join(f"{count} {status}" for status, count in done.result["deliveries"].items())
    yield f"Sent: {sent or 'nothing was due'}."


Id = Annotated[str, argument("SUBSCRIPTION", "Its id.")]
_DELIVERIES = "delivery: id | subscription | status | tries | next: next_at | ended: ended_at"
_RECEIVERS = (
    "subscription: id | about | url | email | basins | region | severity: least_severity | confirmed: confirmed_at"
)
_COLUMNS = f"{_RECEIVERS} | paused: paused_because"


@writes
def add_subscription(
    by: Writer,
    key: Annotated[str, option("KEY", "Id of the key that it belongs to (freshet keys list).")],
    url: Annotated[str | None, option("URL", "Post changes to this address.")] = None,
    email: Annotated[str | None, option("ADDRESS", "Send changes to this address, once its owner agrees.")] = None,
    basin: OnlyBasins = None,
    region: Annotated[str | None, option("REGION", "Only basins of this region.")] = None,
    severity: Annotated[str, option("SEVERITY", "Only alerts of at least this severity.")] = "advisory",
    digest: Annotated[str | None, option("HH:MM", "One e-mail a day at this time.")] = None,
    zone: Annotated[str, option("ZONE", "Time zone of the digest.")] = "UTC",
    template: Annotated[Path | None, option("FILE", "Body of requests to a gateway, with placeholders.")] = None,
    content_type: Annotated[str, option("TYPE", "Content type of that body.")] = "application/json",
    about: Annotated[
        str, option("WHAT", "alerts, or issues: forecasts that are not complete, and alarms of the service.")
    ] = "alerts",
) -> Shown:
    """Subscribe a receiver. The secret of a webhook is shown only now."""
    given: dict[str, Any] = {
        "url": url,
        "email": email,
        "basins": basin or None,
        "region": region,
        "least_severity": severity,
        "about": about,
    }
    given["digest"] = None if digest is None else {"at": digest, "timezone": zone}
    body = None if template is None else read_text(template).strip()
    given["template"] = None if body is None else {"content_type": content_type, "body": body}
    new = valid(NewSubscription, given, "subscription")
    with by.database.reading() as session:
        owner = replace(by, key=keys.get(session, key))
    found = subscriptions.create_subscription(responses.Response(), owner, Settings.load(), new)
    asked = "its recipient is asked by e-mail, unless asked lately; nothing else is sent before the answer."
    return Shown(found, lambda: found.secret or f"{found.id}: {asked}")


@reads
def list_subscriptions(at: Reading) -> Shown:
    """List the receivers, without their secrets."""
    receivers, now = subscriptions.of_key(at.session, at.key), at.clock.wall()
    found = subscriptions.Subscriptions(subscriptions=[subscriptions.subscription_of(one, now) for one in receivers])
    return Shown(found, lambda: listing(found.subscriptions, _COLUMNS, f"{len(found.subscriptions)} subscriptions"))


@writes
def resume_subscription(by: Writer, subscription: Id) -> Shown:
    """Send to a paused subscription again, from now on."""
    found = subscriptions.resume_subscription(by, subscription)
    return Shown(found, lambda: f"Subscription {subscription} is sent changes again.")


@writes
def remove_subscription(by: Writer, subscription: Id) -> Shown:
    """Delete a subscription with its deliveries."""
    subscriptions.delete_subscription(by, subscription)
    return Shown({"removed": subscription}, lambda: f"Subscription {subscription} has been removed.")


@reads
def list_deliveries(
    at: Reading, limit: Annotated[int, option("COUNT", "Maximum number of deliveries.", min=1)] = 100
) -> Shown:
    """List deliveries, the newest first."""
    rows, following = cut(deliveries.page(at.session, limit=limit + 1), limit, "/v1/deliveries")
    found = changes.DeliveryPage(deliveries=changes.summaries(at.session, rows), next=following)
    return Shown(found, lambda: listing(found.deliveries, _DELIVERIES, f"{len(rows)} deliveries"))


@writes
def replay_delivery(by: Writer, delivery: Annotated[str, argument("DELIVERY", "Its id.")]) -> Shown:
    """Send a delivery that has ended again, under the same event."""
    found = changes.replay_delivery(by, delivery)
    return Shown(found, lambda: f"Delivery {delivery} is sent again.")
