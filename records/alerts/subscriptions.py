"""Subscriptions of receivers to alert changes or issues. Secrets are not stored (`records.alerts.signatures`)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import structlog
from pydantic import ValidationError
from sqlalchemy import CheckConstraint, Index, func, or_, select
from sqlalchemy.orm import Session

from hydrology.alerts import Severity, rank
from hydrology.base.absent import Absent, absent
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.reasons import Reason
from jobspec.subscriptions import About, Digest, NewSubscription, SubscriptionPatch, unsuitable
from records.access import keys
from records.access.keys import KEYS
from records.alerts import deliveries
from records.alerts.deliveries import DELIVERIES, Delivery
from records.basins import basins, ownership, regions
from records.basins.regions import REGIONS
from records.database.base import JsonList, JsonObject
from records.database.checksums import new_id
from records.database.stored import add_all, as_values, find_or_raise, read, stored, table_of
from records.jobs import schedules
from runtime.settings import Settings

log = structlog.get_logger()

MAX_OF_A_KEY = 100
"""Limit per key: every change is written once for each matching subscription."""
PUBLIC = "public"
"""In place of a key: visitors of the page of alerts, who need none."""
OVERLAP = timedelta(days=1)
"""After a rotation the old secret stays valid for this long."""
CONFIRM_WITHIN = timedelta(days=7)
"""The recipient of e-mail agrees within this time of the subscription's creation, or not at all."""
UNSUBSCRIBED = absent(Reason.UNSUBSCRIBED)


class UnknownSubscription(NotFound):
    """No subscription with this id is stored."""


class TooManySubscriptions(InvalidInput):
    """The key has reached its limit of subscriptions."""


class NotSuitable(InvalidInput):
    """The subscription has no such thing: a secret and a template are a webhook's, a digest is e-mail's."""


class NotAgreedTo(InvalidInput):
    """The recipient of e-mail agreed to less than this: a subscription for e-mail is only ever narrowed."""

    status = 409
    remedy = "Create another subscription, which asks for consent, and delete this one."


class NotPaused(InvalidInput):
    """The subscription cannot be resumed: it is not paused, or its recipient has unsubscribed."""

    status = 409
    remedy = "Where the recipient has unsubscribed, only the recipient can change that, by the link of a message."


class ConfirmationOver(InvalidInput):
    """The recipient can no longer confirm the subscription: it took too long, or has unsubscribed."""

    status = 409
    remedy = "Ask whoever runs the service for a new subscription."


@stored(
    "subscriptions",
    CheckConstraint("generation > 0", name="generation"),
    CheckConstraint("(url IS NULL) <> (email IS NULL)", name="receiver"),
    CheckConstraint("(paused_at IS NULL) = (paused_because IS NULL)", name="paused"),
    Index(None, "key_id"),
)
class Subscription:
    """A receiver of alert changes, or of messages about the issues of days.

    Attributes:
        key_id: the key that created it, or `PUBLIC`. While it is revoked or expired, nothing new is sent.
        url: of a webhook; email: the address of a person. One of them is None.
        template: the body of requests to a gateway, as a `MessageTemplate`; None for the change as JSON.
        digest: when the day's changes are sent in one message, as a `Digest`; None for a message for each change.
        basins: None for all, or for those of the region. The region may get other basins later.
        least_severity: changes of alerts that stay below it are not sent.
        generation: number of its secret; rotated_at: when it replaced the last one.
        confirmed_at: when the recipient of e-mail agreed. Before, nothing but the question is sent.
    """

    id: str
    # Not a foreign key: keys are revoked, never deleted.
    key_id: str
    url: str | None
    email: str | None = None
    template: JsonObject | None = None
    digest: JsonObject | None = None
    basins: JsonList | None
    region: str | None = None
    least_severity: Severity
    about: About
    generation: int
    rotated_at: datetime | None
    created_at: datetime
    confirmed_at: datetime | None = None
    paused_at: datetime | None = None
    paused_because: Absent | None = None

    @property
    def is_active(self) -> bool:
        return self.paused_at is None and (self.email is None or self.confirmed_at is not None)

    @property
    def scope(self) -> str:
        """The basins whose changes are sent, in words."""
        return ", ".join(self.basins or ()) or (f"basins of the region {self.region}" if self.region else "all basins")

    def awaits_answer(self, at: datetime) -> bool:
        return self.email is not None and self.confirmed_at is None and at <= self.created_at + CONFIRM_WITHIN

    def sent_from(self, at: datetime) -> datetime | None:
        """Return when a change that is stored at an instant is sent; None for at once."""
        if self.digest is None:
            return None
        try:
            digest = Digest(**self.digest)
            return schedules.next_run(digest.cron, digest.timezone, at)
        except (ValidationError, schedules.BadCron):  # another machine knew the zone: an alert does not wait
            log.warning("subscription.digest", subscription=self.id, digest=self.digest)
            return None

    def generations(self, at: datetime) -> list[int]:
        """Return the generations whose secrets are valid at an instant, newest first."""
        overlaps = self.rotated_at is not None and at < self.rotated_at + OVERLAP
        return [self.generation, self.generation - 1] if overlaps else [self.generation]


