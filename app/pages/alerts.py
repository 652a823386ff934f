"""/alerts: current alerts. /deliveries: receivers and deliveries."""

from dataclasses import dataclass
from datetime import date, datetime

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.alerts.alerts import RiverAlert, answers_of
from app.alerts.deliveries import Delivery, summaries, visible_subscriptions
from app.alerts.subscriptions import Subscription, feed_address, of_key, subscription_of
from app.http.api_keys import AnyKey
from app.http.dependencies import Reading, ServiceClock
from app.pages.errors import PageRoute
from app.pages.forms import FormField, form_of
from app.pages.render import render
from hydrology.base.calendar import as_date
from hydrology.base.staleness import age_days, stale
from hydrology.extremes.alerting import SEVERITIES, rank
from jobspec.subscriptions import NewSubscription
from records.alerts import alerts, deliveries
from records.basins import basins
from records.basins.station_names import shown_name
from records.runs import runs

router = APIRouter(route_class=PageRoute)

MAX_DELIVERIES = 100


@dataclass(frozen=True, slots=True)
class Decider:
    """The run that decided an alert."""

    t0: date
    stale: bool


@dataclass(frozen=True, slots=True)
class Alerts:
    """Contents of the page of alerts, most severe first; names of basins, and runs, by their identifiers; the feed."""

    alerts: list[RiverAlert]
    names: dict[str, str]
    runs: dict[str, Decider]
    feed: str | None


@dataclass(frozen=True, slots=True)
class Deliveries:
    """Contents of the page of deliveries."""

    subscriptions: list[Subscription]
    deliveries: list[Delivery]
    form: list[FormField]


@router.get("/alerts", response_class=HTMLResponse)
def read_alerts(request: Request, session: Reading, clock: ServiceClock) -> HTMLResponse:
    """Show the alert of every river."""
    active = sorted(alerts.rivers(session), key=lambda alert: (-rank(alert.severity), -alert.chance))
    names = {basin.id: shown_name(basin.id, basin.name) for basin in basins.list_basins(session)}
    deciders = {run: _decider(session, run, clock.now()) for run in {alert.run_id for alert in active}}
    answers = answers_of(session, active, clock.today())
    return render(request, "alerts.html", Alerts(answers, names, deciders, feed_address(None, SEVERITIES[0])))


def _decider(session: Session, run: str, now: datetime) -> Decider:
    stored = runs.get(session, run)
    return Decider(as_date(stored.t0), stale(age_days(stored.weather_until, now)))


@router.get("/deliveries", response_class=HTMLResponse)
def read_deliveries(request: Request, session: Reading, key: AnyKey, clock: ServiceClock) -> HTMLResponse:
    """Show receivers of alerts, and deliveries to them."""
    shown = of_key(session, key)
    visible = visible_subscriptions(session, key, None)
    newest = deliveries.page(session, subscriptions=visible, with_questions=key.is_admin, limit=MAX_DELIVERIES)
    subscriptions = [subscription_of(subscription, clock.wall()) for subscription in shown]
    return render(
        request,
        "work/deliveries.html",
        Deliveries(subscriptions, summaries(session, newest), form_of(NewSubscription)),
    )
