"""Pages of operation: alerts, deliveries, jobs, schedules, feeds and the status of the service."""

import json
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from app.alerts.alerts import answers_of
from app.alerts.changes import summaries, visible_subscriptions
from app.alerts.subscriptions import feed_address, of_key, subscription_of
from app.feeds import feed_detail
from app.http.api_keys import AnyKey
from app.http.dependencies import OpenDatabase, Reading, ServiceClock, ServiceSettings
from app.jobs.posting import StoredJob, job_answer
from app.jobs.schedules import schedule_of
from app.pages.render import PageRoute, form_of, render
from app.service import status as status_service
from hydrology.alerts import SEVERITIES, rank
from hydrology.base.calendar import age_days, as_date, stale
from jobspec.feed_kinds import FEED_KINDS
from jobspec.kinds import REQUESTABLE
from jobspec.subscriptions import NewSubscription
from records.alerts import alerts, deliveries
from records.basins import basins
from records.basins.ownership import shown_name
from records.feeds import feeds
from records.jobs import jobs, schedules
from records.jobs.jobs import ENDED
from records.runs import runs

router = APIRouter(route_class=PageRoute)

MAX_DELIVERIES = 100


@router.get("/alerts", response_class=HTMLResponse)
def read_alerts(request: Request, session: Reading, clock: ServiceClock) -> HTMLResponse:
    """Show the alert of every river."""
    active = sorted(alerts.rivers(session), key=lambda alert: (-rank(alert.severity), -alert.chance))
    names = {basin.id: shown_name(basin.id, basin.name) for basin in basins.list_basins(session)}
    deciders = {
        run.id: {"t0": as_date(run.t0), "stale": stale(age_days(run.weather_until, clock.now()))}
        for run in (runs.get(session, name) for name in {alert.run_id for alert in active})
    }
    answers = answers_of(session, active, clock.today())
    feed = feed_address(None, SEVERITIES[0])
    return render(request, "alerts.html", alerts=answers, names=names, runs=deciders, feed=feed)


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
        subscriptions=subscriptions,
        deliveries=summaries(session, newest),
        form=form_of(NewSubscription),
    )


MAX_LISTED = 100
USUAL_KIND = "forecast"
SCHEDULED_JOB = {"kind": "forecast", "params": {"horizon": 10}}
"""The job that the form of a new schedule begins with."""
Kind = Annotated[str, Query(description="The kind of job that the form is for.", max_length=64)]


@router.get("/jobs", response_class=HTMLResponse)
def read_jobs(request: Request, session: Reading, key: AnyKey, kind: Kind = USUAL_KIND) -> HTMLResponse:
    listed = [job_answer(job, key) for job in jobs.list_jobs(session, limit=MAX_LISTED)]
    chosen = kind if kind in REQUESTABLE else USUAL_KIND
    form = form_of(REQUESTABLE[chosen].model_fields["params"].annotation)  # type: ignore[arg-type]
    kinds = {name: (model.__doc__ or "").strip().splitlines()[0] for name, model in REQUESTABLE.items()}
    return render(request, "work/jobs.html", jobs=listed, kinds=kinds, kind=chosen, form=form)


@router.get("/jobs/{job}", response_class=HTMLResponse)
def read_job(request: Request, session: Reading, key: AnyKey, job: StoredJob) -> HTMLResponse:
    answer = job_answer(job, key)
    return render(
        request,
        "work/job.html",
        job=answer,
        children=[job_answer(child, key) for child in jobs.children(session, job.id)],
        ended=answer.status in ENDED,
        params=json.dumps(answer.params, indent=2),
        result=json.dumps(answer.result, indent=2),
    )


@router.get("/schedules", response_class=HTMLResponse)
def read_schedules(request: Request, session: Reading, key: AnyKey) -> HTMLResponse:
    listed = [schedule_of(schedule, key) for schedule in schedules.list_schedules(session)]
    return render(request, "work/schedules.html", schedules=listed, example=json.dumps(SCHEDULED_JOB))


SETTINGS = {"adapter": next(iter(FEED_KINDS)), "basins": ["USGS-01013500", "USGS-13235000"]}
"""Settings that the form of a new feed begins with."""


@router.get("/feeds", response_class=HTMLResponse)
def read_feeds(request: Request, session: Reading, key: AnyKey) -> HTMLResponse:
    listed = [feed_detail(session, feed, key) for feed in feeds.list_feeds(session)]
    return render(request, "work/feeds.html", feeds=listed, adapters=list(FEED_KINDS), example=json.dumps(SETTINGS))


@router.get("/status", response_class=HTMLResponse)
def read_status(
    request: Request, session: Reading, database: OpenDatabase, clock: ServiceClock, settings: ServiceSettings
) -> HTMLResponse:
    return render(request, "status.html", status_service.status(session, clock, settings, database.check().revision))
