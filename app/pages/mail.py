"""/mail: the pages behind the links of e-mail. /problems/KIND: those behind the `type` of an error."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import JSONResponse, Response

from app.http.dependencies import Reading, SeenDatabase, ServiceClock, ServiceSettings
from app.http.limits.addresses import address_of
from app.http.problems import meaning_of, title_of
from app.pages.render import PageRoute, page_units, render
from hydrology.base.errors import NotFound, Problem
from records.access import audit
from records.access.audit import Actor
from records.alerts import deliveries, signatures, subscriptions
from records.alerts.signatures import Purpose
from records.alerts.subscriptions import UNSUBSCRIBED, Subscription

router = APIRouter(prefix="/mail", include_in_schema=False, route_class=PageRoute)

Token = Annotated[str, Path(pattern=signatures.FORM)]


@router.get("/questions/{token}", response_class=HTMLResponse)
def read_questions(request: Request, session: Reading, settings: ServiceSettings, token: Token) -> HTMLResponse:
    """Show whether the address takes questions, and the button that changes it. Nothing is changed."""
    mailbox = signatures.mailbox_of(signatures.service_key(settings), token)
    return _questions(request, token, refused=deliveries.refuses_questions(session, mailbox))


@router.post("/questions/{token}", response_class=HTMLResponse)
def refuse_questions(
    request: Request, database: SeenDatabase, settings: ServiceSettings, clock: ServiceClock, token: Token
) -> HTMLResponse:
    """Refuse all questions to the address. A second time changes nothing."""
    mailbox, now = signatures.mailbox_of(signatures.service_key(settings), token), clock.wall()
    with database.transaction() as session:
        if deliveries.refuse_questions(session, mailbox, now):
            audit.record(session, _recipient(request), "questions refused", mailbox, now)
    return _questions(request, token, refused=True)


@router.post("/questions/{token}/allow", response_class=HTMLResponse)
def allow_questions(
    request: Request, database: SeenDatabase, settings: ServiceSettings, clock: ServiceClock, token: Token
) -> HTMLResponse:
    """Allow questions to the address again. A second time changes nothing."""
    mailbox, now = signatures.mailbox_of(signatures.service_key(settings), token), clock.wall()
    with database.transaction() as session:
        if deliveries.allow_questions(session, mailbox):
            audit.record(session, _recipient(request), "questions allowed", mailbox, now)
    return _questions(request, token, refused=False)


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
    database: SeenDatabase,
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


def _questions(request: Request, token: str, *, refused: bool) -> HTMLResponse:
    """Return the page on questions to an address, and whether it wants none."""
    return _private(render(request, "mail-questions.html", token=token, refused=refused))


def _recipient(request: Request) -> Actor:
    return Actor("recipient of e-mail", address=address_of(request.scope) or None)


def _page(request: Request, session: Session, key: bytes, purpose: Purpose, subscription: Subscription) -> HTMLResponse:
    unsubscribed = subscription.paused_because == UNSUBSCRIBED
    done = unsubscribed if purpose == "unsubscribe" else subscription.confirmed_at is not None and not unsubscribed
    assert subscription.email is not None
    again = None  # the path to the page by which the recipient allows questions again
    if unsubscribed:
        again = signatures.questions_link("", key, deliveries.mailbox_hash(session, subscription.email))
    return _private(
        render(request, "mail.html", purpose=purpose, done=done, subscription=subscription, questions=again)
    )


def _private(answer: HTMLResponse) -> HTMLResponse:
    answer.headers["Cache-Control"] = "no-store"
    return answer


problems_router = APIRouter(prefix="/problems", include_in_schema=False, dependencies=[Depends(page_units)])


class UnknownProblem(NotFound):
    """There is no kind of problem with that name."""


@problems_router.get("/{kind}")
def read_problem(request: Request, kind: str, accept: Annotated[str, Header()] = "*/*") -> Response:
    """Return the meaning and remedy of a kind of problem, as a page or JSON."""
    of_kind = next((problem for problem in _all(Problem) if problem.kind == kind), None)
    if of_kind is None:
        raise UnknownProblem(f"No kind of problem is called {kind[:64]!r}: take the `type` of an error as it is.")
    contents = {
        "type": f"/problems/{kind}",
        "title": title_of(kind),
        "status": of_kind.status,  # of the answer
        "meaning": meaning_of(of_kind),
        "mending": of_kind.remedy,
    }
    if "application/json" in accept and "text/html" not in accept:
        return JSONResponse(contents)
    return render(request, "errors/problem.html", SimpleNamespace(**contents))


def _all(above: type[Problem]) -> Iterator[type[Problem]]:
    yield above
    for problem in above.__subclasses__():
        yield from _all(problem)
