"""/v1/deliveries"""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from app.alerts.deliveries import service
from app.alerts.deliveries.schemas import DeliveryDetail, DeliveryPage
from app.alerts.subscriptions.service import NotYourSubscription
from app.http.api_keys import AnyKey, OperatorWriter
from app.http.conditional import NO_STORE, cached
from app.http.dependencies import Reading
from app.http.pagination import IdPage
from app.http.problems import documented_keyed, documented_writing
from jobspec.fields import ID
from records.alerts import deliveries
from records.alerts.deliveries import NotEnded, Status, UnknownDelivery
from records.alerts.subscriptions import UnknownSubscription

router = APIRouter(prefix="/deliveries", tags=["subscriptions"], dependencies=[cached(NO_STORE)])

DeliveryId = Annotated[str, Path(description="A delivery's id.", pattern=ID, examples=["01a1fa31d0a6718d9e12f4"])]
OfSubscription = Annotated[str | None, Query(description="Only deliveries of this subscription.", pattern=ID)]
WithStatus = Annotated[Status | None, Query(description="Only deliveries with this status.")]


@router.get(
    "",
    summary="Which notifications were delivered",
    responses=documented_keyed(UnknownSubscription, NotYourSubscription),
)
def list_deliveries(
    session: Reading, key: AnyKey, page: IdPage, subscription: OfSubscription = None, status: WithStatus = None
) -> DeliveryPage:
    """The deliveries to the key's own subscriptions (for an admin's key, to all), newest first, a page at a
    time: follow `next` until it is null."""
    chosen = service.visible_subscriptions(session, key, subscription)
    found = deliveries.page(session, subscriptions=chosen, status=status, after=page.after, limit=page.sought)
    shown, following = page.cut(found)
    return DeliveryPage(deliveries=service.summaries(session, shown), next=following)


@router.get(
    "/{delivery}",
    summary="The log of a delivery",
    responses=documented_keyed(UnknownDelivery, NotYourSubscription),
)
def read_delivery(session: Reading, key: AnyKey, delivery: DeliveryId) -> DeliveryDetail:
    """Every attempt: when it was sent, the receiver's status code, or why it does not count as delivered. The body of
    the receiver's answer is not read."""
    return service.detail(session, service.owned(session, key, delivery))


@router.post(
    "/{delivery}/replay",
    summary="Send a delivery again",
    responses=documented_writing(UnknownDelivery, NotYourSubscription, NotEnded),
)
def replay_delivery(writer: OperatorWriter, delivery: DeliveryId) -> DeliveryDetail:
    """Starts a finished delivery again, whether it succeeded or failed: the same event, with as many attempts as a new
    one."""
    with writer.database.transaction() as session:
        service.owned(session, writer.key, delivery)
        stored = deliveries.replay(session, delivery)
        writer.record(session, "delivery replayed", delivery)
        return service.detail(session, stored)
