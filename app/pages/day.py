"""/: today's overview: a map of the basins, and their list, most urgent first."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from app.http.dependencies import Reading, ServiceClock, ServiceSettings
from app.pages.basins_today import BasinToday, basins_today
from app.pages.errors import PageRoute
from app.pages.map import Place, Projection, borders, projection
from app.pages.render import render
from app.pages.scales import SCALES, ColourBy, Scale
from app.service.status import service as status
from app.service.status.schemas import Status

router = APIRouter(route_class=PageRoute)

Colour = Annotated[
    ColourBy | None,
    Query(description="The number that colours the map; by default the first known for any basin."),
]
Search = Annotated[str, Query(description="Part of a basin's name or identifier.", max_length=100)]


@dataclass(frozen=True, slots=True)
class Point:
    """A basin on the map, in the drawing's units."""

    x: float
    y: float
    basin: BasinToday


@dataclass(frozen=True, slots=True)
class Map:
    """The map; the most urgent basins are drawn last, on top."""

    width: int
    height: int
    borders: str
    points: list[Point]


@dataclass(frozen=True, slots=True)
class Day:
    """Contents of the page."""

    status: Status
    basins: list[BasinToday]
    of: int
    search: str
    colour: ColourBy
    scale: Scale
    scales: dict[ColourBy, Scale]
    map: Map | None

    @property
    def sentence(self) -> str:
        """A summary of the day in a sentence."""
        alarmed = [basin for basin in self.basins if basin.severity is not None]
        forecasts = sum(basin.t0 is not None for basin in self.basins)
        undecided = sum(basin.t0 is not None and basin.chance is None for basin in self.basins)
        if not alarmed and undecided:
            return f"No alert, but in {undecided} of {forecasts} {_basins(forecasts)} none can be decided yet."
        if not alarmed:
            return f"No alert in {forecasts} {_basins(forecasts)} with a forecast."
        worst = alarmed[0]
        return (
            f"{len(alarmed)} of {forecasts} {_basins(forecasts)} {'has' if len(alarmed) == 1 else 'have'} an alert, "
            f"the most severe ({worst.severity}) at {worst.title}."
        )

    @property
    def classes(self) -> list[tuple[str, str, int]]:
        """The class, the label and the number of basins of each colour."""
        colours = [self.scale.colour(basin) for basin in self.basins]
        known = [(name, label, colours.count(name)) for name, label in self.scale.legend]
        return [*known, ("unknown", "not known", colours.count("unknown"))]


@router.get("/", response_class=HTMLResponse)
def read_day(
    request: Request,
    session: Reading,
    clock: ServiceClock,
    settings: ServiceSettings,
    colour: Colour = None,
    search: Search = "",
) -> HTMLResponse:
    """Show every basin as it stands today."""
    everything = basins_today(session, clock.now())
    by = colour or _first_known(everything)
    chosen = [basin for basin in everything if search.lower() in f"{basin.id} {basin.name}".lower()]
    page = Day(
        status=status.status(session, clock, settings, None),
        basins=chosen,
        of=len(everything),
        search=search,
        colour=by,
        scale=SCALES[by],
        scales=dict(SCALES),
        map=_map(chosen),
    )
    return render(request, "day.html", page)


def _first_known(basins: list[BasinToday]) -> ColourBy:
    """Return the first scale with a value for any basin; by default the chance."""
    return next(
        (name for name, scale in SCALES.items() if any(scale.value(basin) is not None for basin in basins)), "chance"
    )


def _map(basins: list[BasinToday]) -> Map | None:
    places = [(basin.place, basin) for basin in reversed(basins) if basin.place is not None]
    if not places:
        return None
    only = [place for place, _ in places]
    projected = projection(only)
    points = [_point(projected, place, basin) for place, basin in places]
    return Map(projected.width, projected.height, borders(projected, only), points)


def _point(projected: Projection, place: Place, basin: BasinToday) -> Point:
    return Point(projected.x(place.longitude), projected.y(place.latitude), basin)


def _basins(count: int) -> str:
    return "basin" if count == 1 else "basins"
