"""/: today's overview: a map of the basins, and their list, most urgent first."""

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.http.dependencies import Reading, ServiceClock, ServiceSettings
from app.pages.render import PageRoute, render
from app.pages.rivers.basins_today import SCALES, BasinToday, ColourBy, Scale, basins_today
from app.pages.rivers.map import drawn
from app.pages.rivers.selection import ALERTS, PAGE, STATES, Selected, Selection, Sort
from app.service import status
from hydrology.base.calendar import day
from hydrology.base.staleness import age_days

router = APIRouter(route_class=PageRoute)

OF_STALENESS = ("stale-forecast", "stale-input")
"""Degradations that the sentence about T0 covers."""


COLUMNS: tuple[tuple[Sort, str], ...] = (
    ("name", "Basin"),
    ("concern", "Alert"),
    ("chance", "Chance of passing a level"),
    ("peak", "Highest, m³/s"),
    ("flow", "Flow, % of normal"),
    ("snow", "Snow, % of normal"),
    ("skill", "Skill, NSE"),
    ("t0", "T0"),
)
"""The columns of the table that can be sorted, and their titles."""


@router.get("/", response_class=HTMLResponse)
def read_day(
    request: Request, session: Reading, clock: ServiceClock, settings: ServiceSettings, selection: Selected
) -> HTMLResponse:
    """Show every basin as it stands today."""
    everything = basins_today(session, clock.now())
    chosen = [basin for basin in everything if selection.holds(basin)]
    t0s = Counter(basin.t0 for basin in everything if basin.t0 is not None)
    t0 = t0s.most_common(1)[0][0] if t0s else None
    colour = selection.colour or _first_known(everything)
    now = status.status(session, clock, settings, None)
    forecasts = [basin for basin in everything if basin.t0 is not None]
    all_stale = bool(forecasts) and all(basin.stale for basin in forecasts)
    return render(
        request,
        "day.html",
        basins=chosen,
        of=len(everything),
        selection=selection,
        sentence=_sentence(chosen),
        t0=t0,
        age_days=None if t0 is None else age_days(day(t0), now.now),
        all_stale=all_stale,  # selected or not, so that it is reported once
        problems=[one for one in now.degraded if not (all_stale and one.code in OF_STALENESS)],
        colour=colour,
        scale=SCALES[colour],
        scales=SCALES,
        classes=_classes(SCALES[colour], chosen),
        states=STATES,
        alerts=ALERTS,
        columns=COLUMNS,
        rows=selection.of_page(selection.sorted(chosen)),
        pages=-(-len(chosen) // PAGE),
        map=drawn(chosen, selection.box),
        file=_file(selection),
    )


def _sentence(basins: Sequence[BasinToday]) -> str:
    """Return a summary of the day; the basins are most urgent first."""
    alarmed = [basin for basin in basins if basin.severity is not None and basin.kind != "unofficial"]
    forecasts = sum(basin.t0 is not None for basin in basins)
    undecided = sum(basin.t0 is not None and basin.chance is None for basin in basins)
    if not alarmed and undecided:
        return f"No alert, but in {undecided} of {forecasts} {_basins(forecasts)} none can be decided yet."
    if not alarmed:
        return f"No alert in {forecasts} {_basins(forecasts)} with a forecast."
    return (
        f"{len(alarmed)} of {forecasts} {_basins(forecasts)} {'has' if len(alarmed) == 1 else 'have'} an alert, "
        f"the most severe ({alarmed[0].severity}) at {alarmed[0].title}."
    )


def _classes(scale: Scale, basins: Sequence[BasinToday]) -> list[tuple[str, str, int]]:
    """Return the class, the label and the number of basins of each colour."""
    colours = Counter(scale.colour(basin) for basin in basins)
    return [(name, label, colours[name]) for name, label in (*scale.legend, ("unknown", "not known"))]


def _file(selection: Selection) -> str:
    """Return the API call for the basins as a file; the API knows the search and the part of the map."""
    asked = {"q": selection.search, "bbox": selection.bbox or ""}
    return "/v1/basins?" + urlencode({name: value for name, value in asked.items() if value} | {"format": "csv"})


def _first_known(basins: list[BasinToday]) -> ColourBy:
    """Return the first scale with a value for any basin; by default the chance."""
    return next(
        (name for name, scale in SCALES.items() if any(scale.value(basin) is not None for basin in basins)), "chance"
    )


def _basins(count: int) -> str:
    return "basin" if count == 1 else "basins"
