"""Delivers queued alert changes: to webhooks and gateways, signed, and by e-mail, each receiver independently.

After a failure the receiver's other changes wait for the next pass, so that a receiver that hangs delays only its own
changes. The first e-mail of a pass goes alone: where the mail server has a fault, it is the only one that is attempted,
and all others wait as it does.
"""

import json
import threading
import time
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx2
import structlog

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
from jobspec.subscriptions import PLACEHOLDERS, MessageTemplate
from operations.alerts import mail
from operations.alerts.mail import DeliveryOutcome
from records.alerts import alert_changes, dispatch, issue_notices, signatures, subscriptions
from records.alerts.alert_changes import Change, as_json, worst_first
from records.alerts.deliveries import Status
from records.alerts.dispatch import LEASE, Outgoing, Sending, server_wait
from records.alerts.issue_notices import Notice
from records.alerts.subscriptions import Subscription
from records.basins.basins import sites
from records.basins.ownership import shown_name
from records.database.work import Work
from runtime.settings import Settings

log = structlog.get_logger()

ANSWER_SECONDS = 10.0
AT_ONCE = 8
"""Number of receivers that are sent to in parallel."""
PASS_SECONDS = 120.0
"""A pass starts no new attempt after this many seconds; the next pass takes the rest."""
_SPARE = timedelta(seconds=10)
"""Time that a lease lasts longer than its attempt."""


def deliver(work: Work, patience: float = ANSWER_SECONDS) -> Counter[Status]:
    """Attempt each due message once, and return the deliveries that were attempted.

    Progress counts the receivers; where it stops the work, the attempts that are under way are finished. The patience
    is the timeout of a webhook in seconds, from connecting to the head of the answer.
    """
    courier = _Courier(work, signatures.service_key(work.settings), patience)
    with work.database.reading() as session:
        due = dispatch.due(session, work.clock.wall())
    stop, end = threading.Event(), time.monotonic() + PASS_SECONDS
    webhooks, mail_server = _Lane(courier, stop, end), _Lane(courier, stop, end)
    of_mail = [queue.messages for queue in due if queue.by_mail]
    first = [of_mail[0].pop(0)] if of_mail else []
    counts: Counter[Status] = Counter()
    done = 0
    with ThreadPoolExecutor(AT_ONCE, "deliver") as pool, ThreadPoolExecutor(AT_ONCE, "mail") as mail_pool:
        try:
            probe = mail_pool.submit(mail_server.send, first)
            running = {probe} | {pool.submit(webhooks.send, queue.messages) for queue in due if not queue.by_mail}
            while running:
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    counts += (outcome := future.result())
                    if future is probe:
                        rest = of_mail if outcome.keys() <= {"delivered"} else [[], *of_mail[1:]]
                        running |= {mail_pool.submit(mail_server.send, messages) for messages in rest}
                    else:
                        done += 1
                        work.show(done, len(due))
        finally:
            stop.set()
    if mail_server.wait is not None:
        with work.database.transaction() as session:
            dispatch.hold_mail(session, work.clock.wall() + mail_server.wait)
    return counts


@dataclass(frozen=True, slots=True)
class _Courier:
    work: Work
    key: bytes
    patience: float

    def attempt(self, outgoing: Outgoing) -> tuple[list[Status], Absent | None]:
        """Attempt a message once; return the state of its deliveries (not another sender's), and why it failed."""
        with self.work.database.transaction() as session:
            claimed = [dispatch.claim(session, delivery, self.work.clock.wall(), self._lease) for delivery in outgoing]
            sendings = [sending for sending in claimed if sending is not None]
            basins = [sending.change.basin_id for sending in sendings if sending.change is not None]
            names = {basin: shown_name(basin, site.name) for basin, site in sites(session, basins).items()}
        if not sendings:
            return [], None
        outcome = self._outcome(sendings, names)
        statuses: list[Status] = []
        with self.work.database.transaction() as session:
            for one in sendings:
                status = dispatch.finish(
                    session,
                    one.delivery,
                    one.number,
                    self.work.clock.wall(),
                    status_code=outcome.status_code,
                    failure=outcome.failure,
                )
                statuses += [] if status is None else [status]
                # Never the receiver's address: it may hold a secret of its own.
                log.info("delivery.attempt", delivery=one.delivery, number=one.number, status=status)
            ended = outcome.pauses == "at once" or (outcome.pauses == "at the end" and "failed" in statuses)
            if outcome.failure is not None and statuses and ended:
                subscriptions.pause(session, sendings[0].subscription.id, outcome.failure, self.work.clock.wall())
                statuses = ["failed"] * len(statuses)
        return statuses, outcome.failure

    @property
    def _lease(self) -> timedelta:
        by_mail = timedelta(seconds=self.work.settings.smtp_seconds) + _SPARE
        return max(LEASE, by_mail) if self.work.settings.sends_mail else LEASE

    def _outcome(self, sendings: Sequence[Sending], names: Mapping[str, str]) -> DeliveryOutcome:
        """Send a message. Whatever fails is a failure of this message alone, and the pass goes on."""
        try:
            return self._send(sendings, names)
        except Exception as error:  # noqa: BLE001 - one receiver never ends the pass
            # Neither the text of the error nor that of its lines: they may have the receiver's address.
            places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
            log.error("delivery.fault", delivery=sendings[0].delivery, error=type(error).__name__, places=places[-3:])
            return DeliveryOutcome(None, absent(Reason.MESSAGE_FAILED))

    def _send(self, sendings: Sequence[Sending], names: Mapping[str, str]) -> DeliveryOutcome:
        first = sendings[0]
        if first.subscription.email is not None:
            return mail.send(self.work.settings, self.key, sendings, names, self.work.clock.wall())
        to, at, settings = first.subscription, self.work.clock.wall(), self.work.settings
        if first.notice is not None:
            event, content = first.notice.id, content_of_notice(settings, to, first.notice)
        else:
            changes = worst_first([sending.change for sending in sendings if sending.change is not None])
            event, content = changes[0].id, content_of(settings, to, changes, names[changes[0].basin_id])
        return post(settings, self.key, to, event, content, at=at, patience=self.patience)


