"""/v1/subscriptions"""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from app.alerts.subscriptions import service
from app.alerts.subscriptions.schemas import Subscription, Subscriptions, SubscriptionWithSecret
from app.alerts.subscriptions.service import ForbiddenTarget, NotYourSubscription
from app.http.api_keys import AnyKey, OperatorWriter
from app.http.conditional import NO_STORE, cached
from app.http.dependencies import Reading, ServiceClock, ServiceSettings
from app.http.problems import documented_keyed, documented_writing
from jobspec.fields import ID
from jobspec.subscriptions import NewSubscription, SubscriptionPatch
from records.alerts import subscriptions
from records.alerts.subscriptions import TooManySubscriptions, UnknownSubscription
from records.alerts.webhook_signature import NoWebhookKey

router = APIRouter(prefix="/subscriptions", tags=["subscriptions"], dependencies=[cached(NO_STORE)])

SubscriptionId = Annotated[
    str,
    Path(description="A subscription's id.", pattern=ID, examples=["01a1fa2ab3c4d50b5f2e91"]),
]


@router.get("", summary="List subscriptions to alert changes", responses=documented_keyed())
def list_subscriptions(session: Reading, key: AnyKey, clock: ServiceClock) -> Subscriptions:
    """The key's own subscriptions; for an admin's key, all."""
    now = clock.wall()
    return Subscriptions(subscriptions=[service.answer(one, now) for one in service.of_key(session, key)])


@router.post(
    "",
    status_code=201,
    summary="Subscribe to alert changes",
    responses=documented_writing(ForbiddenTarget, TooManySubscriptions, NoWebhookKey),
)
def create_subscription(
    response: Response, writer: OperatorWriter, settings: ServiceSettings, new: NewSubscription
) -> SubscriptionWithSecret:
    """From now on every change is posted to the URL as JSON, in `data` of a payload with `type` and `timestamp`. It is
    signed by the Standard Webhooks specification (`webhook-id`, `webhook-timestamp`, `webhook-signature`) with the
    secret in the answer, which is shown this once. Failed deliveries are retried with growing delays, under the same
    `webhook-id`, the change's `event`. While the key is revoked or expired, nothing new is sent."""
    service.require_target(settings, new.url)
    with writer.database.transaction() as session:
        stored = subscriptions.create(session, new, writer.key.id, writer.now)
        shown = service.with_secret(stored, settings, writer.now)
        writer.record(session, "subscription created", stored.id)
    response.headers["Location"] = f"/v1/subscriptions/{stored.id}"
    return shown


@router.get(
    "/{subscription}",
    summary="Read a subscription",
    responses=documented_keyed(UnknownSubscription, NotYourSubscription),
)
def read_subscription(session: Reading, key: AnyKey, clock: ServiceClock, subscription: SubscriptionId) -> Subscription:
    """Only for the key that created it and for admins, because a URL may contain a secret."""
    return service.answer(service.owned(session, key, subscription), clock.wall())


@router.patch(
    "/{subscription}",
    summary="Change a subscription",
    responses=documented_writing(UnknownSubscription, NotYourSubscription, ForbiddenTarget),
)
def change_subscription(
    writer: OperatorWriter, settings: ServiceSettings, subscription: SubscriptionId, patch: SubscriptionPatch
) -> Subscription:
    """Changes its URL, basins or minimum severity; a field that is left out stays. Pending deliveries go to the new
    URL."""
    service.require_target(settings, patch.url)
    with writer.database.transaction() as session:
        service.owned(session, writer.key, subscription)
        stored = subscriptions.update(session, subscription, patch)
        writer.record(session, "subscription changed", stored.id, changed=sorted(patch.changes()))
    return service.answer(stored, writer.now)


@router.post(
    "/{subscription}/rotate",
    summary="Give a subscription a new secret",
    responses=documented_writing(UnknownSubscription, NotYourSubscription, NoWebhookKey),
)
def rotate_secret(
    writer: OperatorWriter, settings: ServiceSettings, subscription: SubscriptionId
) -> SubscriptionWithSecret:
    """The answer shows the new secret, this once. For a day deliveries are signed with both secrets, so that
    the receiver can change over in its own time; a second rotation within the day ends the oldest at once."""
    with writer.database.transaction() as session:
        service.owned(session, writer.key, subscription)
        stored = subscriptions.rotate(session, subscription, writer.now)
        writer.record(session, "secret rotated", stored.id)
        return service.with_secret(stored, settings, writer.now)


@router.delete(
    "/{subscription}",
    status_code=204,
    summary="Delete a subscription",
    responses=documented_writing(UnknownSubscription, NotYourSubscription),
)
def delete_subscription(writer: OperatorWriter, subscription: SubscriptionId) -> None:
    """Also deletes its deliveries and their log. The alert history stays."""
    with writer.database.transaction() as session:
        service.owned(session, writer.key, subscription)
        subscriptions.remove(session, subscription)
        writer.record(session, "subscription deleted", subscription)
