"""/alerts: a row for each river with an alert, the history of changes, and alerts by e-mail without a key."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import ValidationError
from sqlalchemy.orm import Session

from app.alerts.subscriptions import feed_address, require_receiver
from app.basins.queries import InRegion
from app.http.dependencies import Reading, SeenDatabase, ServiceClock, ServiceSettings
from app.http.limits.addresses import address_of, counted_as
from app.http.limits.rate_limits import LimitStatus, too_many
from app.pages.render import PageRoute, render
from hydrology.alerts import SEVERITIES, rank
from hydrology.base.errors import InvalidInput
from hydrology.uncertainty.exceedance import Direction
from jobspec.subscriptions import NewSubscription
from records.access import audit
from records.access.audit import Actor
from records.alerts import alert_changes, alerts, subscriptions
from records.alerts.alert_changes import Change
from records.alerts.deliveries import TooManyQuestions
from records.alerts.subscriptions import CONFIRM_WITHIN, PUBLIC
from records.basins import basins
from records.outlooks import reader
from records.runs import runs

PAGE = 50
"""Number of rivers on a page, and of changes."""
DIGEST = "07:00"
"""When the message of a day is sent, UTC."""

router = APIRouter(route_class=PageRoute)
Heads = Mapping[tuple[str, str, Direction], Change]


PageNumber = Annotated[int, Query(description="Page of the rivers.", ge=1, le=10_000)]
Before = Annotated[int | None, Query(description="Show changes before this one.", ge=1)]
ForBasin = Annotated[str, Query(description="The river that the form for e-mail names.", max_length=100)]


@router.get("/alerts", response_class=HTMLResponse)
def read_alerts(
    request: Request,
    session: Reading,
    clock: ServiceClock,
    settings: ServiceSettings,
    region: InRegion,
    page: PageNumber = 1,
    before: Before = None,
    basin: ForBasin = "",
) -> HTMLResponse:
    """Show the alert of every river, or those of a region, and what has changed."""
    count = alerts.count_rivers(session, region)
    on_page = alerts.most_urgent(session, PAGE, (page - 1) * PAGE, region)
    shown = sorted(alerts.rivers(session, only=on_page), key=lambda one: on_page.index((one.basin_id, one.direction)))
    changes = alert_changes.page(session, region=region, before=before, limit=PAGE + 1, in_feeds=True)
    names = basins.titles(session, [*(one.basin_id for one in shown), *(one.basin_id for one in changes)])
    deciders = runs.get_many(session, {alert.run_id for alert in shown})
    heads = alert_changes.heads_of_runs(session, list(deciders), [one.basin_id for one in shown])
    return render(
        request,
        "alerts/alerts.html",
        alerts=[(alert, deciders[alert.run_id], _since_before(session, alert, heads)) for alert in shown],
        outlooks=reader.outlooks(session, list(dict.fromkeys(alert.basin_id for alert in shown)), clock.now()),
        count=count,
        number=page,
        pages=-(-count // PAGE),
        changes=changes[:PAGE],
        turn=alert_changes.turn,
        older=changes[PAGE - 1].seq if len(changes) > PAGE else None,
        before=before,
        names=names,
        region=region,
        feed=feed_address(None, region, SEVERITIES[0]),
        form={"basins": basin, "region": region} if settings.sends_mail else None,
        severities=SEVERITIES,
        digest=DIGEST,
    )


def _since_before(session: Session, alert: alerts.RiverAlert, heads: Heads) -> str:
    """Return how the alert stands against the issue before: new, up, down, or how its chance has moved."""
    before, change = alert.severity, heads.get((alert.run_id, alert.basin_id, alert.direction))
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
    return {name: values[-1].strip() for name, values in parse_qs(body, max_num_fields=20).items()}


async def _counted(request: Request) -> None:
    standing: LimitStatus = await request.app.state.rates.count("sign-ups", counted_as(address_of(request.scope)))
    if not standing.allowed:
        raise too_many(standing)


@router.post("/alerts", response_class=HTMLResponse, dependencies=[Depends(_counted)])
def subscribe(
    request: Request,
    database: SeenDatabase,
    clock: ServiceClock,
    settings: ServiceSettings,
    typed: Annotated[Mapping[str, str], Depends(_typed)],
) -> HTMLResponse:
    """Ask an address whether it wants alerts. The answer does not reveal whether it may be asked."""
    faults: dict[str, str] = {}
    new = _subscription(typed, faults)
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
            faults["email"] = "The service asks no more addresses today. Try again tomorrow."
        except InvalidInput as error:
            faults["basins"] = f"{error} Or leave it empty for all rivers."
    return render(
        request, "alerts/subscribe.html", status=422, form=typed, faults=faults, severities=SEVERITIES, digest=DIGEST
    )


def _subscription(typed: Mapping[str, str], faults: dict[str, str]) -> NewSubscription | None:
    """Return the subscription that a form asks for; None, with the faults by field, where it is not one."""
    values: dict[str, Any] = {name: typed.get(name, "") for name in ("email", "least_severity")}
    values["region"] = typed.get("region") or None
    if typed.get("basins"):
        values["basins"] = [name.strip() for name in typed["basins"].split(",") if name.strip()]
    if typed.get("digest") == "daily":
        values["digest"] = {"at": DIGEST}
    if not values["email"]:
        faults["email"] = "Give the address that alerts go to, such as duty@rivers.example."
        return None
    try:
        return NewSubscription(**values)
    except ValidationError as error:
        for fault in error.errors():
            name = str(fault["loc"][0]) if fault["loc"] else "email"
            faults[name] = f"“{typed.get(name, '')}”: {fault['msg'].rstrip('.')}."
        return None