@dataclass(slots=True)
class _Lane:
    """Sends by webhooks, or by the mail server, in one pass.

    No new attempt starts once `stop` is set, or after `end` of the monotonic clock in seconds. All e-mail waits for
    `wait` because of a fault of the mail server.
    """

    courier: _Courier
    stop: threading.Event
    end: float
    wait: timedelta | None = None

    def send(self, messages: Sequence[Outgoing]) -> Counter[Status]:
        done: Counter[Status] = Counter()
        for outgoing in messages:
            if self.stop.is_set() or time.monotonic() > self.end or self.wait is not None:
                break
            statuses, failure = self.courier.attempt(outgoing)
            done.update(statuses)
            if (fault := server_wait(failure)) is not None:
                self.wait = fault
            if set(statuses) - {"delivered"}:
                break
        return done


def body_of(change: Change, others: Sequence[Change] = ()) -> bytes:
    """Return the body for a change, the same at every attempt; `others` of the run, worst first."""
    data = as_json(change)
    payload = {"type": f"alert.{change.kind}", "timestamp": data["at"], "data": data}
    if others:
        payload["others"] = [as_json(other) for other in others]
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()


def content_of(
    settings: Settings, subscription: Subscription, changes: Sequence[Change], name: str
) -> tuple[str, bytes]:
    """Return the type and content of what a webhook gets for a basin's changes by a run, worst first."""
    change, *others = changes
    if subscription.template is None:
        return "application/json", body_of(change, others)
    template = MessageTemplate(**subscription.template)
    link = f"{settings.own_address}/basins/{change.basin_id}" if settings.own_address else ""
    own = sum(one.message == one.id for one in others)
    return template.content_type, template.filled(alert_changes.template_values(change, name, link, own))


def content_of_notice(settings: Settings, subscription: Subscription, notice: Notice) -> tuple[str, bytes]:
    """Return the type and content of what a webhook gets about the issue of a day."""
    data = issue_notices.as_json(notice)
    at = notice.at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if subscription.template is None:
        payload = {"type": notice.type, "timestamp": at, "data": data}
        return "application/json", json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
    own = {"headline": notice.headline, "why": notice.why, "kind": notice.kind, "at": at, "event": notice.id}
    own["link"] = f"{settings.own_address}/{notice.page}" if settings.own_address else ""
    template = MessageTemplate(**subscription.template)
    return template.content_type, template.filled(dict.fromkeys(PLACEHOLDERS, "") | own)


def post(
    settings: Settings,
    key: bytes,
    subscription: Subscription,
    event: str,
    content: tuple[str, bytes],
    *,
    at: datetime,
    patience: float,
) -> DeliveryOutcome:
    """Post the type and content of a message to a public address, signed; `event` is the id of its change or notice.

    A receiver that times out, or answers with anything but 2xx, gets the message again later. The body of its answer is
    not read, and redirects are not followed.
    """
    assert subscription.url is not None
    if reason := why_no_target(subscription.url, settings.webhook_hosts):
        return DeliveryOutcome(None, absent(Reason.FAILED, message=reason))
    content_type, body = content
    good = [signatures.secret(key, subscription.id, generation) for generation in subscription.generations(at)]
    headers = {"Content-Type": content_type, **signatures.signed_headers(good, event, at, body)}
    try:
        address = http_address(subscription.url)
        with (
            public_client(Deadline(patience), settings.webhook_hosts) as client,
            client.stream("POST", address, content=body, headers=headers) as response,
        ):
            status = response.status_code
    except (AddressProblem, InvalidInput, httpx2.TransportError) as error:
        return DeliveryOutcome(None, _failure(error, patience))
    if 200 <= status < 300:
        return DeliveryOutcome(status)
    redirects = 300 <= status < 400
    why = absent(Reason.RECEIVER_REDIRECTED if redirects else Reason.RECEIVER_REFUSED, status=status)
    return DeliveryOutcome(status, why)


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
