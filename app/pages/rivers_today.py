"""/: today's overview: a map of the basins, and their list, most urgent first, with search, filters and order."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BeforeValidator

from app.basins.queries import BoundingBox, corners
from app.http.dependencies import Reading, ServiceClock, ServiceSettings
from app.pages.basins_today import SCALES, BasinToday, ColourBy, Scale, basins_today
from app.pages.render import PageRoute, render
from app.pages.rivers_map import Box, drawn
from app.service import status
from hydrology.alerts import SEVERITIES, Severity, rank
from hydrology.base.calendar import age_days, day
from hydrology.base.outline import unwrapped

PAGE = 50
"""Number of basins on a page of the table."""
MAX_CHOSEN = 50
State = Literal["fresh", "stale", "undecided", "none"]
STATES: Mapping[State, str] = {
    "fresh": "with a fresh forecast",
    "stale": "with a stale forecast",
    "undecided": "without an uncertainty estimate",
    "none": "without a forecast",
}
_IN_STATE: Mapping[State, Callable[[BasinToday], bool]] = {
    "fresh": lambda basin: basin.t0 is not None and not basin.stale,
    "stale": lambda basin: basin.t0 is not None and basin.stale,
    "undecided": lambda basin: basin.t0 is not None and basin.chance is None,
    "none": lambda basin: basin.t0 is None,
}
Sort = Literal["concern", "name", "chance", "peak", "flow", "snow", "skill", "t0"]
_KEYS: Mapping[Sort, Callable[[BasinToday], Any]] = {
    "name": lambda basin: basin.title.lower(),
    "chance": lambda basin: basin.chance,
    "peak": lambda basin: basin.peak,
    "flow": lambda basin: basin.flow_percent,
    "snow": lambda basin: basin.snow_percent,
    "skill": lambda basin: basin.nse,
    "t0": lambda basin: basin.t0,
}
_RISING: frozenset[Sort] = frozenset(("name", "t0"))
"""Columns whose first order is from the lowest; the others begin with the highest."""
_OR_EMPTY = BeforeValidator(lambda text: text or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The requested basins, their order and colour; a filter that is None or empty takes all."""

    search: Annotated[str, Query(description="Part of a basin's name or identifier.", max_length=100)] = ""
    colour: Annotated[ColourBy | None, Query(description="The number that colours the map.")] = None
    state: Annotated[State | None, _OR_EMPTY, Query(description="State of the basins' forecasts.")] = None
    alert: Annotated[Severity | None, _OR_EMPTY, Query(description="Least severity of the basins' alerts.")] = None
    basin: Annotated[tuple[str, ...], Query(description="Identifiers of basins.", max_length=MAX_CHOSEN)] = ()
    sort: Annotated[Sort, Query(description="Order of the table.")] = "concern"
    reverse: Annotated[bool, Query(description="Whether in the opposite order.")] = False
    page: Annotated[int, Query(description="Page of the table.", ge=1, le=10_000)] = 1
    bbox: BoundingBox = None

    def query(self, **changes: Any) -> str:
        """Return the query of an address for the selection with changes; the page is the first unless it is changed."""
        changed = replace(self, **{"page": 1, **changes})
        values = {field.name: getattr(changed, field.name) for field in fields(self)}
        given = {name: "true" if value is True else value for name, value in values.items() if value != _DEFAULTS[name]}
        return "?" + urlencode(given, doseq=True) if given else ""

    def hidden(self, *shown: str) -> list[tuple[str, str]]:
        """Return names and values to carry along in a form that asks for other fields."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return [
            (name, str(one).lower() if isinstance(one, bool) else str(one))
            for name, value in values.items()
            if name not in (*shown, "page") and value != _DEFAULTS[name]
            for one in (value if isinstance(value, tuple) else (value,))
        ]

    @property
    def box(self) -> Box | None:
        """The part of the map; None for the whole."""
        if self.bbox is None:
            return None
        west, south, east, north = corners(self.bbox)
        return Box(west, south, east if east >= west else east + 360, north)

    @property
    def filtered(self) -> bool:
        return self != replace(Selection(), colour=self.colour, sort=self.sort, reverse=self.reverse, page=self.page)

    def holds(self, basin: BasinToday) -> bool:
        return (
            self.search.lower() in f"{basin.id} {basin.name} {basin.title}".lower()
            and (not self.basin or basin.id in self.basin)
            and (self.state is None or _IN_STATE[self.state](basin))
            and (self.alert is None or rank(basin.severity) >= rank(self.alert))
            and (self.box is None or _inside(self.box, basin))
        )

    def sorted(self, basins: Sequence[BasinToday]) -> list[BasinToday]:
        """Return basins in the requested order, those without a value last."""
        if self.sort == "concern":
            return list(reversed(basins)) if self.reverse else list(basins)
        key = _KEYS[self.sort]
        known = [basin for basin in basins if key(basin) is not None]
        ordered = sorted(known, key=key, reverse=(self.sort not in _RISING) != self.reverse)
        return [*ordered, *(basin for basin in basins if key(basin) is None)]

    def of_page(self, basins: Sequence[BasinToday]) -> Sequence[BasinToday]:
        """Return the basins of the page of the table."""
        return basins[(self.page - 1) * PAGE : self.page * PAGE]


_DEFAULTS = {field.name: field.default for field in fields(Selection)}
ALERTS: Mapping[Severity, str] = {name: f"{name} or more" if name != SEVERITIES[-1] else name for name in SEVERITIES}


Selected = Annotated[Selection, Depends()]


def _inside(box: Box, basin: BasinToday) -> bool:
    if basin.place is None:
        return False
    longitude = float(unwrapped(basin.place.longitude, (box.west + box.east) / 2))
    return box.south <= basin.place.latitude <= box.north and box.west <= longitude <= box.east


router = APIRouter(route_class=PageRoute)

OF_STALENESS = ("stale-forecast", "stale-input")
"""Degradations that the sentence about T0 covers."""


COLUMNS: tuple[tuple[Sort, str], ...] = (
    ("name", "Basin"),
    ("concern", "Alert"),
    ("chance", "Chance of passing a level"),
    ("peak", "Highest"),
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
