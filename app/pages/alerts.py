"""/alerts: a row for each river with an alert, the history of changes, and alerts by e-mail without a key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import ValidationError
from sqlalchemy.orm import Session

from app.alerts.alerts import RiverAlert, answers_of
from app.alerts.subscriptions import feed_address, require_receiver
from app.http.dependencies import OfAllBasins, OpenDatabase, Reading, ServiceClock, ServiceSettings
from app.http.limits.addresses import address_of, counted_as
from app.http.limits.rate_limits import LimitStatus, too_many
from app.pages.render import PageRoute, render
from hydrology.alerts import SEVERITIES, Severity, rank
from hydrology.base.calendar import age_days, as_date, stale
from hydrology.base.errors import InvalidInput
from jobspec.subscriptions import NewSubscription
from records.access import audit
from records.access.audit import Actor
from records.alerts import alert_changes, alerts, subscriptions
from records.alerts.alert_changes import Change
from records.alerts.deliveries import TooManyQuestions
from records.alerts.subscriptions import CONFIRM_WITHIN, PUBLIC
from records.basins import basins
from records.basins.ownership import shown_name
from records.outlooks import reader
from records.outlooks.reader import Outlook
from records.runs import runs

PAGE = 50
"""Number of rivers on a page, and of changes."""
DIGEST = "07:00"
"""When the message of a day is sent, UTC."""

router = APIRouter(route_class=PageRoute)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRow:
    """The alert of a river, with its newest outlook."""

    alert: RiverAlert
    title: str
    outlook: Outlook
    since_before: str
    t0: date
    is_stale: bool


@dataclass(frozen=True, slots=True)
class MailForm:
    """What a visitor has typed into the form, and what is wrong with it, by field."""

    given: Mapping[str, str]
    faults: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        return self.given.get(name, "").strip()


PageNumber = Annotated[int, Query(description="Page of the rivers.", ge=1, le=10_000)]
Before = Annotated[int | None, Query(description="Show changes before this one.", ge=1)]
ForBasin = Annotated[str, Query(description="The river that the form for e-mail names.", max_length=100)]


@router.get("/alerts", response_class=HTMLResponse)
def read_alerts(
    request: Request,
    session: Reading,
    computed: OfAllBasins,
    clock: ServiceClock,
    settings: ServiceSettings,
    page: PageNumber = 1,
    before: Before = None,
    basin: ForBasin = "",
) -> HTMLResponse:
    """Show the alert of every river, and what has changed."""
    active: list[alerts.River] = computed.get(session, clock.now(), "alerts", lambda _: alerts.most_urgent(session))
    on_page = active[(page - 1) * PAGE : page * PAGE]
    of_river = {(one.basin_id, one.direction): one for one in alerts.rivers(session, only=on_page)}
    shown = [of_river[river] for river in on_page if river in of_river]
    changes = alert_changes.page(session, before=before, limit=PAGE + 1, in_feeds=True)
    sites = basins.sites(session, [*(one.basin_id for one in shown), *(one.basin_id for one in changes)])
    names = {name: shown_name(name, site.name) for name, site in sites.items()}
    return render(
        request,
        "alerts/alerts.html",
        rows=_rows(session, shown, names, clock),
        count=len(active),
        number=page,
        pages=-(-len(active) // PAGE),
        changes=changes[:PAGE],
        turn=alert_changes.turn,
        older=changes[PAGE - 1].seq if len(changes) > PAGE else None,
        before=before,
        names=names,
        as_date=as_date,
        feed=feed_address(None, SEVERITIES[0]),
        form=MailForm({"basins": basin}) if settings.sends_mail else None,
        severities=SEVERITIES,
        digest=DIGEST,
    )


def _rows(
    session: Session, shown: Sequence[alerts.RiverAlert], names: Mapping[str, str], clock: ServiceClock
) -> list[AlertRow]:
    deciders = runs.get_many(session, {alert.run_id for alert in shown})
    on_page = list(dict.fromkeys(alert.basin_id for alert in shown))
    heads = alert_changes.heads_of_runs(session, list(deciders), on_page)
    outlooks = reader.outlooks(session, on_page, clock.now())
    return [
        AlertRow(
            alert=answer,
            title=names[alert.basin_id],
            outlook=outlooks[alert.basin_id],
            since_before=_since_before(session, alert, heads.get((alert.run_id, alert.basin_id, alert.direction))),
            t0=as_date(deciders[alert.run_id].t0),
            is_stale=stale(age_days(deciders[alert.run_id].weather_until, clock.now())),
        )
        for alert, answer in zip(shown, answers_of(session, shown, clock.today()), strict=True)
    ]


def _since_before(session: Session, alert: alerts.RiverAlert, change: Change | None) -> str:
    """Return how the alert stands against the issue before: new, up, down, or how its chance has moved."""
    before: Severity | None = alert.severity
    if change is not None:
        earlier = alert_changes.earlier_of_alert(session, change)
        if not earlier:
            return "new"
        levels = earlier[-1].levels
        before = levels[0]["severity"] if levels else earlier[-1].severity
    if rank(alert.severity) != rank(before):
        return f"{'up' if rank(alert.severity) > rank(before) else 'down'} from {before}"
    return "as before" if alert.trend in (None, "steady") else f"as before, chance {alert.trend}"


async def _typed(request: Request) -> Mapping[str, str]:
    """Return the fields of a form that a browser sends."""
    body = (await request.body()).decode(errors="replace")
    return {name: values[-1] for name, values in parse_qs(body, max_num_fields=20).items()}


async def _counted(request: Request) -> None:
    standing: LimitStatus = await request.app.state.rates.count("sign-ups", counted_as(address_of(request.scope)))
    if not standing.allowed:
        raise too_many(standing)


@router.post("/alerts", response_class=HTMLResponse, dependencies=[Depends(_counted)])
def subscribe(
    request: Request,
    database: OpenDatabase,
    clock: ServiceClock,
    settings: ServiceSettings,
    typed: Annotated[Mapping[str, str], Depends(_typed)],
) -> HTMLResponse:
    """Ask an address whether it wants alerts. The answer does not reveal whether it may be asked."""
    form = MailForm(typed)
    new = _subscription(form)
    if new is not None:
        require_receiver(settings, new)
        now = clock.wall()
        try:
            with database.transaction() as session:
                stored = subscriptions.create(session, new, PUBLIC, now, settings)
                actor = Actor("visitor", address=address_of(request.scope) or None)
                audit.record(session, actor, "subscription created", stored.id, now)
            return render(request, "alerts/asked.html", email=new.email, days=CONFIRM_WITHIN.days)
        except TooManyQuestions:
            form.faults["email"] = "The service asks no more addresses today. Try again tomorrow."
        except InvalidInput as error:
            form.faults["basins"] = f"{error} Or leave it empty for all rivers."
    return render(request, "alerts/subscribe.html", status=422, form=form, severities=SEVERITIES, digest=DIGEST)


def _subscription(form: MailForm) -> NewSubscription | None:
    """Return the subscription that a form asks for; None, with the faults by field, where it is not one."""
    values: dict[str, Any] = {"email": form.text("email"), "least_severity": form.text("least_severity")}
    if form.text("basins"):
        values["basins"] = [name.strip() for name in form.text("basins").split(",") if name.strip()]
    if form.text("digest") == "daily":
        values["digest"] = {"at": DIGEST}
    if not values["email"]:
        form.faults["email"] = "Give the address that alerts go to, such as duty@rivers.example."
        return None
    try:
        return NewSubscription(**values)
    except ValidationError as error:
        for fault in error.errors():
            name = str(fault["loc"][0]) if fault["loc"] else "email"
            form.faults[name] = f"“{form.text(name)}”: {fault['msg'].rstrip('.')}."
        return None
