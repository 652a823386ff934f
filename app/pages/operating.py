"""Pages of operation: deliveries, jobs, schedules, feeds, status, and what people decide."""

import json
from math import ceil
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse

from app.adjustments.adjustments import AdjustedForecast, AdjustmentId, adjusted_forecast
from app.adjustments.held import held_answer
from app.alerts.changes import summaries, visible_subscriptions
from app.alerts.subscriptions import of_key, subscription_of
from app.basins.run_levels import rating_of
from app.basins.thresholds import fixed_threshold
from app.feeds import feed_detail
from app.forecasts import lookup
from app.forecasts.discharge import usual_units
from app.forecasts.words import UNITS, number, on
from app.http.api_keys import AnyKey, ForecasterReader, any_key
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.jobs.posting import StoredJob, job_answer
from app.jobs.schedules import schedule_of
from app.pages.figures import Band, Curve, Figure
from app.pages.render import ChosenUnits, PageRoute, form_of, render
from app.pages.side_by_side import hydrograph_of
from app.service import status as status_service
from hydrology.base.calendar import age_days, stale
from hydrology.base.units import Units
from jobspec.changes import HeldRuling, NewAdjustment, Publication
from jobspec.feed_kinds import FEED_KINDS
from jobspec.kinds import REQUESTABLE
from jobspec.levels import FixedLevel
from jobspec.subscriptions import NewSubscription
from records.alerts import deliveries, held_alerts
from records.basins import basins, ownership
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

router = APIRouter(route_class=PageRoute)

MAX_DELIVERIES = 100


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


MAX_DRAWN = 20
"""Hydrographs on the page of what waits."""
MAX_LISTED = 100
USUAL_KIND = "forecast"
SCHEDULED_JOB = {"kind": "forecast", "params": {"horizon": 10}}
"""The job that the form of a new schedule begins with."""
Kind = Annotated[str, Query(description="The kind of job that the form is for.", max_length=64)]


@router.get("/jobs", response_class=HTMLResponse)
def read_jobs(
    request: Request, session: Reading, clock: ServiceClock, key: AnyKey, kind: Kind = USUAL_KIND
) -> HTMLResponse:
    listed = [job_answer(job, key) for job in jobs.list_jobs(session, limit=MAX_LISTED)]
    chosen = kind if kind in REQUESTABLE else USUAL_KIND
    form = form_of(REQUESTABLE[chosen].model_fields["params"].annotation)  # type: ignore[arg-type]
    kinds = {name: (model.__doc__ or "").strip().splitlines()[0] for name, model in REQUESTABLE.items()}
    now = clock.now()
    in_use = {basin for of_version in promotions.in_use(session).values() for basin in of_version}
    served, days = sorted(ownership.official(session, sorted(in_use))), last_past_days(session, now)
    missing = [basin for basin in served if basin not in days or stale(age_days(days[basin], now))]
    newest = runs.list_runs(session, purpose="operational", available_by=now, limit=1)
    return render(
        request,
        "work/jobs.html",
        jobs=listed,
        kinds=kinds,
        kind=chosen,
        form=form,
        served=len(served),
        missing=missing,
        weather=newest[0].forcing_kind if newest else "climatology",
        horizon=newest[0].horizon_days if newest else 10,
    )


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
    basin: BasinId,
    units: ChosenUnits,
    run: ChosenRun = None,
    factor: Factor = 1.0,
    shift_days: ShiftDays = 0,
) -> HTMLResponse:
    """Show what an adjustment of the latest forecast, or of a given run, would change, and the form that drafts it."""
    chosen, _ = lookup.chosen(session, run, basin, clock.now())
    preview = Adjustment(
        id="preview",
        run_id=chosen.run.id,
        basin_id=basin,
        factor=factor,
        shift_days=shift_days,
        chances={},
        words="",
        author="",
        key_id="",
        created_at=clock.now(),
    )
    shown = adjusted_forecast(session, preview, usual_units(chosen.basin, units))
    return render(
        request,
        "adjust.html",
        shown=shown,
        title=shown_name(basin, basins.get(session, basin).name),
        figure=beside_issued(shown).but(call=f"/v1/runs/{shown.run}/basins/{basin}"),
        area=chosen.basin.area,
        issued_at=chosen.run.issued_at,
    )


@router.get("/adjustments/{adjustment}", response_class=HTMLResponse)
def read_adjustment_page(
    request: Request, session: Reading, _key: ForecasterReader, adjustment: AdjustmentId, units: ChosenUnits
) -> HTMLResponse:
    """Show an adjustment to forecasters, with the means to publish it."""
    return _adjusted(request, session, adjustments.get(session, adjustment), units, public=False)


