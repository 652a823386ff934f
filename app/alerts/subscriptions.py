"""/v1/subscriptions"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.fields import FieldFilter, documented_list, fields_of
from app.http.api_keys import AnyKey, KeyFirstRoute, OperatorWriter, require_owner
from app.http.base_schema import EXPLAINED, Missing, Model, ReasonText
from app.http.conditional import NO_STORE, cached
from app.http.dependencies import Reading, ServiceClock, ServiceSettings, id_path
from app.http.problems import Forbidden, Unauthorized, documented, documented_writing
from hydrology.alerts import Severity
from hydrology.base.absent import absent
from hydrology.base.doc import Why
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from jobspec.addresses import why_no_target
from jobspec.extensions import extensions
from jobspec.subscriptions import About, Digest, MessageTemplate, NewSubscription, SubscriptionPatch
from records.access.keys import Key
from records.alerts import signatures, subscriptions
from records.alerts.deliveries import TooManyQuestions
from records.alerts.signatures import NoWebhookKey
from records.alerts.subscriptions import (
    OVERLAP,
    NotAgreedTo,
    NotPaused,
    NotSuitable,
    TooManySubscriptions,
    UnknownSubscription,
)
from records.basins.regions import UnknownRegion
from runtime.settings import Settings

_NOT_PAUSED = Why("It is not paused.")
_OF_MAIL = {
    "template": "It is for e-mail.",
    "confirmed_at": "The recipient has not agreed. An address that was asked lately, whoever did, or that has refused "
    "is not asked, and no answer reveals whether it was.",
    **dict.fromkeys(("rotated_at", "old_secret_until"), "It has no secret."),
}
_OF_URL = {
    "template": "Changes are sent as JSON.",
    "confirmed_at": "A URL needs no agreement.",
    "rotated_at": "Its secret is the first.",
    "old_secret_until": "Its secret is the only one that is valid.",
}
_OF_ISSUES = "Feeds are of alerts."
_NO_FEEDS = "The service runs without the extension `cap`, which serves feeds."


class Subscription(Model):
    """A receiver of alert changes, or of messages about issues: a webhook, a gateway or a person."""

    id: str
    about: About = Field(
        description="`alerts`: changes of alerts; `issues`: that a day's forecasts are not complete, and alarms of the "
        "service."
    )
    url: Annotated[str | None, Why("It is for e-mail.")] = Field(description="Address that changes are posted to.")
    email: Annotated[str | None, Why("It is for a URL.")] = Field(
        description="Address that changes are sent to by e-mail."
    )
    template: MessageTemplate | None = Field(description="Body of the requests; null: the change as JSON.")
    digest: Annotated[Digest | None, Why("Each change is sent at once.")] = Field(
        description="When the changes of a day are sent in one message."
    )
    basins: Annotated[list[str] | None, Why("Changes of all basins are sent, or of those of the region.")] = Field(
        description="Basins whose changes are sent."
    )
    region: Annotated[str | None, Why("It is not of a region.")] = Field(
        description="Region whose basins' changes are sent."
    )
    least_severity: Severity = Field(description="Changes below this severity, before and after, are not sent.")
    feed: Annotated[str | None, Why("It has more basins than an address takes: name a part of them.")] = Field(
        description="Address of an Atom feed of the same changes."
    )
    created_at: datetime
    confirmed_at: datetime | None = Field(description="When the recipient of e-mail agreed. Before, nothing is sent.")
    paused_at: Annotated[datetime | None, _NOT_PAUSED] = Field(description="Since when nothing is sent.")
    paused_because: Annotated[ReasonText | None, _NOT_PAUSED] = Field(description="Why nothing is sent.")
    rotated_at: datetime | None = Field(description="When the secret was last replaced.")
    old_secret_until: datetime | None = Field(description="Until then deliveries are signed with the old secret too.")
    missing: Missing = EXPLAINED


class SubscriptionWithSecret(Subscription):
    """A receiver of alert changes and its secret, which is shown this once."""

    secret: Annotated[str | None, Why("Messages by e-mail are not signed with a secret.")] = Field(
        description="Secret for verifying signatures by Standard Webhooks. It is shown only this once: store it. Null "
        "for e-mail."
    )


class Subscriptions(Model):
    """The key's own subscriptions (for an admin's key, all), oldest first."""

    subscriptions: list[Subscription]


class NotYourSubscription(Forbidden):
    """The subscription belongs to another key."""

    kind = "not-your-subscription"


class ForbiddenTarget(InvalidInput):
    """The service may not send to this address."""


def require_target(settings: Settings, url: str | None) -> None:
    """Refuse a URL that the service may not send to, judged by the URL alone."""
    if url is not None and (reason := why_no_target(url, settings.webhook_hosts)):
        raise ForbiddenTarget(reason)


class MailNotSet(InvalidInput):
    """This service sends no e-mail: its administrator has not set a mail server."""

    status = 409
    remedy = "Let an administrator set FRESHET_SMTP_HOST, FRESHET_MAIL_FROM and FRESHET_PUBLIC_URL."


def require_receiver(settings: Settings, new: NewSubscription) -> None:
    require_target(settings, new.url)
    if new.email is not None and not settings.sends_mail:
        raise MailNotSet(str(absent(Reason.MAIL_NOT_SET)))


def owned_subscription(session: Session, key: Key, subscription: str) -> subscriptions.Subscription:
    """Return a subscription that belongs to a key; an admin's key may take any."""
    stored = subscriptions.get(session, subscription)
    require_owner(key, stored.key_id, NotYourSubscription, f"Subscription {stored.id}")
    return stored


