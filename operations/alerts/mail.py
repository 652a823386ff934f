"""Writes alert changes as e-mail, and hands each message to the mail server of the settings.

A message is plain text and HTML, for a change or for the changes of a digest. Its Message-ID follows from the changes
and the subscription, so that a message that is sent again, because its sender did not learn the outcome, is
recognisably the same.
"""

import re
import smtplib
import ssl
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime
from pathlib import Path
from socket import SHUT_RDWR
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from hydrology.base.absent import Absent, absent
from hydrology.base.digests import fingerprint
from hydrology.base.errors import counted
from hydrology.base.reasons import Reason
from hydrology.extremes.level_checks import LevelAdvice
from jobspec.subscriptions import one_line
from records.alerts import signatures
from records.alerts.alert_changes import Change, advice_of, first_of, headline, other_levels, turn, worst_first
from records.alerts.dispatch import Sending
from records.alerts.subscriptions import CONFIRM_WITHIN, Subscription
from records.database.stored import grouped
from runtime.settings import Settings

ACCEPTED, FORWARDED = 250, 251
READY = 220
CLOSING = 421
TOO_LARGE = 552
"""No room for the message: in a mailbox, or by the server's limit of size."""
_ENHANCED = re.compile(rb"5\.\d{1,3}\.\d{1,3}(?!\d)")
_GONE = re.compile(rb"5\.(1\.([0-6]|10)|2\.1)(?!\d)")
"""Enhanced status codes of an address that is wrong or disabled [RFC 3463, RFC 7505]. Others concern the message, its
sender, or a mailbox that is full, and may be over tomorrow."""
_OF_SYSTEM = re.compile(rb"4\.3\.")
"""Enhanced status codes of a server that itself has no room, or is out of order."""
_OF_MAILBOX = re.compile(rb"5\.2\.")
_NO_SUCH_ADDRESS = (550, 553)
_NOT_OF_ADDRESS = (530, TOO_LARGE)
"""No login, and no room: they never mean that the address is not there."""

Pause = Literal["never", "at the end", "at once"]
"""Whether a failure pauses the subscription: never, after the last of all attempts, or now."""
Stage = Literal["session", "recipient", "message"]
"""What the server was asked last: to take messages of this service, this recipient's, or the message itself."""


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """The outcome of an attempt; the status code is None without an answer.

    `pauses`: whether the receiver is not there, so that nothing more is sent to it, and from when.
    """

    status_code: int | None
    failure: Absent | None = None
    pauses: Pause = "never"


def hand_over(settings: Settings, recipient: str, message: bytes) -> DeliveryOutcome:
    """Hand a message for one recipient to the mail server.

    It is delivered if the server takes it, whatever happens on leaving. The text beside the server's codes is not
    reported: it may repeat addresses.
    """
    assert settings.smtp_host is not None
    assert settings.mail_from is not None
    slow = threading.Event()
    server: smtplib.SMTP | None = None
    stage: Stage = "session"

    def cut() -> None:
        slow.set()
        if server is not None and server.sock is not None:
            with suppress(OSError):
                server.sock.shutdown(SHUT_RDWR)

    timer = threading.Timer(settings.smtp_seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        server = _server(settings)
        _require((READY,), server.connect(settings.smtp_host, settings.smtp_port))
        if slow.is_set():  # it was connected too late to be cut off
            raise TimeoutError
        if settings.smtp_security == "starttls":
            server.starttls(context=_context(settings))
        if settings.smtp_user is not None:
            _log_in(server, settings.smtp_user, settings.smtp_password or "")
        server.ehlo_or_helo_if_needed()
        size = [f"size={len(message)}"] if server.has_extn("size") else []
        _require((ACCEPTED,), server.mail(settings.mail_from, size))
        stage = "recipient"
        _require((ACCEPTED, FORWARDED), server.rcpt(recipient))
        if slow.is_set():  # another sender may have it by now
            raise TimeoutError
        stage = "message"
        _require((ACCEPTED,), server.data(message))
        with suppress(smtplib.SMTPException, OSError):
            server.quit()
    except smtplib.SMTPResponseException as error:
        return _answered(error, stage)
    except (smtplib.SMTPException, OSError, ValueError) as error:  # ValueError: what cannot be written in ASCII
        return DeliveryOutcome(None, _unanswered(error, stage, settings, slow=slow.is_set()))
    finally:
        timer.cancel()
        if server is not None:
            server.close()
    return DeliveryOutcome(ACCEPTED)


def _server(settings: Settings) -> smtplib.SMTP:
    """Return the mail server, not connected yet, so that its connection can be cut off from the first byte."""
    assert settings.smtp_host is not None
    assert settings.mail_from is not None
    here, seconds = settings.mail_from.rpartition("@")[2], settings.smtp_seconds
    server = (
        smtplib.SMTP_SSL(local_hostname=here, timeout=seconds, context=_context(settings))
        if settings.smtp_security == "tls"
        else smtplib.SMTP(local_hostname=here, timeout=seconds)
    )
    # The name that its certificate is checked against, which smtplib takes from a host given above alone.
    server._host = settings.smtp_host  # type: ignore[attr-defined]
    return server


def _require(codes: Sequence[int], answer: tuple[int, bytes]) -> None:
    if answer[0] not in codes:
        raise smtplib.SMTPResponseException(*answer)


def _context(settings: Settings) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=None if settings.smtp_ca is None else str(settings.smtp_ca))


