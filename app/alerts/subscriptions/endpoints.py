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


@router.get("", summary="List subscriptions to alert changes", responses=documented_keyed())
def list_subscriptions(session: Reading, key: AnyKey, clock: ServiceClock, response: Response) -> Subscriptions:
    """The key's own subscriptions; for an admin's key, all."""
    response.headers["Cache-Control"] = NO_STORE
    now = clock.wall()
    return Subscriptions(subscriptions=[service.answer(one, now) for one in service.of_key(session, key)])


@router.post(
    "",
    status_code=201,
    summary="Subscribe to alert changes",
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
    """From now on every change is posted to the URL as JSON, in `data` of a payload with `type` and `timestamp`. It is
    signed by the Standard Webhooks specification (`webhook-id`, `webhook-timestamp`, `webhook-signature`) with the
    secret in the answer, which is shown this once. Failed deliveries are retried with growing delays, under the same
    `webhook-id`, the change's `event`. While the key is revoked or expired, nothing new is sent."""
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
    summary="Read a subscription",
    responses=documented_keyed(UnknownSubscription, NotYourSubscription),
)
def read_subscription(
    session: Reading, key: AnyKey, clock: ServiceClock, response: Response, subscription: SubscriptionId
) -> Subscription:
    """Only for the key that created it and for admins, because a URL may contain a secret."""
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
    """Changes its URL, basins or minimum severity; a field that is left out stays. Pending deliveries go to the new
    URL."""
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
    """The answer shows the new secret, this once. For a day deliveries are signed with both secrets, so that
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
    """Also deletes its deliveries and their log. The alert history stays."""
    with database.transaction() as session:
        service.owned(session, key, subscription)
        subscriptions.remove(session, subscription)
        audit.record(session, actor, "subscription deleted", subscription, clock.wall())