SUBSCRIPTIONS = table_of(Subscription)


def create(session: Session, new: NewSubscription, key: str, at: datetime, settings: Settings) -> Subscription:
    """Store a new subscription of a key, for e-mail with its question, if its recipient may be asked."""
    deliveries.one_after_another(session)  # so that those of one instant are all counted
    if key != PUBLIC and len(list_subscriptions(session, key)) >= MAX_OF_A_KEY:
        raise TooManySubscriptions(f"A key may have at most {MAX_OF_A_KEY} subscriptions: delete one first.")
    if of_region := regions.limit_of_key(session, key, REGIONS.c.subscriptions):
        theirs = select(func.count()).select_from(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.key_id.in_(of_region.keys))
        if (session.scalar(theirs) or 0) >= of_region.limit:
            raise TooManySubscriptions(
                f"The keys of this region may have at most {of_region.limit} subscriptions together: delete one first."
            )
    _require_basins(session, new.basins, new.region, key)
    subscription = Subscription(
        id=new_id(at), key_id=key, **new.model_dump(), generation=1, rotated_at=None, created_at=at
    )
    add_all(session, Subscription, [as_values(subscription)])
    if new.email is not None:
        question = new_id(at)
        delivery = {"id": question, "subscription_id": subscription.id, "status": "pending", "tries": 0}
        add_all(session, Delivery, [delivery])
        deliveries.store_question(session, question, new.email, key, at, settings)
    return subscription


def get(session: Session, subscription: str, *, for_update: bool = False) -> Subscription:
    unknown = f"No subscription {subscription!r} is stored here: list the subscriptions to see their ids."
    return find_or_raise(session, Subscription, UnknownSubscription(unknown), id=subscription, for_update=for_update)


def list_subscriptions(session: Session, key: str | None = None) -> list[Subscription]:
    query = select(SUBSCRIPTIONS).order_by(SUBSCRIPTIONS.c.id)
    return read(session, Subscription, query if key is None else query.where(SUBSCRIPTIONS.c.key_id == key))


def update(session: Session, subscription: str, patch: SubscriptionPatch) -> Subscription:
    """Change the fields that a patch names; for e-mail, no more than the recipient was asked."""
    before, changes = get(session, subscription, for_update=True), patch.changes()
    _require_basins(session, patch.basins, patch.region, before.key_id)
    if before.email is not None and "url" in changes:
        raise NotSuitable("This subscription is for an e-mail address, which does not change: create another one.")
    after = {"basins": before.basins, "region": before.region} | changes
    if fault := unsuitable(before.email is not None, before.about, after):
        raise NotSuitable(f"It does not suit this subscription: {fault}.")
    if before.email is not None and _is_more(before, changes):
        raise NotAgreedTo("The recipient agreed to less than this: a subscription for e-mail can only be narrowed.")
    return _change(session, before, **changes)


def _change(session: Session, before: Subscription, **values: Any) -> Subscription:
    if values:
        session.execute(SUBSCRIPTIONS.update().where(SUBSCRIPTIONS.c.id == before.id).values(values))
    return replace(before, **values)


def _is_more(before: Subscription, changes: Mapping[str, Any]) -> bool:
    """Return whether changed fields send more than before: other basins, a lower severity, or no digest any more."""
    after, region = changes.get("basins", before.basins), changes.get("region", before.region)
    more_basins = before.basins is not None and (after is None or not set(after) <= set(before.basins))
    more_basins |= before.region not in (None, region) or (region != before.region and before.basins is not None)
    lower = rank(changes.get("least_severity", before.least_severity)) < rank(before.least_severity)
    return more_basins or lower or (before.digest is not None and changes.get("digest", before.digest) is None)


def rotate(session: Session, subscription: str, at: datetime) -> Subscription:
    before = get(session, subscription, for_update=True)
    if before.email is not None:
        raise NotSuitable("Messages by e-mail are not signed, so there is no secret to rotate.")
    return _change(session, before, generation=before.generation + 1, rotated_at=at)


def remove(session: Session, subscription: str) -> None:
    get(session, subscription)
    session.execute(SUBSCRIPTIONS.delete().where(SUBSCRIPTIONS.c.id == subscription))


