"""/v1/deliveries"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.alerts.subscriptions import NotYourSubscription, of_key, owned_subscription
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.http.api_keys import AnyKey, KeyFirstRoute, OperatorWriter
from app.http.base_schema import EXPLAINED, Missing, Model, ReasonText, next_page
from app.http.conditional import NO_STORE, cached
from app.http.dependencies import IdPage, Reading
from app.http.problems import documented_keyed, documented_writing
from hydrology.base.doc import Why
from jobspec.fields import ID
from records.access.keys import Key
from records.alerts import alert_changes, deliveries, dispatch
from records.alerts.alert_changes import ChangeKind
from records.alerts.deliveries import Status, UnknownDelivery
from records.alerts.dispatch import MAX_TRIES, NotEnded, QuestionOver, SubscriptionPaused
from records.alerts.subscriptions import UnknownSubscription

_UNDER_WAY = Why("It is under way.")
_QUESTION = Why("It asks whether the recipient agrees.")


class DeliveryAttempt(Model):
    """One sending."""

    number: int
    at: datetime
    ended_at: Annotated[datetime | None, _UNDER_WAY]
    status_code: Annotated[int | None, Why("The receiver has not answered.")] = Field(
        description="The receiver's HTTP status, or the mail server's code."
    )
    failure: Annotated[ReasonText | None, Why("It is delivered, or under way.")] = Field(
        description="Why it does not count as delivered."
    )
    missing: Missing = EXPLAINED


class Delivery(Model):
    """An alert change to be sent to a receiver, or the question whether the recipient of e-mail agrees."""

    id: str
    subscription: str
    event: Annotated[str | None, _QUESTION] = Field(
        description="Identifier of the change: `webhook-id` of every attempt."
    )
    kind: ChangeKind | Literal["confirmation"]
    basin: Annotated[str | None, _QUESTION]
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

    attempts: list[DeliveryAttempt] = Field(description="The oldest first.")


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
    if stored.change_seq is None and not key.is_admin:
        raise UnknownDelivery("The question whether a recipient of e-mail agrees is shown to admins alone.")
    return stored


def detail(session: Session, stored: deliveries.Delivery) -> DeliveryDetail:
    """Return a delivery with its log."""
    attempts = [DeliveryAttempt.from_records(attempt) for attempt in deliveries.attempts_of(session, stored.id)]
    (delivery,) = summaries(session, [stored])
    return DeliveryDetail(**dict(delivery), attempts=attempts)


def summaries(session: Session, rows: Sequence[deliveries.Delivery]) -> list[Delivery]:
    """Return deliveries as in a list."""
    changes = alert_changes.get_many(session, [stored.change_seq for stored in rows if stored.change_seq is not None])
    return [_summary(stored, changes.get(stored.change_seq or 0)) for stored in rows]


def _summary(stored: deliveries.Delivery, change: alert_changes.Change | None) -> Delivery:
    at_once = "The next attempt is immediate or under way." if stored.status == "pending" else "It has ended."
    return Delivery.from_records(
        stored,
        event=change and change.id,
        kind=change.kind if change else "confirmation",
        basin=change and change.basin_id,
        most_tries=MAX_TRIES,
        why={"next_at": at_once},
    )


router = APIRouter(
    prefix="/deliveries", tags=["subscriptions"], dependencies=[cached(NO_STORE)], route_class=KeyFirstRoute
)

DeliveryId = Annotated[str, Path(description="A delivery's id.", pattern=ID, examples=["01a1fa31d0a6718d9e12f4"])]
OfSubscription = Annotated[str | None, Query(description="Only deliveries of this subscription.", pattern=ID)]
WithStatus = Annotated[Status | None, Query(description="Only deliveries with this status.")]


@router.get(
    "",
    summary="Which notifications were delivered",
    response_model=schema_of(DeliveryPage),
    responses=documented_keyed(UnknownSubscription, NotYourSubscription),
)
def list_deliveries(
    session: Reading,
    key: AnyKey,
    page: IdPage,
    fields: Annotated[FieldFilter, fields_of(DeliveryPage)],
    subscription: OfSubscription = None,
    status: WithStatus = None,
) -> Response:
    """The deliveries to the key's own subscriptions (for an admin's key, to all), newest first, a page at a
    time: follow `next` until it is null. Questions to recipients of e-mail are shown to admins alone: whether one is
    sent depends on what others have asked, and on what the recipient has answered."""
    chosen = visible_subscriptions(session, key, subscription)
    found = deliveries.page(
        session,
        subscriptions=chosen,
        with_questions=key.is_admin,
        status=status,
        after=page.after,
        limit=page.sought,
    )
    shown, following = page.cut(found)
    return fields.of(DeliveryPage(deliveries=summaries(session, shown), next=following))


@router.get(
    "/{delivery}",
    summary="The log of a delivery",
    responses=documented_keyed(UnknownDelivery, NotYourSubscription),
)
def read_delivery(session: Reading, key: AnyKey, delivery: DeliveryId) -> DeliveryDetail:
    """Every attempt: when it was sent, the receiver's status code, or why it does not count as delivered. The body of
    the receiver's answer is not read."""
    return detail(session, owned(session, key, delivery))


@router.post(
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
