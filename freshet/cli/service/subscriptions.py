"""`freshet subscriptions`: receivers of alert changes, and deliveries to them."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from freshet.cli.answers import Columns, listing
from freshet.cli.context import Change, changing, opened
from freshet.cli.options import argument, option
from freshet.cli.output import Json, answer
from freshet.cli.reading import Reading, Shown, cut, reads
from freshet.cli.text_files import read_text
from hydrology.base.errors import InvalidInput
from jobspec.faults import faults
from jobspec.subscriptions import NewSubscription
from records.access import audit, keys
from records.alerts import deliveries as delivery_records
from records.alerts import subscriptions as records

app = typer.Typer(no_args_is_help=True)

Id = Annotated[str, argument("SUBSCRIPTION", "Its id.")]
_DELIVERIES: Columns = {"delivery": "id", "subscription": "subscription", "status": "status", "tries": "tries"}
_DELIVERIES |= {"next": "next_at", "ended": "ended_at"}
_COLUMNS: Columns = {
    "subscription": "id",
    "url": "url",
    "email": "email",
    "basins": "basins",
    "severity": "least_severity",
}
_COLUMNS |= {"confirmed": "confirmed_at", "paused": "paused_because"}


@app.callback()
def subscriptions() -> None:
    """Add, list and remove receivers of alert changes: webhooks, gateways and e-mail."""


@app.command("add")
def add(
    key: Annotated[str, option("KEY", "Id of the key that it belongs to (freshet keys list).")],
    url: Annotated[str | None, option("URL", "Post changes to this address.")] = None,
    email: Annotated[str | None, option("ADDRESS", "Send changes to this address, once its owner agrees.")] = None,
    basin: Annotated[list[str] | None, option("BASIN", "Only this basin; may be repeated.")] = None,
    severity: Annotated[str, option("SEVERITY", "Only alerts of at least this severity.")] = "advisory",
    digest: Annotated[str | None, option("HH:MM", "One e-mail a day at this time.")] = None,
    zone: Annotated[str, option("ZONE", "Time zone of the digest.")] = "UTC",
    template: Annotated[Path | None, option("FILE", "Body of requests to a gateway, with placeholders.")] = None,
    content_type: Annotated[str, option("TYPE", "Content type of that body.")] = "application/json",
    as_json: Json = False,
) -> None:
    """Subscribe a receiver. The secret of a webhook is shown only now."""
    given: dict[str, Any] = {"url": url, "email": email, "basins": basin or None, "least_severity": severity}
    given["digest"] = None if digest is None else {"at": digest, "timezone": zone}
    body = None if template is None else read_text(template).strip()
    given["template"] = None if body is None else {"content_type": content_type, "body": body}
    try:
        new = NewSubscription.model_validate(given)
    except ValidationError as error:
        raise InvalidInput(faults(error, given)) from None
    with opened() as context:
        from app.alerts.subscriptions import require_receiver, with_secret

        require_receiver(context.settings, new)
        with context.database.transaction() as session:
            change = Change.at(session, context.clock)
            keys.get(session, key)
            created = records.create(session, new, key, change.now, context.settings)
            change.record("subscription created", created.id)
            shown = with_secret(created, context.settings, change.now)
    text = (
        shown.secret
        or f"{shown.id}: its recipient is asked by e-mail, unless asked lately; nothing else is sent before the answer."
    )
    answer(shown.model_dump(mode="json"), as_json, text)


@app.command("list")
@reads
def list_subscriptions(at: Reading) -> Shown:
    """List the receivers, without their secrets."""
    from app.alerts.schemas import Subscriptions
    from app.alerts.subscriptions import of_key, subscription_of

    now = at.clock.wall()
    found = Subscriptions(subscriptions=[subscription_of(one, now) for one in of_key(at.session, at.key)])
    return Shown(found, lambda: listing(found.subscriptions, _COLUMNS, f"{len(found.subscriptions)} subscriptions"))


@app.command("resume")
def resume(subscription: Id, as_json: Json = False) -> None:
    """Send to a paused subscription again, from now on."""
    _change(subscription, as_json, "subscription resumed", "is sent changes again")


@app.command("remove")
def remove(subscription: Id, as_json: Json = False) -> None:
    """Delete a subscription with its deliveries."""
    _change(subscription, as_json, "subscription deleted", "has been removed")


@app.command("deliveries")
@reads
def deliveries(
    at: Reading, limit: Annotated[int, option("COUNT", "Maximum number of deliveries.", min=1)] = 100
) -> Shown:
    """List deliveries, the newest first."""
    from app.alerts.deliveries import summaries
    from app.alerts.schemas import DeliveryPage

    rows, following = cut(
        delivery_records.page(at.session, limit=limit + 1), limit, "/v1/deliveries", lambda delivery: delivery.id
    )
    found = DeliveryPage(deliveries=summaries(at.session, rows), next=following)
    return Shown(found, lambda: listing(found.deliveries, _DELIVERIES, f"{len(rows)} deliveries"))


@app.command("replay")
def replay(delivery: Annotated[str, argument("DELIVERY", "Its id.")], as_json: Json = False) -> None:
    """Send a delivery that has ended again, under the same event."""
    with changing() as change:
        stored = delivery_records.replay(change.session, delivery, change.now)
        change.record("delivery replayed", delivery)
    answer(asdict(stored), as_json, f"Delivery {delivery} is sent again.")


def _change(subscription: str, as_json: bool, action: audit.Action, done: str) -> None:
    with changing() as change:
        if action == "subscription deleted":
            records.remove(change.session, subscription)
        else:
            records.resume(change.session, subscription)
        change.record(action, subscription)
    answer({"subscription": subscription, "done": action}, as_json, f"Subscription {subscription} {done}.")
