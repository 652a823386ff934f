"""/v1/deliveries"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from app.alerts.deliveries import service
from app.alerts.deliveries.schemas import DeliveryDetail, DeliveryPage
from app.alerts.subscriptions.service import NotYourSubscription
from app.http.api_keys import AnyKey, By, Operator
from app.http.dependencies import IdCursor, OpenDatabase, PageLimit, Reading, ServiceClock
from app.http.pagination import next_page
from app.http.problems import documented_keyed, documented_writing
from jobspec.fields import ID
from records.access import audit
from records.alerts import deliveries
from records.alerts.deliveries import NotEnded, Status, UnknownDelivery
from records.alerts.subscriptions import UnknownSubscription

router = APIRouter(prefix="/deliveries", tags=["subscriptions"])

DeliveryId = Annotated[str, Path(description="A delivery's id.", pattern=ID, examples=["01a1fa31d0a6718d9e12f4"])]
OfSubscription = Annotated[str | None, Query(description="Only deliveries of this subscription.", pattern=ID)]
WithStatus = Annotated[Status | None, Query(description="Only deliveries with this status.")]


@router.get(
    "",
    summary="Which notifications were delivered",
    responses=documented_keyed(UnknownSubscription, NotYourSubscription),
)
def list_deliveries(
    request: Request,
    response: Response,
    session: Reading,
    key: AnyKey,
    subscription: OfSubscription = None,
    status: WithStatus = None,
    after: IdCursor = None,
    limit: PageLimit = 100,
) -> DeliveryPage:
    """The deliveries to the key's own subscriptions (for an admin's key, to all), newest first, a page at a
    time: follow `next` until it is null."""
    page, more = service.page(session, key, subscription=subscription, status=status, after=after, limit=limit)
    response.headers["Cache-Control"] = "no-store"
    query = {"subscription": subscription, "status": status, "limit": limit}
    following = next_page(request, response, query, page[-1].id if more else None)
    return DeliveryPage(deliveries=page, next=following)


@router.get(
    "/{delivery}",
    summary="The log of a delivery",
    responses=documented_keyed(UnknownDelivery, NotYourSubscription),
)
def read_delivery(session: Reading, key: AnyKey, response: Response, delivery: DeliveryId) -> DeliveryDetail:
    """Every attempt: when it was sent, the receiver's status code, or why it does not count as delivered. The body of
    the receiver's answer is not read."""
    response.headers["Cache-Control"] = "no-store"
    return service.detail(session, service.owned(session, key, delivery))


@router.post(
    "/{delivery}/replay",
    summary="Send a delivery again",
    responses=documented_writing(UnknownDelivery, NotYourSubscription, NotEnded),
)
def replay_delivery(
    response: Response, key: Operator, actor: By, database: OpenDatabase, clock: ServiceClock, delivery: DeliveryId
) -> DeliveryDetail:
    """Starts a finished delivery again, whether it succeeded or failed: the same event, with as many attempts as a new
    one."""
    with database.transaction() as session:
        service.owned(session, key, delivery)
        stored = deliveries.replay(session, delivery)
        audit.record(session, actor, "delivery replayed", delivery, clock.wall())
        shown = service.detail(session, stored)
    response.headers["Cache-Control"] = "no-store"
    return shown
