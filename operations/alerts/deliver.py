"""Delivers queued alert changes: signed, to public addresses only, each receiver independently.

A receiver that times out, or answers with anything but 2xx, gets the change again later. The body of its answer is not
read, and redirects are not followed. After a failure the receiver's other changes wait for the next pass, so that a
receiver that hangs delays only its own changes.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime

import httpx2
import structlog

from hydrology.base.absent import Absent, absent
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from ingestion.addresses import AddressProblem, ForbiddenAddress, UnknownHost
from ingestion.client import Deadline, TooSlow, http_address, public_client
from jobspec.addresses import why_no_target
from records.alerts import deliveries, webhook_signature
from records.alerts.alert_changes import Change, as_json
from records.alerts.deliveries import Sending, Status
from records.database.engine import Database
from runtime.settings import Settings

log = structlog.get_logger()

ANSWER_SECONDS = 10.0
AT_ONCE = 8
"""Number of receivers that are sent to in parallel."""
PASS_SECONDS = 120.0
"""A pass starts no new attempt after this many seconds; the next pass takes the rest."""

OnDelivery = Callable[[int, int], None]


def deliver(
    database: Database,
    settings: Settings,
    now: Callable[[], datetime],
    on_receiver: OnDelivery = lambda _done, _total: None,
    patience: float = ANSWER_SECONDS,
) -> Counter[Status]:
    """Attempt each due delivery once, and return the deliveries that were attempted.

    Args:
        now: the wall-clock time.
        on_receiver: called with the number of receivers done and the total; an exception that it raises ends the pass
            after the attempts that are under way.
        patience: timeout in seconds, from connecting to the head of the answer.

    Raises:
        NoWebhookKey: the key from which the signing secrets are derived is damaged.
    """
    key = webhook_signature.service_key(settings)
    with database.reading() as session:
        due = deliveries.due(session, now())
    stop, end = threading.Event(), time.monotonic() + PASS_SECONDS
    counts: Counter[Status] = Counter()

    def send_all(waiting: Sequence[str]) -> Counter[Status]:
        done: Counter[Status] = Counter()
        for delivery in waiting:
            if stop.is_set() or time.monotonic() > end:
                break
            status = _attempt(database, settings, key, delivery, now, patience)
            if status is not None:
                done[status] += 1
            if status in ("pending", "failed"):
                break
        return done

    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="deliver") as pool:
        try:
            running = [pool.submit(send_all, waiting) for waiting in due.values()]
            for done, future in enumerate(as_completed(running), start=1):
                counts += future.result()
                on_receiver(done, len(running))
        finally:
            stop.set()
    return counts


def body_of(change: Change) -> bytes:
    """Return the body sent to a receiver for a change.

    The same bytes at every attempt."""
    data = as_json(change)
    payload = {"type": f"alert.{change.kind}", "timestamp": data["at"], "data": data}
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()


def _attempt(
    database: Database, settings: Settings, key: bytes, delivery: str, now: Callable[[], datetime], patience: float
) -> Status | None:
    """Attempt a delivery once; None where another sender holds it."""
    with database.transaction() as session:
        sending = deliveries.claim(session, delivery, now())
    if sending is None:
        return None
    status_code, failure = _send(settings, key, sending, now(), patience)
    with database.transaction() as session:
        status = deliveries.finish(session, delivery, sending.number, now(), status_code=status_code, failure=failure)
    # Never the receiver's address: it may hold a secret of its own.
    log.info("delivery.attempt", delivery=delivery, number=sending.number, status=status, code=status_code)
    return status


def _send(
    settings: Settings, key: bytes, sending: Sending, at: datetime, patience: float
) -> tuple[int | None, Absent | None]:
    """Send a change; return the status code and, where delivery failed, the reason."""
    subscription, body = sending.subscription, body_of(sending.change)
    if reason := why_no_target(subscription.url, settings.webhook_hosts):
        return None, absent(Reason.FAILED, message=reason)
    good = [webhook_signature.secret(key, subscription.id, generation) for generation in subscription.generations(at)]
    headers = {
        "Content-Type": "application/json",
        **webhook_signature.signed_headers(good, sending.change.id, at, body),
    }
    try:
        address = http_address(subscription.url)
        with (
            public_client(Deadline(patience), settings.webhook_hosts) as client,
            client.stream("POST", address, content=body, headers=headers) as response,
        ):
            return response.status_code, _why_not(response.status_code)
    except (AddressProblem, InvalidInput, httpx2.TransportError) as error:
        return None, _failure(error, patience)


def _why_not(status_code: int) -> Absent | None:
    if 200 <= status_code < 300:
        return None
    redirects = 300 <= status_code < 400
    return absent(Reason.RECEIVER_REDIRECTED if redirects else Reason.RECEIVER_REFUSED, status=status_code)


def _failure(error: Exception, patience: float) -> Absent:
    """Return the cause of a failure, without the receiver's address or its words."""
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
