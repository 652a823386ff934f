"""Pages of operation: deliveries, jobs, schedules, feeds, status, and what people decide."""

import json
from math import ceil
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.adjustments.adjustments import AdjustmentId, adjusted_forecast, adjustment_for
from app.adjustments.held import held_answer
from app.alerts.changes import summaries, visible_subscriptions
from app.alerts.subscriptions import of_key, subscription_of
from app.basins.thresholds import fixed_threshold
from app.feeds import feed_detail
from app.forecasts.discharge import usual_units
from app.forecasts.lookup import AskedRun
from app.forecasts.words import UNITS
from app.http.api_keys import AnyKey, ForecasterReader, any_key
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.jobs.posting import StoredJob, job_answer
from app.jobs.schedules import schedule_of
from app.pages.basin_figures import figures_of
from app.pages.figures import Figure
from app.pages.figures.flow import two_forecasts
from app.pages.forms import form_of
from app.pages.render import ChosenUnits, PageRoute, render
from app.service import status as status_service
from hydrology.base.calendar import age_days, stale
from hydrology.base.units import Units
from jobspec.changes import HeldRuling, NewAdjustment, Publication
from jobspec.feed_kinds import NewFeed
from jobspec.kinds import REQUESTABLE
from jobspec.levels import FixedLevel, LevelUnit
from jobspec.subscriptions import NewSubscription
from records.alerts import deliveries, held_alerts
from records.basins import basins, ownership, ratings
from records.basins.ownership import shown_name
from records.feeds import feeds
from records.forecasts import adjustments
from records.forecasts.adjustments import NotAdjusted
from records.forecasts.latest import last_past_days
from records.jobs import jobs, schedules
from records.jobs.jobs import ENDED
from records.levels import basin_levels, categories_and_doubts
from records.runs import runs
from records.runs.tables import Adjustment
from records.versions import promotions
from runtime.clock import Clock

router = APIRouter(route_class=PageRoute)

MAX_LISTED = 100


@router.get("/deliveries", response_class=HTMLResponse)
def read_deliveries(request: Request, session: Reading, key: AnyKey, clock: ServiceClock) -> HTMLResponse:
    """Show receivers of alerts, and deliveries to them."""
    visible = visible_subscriptions(session, key, None)
    newest = deliveries.page(session, subscriptions=visible, with_questions=key.is_admin, limit=MAX_LISTED)
    return render(
        request,
        "work/deliveries.html",
        subscriptions=[subscription_of(one, clock.wall()) for one in of_key(session, key)],
        deliveries=summaries(session, newest),
        form=form_of(NewSubscription),
    )


MAX_DRAWN = 20
"""Hydrographs on the page of what waits."""
USUAL_KIND = "forecast"
Kind = Annotated[str, Query(description="The kind of job that the form is for.", max_length=64)]


@router.get("/jobs", response_class=HTMLResponse)
def read_jobs(
    request: Request, session: Reading, clock: ServiceClock, key: AnyKey, kind: Kind = USUAL_KIND
) -> HTMLResponse:
    listed = [job_answer(job, key) for job in jobs.list_jobs(session, limit=MAX_LISTED)]
    now = clock.now()
    in_use = {basin for of_version in promotions.in_use(session).values() for basin in of_version}
    served, days = sorted(ownership.official(session, sorted(in_use))), last_past_days(session, now)
    missing = [basin for basin in served if basin not in days or stale(age_days(days[basin], now))]
    return render(
        request,
        "work/jobs.html",
        jobs=listed,
        **_form_of_kind(kind),
        served=len(served),
        missing=missing,
        **as_last_issued(session, clock),
    )


def _form_of_kind(kind: str) -> dict[str, Any]:
    """Return the form of a kind of job, and what the kinds do."""
    chosen = kind if kind in REQUESTABLE else USUAL_KIND
    kinds = {name: (model.__doc__ or "").strip().splitlines()[0] for name, model in REQUESTABLE.items()}
    form = form_of(REQUESTABLE[chosen].model_fields["params"].annotation)  # type: ignore[arg-type]
    return {"kinds": kinds, "kind": chosen, "form": form}


def as_last_issued(session: Session, clock: Clock) -> dict[str, Any]:
    """Return the weather and the horizon of the newest forecast, to run missing ones like it."""
    newest = runs.list_runs(session, purpose="operational", available_by=clock.now(), limit=1)
    weather, horizon = (newest[0].forcing_kind, newest[0].horizon_days) if newest else ("climatology", 10)
    return {"weather": weather, "horizon": horizon}


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
def read_schedules(request: Request, session: Reading, key: AnyKey, kind: Kind = USUAL_KIND) -> HTMLResponse:
    listed = [schedule_of(schedule, key) for schedule in schedules.list_schedules(session)]
    return render(request, "work/schedules.html", schedules=listed, **_form_of_kind(kind))


@router.get("/feeds", response_class=HTMLResponse)
def read_feeds(request: Request, session: Reading, key: AnyKey) -> HTMLResponse:
    listed = [feed_detail(session, feed, key) for feed in feeds.list_feeds(session)]
    return render(request, "work/feeds.html", feeds=listed, form=form_of(NewFeed))


@router.get("/status", response_class=HTMLResponse)
def read_status(
    request: Request, status: Annotated[status_service.Status, Depends(status_service.read_status)]
) -> HTMLResponse:
    return render(request, "status.html", status)