def _log_in(server: smtplib.SMTP, user: str, password: str) -> None:
    try:
        server.login(user, password)
    except smtplib.SMTPNotSupportedError as error:
        raise smtplib.SMTPAuthenticationError(502, "it offers no login") from error


def _answered(error: smtplib.SMTPResponseException, stage: Stage) -> DeliveryOutcome:
    code, words = error.smtp_code, error.smtp_error
    words = words if isinstance(words, bytes) else words.encode()  # smtplib's own
    if code == CLOSING or (code < 500 and (stage == "session" or _OF_SYSTEM.match(words))):
        return DeliveryOutcome(code, absent(Reason.MAIL_UNAVAILABLE, status=code))
    if stage == "recipient":
        return _refused(code, words)
    if stage == "message" or code == TOO_LARGE:
        return DeliveryOutcome(code, _by_code(code))
    of_login = isinstance(error, smtplib.SMTPAuthenticationError)
    return DeliveryOutcome(
        code, absent(Reason.MAIL_LOGIN_REFUSED if of_login else Reason.MAIL_SERVICE_REFUSED, status=code)
    )


def _refused(code: int, words: bytes) -> DeliveryOutcome:
    refused = absent(Reason.MAIL_ADDRESS_REFUSED, status=code)
    if code < 500 or code in _NOT_OF_ADDRESS or (_ENHANCED.match(words) and not _GONE.match(words)):
        of_mailbox = code == TOO_LARGE or (code >= 500 and _OF_MAILBOX.match(words))
        return DeliveryOutcome(code, refused if of_mailbox else _by_code(code))
    if _GONE.match(words):
        return DeliveryOutcome(code, refused, pauses="at once")
    if code in _NO_SUCH_ADDRESS:
        return DeliveryOutcome(code, refused, pauses="at the end")
    return DeliveryOutcome(code, _by_code(code))


def _by_code(code: int) -> Absent:
    return absent(Reason.MAIL_DEFERRED if 400 <= code < 500 else Reason.MAIL_REFUSED, status=code)


def _unanswered(error: Exception, stage: Stage, settings: Settings, *, slow: bool) -> Absent:
    if stage != "session":  # The message may have been taken: it is not sent again every minute.
        return absent(Reason.MAIL_UNANSWERED)
    if slow or isinstance(error, TimeoutError):
        return absent(Reason.MAIL_SLOW, seconds=settings.smtp_seconds)
    match error:
        case ssl.SSLError() | smtplib.SMTPNotSupportedError():
            return absent(Reason.MAIL_NOT_ENCRYPTED)
        case smtplib.SMTPServerDisconnected() | ConnectionResetError() | BrokenPipeError():
            return absent(Reason.MAIL_BROKE_OFF)
    return absent(Reason.MAIL_NOT_CONNECTED)


_MAX_SUBJECT = 200
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


class _Policy(EmailPolicy):
    """Folds the headers of a message, but not those of lists: a long address would be encoded as text [RFC 2369]."""

    def fold_binary(self, name: str, value: Any) -> bytes:
        if name.startswith("List-"):
            return f"{name}: {value}{self.linesep}".encode("ascii")
        return super().fold_binary(name, value)