@router.get("/basins/{basin}/adjusted", response_class=HTMLResponse)
def read_adjusted_page(
    request: Request, session: Reading, clock: ServiceClock, basin: BasinId, units: ChosenUnits, run: ChosenRun = None
) -> HTMLResponse:
    """Show the published adjustment of the latest forecast, or of a given run."""
    chosen, _ = lookup.chosen(session, run, basin, clock.now())
    published = adjustments.published(session, chosen.run.id, basin)
    if published is None:
        raise NotAdjusted(f"Nobody has published an adjustment of run {chosen.run.id} for {basin}.")
    return _adjusted(request, session, published, units, public=True)


@router.get("/held", response_class=HTMLResponse)
def read_held(
    request: Request, session: Reading, clock: ServiceClock, _key: ForecasterReader, units: ChosenUnits
) -> HTMLResponse:
    """Show the changes of alerts that wait for approval, with the forecasts that propose them."""
    now, wall = clock.now(), clock.wall()
    held = [held_answer(session, one, clock.today()) for one in held_alerts.page(session)]
    sites = basins.sites(session, [one.basin for one in held])
    drawn = held[:MAX_DRAWN]
    return render(
        request,
        "work/held.html",
        held=held,
        names={basin: shown_name(basin, site.name) for basin, site in sites.items()},
        note_help=HeldRuling.model_fields["note"].description,
        minutes={one.basin: ceil((one.due_at - wall).total_seconds() / 60) for one in held if one.due_at is not None},
        figures={
            one.basin: hydrograph_of(session, lookup.chosen(session, one.run, one.basin, now)[0], units, now)
            for one in drawn
        },
    )


@router.get("/basins/{basin}/levels", response_class=HTMLResponse, dependencies=[Depends(any_key)])
def read_levels(request: Request, session: Reading, clock: ServiceClock, basin: BasinId) -> HTMLResponse:
    rating = rating_of(session, basin, clock.today())
    doubts = categories_and_doubts.in_doubt(session, basin, clock.today())
    levels = [fixed_threshold(level, rating, doubts) for level in basin_levels.of_basin(session, basin)]
    stored = basins.get(session, basin)
    title, area = shown_name(basin, stored.name), promotions.areas_in_use(session, [stored])[basin]
    return render(request, "levels.html", basin=basin, title=title, levels=levels, area=area, form=form_of(FixedLevel))


def _adjusted(request: Request, session: Reading, stored: Adjustment, units: Units, *, public: bool) -> HTMLResponse:
    basin = runs.basin_of(session, stored.run_id, stored.basin_id)
    shown = adjusted_forecast(session, stored, usual_units(basin, units))
    title = shown_name(shown.basin, basins.get(session, shown.basin).name)
    note_help = Publication.model_fields["note"].description
    return render(
        request,
        "adjusted.html",
        title=title,
        shown=shown,
        area=basin.area,
        figure=beside_issued(shown),
        public=public,
        note_help=note_help,
    )


def beside_issued(shown: AdjustedForecast) -> Figure:
    """Draw the median and the 5 to 95 % range as issued and as adjusted."""
    published = shown.state == "published"
    call = f"/v1/runs/{shown.run}/basins/{shown.basin}/adjusted" if published else f"/v1/adjustments/{shown.id}"
    issued, adjusted = shown.issued, shown.adjusted
    curves = [
        Curve(label="p05 as issued", values=list(issued["p05"]), colour="range", style="thin", listed=False),
        Curve(label="p95 as issued", values=list(issued["p95"]), colour="range", style="thin", listed=False),
        Curve(label="p05 as adjusted", values=adjusted["p05"], colour="band-90", style="thin", listed=False),
        Curve(label="p95 as adjusted", values=adjusted["p95"], colour="band-90", style="thin", listed=False),
        Curve(label="as issued", values=list(issued["median"]), colour="before", style="dashed"),
        Curve(label="as adjusted", values=adjusted["median"], colour="median"),
    ]
    return Figure(
        name=f"{shown.basin}-adjusted",
        title="Discharge as issued and as adjusted",
        unit=_unit(shown),
        described=_described(shown),
        note="Medians, and the range that nine in ten flows are expected in.",
        call=call,
        downloads=published,
        time=list(shown.time),
        curves=curves,
        bands=[Band(low=0, high=1, colour="range"), Band(low=2, high=3, colour="band-90")],
    )


def _unit(shown: AdjustedForecast) -> str:
    return next(title for unit, title in UNITS.items() if unit == shown.units["issued"])


def _described(shown: AdjustedForecast) -> str:
    issued = shown.issued["median"]
    known = {at: flow for at, flow in enumerate(shown.adjusted["median"]) if flow is not None}
    before, after = max(range(len(issued)), key=issued.__getitem__), max(known, key=known.__getitem__)
    return (
        f"Discharge day by day as issued and as adjusted. As issued it is highest on {on(shown.time[before])}, "
        f"{number(issued[before])} {_unit(shown)}; as adjusted on {on(shown.time[after])}, {number(known[after])} "
        f"{_unit(shown)}. The values stand in the table below."
    )