_CHANGES = NewAdjustment.model_fields
Factor = Annotated[float, Query(description=_CHANGES["factor"].description), *_CHANGES["factor"].metadata]
ShiftDays = Annotated[int, Query(description=_CHANGES["shift_days"].description), *_CHANGES["shift_days"].metadata]


@router.get("/basins/{basin}/adjust", response_class=HTMLResponse)
def read_new_adjustment(
    request: Request,
    session: Reading,
    clock: ServiceClock,
    asked: AskedRun,
    units: ChosenUnits,
    factor: Factor = 1.0,
    shift_days: ShiftDays = 0,
) -> HTMLResponse:
    """Show what an adjustment of the latest forecast, or of a given run, would change, and the form that drafts it."""
    run, basin = asked[0].run, asked[0].basin.basin_id
    preview = Adjustment(
        id="preview",
        run_id=run.id,
        basin_id=basin,
        factor=factor,
        shift_days=shift_days,
        chances={},
        words="",
        author="",
        key_id="",
        created_at=clock.now(),
    )
    call = f"/v1/runs/{run.id}/basins/{basin}"
    return _adjusted(request, session, preview, units, call, template="adjust.html", issued_at=run.issued_at)


@router.get("/adjustments/{adjustment}", response_class=HTMLResponse)
def read_adjustment_page(
    request: Request, session: Reading, key: ForecasterReader, adjustment: AdjustmentId, units: ChosenUnits
) -> HTMLResponse:
    """Show an adjustment to forecasters, with the means to publish it."""
    return _adjusted(request, session, adjustment_for(session, key, adjustment), units)


@router.get("/basins/{basin}/adjusted", response_class=HTMLResponse)
def read_adjusted_page(request: Request, session: Reading, asked: AskedRun, units: ChosenUnits) -> HTMLResponse:
    """Show the published adjustment of the latest forecast, or of a given run."""
    run, basin = asked[0].run.id, asked[0].basin.basin_id
    published = adjustments.published(session, run, basin)
    if published is None:
        raise NotAdjusted(f"Nobody has published an adjustment of run {run} for {basin}.")
    return _adjusted(request, session, published, units)


@router.get("/held", response_class=HTMLResponse)
def read_held(
    request: Request, session: Reading, clock: ServiceClock, key: ForecasterReader, units: ChosenUnits
) -> HTMLResponse:
    """Show the changes of alerts that wait for approval, with the forecasts that propose them, and ratings."""
    now, wall = clock.now(), clock.wall()
    held = [held_answer(session, one, clock.today()) for one in held_alerts.page(session, region=key.region)]
    return render(
        request,
        "work/held.html",
        held=held,
        ratings=ratings.waiting(session, key.region),
        names=basins.titles(session, [one.basin for one in held]),
        note_help=HeldRuling.model_fields["note"].description,
        minutes={one.basin: ceil((one.due_at - wall).total_seconds() / 60) for one in held if one.due_at is not None},
        figures={one.basin: figures_of(session, one.basin, one.run, now, units).alone() for one in held[:MAX_DRAWN]},
    )


@router.get("/basins/{basin}/levels", response_class=HTMLResponse, dependencies=[Depends(any_key)])
def read_levels(
    request: Request, session: Reading, clock: ServiceClock, basin: BasinId, units: ChosenUnits
) -> HTMLResponse:
    """Show the levels that were set, and the form to set one, which begins in the reader's unit of flow."""
    rating = ratings.newest(session, basin, clock.today())
    doubts = categories_and_doubts.in_doubt(session, basin, clock.today())
    levels = [fixed_threshold(level, rating, doubts) for level in basin_levels.of_basin(session, basin)]
    stored = basins.get(session, basin)
    title, area = shown_name(basin, stored.name), promotions.areas_in_use(session, [stored])[basin]
    form = form_of(FixedLevel, unit=units if units in get_args(LevelUnit) else "m3/s")
    return render(request, "levels.html", basin=basin, title=title, levels=levels, area=area, form=form)


def _adjusted(
    request: Request,
    session: Session,
    stored: Adjustment,
    chosen: Units,
    call: str | None = None,
    *,
    template: str = "adjusted.html",
    **contents: Any,
) -> HTMLResponse:
    """Show a forecast as issued and as adjusted: medians and 5 to 95 % ranges."""
    basin = runs.basin_of(session, stored.run_id, stored.basin_id)
    units = usual_units(basin, chosen)
    shown = adjusted_forecast(session, stored, units)
    published = shown.state == "published"
    of_state = f"/v1/runs/{shown.run}/basins/{shown.basin}/adjusted" if published else f"/v1/adjustments/{shown.id}"
    figure = Figure(
        name=f"{shown.basin}-adjusted",
        title="Discharge as issued and as adjusted",
        unit=UNITS[units],
        note="Medians, and the range that nine in ten flows are expected in.",
        call=call or of_state,
        downloads=published,
        time=list(shown.time),
    )
    sides = ("as issued", shown.issued), ("as adjusted", shown.adjusted)
    return render(
        request,
        template,
        title=basins.title(session, shown.basin),
        shown=shown,
        area=basin.area,
        figure=two_forecasts(figure, *sides, "median", ("before", "dashed")),
        note_help=Publication.model_fields["note"].description,
        **contents,
    )