_POLICY = _Policy(linesep="\r\n", cte_type="7bit")


@dataclass(frozen=True, slots=True)
class Entry:
    """What changed at a river, the gravest first; the details are of its other levels, ended alerts among them."""

    title: str
    change: Change
    details: list[str]
    advice: list[LevelAdvice]
    link: str


def send(
    settings: Settings, key: bytes, sendings: Sequence[Sending], names: Mapping[str, str], at: datetime
) -> DeliveryOutcome:
    """Send one message: a change, those of a digest, a notice, or the question; `key` signs its links."""
    recipient = sendings[0].subscription.email
    if not settings.sends_mail or recipient is None:
        return DeliveryOutcome(None, absent(Reason.MAIL_NOT_SET))
    return hand_over(settings, recipient, written(settings, key, sendings, names, at).as_bytes())


def written(
    settings: Settings, key: bytes, sendings: Sequence[Sending], names: Mapping[str, str], at: datetime
) -> EmailMessage:
    subscription = sendings[0].subscription
    changes = [sending.change for sending in sendings if sending.change is not None]
    if subscription.digest is None:
        changes = worst_first(changes)
    notice = sendings[0].notice
    purpose: signatures.Purpose = "unsubscribe" if changes or notice else "confirm"
    link = signatures.mail_link(settings.own_address, key, purpose, subscription)
    mailbox = sendings[0].mailbox
    leave = link if mailbox is None else signatures.questions_link(settings.own_address, key, mailbox)
    entries = [
        _entry(settings, of_river, names) for of_river in grouped((one.message, one) for one in changes).values()
    ]
    subject = _subject(entries, subscription) if notice is None else notice.headline
    message = _addressed(settings, subscription, subject, at)
    events = [one.id for one in changes] if notice is None else [notice.id]
    message["Message-ID"] = message_id(settings, subscription, events)
    message["List-Unsubscribe"] = f"<{leave}>"
    message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    name = "alerts" if changes else "issue" if notice else "question"
    values = {"entries": entries, "link": link, "subscription": subscription, "days": CONFIRM_WITHIN.days}
    values |= {"leave": leave, "service": settings.own_address, "replayed": any(one.replayed for one in changes)}
    values |= {"official": all(one.is_official for one in changes), "notice": notice}
    message.set_content(_TEMPLATES.get_template(f"{name}.txt").render(values))
    message.add_alternative(_TEMPLATES.get_template(f"{name}.html").render(values), subtype="html")
    return message


def message_id(settings: Settings, subscription: Subscription, events: Sequence[str]) -> str:
    """Return the Message-ID of changes, or of a notice, for a subscription; of its question, where there are none."""
    assert settings.mail_from is not None
    return f"<{fingerprint([subscription.id, sorted(events)])[:32]}@{settings.mail_from.rpartition('@')[2]}>"


def _entry(settings: Settings, changes: Sequence[Change], names: Mapping[str, str]) -> Entry:
    head, *others = worst_first(changes)
    title = one_line(headline(head, names[head.basin_id]))
    details = [other_levels(head), *(f"{turn(other)}." for other in others if other.severity is None)]
    details = [*filter(None, details)]
    return Entry(title, head, details, advice_of(head), f"{settings.own_address}/basins/{head.basin_id}")


def _addressed(settings: Settings, subscription: Subscription, subject: str, at: datetime) -> EmailMessage:
    message = EmailMessage(_POLICY)
    message["From"] = Address("Freshet", addr_spec=settings.mail_from)
    message["To"] = Address(addr_spec=subscription.email)
    message["Subject"] = one_line(subject)[:_MAX_SUBJECT]
    message["Date"] = format_datetime(at)
    message["Auto-Submitted"] = "auto-generated"
    return message


def _subject(entries: Sequence[Entry], subscription: Subscription) -> str:
    if not entries:
        return "Please confirm: alerts by e-mail"
    if len(entries) == 1 or subscription.digest is None:
        return first_of(entries[0].title, len(entries) - 1)
    exercise = "Exercise: " if any(entry.change.replayed for entry in entries) else ""
    return f"{exercise}{counted(len(entries), 'change')} of alerts"
