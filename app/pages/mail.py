"""/mail: the pages behind the links of e-mail. Programs that scan mail follow links, so only a button changes anything.

A POST by a mail program unsubscribes at once (RFC 8058). The token in the path stands for the recipient's consent: no
key is needed, and it does nothing else.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.http.dependencies import OpenDatabase, Reading, ServiceClock, ServiceSettings
from app.http.limits.addresses import address_of
from app.pages.render import PageRoute, render
from records.access import audit
from records.access.audit import Actor
from records.alerts import deliveries, signatures, subscriptions
from records.alerts.signatures import Purpose
from records.alerts.subscriptions import UNSUBSCRIBED, Subscription

router = APIRouter(prefix="/mail", include_in_schema=False, route_class=PageRoute)

Token = Annotated[str, Path(pattern=signatures.FORM)]


@dataclass(frozen=True, slots=True)
class MailLink:
    """Contents of the page.

    Attributes:
        done: whether the recipient has chosen so already.
        questions: the path to the page by which the recipient allows questions again; None unless it has unsubscribed.
    """

    purpose: Purpose
    done: bool
    subscription: Subscription
    questions: str | None


@dataclass(frozen=True, slots=True)
class Questions:
    """Contents of the page on questions to an address; `refused`: whether it wants none."""

    refused: bool
    token: str


@router.get("/questions/{token}", response_class=HTMLResponse)
def read_questions(request: Request, session: Reading, settings: ServiceSettings, token: Token) -> HTMLResponse:
    """Show whether the address takes questions, and the button that changes it. Nothing is changed."""
    mailbox = signatures.mailbox_of(signatures.service_key(settings), token)
    return _private(
        render(request, "mail-questions.html", Questions(deliveries.refuses_questions(session, mailbox), token))
    )


@router.post("/questions/{token}", response_class=HTMLResponse)
def refuse_questions(
    request: Request, database: OpenDatabase, settings: ServiceSettings, clock: ServiceClock, token: Token
) -> HTMLResponse:
    """Refuse all questions to the address. A second time changes nothing."""
    mailbox, now = signatures.mailbox_of(signatures.service_key(settings), token), clock.wall()
    with database.transaction() as session:
        if deliveries.refuse_questions(session, mailbox, now):
            audit.record(session, _recipient(request), "questions refused", mailbox, now)
    return _private(render(request, "mail-questions.html", Questions(True, token)))


@router.post("/questions/{token}/allow", response_class=HTMLResponse)
def allow_questions(
    request: Request, database: OpenDatabase, settings: ServiceSettings, clock: ServiceClock, token: Token
) -> HTMLResponse:
    """Allow questions to the address again. A second time changes nothing."""
    mailbox, now = signatures.mailbox_of(signatures.service_key(settings), token), clock.wall()
    with database.transaction() as session:
        if deliveries.allow_questions(session, mailbox):
            audit.record(session, _recipient(request), "questions allowed", mailbox, now)
    return _private(render(request, "mail-questions.html", Questions(False, token)))


@router.get("/{purpose}/{token}", response_class=HTMLResponse)
def read_mail_link(
    request: Request, session: Reading, settings: ServiceSettings, purpose: Purpose, token: Token
) -> HTMLResponse:
    """Show what the button does. Nothing is changed."""
    key = signatures.service_key(settings)
    subscription = signatures.subscription_of(session, key, purpose, token)
    return _page(request, session, key, purpose, subscription)


@router.post("/{purpose}/{token}", response_class=HTMLResponse)
def follow_mail_link(
    request: Request,
    database: OpenDatabase,
    settings: ServiceSettings,
    clock: ServiceClock,
    purpose: Purpose,
    token: Token,
) -> HTMLResponse:
    """Confirm or unsubscribe. A second time changes nothing."""
    key, now = signatures.service_key(settings), clock.wall()
    with database.transaction() as session:
        before = signatures.subscription_of(session, key, purpose, token)
        if purpose == "confirm":
            changed = subscriptions.confirm(session, before.id, now).confirmed_at != before.confirmed_at
        else:
            changed = subscriptions.unsubscribe(session, before.id, now)
        if changed:
            action: audit.Action = "subscription confirmed" if purpose == "confirm" else "recipient unsubscribed"
            audit.record(session, _recipient(request), action, before.id, now)
        return _page(request, session, key, purpose, subscriptions.get(session, before.id))


def _recipient(request: Request) -> Actor:
    return Actor("recipient of e-mail", address=address_of(request.scope) or None)


def _page(request: Request, session: Session, key: bytes, purpose: Purpose, subscription: Subscription) -> HTMLResponse:
    unsubscribed = subscription.paused_because == UNSUBSCRIBED
    done = unsubscribed if purpose == "unsubscribe" else subscription.confirmed_at is not None and not unsubscribed
    assert subscription.email is not None
    path = (
        signatures.questions_link("", key, deliveries.mailbox_hash(session, subscription.email))
        if unsubscribed
        else None
    )
    return _private(render(request, "mail.html", MailLink(purpose, done, subscription, path)))


def _private(answer: HTMLResponse) -> HTMLResponse:
    answer.headers["Cache-Control"] = "no-store"
    return answer