def of_key(session: Session, key: Key) -> list[subscriptions.Subscription]:
    """Return the subscriptions that a key may see."""
    return subscriptions.list_subscriptions(session, None if key.is_admin else key.id)


def subscription_of(stored: subscriptions.Subscription, at: datetime) -> Subscription:
    """Return the public fields of a subscription, without its secret."""
    return Subscription.from_records(stored, **_fields(stored, at))


def with_secret(stored: subscriptions.Subscription, settings: Settings, at: datetime) -> SubscriptionWithSecret:
    """Return a subscription with the newest of its secrets."""
    key = signatures.service_key(settings)
    secret = None if stored.email else signatures.secret(key, stored.id, stored.generation)
    return SubscriptionWithSecret.from_records(stored, **_fields(stored, at), secret=secret)


def _fields(stored: subscriptions.Subscription, at: datetime) -> dict[str, Any]:
    overlaps = stored.rotated_at is not None and len(stored.generations(at)) > 1
    has_feeds = any(extension.alert_feed for extension in extensions())
    no_feed = {} if has_feeds and stored.about == "alerts" else {"feed": _NO_FEEDS if not has_feeds else _OF_ISSUES}
    return {
        "old_secret_until": stored.rotated_at + OVERLAP if overlaps and stored.rotated_at else None,
        "feed": feed_address(stored.basins, stored.region, stored.least_severity) if stored.about == "alerts" else None,
        "why": (_OF_MAIL if stored.email else _OF_URL) | no_feed,
    }


def feed_address(basins: Sequence[str] | None, region: str | None, minimum: Severity) -> str | None:
    """Return the address of a feed of alert changes; None without one."""
    served = (extension.load(extension.alert_feed) for extension in extensions() if extension.alert_feed)
    addresses = (address(basins, region, minimum) for address in served)
    return next((address for address in addresses if address is not None), None)


router = APIRouter(
    prefix="/subscriptions", tags=["subscriptions"], dependencies=[cached(NO_STORE)], route_class=KeyFirstRoute
)

SubscriptionId = Annotated[str, id_path("A subscription's id.", "01a1fa2ab3c4d50b5f2e91")]


@router.get("", summary="List subscriptions to alert changes", **documented_list(Subscriptions, Unauthorized))
def list_subscriptions(
    session: Reading, key: AnyKey, clock: ServiceClock, fields: Annotated[FieldFilter, fields_of(Subscriptions)]
) -> Response:
    """The key's own subscriptions; for an admin's key, all."""
    now = clock.wall()
    return fields.of(Subscriptions(subscriptions=[subscription_of(one, now) for one in of_key(session, key)]))


