"""/: today's overview: a map of the basins, and their list, most urgent first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.http.dependencies import Reading, ServiceClock, ServiceSettings
from app.pages.render import PageRoute, render
from app.pages.rivers.basins_today import SCALES, BasinToday, ColourBy, Scale, basins_today
from app.pages.rivers.map import Map, drawn
from app.pages.rivers.selection import ALERTS, PAGE, STATES, Selected, Selection, Sort
from app.service import status
from app.service.health import Degraded
from app.service.status import Status
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """Contents of the page; `basins` are most urgent first, `t0` is that of most forecasts."""

    status: Status
    basins: Sequence[BasinToday]
    everything: Sequence[BasinToday]
    selection: Selection
    colour: ColourBy
    t0: date | None
    map: Map | None
    scales, states, alerts, columns = SCALES, STATES, ALERTS, COLUMNS

    @property
    def scale(self) -> Scale:
        return SCALES[self.colour]

    @property
    def rows(self) -> Sequence[BasinToday]:
        return self.selection.of_page(self.selection.sorted(self.basins))

    @property
    def pages(self) -> int:
        return -(-len(self.basins) // PAGE)

    @property
    def of(self) -> int:
        return len(self.everything)

    @property
    def age_days(self) -> int | None:
        """The age of most forecasts' T0."""
        return None if self.t0 is None else age_days(day(self.t0), self.status.now)

    @property
    def all_stale(self) -> bool:
        """Whether every forecast is stale, selected or not, so that it is reported once."""
        forecasts = [basin for basin in self.everything if basin.t0 is not None]
        return bool(forecasts) and all(basin.stale for basin in forecasts)

    @property
    def problems(self) -> list[Degraded]:
        """What is degraded, besides the staleness that the page reports for all forecasts."""
        return [one for one in self.status.degraded if not (self.all_stale and one.code in OF_STALENESS)]

    @property
    def sentence(self) -> str:
        """A summary of the day in a sentence."""
        alarmed = [basin for basin in self.basins if basin.severity is not None and basin.kind != "unofficial"]
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
        colours = Counter(self.scale.colour(basin) for basin in self.basins)
        known = [(name, label, colours[name]) for name, label in self.scale.legend]
        return [*known, ("unknown", "not known", colours["unknown"])]

    @property
    def file(self) -> str:
        """The API call for the basins as a file; the API knows the search and the part of the map."""
        asked = {"q": self.selection.search, "bbox": self.selection.bbox or ""}
        return "/v1/basins?" + urlencode({name: value for name, value in asked.items() if value} | {"format": "csv"})


@router.get("/", response_class=HTMLResponse)
def read_day(
    request: Request, session: Reading, clock: ServiceClock, settings: ServiceSettings, selection: Selected
) -> HTMLResponse:
    """Show every basin as it stands today."""
    everything = basins_today(session, clock.now())
    chosen = [basin for basin in everything if selection.holds(basin)]
    t0s = Counter(basin.t0 for basin in everything if basin.t0 is not None)
    page = Day(
        status=status.status(session, clock, settings, None),
        basins=chosen,
        everything=everything,
        selection=selection,
        colour=selection.colour or _first_known(everything),
        t0=t0s.most_common(1)[0][0] if t0s else None,
        map=drawn(chosen, selection.box),
    )
    return render(request, "day.html", page)


def _first_known(basins: list[BasinToday]) -> ColourBy:
    """Return the first scale with a value for any basin; by default the chance."""
    return next(
        (name for name, scale in SCALES.items() if any(scale.value(basin) is not None for basin in basins)), "chance"
    )


def _basins(count: int) -> str:
    return "basin" if count == 1 else "basins"
