"""Writes alert changes as e-mail: plain text and HTML, one message for a change or for the changes of a digest.

The Message-ID follows from the changes and the subscription, so that a message that is sent again, because its sender
did not learn the outcome, is recognisably the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from hydrology.base.absent import absent
from hydrology.base.digests import fingerprint
from hydrology.base.errors import counted
from hydrology.base.reasons import Reason
from jobspec.subscriptions import one_line
from operations.alerts import smtp
from operations.alerts.attempt import DeliveryOutcome
from records.alerts import signatures
from records.alerts.alert_changes import Change, worst_first
from records.alerts.change_words import first_of, headline, other_levels, turn
from records.alerts.dispatch import Sending
from records.alerts.subscriptions import CONFIRM_WITHIN, Subscription
from records.database.statements import grouped
from runtime.settings import Settings

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
    """What changed at a river.

    Attributes:
        change: the gravest.
        details: the other levels with an alert, and those whose alert ended, too.
    """

    title: str
    change: Change
    details: list[str]
    link: str


def send(
    settings: Settings, key: bytes, sendings: Sequence[Sending], names: Mapping[str, str], at: datetime
) -> DeliveryOutcome:
    """Send one message: a change, those of a digest, or the question.

    Args:
        key: the service's own, which the links are signed with.
        names: of the basins, for a reader.
    """
    recipient = sendings[0].subscription.email
    if not settings.sends_mail or recipient is None:
        return DeliveryOutcome(None, absent(Reason.MAIL_NOT_SET))
    return smtp.hand_over(settings, recipient, written(settings, key, sendings, names, at).as_bytes())


def written(
    settings: Settings, key: bytes, sendings: Sequence[Sending], names: Mapping[str, str], at: datetime
) -> EmailMessage:
    """Return the message of some deliveries to one subscription; the arguments are those of `send`."""
    subscription = sendings[0].subscription
    changes = [sending.change for sending in sendings if sending.change is not None]
    if subscription.digest is None:
        changes = worst_first(changes)
    purpose: signatures.Purpose = "unsubscribe" if changes else "confirm"
    link = signatures.mail_link(settings.own_address, key, purpose, subscription)
    mailbox = sendings[0].mailbox
    leave = link if mailbox is None else signatures.questions_link(settings.own_address, key, mailbox)
    entries = [
        _entry(settings, of_river, names) for of_river in grouped((one.message, one) for one in changes).values()
    ]
    message = _addressed(settings, subscription, _subject(entries, subscription), at)
    message["Message-ID"] = message_id(settings, subscription, [one.id for one in changes])
    message["List-Unsubscribe"] = f"<{leave}>"
    message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    name = "changes" if changes else "question"
    values = {"entries": entries, "link": link, "subscription": subscription, "days": CONFIRM_WITHIN.days}
    values |= {"leave": leave, "service": settings.own_address, "replayed": any(one.replayed for one in changes)}
    values |= {"official": all(one.is_official for one in changes)}
    message.set_content(_TEMPLATES.get_template(f"{name}.txt").render(values))
    message.add_alternative(_TEMPLATES.get_template(f"{name}.html").render(values), subtype="html")
    return message


def message_id(settings: Settings, subscription: Subscription, changes: Sequence[str]) -> str:
    """Return the Message-ID of some changes for a subscription; of its question, where there are none."""
    assert settings.mail_from is not None
    return f"<{fingerprint([subscription.id, sorted(changes)])[:32]}@{settings.mail_from.rpartition('@')[2]}>"


def _entry(settings: Settings, changes: Sequence[Change], names: Mapping[str, str]) -> Entry:
    head, *others = worst_first(changes)
    title = one_line(headline(head, names[head.basin_id]))
    details = [other_levels(head), *(f"{turn(other)}." for other in others if other.severity is None)]
    return Entry(title, head, [*filter(None, details)], f"{settings.own_address}/basins/{head.basin_id}")


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
