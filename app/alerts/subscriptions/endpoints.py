"""/v1/subscriptions"""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from app.alerts.subscriptions import service
from app.alerts.subscriptions.schemas import Subscription, Subscriptions, SubscriptionWithSecret
from app.alerts.subscriptions.service import ForbiddenTarget, NotYourSubscription
from app.http.api_keys import AnyKey, By, Operator
from app.http.dependencies import OpenDatabase, Reading, ServiceClock, ServiceSettings
from app.http.problems import documented_keyed, documented_writing
from jobspec.fields import ID
from jobspec.subscriptions import NewSubscription, SubscriptionPatch
from records.access import audit
from records.alerts import subscriptions
from records.alerts.subscriptions import TooManySubscriptions, UnknownSubscription
from records.alerts.webhook_signature import NoWebhookKey

router = APIRouter(prefix="/subscriptions", tags=["subscriptions"])

NO_STORE = "no-store"
SubscriptionId = Annotated[
    str,
    Path(description="A subscription's id.", pattern=ID, examples=["01a1fa2ab3c4d50b5f2e91"]),
]


@router.get("", summary="Who is told of alert changes", responses=documented_keyed())
def list_subscriptions(session: Reading, key: AnyKey, clock: ServiceClock, response: Response) -> Subscriptions:
    """The subscriptions that the key made; for an admin's key, all."""
    response.headers["Cache-Control"] = NO_STORE
    now = clock.wall()
    return Subscriptions(subscriptions=[service.answer(one, now) for one in service.of_key(session, key)])


@router.post(
    "",
    status_code=201,
    summary="Be told of alert changes",
    responses=documented_writing(ForbiddenTarget, TooManySubscriptions, NoWebhookKey),
)
def create_subscription(
    response: Response,
    key: Operator,
    actor: By,
    database: OpenDatabase,
    settings: ServiceSettings,
    clock: ServiceClock,
    new: NewSubscription,
) -> SubscriptionWithSecret:
    """From now on every change is posted to the URL as JSON, signed with the secret of the answer, which is shown this
    once. What does not arrive is sent again, with growing waits, under the same `event`. While the key is revoked or
    expired, nothing new is sent."""
    service.require_target(settings, new.url)
    now = clock.wall()
    with database.transaction() as session:
        stored = subscriptions.create(session, new, key.id, now)
        shown = service.with_secret(stored, settings, now)
        audit.record(session, actor, "subscription created", stored.id, now)
    response.headers.update({"Location": f"/v1/subscriptions/{stored.id}", "Cache-Control": NO_STORE})
    return shown


@router.get(
    "/{subscription}",
    summary="What a subscription says",
    responses=documented_keyed(UnknownSubscription, NotYourSubscription),
)
def read_subscription(
    session: Reading, key: AnyKey, clock: ServiceClock, response: Response, subscription: SubscriptionId
) -> Subscription:
    """For the key that made it, and for admins: a URL may hold a secret of its own."""
    response.headers["Cache-Control"] = NO_STORE
    return service.answer(service.owned(session, key, subscription), clock.wall())


@router.patch(
    "/{subscription}",
    summary="Change a subscription",
    responses=documented_writing(UnknownSubscription, NotYourSubscription, ForbiddenTarget),
)
def change_subscription(
    response: Response,
    key: Operator,
    actor: By,
    database: OpenDatabase,
    settings: ServiceSettings,
    clock: ServiceClock,
    subscription: SubscriptionId,
    patch: SubscriptionPatch,
) -> Subscription:
    """Its URL, its basins, its least severity: what is left out stays. What waits to be sent goes to the new URL."""
    service.require_target(settings, patch.url)
    now = clock.wall()
    with database.transaction() as session:
        service.owned(session, key, subscription)
        stored = subscriptions.update(session, subscription, patch)
        audit.record(session, actor, "subscription changed", stored.id, now, changed=sorted(patch.changes()))
    response.headers["Cache-Control"] = NO_STORE
    return service.answer(stored, now)


@router.post(
    "/{subscription}/rotate",
    summary="Give a subscription a new secret",
    responses=documented_writing(UnknownSubscription, NotYourSubscription, NoWebhookKey),
)
def rotate_secret(
    response: Response,
    key: Operator,
    actor: By,
    database: OpenDatabase,
    settings: ServiceSettings,
    clock: ServiceClock,
    subscription: SubscriptionId,
) -> SubscriptionWithSecret:
    """The answer shows the new secret, this once. For a day what is sent bears a signature by each of the two, so that
    the receiver can change over in its own time; a second rotation within the day ends the oldest at once."""
    now = clock.wall()
    with database.transaction() as session:
        service.owned(session, key, subscription)
        stored = subscriptions.rotate(session, subscription, now)
        shown = service.with_secret(stored, settings, now)
        audit.record(session, actor, "secret rotated", stored.id, now)
    response.headers["Cache-Control"] = NO_STORE
    return shown


@router.delete(
    "/{subscription}",
    status_code=204,
    summary="Delete a subscription",
    responses=documented_writing(UnknownSubscription, NotYourSubscription),
)
def delete_subscription(
    key: Operator, actor: By, database: OpenDatabase, clock: ServiceClock, subscription: SubscriptionId
) -> None:
    """With its deliveries and their log. The history of alerts stays."""
    with database.transaction() as session:
        service.owned(session, key, subscription)
        subscriptions.remove(session, subscription)
        audit.record(session, actor, "subscription deleted", subscription, clock.wall())
