"""The history of a basin's alerts, the changes that a run proposes, and /v1/deliveries of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.alerts.schemas import STANDING, StandingLevel
from app.alerts.subscriptions import NotYourSubscription, of_key, owned_subscription
from app.basins.run_levels import ADVICE, StatedAdvice
from app.exports.fields import Listing, documented_list, listing
from app.http.api_keys import AnyKey, KeyFirstRoute, OperatorWriter
from app.http.base_schema import EXPLAINED, Missing, Model, next_page
from app.http.conditional import NO_STORE, SHORTLY, cached
from app.http.dependencies import KnownBasin, NumberCursor, Reading, id_path
from app.http.problems import Unauthorized, documented, documented_writing
from app.http.shown import As, model_of
from hydrology.base.doc import Why
from jobspec.fields import ID
from records.access.keys import Key
from records.alerts import alert_changes, deliveries, dispatch
from records.alerts.deliveries import Status, UnknownDelivery
from records.alerts.dispatch import MAX_TRIES, NotEnded, QuestionOver, SubscriptionPaused
from records.alerts.subscriptions import UnknownSubscription
from records.basins.basins import UnknownBasin

_CHANGE = As(
    omit=("replayed",),
    rename=(
        ("basin_id", "basin"),
        ("discharge", "discharge_m3s"),
        ("stage", "stage_ft"),
        ("run_id", "run"),
        ("version_id", "version"),
        ("adjustment_id", "adjustment"),
    ),
    missing=True,
)


class ProposedChange(model_of(alert_changes.NewChange, _CHANGE)):  # type: ignore[misc]
    """A change of an alert that a run proposes."""

    levels: Annotated[
        list[StandingLevel] | None, Why("It does not head the message of a river, or is from before they were stored.")
    ] = Field(description=f"Of the change that heads a message, after it. {STANDING}")
    advice: Annotated[
        list[StatedAdvice] | None, Why("It does not head the message of a river, or is from before it was stored.")
    ] = Field(description=ADVICE)


class AlertChange(ProposedChange):
    """A change of an alert; receivers get the same fields in `data`, without `missing`."""

    event: str = Field(description="Its id: `webhook-id` of every attempt to notify a receiver.")
    official: bool = Field(
        description="Whether it is meant: false for an exercise, without an official sender, and for an unofficial "
        "basin, whose changes go to its owner's subscriptions alone."
    )
    message: Annotated[
        str | None, Why("It is of levels below the alert of the river alone, which goes on unchanged.")
    ] = Field(
        description="The `event` of the change that heads its message: what a run changes at a river is one. Null "
        "where it is not sent."
    )


class AlertChanges(Model):
    """Changes of a basin's alerts, the newest first."""

    changes: list[AlertChange]
    next: str | None = next_page("/v1/basins/USGS-13235000/alerts/changes?limit=100&after=42")


def change_of(stored: alert_changes.Change) -> AlertChange:
    return AlertChange(**alert_changes.as_json(stored))


def proposed_change(fields: Mapping[str, Any]) -> ProposedChange:
    """Return a change that a run proposes, from its fields."""
    return ProposedChange(**{"levels": None, "advice": None, **fields})  # it may wait since before they were stored


router = APIRouter(tags=["alerts"])


@router.get(
    "/basins/{basin}/alerts/changes",
    summary="Alert history of a basin",
    **documented_list(AlertChanges, UnknownBasin, cache_control=SHORTLY),
)
def list_alert_changes(
    session: Reading, basin: KnownBasin, page: Annotated[Listing, listing(AlertChanges, NumberCursor)]
) -> Response:
    """Every change of a level, newest first, with the run behind it. What a run changes at a river is one message to
    receivers (`message`). A promotion of another model version is a change of its own. Follow `next` until it is
    null."""
    found = alert_changes.page(session, basins=[basin], before=page.after, limit=page.sought)
    return page.of(found, lambda shown: [change_of(one) for one in shown], lambda change: change.seq)


_UNDER_WAY = Why("It is under way.")
_QUESTION = Why("It asks whether the recipient agrees.")
_NO_BASIN = Why("It is not about a basin.")


_ATTEMPT = As("DeliveryAttempt", "One sending.", missing=True)


class Delivery(Model):
    """An alert change or a message about an issue to be sent to a receiver, or the question whether the recipient of
    e-mail agrees."""

    id: str
    subscription: str
    event: Annotated[str | None, _QUESTION] = Field(
        description="Identifier of the change or the message: `webhook-id` of every attempt."
    )
    kind: alert_changes.ChangeKind | Literal["issue", "confirmation"]
    basin: Annotated[str | None, _NO_BASIN]
    status: Status = Field(description="`failed`: after its last attempt. Replay it when the receiver is well.")
    tries: int = Field(
        description="Attempts since creation or the last replay, without those that a fault of the mail server ended."
    )
    most_tries: int = Field(description="Maximum of `tries`: after these it has failed.")
    next_at: datetime | None = Field(description="Time of the next attempt; null: immediately.")
    ended_at: Annotated[datetime | None, _UNDER_WAY]
    missing: Missing = EXPLAINED