def confirm(session: Session, subscription: str, at: datetime) -> Subscription:
    """Record that the recipient of e-mail agrees. A second time changes nothing."""
    before = get(session, subscription, for_update=True)
    if before.paused_because == UNSUBSCRIBED:
        raise ConfirmationOver("This address has been unsubscribed: only a new subscription can be confirmed.")
    if before.confirmed_at is not None:
        return before
    if not before.awaits_answer(at):
        raise ConfirmationOver(f"A subscription is confirmed within {CONFIRM_WITHIN.days} days, and they are over.")
    return _change(session, before, confirmed_at=at)


def pause(session: Session, subscription: str, reason: Absent, at: datetime) -> Subscription:
    """Send nothing more to a subscription, and end what waits. A second time changes the reason alone, and never that
    its recipient has unsubscribed."""
    before = get(session, subscription, for_update=True)
    waiting = (DELIVERIES.c.subscription_id == subscription) & (DELIVERIES.c.status == "pending")
    ended = {"status": "failed", "next_at": None, "lease_until": None, "ended_at": at}
    session.execute(DELIVERIES.update().where(waiting).values(ended))
    if before.paused_because == UNSUBSCRIBED:
        return before
    return _change(session, before, paused_at=before.paused_at or at, paused_because=reason)


def unsubscribe(session: Session, subscription: str, at: datetime) -> bool:
    """Record that the recipient of e-mail wants no more, nor to be asked again; return whether that is new."""
    before = get(session, subscription)
    new = before.paused_because != UNSUBSCRIBED
    if new:
        assert before.email is not None
        deliveries.refuse_questions(session, deliveries.mailbox_hash(session, before.email), at)
        pause(session, subscription, UNSUBSCRIBED, at)
    return new


def resume(session: Session, subscription: str) -> Subscription:
    """Send changes to a paused subscription again, from now on."""
    before = get(session, subscription, for_update=True)
    if before.paused_because is None:
        raise NotPaused("The subscription is not paused.")
    if before.paused_because == UNSUBSCRIBED:
        raise NotPaused("The recipient unsubscribed, and nobody else may change that.")
    return _change(session, before, paused_at=None, paused_because=None)


def count_paused_of_service(session: Session) -> int:
    is_paused = SUBSCRIPTIONS.c.paused_at.is_not(None) & keys.official(SUBSCRIPTIONS.c.key_id)
    query = select(SUBSCRIPTIONS.c.paused_because).where(is_paused)
    return sum(reason != UNSUBSCRIBED for reason in session.scalars(query))


def matching(
    session: Session, basin: str, severity: Severity | None, at: datetime, owner: str | None = None
) -> list[Subscription]:
    """Return the active subscriptions that receive a change: those whose key is valid at an instant, or that need none.

    Args:
        severity: the highest that the change begins or ends; None for a change of the whole basin.
        owner: the operator's key whose unofficial basin it is: only that key's subscriptions receive it, and e-mail
            only where its recipient agreed to that basin by name. None for an official basin.
    """
    of_basin = regions.of_basin(session, basin)
    return [
        one
        for one in active(session, "alerts", at)
        if (one.basins is None or basin in one.basins)
        and (one.region is None or one.region in of_basin)
        and (owner is None or (one.key_id == owner and (one.email is None or one.basins is not None)))
        and (severity is None or rank(severity) >= rank(one.least_severity))
    ]


def active(session: Session, about: About, at: datetime) -> list[Subscription]:
    """Return the active subscriptions about something, whose key is valid at an instant, or that need none."""
    query = select(SUBSCRIPTIONS).outerjoin(KEYS, KEYS.c.id == SUBSCRIPTIONS.c.key_id)
    query = query.where(or_(SUBSCRIPTIONS.c.key_id == PUBLIC, KEYS.c.id.is_not(None) & keys.valid(at)))
    query = query.where(SUBSCRIPTIONS.c.about == about).order_by(SUBSCRIPTIONS.c.id)
    return [one for one in read(session, Subscription, query) if one.is_active]


def _require_basins(session: Session, names: list[str] | None, region: str | None, key: str) -> None:
    if region is not None:
        regions.get(session, region)
    if unknown := basins.unknown(session, names or []):
        raise InvalidInput(str(next(iter(unknown.values()))))
    others = [basin for basin, owner in ownership.owners(session, names or []).items() if owner != key]
    if others:
        raise InvalidInput(
            f"{', '.join(others[:5])}: unofficial, so that its changes go to its owner's subscriptions. Leave out "
            "what is another's, or let an administrator adopt it."
        )
