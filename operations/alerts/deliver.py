"""Sending what is in the outbox: signed, to public addresses alone, each receiver by itself.

A receiver that does not answer in time, or answers with anything but 2xx, gets the change again later. What it answers
is not read, and redirections are not followed. After a failure the others of that receiver wait for the next pass, so
that one that hangs holds up nothing but itself.
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

from hydrology.base.errors import InvalidInput
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
"""Receivers that are sent to at the same time."""
PASS_SECONDS = 120.0
"""After so long a pass begins no new attempt: the rest is for the next."""

OnDelivery = Callable[[int, int], None]


def deliver(
    database: Database,
    settings: Settings,
    now: Callable[[], datetime],
    on_receiver: OnDelivery = lambda _done, _total: None,
    patience: float = ANSWER_SECONDS,
) -> Counter[Status]:
    """Attempt what is due, once, and return how the deliveries stand that an attempt of this pass was made of.

    Args:
        now: the wall's time.
        on_receiver: gets how many receivers are done, of how many; what it raises ends the pass after the attempts
            that are under way.
        patience: seconds that a receiver has, from connecting to the head of the answer.

    Raises:
        NoWebhookKey: the key that secrets follow from is damaged.
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
    """Return what a receiver gets of a change: the same bytes at every attempt."""
    return json.dumps(as_json(change), ensure_ascii=False, separators=(",", ":")).encode()


def _attempt(
    database: Database, settings: Settings, key: bytes, delivery: str, now: Callable[[], datetime], patience: float
) -> Status | None:
    """Make one attempt of a delivery; None where it is another sender's."""
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
) -> tuple[int | None, str | None]:
    """Send a change, and return the status of the answer and why it does not count as delivered."""
    subscription, body = sending.subscription, body_of(sending.change)
    if reason := why_no_target(subscription.url, settings.webhook_hosts):
        return None, reason
    good = [webhook_signature.secret(key, subscription.id, generation) for generation in subscription.generations(at)]
    headers = {
        "Content-Type": "application/json",
        "Freshet-Event": sending.change.id,
        "Freshet-Delivery": f"{sending.delivery}/{sending.number}",
        "Freshet-Signature": webhook_signature.signature(good, at, body),
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


def _why_not(status_code: int) -> str | None:
    if 200 <= status_code < 300:
        return None
    if 300 <= status_code < 400:
        return f"It answered {status_code}: redirections are not followed."
    return f"It answered {status_code}."


def _failure(error: Exception, patience: float) -> str:
    """Return what went wrong, in words that repeat nothing of the address or the receiver."""
    match error:
        case TooSlow() | httpx2.TimeoutException():
            return f"It did not answer within {patience:g} seconds."
        case ForbiddenAddress():
            return "Its host has no public address: an administrator may allow it with FRESHET_WEBHOOK_HOSTS."
        case UnknownHost():
            return "Its host is not known to the name service."
        case httpx2.ConnectError():
            return "It could not be connected to, or its certificate is not good."
        case httpx2.NetworkError() | httpx2.ProtocolError():
            return "It broke the connection off."
    return "Its address cannot be used."
