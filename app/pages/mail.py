"""/mail: the pages behind the links of e-mail. Programs that scan mail follow links, so only a button changes anything.

A POST by a mail program unsubscribes at once (RFC 8058). The token in the path stands for the recipient's consent: no
key is needed, and it does nothing else.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse

from app.http.dependencies import OpenDatabase, Reading, ServiceClock, ServiceSettings
from app.http.limits.addresses import address_of
from app.pages.errors import PageRoute
from app.pages.render import render
from records.access import audit
from records.access.audit import Actor
from records.alerts import mail_links, subscriptions, webhook_signature
from records.alerts.mail_links import Purpose
from records.alerts.subscriptions import UNSUBSCRIBED, Subscription

router = APIRouter(prefix="/mail", include_in_schema=False, route_class=PageRoute)

Token = Annotated[str, Path(pattern=mail_links.FORM)]


@dataclass(frozen=True, slots=True)
class MailLink:
    """Contents of the page; `done`: whether the recipient has chosen so already."""

    purpose: Purpose
    done: bool
    subscription: Subscription


@router.get("/{purpose}/{token}", response_class=HTMLResponse)
def read_mail_link(
    request: Request, session: Reading, settings: ServiceSettings, purpose: Purpose, token: Token
) -> HTMLResponse:
    """Show what the button does. Nothing is changed."""
    key = webhook_signature.service_key(settings)
    subscription = mail_links.subscription_of(session, key, purpose, token)
    return _page(request, purpose, subscription)


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
    key, now = webhook_signature.service_key(settings), clock.wall()
    actor = Actor("recipient of e-mail", address=address_of(request.scope) or None)
    with database.transaction() as session:
        before = mail_links.subscription_of(session, key, purpose, token)
        if purpose == "confirm":
            changed = subscriptions.confirm(session, before.id, now).confirmed_at != before.confirmed_at
        else:
            changed = subscriptions.unsubscribe(session, before.id, now)
        if changed:
            action: audit.Action = "subscription confirmed" if purpose == "confirm" else "recipient unsubscribed"
            audit.record(session, actor, action, before.id, now)
        after = subscriptions.get(session, before.id)
    return _page(request, purpose, after)


def _page(request: Request, purpose: Purpose, subscription: Subscription) -> HTMLResponse:
    unsubscribed = subscription.paused_because == UNSUBSCRIBED
    done = unsubscribed if purpose == "unsubscribe" else subscription.confirmed_at is not None and not unsubscribed
    answer = render(request, "mail.html", MailLink(purpose, done, subscription))
    answer.headers["Cache-Control"] = "no-store"
    return answer
