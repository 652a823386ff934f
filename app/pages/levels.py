"""/basins/{basin}/levels: levels set by operators."""

from dataclasses import dataclass

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from app.basins.ratings import rating_of
from app.basins.threshold_schemas import FixedThreshold
from app.basins.thresholds import fixed_threshold
from app.http.api_keys import any_key
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.pages.errors import PageRoute
from app.pages.forms import FormField, form_of
from app.pages.render import render
from jobspec.thresholds import FixedLevel
from records.basins import basins
from records.basins.station_names import shown_name
from records.levels import basin_levels, level_doubts

router = APIRouter(route_class=PageRoute)


@dataclass(frozen=True, slots=True)
class Levels:
    """Contents of the page; `form`: of a new level, except its name."""

    basin: str
    title: str
    levels: list[FixedThreshold]
    form: list[FormField]


@router.get("/basins/{basin}/levels", response_class=HTMLResponse, dependencies=[Depends(any_key)])
def read_levels(request: Request, session: Reading, clock: ServiceClock, basin: BasinId) -> HTMLResponse:
    """Show the levels that were set."""
    rating = rating_of(session, basin, clock.today())
    doubts = level_doubts.in_doubt(session, basin, clock.today())
    levels = [fixed_threshold(level, rating, doubts) for level in basin_levels.of_basin(session, basin)]
    title = shown_name(basin, basins.get(session, basin).name)
    return render(request, "levels.html", Levels(basin, title, levels, form_of(FixedLevel)))