@router.post(
    "",
    status_code=201,
    summary="Subscribe to alert changes",
    responses=documented_writing(
        ForbiddenTarget, TooManySubscriptions, UnknownRegion, NoWebhookKey, MailNotSet, TooManyQuestions
    ),
)
def create_subscription(
    response: Response, writer: OperatorWriter, settings: ServiceSettings, new: NewSubscription
) -> SubscriptionWithSecret:
    """With a `url`, every change is posted to it from now on as JSON, in `data` of a payload with `type` and
    `timestamp`. It is signed by the Standard Webhooks specification (`webhook-id`, `webhook-timestamp`,
    `webhook-signature`) with the secret in the answer, which is shown this once. Failed deliveries are retried with
    growing delays, under the same `webhook-id`, the change's `event`. With a `template`, the body is that of a gateway
    of text messages or chat. With an `email`, its recipient is asked once, unless somebody has asked that address
    within 30 days or it has refused questions: the answer is the same. Changes are sent after the recipient has agreed,
    and every message has a link to unsubscribe. While the key is revoked or expired, nothing new is sent. `about`
    `issues`, the messages are instead that the forecasts of a day are not complete at the stated time
    (`issue.incomplete`), and that they have become so (`issue.complete`), and alarms of the service: a silent feed, a
    disk that fills, a version worse than persistence (`alarm.begins`, `alarm.ends`)."""
    require_receiver(settings, new)
    with writer.database.transaction() as session:
        stored = subscriptions.create(session, new, writer.key.id, writer.now, settings)
        shown = with_secret(stored, settings, writer.now)
        writer.record(session, "subscription created", stored.id)
    response.headers["Location"] = f"/v1/subscriptions/{stored.id}"
    return shown


@router.get(
    "/{subscription}",
    summary="Read a subscription",
    responses=documented(Unauthorized, UnknownSubscription, NotYourSubscription),
)
def read_subscription(session: Reading, key: AnyKey, clock: ServiceClock, subscription: SubscriptionId) -> Subscription:
    """Only for the key that created it and for admins, because a URL may contain a secret."""
    return subscription_of(owned_subscription(session, key, subscription), clock.wall())


@router.patch(
    "/{subscription}",
    summary="Change a subscription",
    responses=documented_writing(
        UnknownSubscription, UnknownRegion, NotYourSubscription, ForbiddenTarget, NotSuitable, NotAgreedTo
    ),
)
def change_subscription(
    writer: OperatorWriter, settings: ServiceSettings, subscription: SubscriptionId, patch: SubscriptionPatch
) -> Subscription:
    """Changes its URL, basins or region, minimum severity, template or digest; a field that is left out stays. Pending
    deliveries go to the new URL. Of a subscription for e-mail, the address does not change, and its recipient never
    gets more than was asked: create another subscription, which asks for consent."""
    require_target(settings, patch.url)
    with writer.database.transaction() as session:
        owned_subscription(session, writer.key, subscription)
        stored = subscriptions.update(session, subscription, patch)
        writer.record(session, "subscription changed", stored.id, changed=sorted(patch.changes()))
    return subscription_of(stored, writer.now)


@router.post(
    "/{subscription}/rotate",
    summary="Give a subscription a new secret",
    responses=documented_writing(UnknownSubscription, NotYourSubscription, NoWebhookKey, NotSuitable),
)
def rotate_secret(
    writer: OperatorWriter, settings: ServiceSettings, subscription: SubscriptionId
) -> SubscriptionWithSecret:
    """The answer shows the new secret, this once. For a day deliveries are signed with both secrets, so that
    the receiver can change over in its own time; a second rotation within the day ends the oldest at once."""
    with writer.database.transaction() as session:
        owned_subscription(session, writer.key, subscription)
        stored = subscriptions.rotate(session, subscription, writer.now)
        writer.record(session, "secret rotated", stored.id)
        return with_secret(stored, settings, writer.now)


@router.post(
    "/{subscription}/resume",
    summary="Send to a paused subscription again",
    responses=documented_writing(UnknownSubscription, NotYourSubscription, NotPaused),
)
def resume_subscription(writer: OperatorWriter, subscription: SubscriptionId) -> Subscription:
    """Changes are sent to it from now on. Those of the pause are not; deliveries that failed can be replayed. Where the
    recipient of e-mail has unsubscribed, nobody can resume it."""
    with writer.database.transaction() as session:
        owned_subscription(session, writer.key, subscription)
        stored = subscriptions.resume(session, subscription)
        writer.record(session, "subscription resumed", stored.id)
    return subscription_of(stored, writer.now)


@router.delete(
    "/{subscription}",
    status_code=204,
    summary="Delete a subscription",
    responses=documented_writing(UnknownSubscription, NotYourSubscription),
)
def delete_subscription(writer: OperatorWriter, subscription: SubscriptionId) -> None:
    """Also deletes its deliveries and their log. The alert history stays."""
    with writer.database.transaction() as session:
        owned_subscription(session, writer.key, subscription)
        subscriptions.remove(session, subscription)
        writer.record(session, "subscription deleted", subscription)
