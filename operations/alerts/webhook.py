"""Posts alert changes to webhooks and gateways: signed, to public addresses only.

A receiver that times out, or answers with anything but 2xx, gets the change again later. The body of its answer is not
read, and redirects are not followed.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import httpx2

from hydrology.base.absent import Absent, absent
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from ingestion.client import (
    AddressProblem,
    Deadline,
    ForbiddenAddress,
    TooSlow,
    UnknownHost,
    http_address,
    public_client,
)
from jobspec.addresses import why_no_target
from jobspec.subscriptions import MessageTemplate
from records.alerts import alert_changes, signatures
from records.alerts.alert_changes import Change, as_json
from records.alerts.subscriptions import Subscription
from runtime.settings import Settings

Pause = Literal["never", "at the end", "at once"]
"""Whether a failure pauses the subscription: never, after the last of all attempts, or now."""


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """The outcome of an attempt; the status code is None without an answer.

    `pauses`: whether the receiver is not there, so that nothing more is sent to it, and from when.
    """

    status_code: int | None
    failure: Absent | None = None
    pauses: Pause = "never"


def body_of(change: Change, others: Sequence[Change] = ()) -> bytes:
    """Return the body for a change, the same at every attempt; `others` of the run, worst first."""
    data = as_json(change)
    payload = {"type": f"alert.{change.kind}", "timestamp": data["at"], "data": data}
    if others:
        payload["others"] = [as_json(other) for other in others]
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class Content:
    """The body of a request, the same at every attempt; the event is the id of the worst change."""

    event: str
    content_type: str
    body: bytes


def content_of(settings: Settings, subscription: Subscription, changes: Sequence[Change], name: str) -> Content:
    """Return what a subscription gets for a basin's changes by a run, worst first."""
    change, *others = changes
    if subscription.template is None:
        return Content(change.id, "application/json", body_of(change, others))
    template = MessageTemplate(**subscription.template)
    link = f"{settings.own_address}/basins/{change.basin_id}" if settings.own_address else ""
    filled = template.filled(
        alert_changes.template_values(change, name, link, sum(one.message == one.id for one in others))
    )
    return Content(change.id, template.content_type, filled)


def send(
    settings: Settings, key: bytes, subscription: Subscription, content: Content, *, at: datetime, patience: float
) -> DeliveryOutcome:
    assert subscription.url is not None
    if reason := why_no_target(subscription.url, settings.webhook_hosts):
        return DeliveryOutcome(None, absent(Reason.FAILED, message=reason))
    good = [signatures.secret(key, subscription.id, generation) for generation in subscription.generations(at)]
    headers = {
        "Content-Type": content.content_type,
        **signatures.signed_headers(good, content.event, at, content.body),
    }
    try:
        address = http_address(subscription.url)
        with (
            public_client(Deadline(patience), settings.webhook_hosts) as client,
            client.stream("POST", address, content=content.body, headers=headers) as response,
        ):
            return DeliveryOutcome(response.status_code, _why_not(response.status_code))
    except (AddressProblem, InvalidInput, httpx2.TransportError) as error:
        return DeliveryOutcome(None, _failure(error, patience))


def _why_not(status_code: int) -> Absent | None:
    if 200 <= status_code < 300:
        return None
    redirects = 300 <= status_code < 400
    return absent(Reason.RECEIVER_REDIRECTED if redirects else Reason.RECEIVER_REFUSED, status=status_code)


def _failure(error: Exception, patience: float) -> Absent:
    match error:
        case TooSlow() | httpx2.TimeoutException():
            return absent(Reason.RECEIVER_SLOW, seconds=patience)
        case ForbiddenAddress():
            return absent(Reason.RECEIVER_NOT_PUBLIC)
        case UnknownHost():
            return absent(Reason.RECEIVER_UNKNOWN)
        case httpx2.ConnectError():
            return absent(Reason.RECEIVER_NOT_CONNECTED)
        case httpx2.NetworkError() | httpx2.ProtocolError():
            return absent(Reason.RECEIVER_BROKE_OFF)
    return absent(Reason.RECEIVER_ADDRESS_UNUSABLE)