class DeliveryDetail(Delivery):
    """An alert change for a receiver, with every attempt to send it."""

    attempts: list[Annotated[deliveries.Attempt, _ATTEMPT]] = Field(description="The oldest first.")


class DeliveryPage(Model):
    """Deliveries, the newest first."""

    deliveries: list[Delivery]
    next: str | None = next_page("/v1/deliveries?limit=100&after=01a1fa31d0a6718d9e12f4")


def visible_subscriptions(session: Session, key: Key, subscription: str | None) -> list[str] | None:
    """Return the subscriptions whose deliveries a key may see, or the one named; None for all."""
    if subscription is not None:
        return [owned_subscription(session, key, subscription).id]
    return None if key.is_admin else [one.id for one in of_key(session, key)]


def owned(session: Session, key: Key, delivery: str) -> deliveries.Delivery:
    """Return a delivery that a key may see and replay. Only an admin's key sees questions."""
    stored = deliveries.get(session, delivery)
    owned_subscription(session, key, stored.subscription_id)
    if stored.is_question and not key.is_admin:
        raise UnknownDelivery("The question whether a recipient of e-mail agrees is shown to admins alone.")
    return stored


def detail(session: Session, stored: deliveries.Delivery) -> DeliveryDetail:
    (delivery,) = summaries(session, [stored])
    return DeliveryDetail(**dict(delivery), attempts=deliveries.attempts_of(session, stored.id))


def summaries(session: Session, rows: Sequence[deliveries.Delivery]) -> list[Delivery]:
    changes = alert_changes.get_many(session, [stored.change_seq for stored in rows if stored.change_seq is not None])
    return [_summary(stored, changes.get(stored.change_seq or 0)) for stored in rows]


def _summary(stored: deliveries.Delivery, change: alert_changes.Change | None) -> Delivery:
    at_once = "The next attempt is immediate or under way." if stored.status == "pending" else "It has ended."
    return Delivery.from_records(
        stored,
        event=change.id if change else stored.notice_id,
        kind=change.kind if change else "confirmation" if stored.is_question else "issue",
        basin=change and change.basin_id,
        most_tries=MAX_TRIES,
        why={"next_at": at_once},
    )


deliveries_router = APIRouter(
    prefix="/deliveries", tags=["subscriptions"], dependencies=[cached(NO_STORE)], route_class=KeyFirstRoute
)

DeliveryId = Annotated[str, id_path("A delivery's id.", "01a1fa31d0a6718d9e12f4")]
OfSubscription = Annotated[str | None, Query(description="Only deliveries of this subscription.", pattern=ID)]
WithStatus = Annotated[Status | None, Query(description="Only deliveries with this status.")]


@deliveries_router.get(
    "",
    summary="Which notifications were delivered",
    **documented_list(DeliveryPage, Unauthorized, UnknownSubscription, NotYourSubscription),
)
def list_deliveries(
    session: Reading,
    key: AnyKey,
    page: Annotated[Listing, listing(DeliveryPage)],
    subscription: OfSubscription = None,
    status: WithStatus = None,
) -> Response:
    """The deliveries to the key's own subscriptions (for an admin's key, to all), newest first, a page at a
    time: follow `next` until it is null. Questions to recipients of e-mail are shown to admins alone: whether one is
    sent depends on what others have asked, and on what the recipient has answered."""
    chosen = visible_subscriptions(session, key, subscription)
    found = deliveries.page(
        session, subscriptions=chosen, with_questions=key.is_admin, status=status, after=page.after, limit=page.sought
    )
    return page.of(found, lambda shown: summaries(session, shown))


@deliveries_router.get(
    "/{delivery}",
    summary="The log of a delivery",
    responses=documented(Unauthorized, UnknownDelivery, NotYourSubscription),
)
def read_delivery(session: Reading, key: AnyKey, delivery: DeliveryId) -> DeliveryDetail:
    """Every attempt: when it was sent, the receiver's status code, or why it does not count as delivered. The body of
    the receiver's answer is not read."""
    return detail(session, owned(session, key, delivery))


@deliveries_router.post(
    "/{delivery}/replay",
    summary="Send a delivery again",
    responses=documented_writing(UnknownDelivery, NotYourSubscription, NotEnded, SubscriptionPaused, QuestionOver),
)
def replay_delivery(writer: OperatorWriter, delivery: DeliveryId) -> DeliveryDetail:
    """Starts a finished delivery again, whether it succeeded or failed: the same event, with as many attempts as a new
    one. The question whether a recipient of e-mail agrees is sent again only where it has not arrived."""
    with writer.database.transaction() as session:
        owned(session, writer.key, delivery)
        stored = dispatch.replay(session, delivery, writer.now)
        writer.record(session, "delivery replayed", delivery)
        return detail(session, stored)
