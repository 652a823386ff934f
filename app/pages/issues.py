"""/issues: a calendar of the last days' forecasts, and the basins that a day's issue lacks."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from app.forecasts.issues import detail, first_day, summaries
from app.http.dependencies import Reading, ServiceClock
from app.pages.operating import as_last_issued
from app.pages.render import PageRoute, render
from hydrology.base.calendar import Period, as_date
from hydrology.base.calendar import day as read_day
from jobspec.fields import DayField
from records.basins import basins
from records.forecasts import issues

router = APIRouter(route_class=PageRoute)

ChosenDay = Annotated[DayField | None, Query(description="The issue to show; by default the newest.")]


@router.get("/issues", response_class=HTMLResponse)
def read_issues(request: Request, session: Reading, clock: ServiceClock, day: ChosenDay = None) -> HTMLResponse:
    """Show which basins each of the last days renewed, and which basins one of them lacks."""
    first, current = first_day(clock), issues.newest(session, clock.now())
    listed = summaries(session, issues.page(session, first=first))
    chosen = day if day is not None or not listed else read_day(listed[0].day)
    shown = None if chosen is None else detail(session, chosen)
    by_day = {one.day: one for one in listed}
    return render(
        request,
        "work/issues.html",
        days=[(one, by_day.get(one)) for one in map(as_date, Period(first, clock.today()).days)],
        issue=shown,
        is_current=current is not None and chosen == current.day,
        names=basins.titles(session, [one.basin_id for one in shown.without_forecast] if shown else []),
        **as_last_issued(session, clock),
    )
