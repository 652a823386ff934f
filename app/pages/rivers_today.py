"""/: today's overview: a map of the basins, and their list, most urgent first, with search, filters and order."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from operator import attrgetter
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlencode

import numpy as np
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BeforeValidator

from app.basins.queries import BoundingBox, corners
from app.http.dependencies import OfAllBasins, Reading, ServiceClock, ServiceSettings
from app.outlooks.today import today
from app.pages.basins_today import SCALES, ColourBy, Scale, river, threatened
from app.pages.render import ChosenUnits, PageRoute, render
from app.pages.rivers_map import Box, Map, drawn
from app.service import status
from hydrology.alerts import SEVERITIES, Severity, rank
from records.outlooks import reader
from records.outlooks.overview import BasinOverview, renewed_at

PAGE = 50
"""Number of basins on a page of the table."""
MAX_CHOSEN = 50
THREATENED = 5
"""Number of rivers that are shown beside the map."""
State = Literal["fresh", "stale", "undecided", "withheld", "none"]
STATES: Mapping[State, str] = {
    "fresh": "with a fresh forecast",
    "stale": "with a stale forecast",
    "undecided": "without an uncertainty estimate",
    "withheld": "with a withheld forecast",
    "none": "without a forecast",
}
_IN_STATE: Mapping[State, Callable[[BasinOverview], bool]] = {
    "fresh": lambda basin: basin.state == "fresh",
    "stale": lambda basin: basin.state == "stale",
    "undecided": lambda basin: basin.t0 is not None and basin.chance is None,
    "withheld": lambda basin: basin.state == "withheld",
    "none": lambda basin: basin.t0 is None,
}
Sort = Literal["concern", "name", "chance", "peak", "flow", "snow", "skill", "t0"]
_KEYS: Mapping[Sort, Callable[[BasinOverview], Any]] = {
    "name": lambda basin: basin.title.lower(),
    "chance": attrgetter("chance"),
    "peak": attrgetter("peak"),
    "flow": attrgetter("percent_of_normal"),
    "snow": attrgetter("snow_percent"),
    "skill": attrgetter("nse"),
    "t0": attrgetter("t0"),
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
    us_state: Annotated[str | None, _OR_EMPTY, Query(description="State that names end with.", max_length=2)] = None
    huc: Annotated[str | None, _OR_EMPTY, Query(description="Start of the hydrologic unit code.", max_length=12)] = None
    agency: Annotated[str | None, _OR_EMPTY, Query(description="Start of the identifier.", max_length=20)] = None
    basin: Annotated[tuple[str, ...], Query(description="Identifiers of basins.", max_length=MAX_CHOSEN)] = ()
    sort: Annotated[Sort, Query(description="Order of the table.")] = "concern"
    reverse: Annotated[bool, Query(description="Whether in the opposite order.")] = False
    page: Annotated[int, Query(description="Page of the table.", ge=1, le=10_000)] = 1
    bbox: BoundingBox = None

    def query(self, **changes: Any) -> str:
        """Return the query of an address for the selection with changes; the page is the first unless it is changed."""
        changes = {"page": 1, **changes}
        values = {name: changes[name] if name in changes else getattr(self, name) for name in _DEFAULTS}
        given = {name: "true" if value is True else value for name, value in values.items() if value != _DEFAULTS[name]}
        return "?" + urlencode(given, doseq=True) if given else ""

    def hidden(self, *shown: str) -> list[tuple[str, str]]:
        """Return names and values to carry along in a form that asks for other fields."""
        return [(name, value) for name, value in parse_qsl(self.query().removeprefix("?")) if name not in shown]

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

    def holds(self, basin: BasinOverview) -> bool:
        return (
            (not self.search or self.search.lower() in f"{basin.id} {basin.name} {basin.title}".lower())
            and (not self.basin or basin.id in self.basin)
            and (self.state is None or _IN_STATE[self.state](basin))
            and (self.alert is None or rank(basin.severity) >= rank(self.alert))
            and (self.us_state is None or basin.us_state == self.us_state)
            and (self.huc is None or (basin.huc or "").startswith(self.huc))
            and (self.agency is None or basin.id.partition("-")[0] == self.agency)
            and (self.box is None or _inside(self.box, basin))
        )

    def sorted(self, basins: Sequence[BasinOverview]) -> list[BasinOverview]:
        """Return basins in the requested order, those without a value last."""
        if self.sort == "concern":
            return list(reversed(basins)) if self.reverse else list(basins)
        key = _KEYS[self.sort]
        known = [basin for basin in basins if key(basin) is not None]
        ordered = sorted(known, key=key, reverse=(self.sort not in _RISING) != self.reverse)
        return [*ordered, *(basin for basin in basins if key(basin) is None)]

    def of_page(self, basins: Sequence[BasinOverview]) -> Sequence[BasinOverview]:
        """Return the basins of the page of the table."""
        return basins[(self.page - 1) * PAGE : self.page * PAGE]


_DEFAULTS = {field.name: field.default for field in fields(Selection)}
ALERTS: Mapping[Severity, str] = {name: f"{name} or more" if name != SEVERITIES[-1] else name for name in SEVERITIES}


Selected = Annotated[Selection, Depends()]


def _inside(box: Box, basin: BasinOverview) -> bool:
    if basin.latitude is None or basin.longitude is None:
        return False
    return box.south <= basin.latitude <= box.north and (basin.longitude - box.west) % 360 <= box.east - box.west


router = APIRouter(route_class=PageRoute)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AllBasins:
    """What the page shows of all basins, whichever are chosen.

    Attributes:
        states: of the official basins, which are fresh, and what the others lack.
        weather_until: the last past day of the newest of the stale forecasts.
    """

    count: int
    t0: date | None
    states: Mapping[str, int]
    without_model: int
    weather_until: date | None
    places: Mapping[str, list[str]]
    colour: ColourBy

    @classmethod
    def of(cls, basins: Sequence[BasinOverview], today: date) -> "AllBasins":
        t0s = Counter(basin.t0 for basin in basins if basin.t0 is not None).most_common(1)
        official = [basin for basin in basins if basin.is_official]
        late = [basin.weather_age_days for basin in official if basin.state == "stale" and basin.weather_age_days]
        return cls(
            count=len(basins),
            t0=date.fromisoformat(t0s[0][0]) if t0s else None,
            states=Counter(map(attrgetter("state"), official)),
            without_model=sum(not basin.has_model for basin in official),
            weather_until=today - timedelta(days=min(late)) if late else None,
            places=_places(basins),
            colour=_first_known(basins),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The chosen basins, most urgent first and in the order of the table, and what the page shows of all of them."""

    basins: Sequence[BasinOverview]
    in_order: Sequence[BasinOverview]
    sentence: str
    severities: Mapping[Severity | None, int]
    counts: Sequence[int]
    map: Map | None

    @classmethod
    def of(cls, selection: Selection, everything: Sequence[BasinOverview], scale: Scale) -> "Chosen":
        basins = [basin for basin in everything if selection.holds(basin)] if selection.filtered else everything
        colours = scale.colours(basins)
        return cls(
            basins=basins,
            in_order=selection.sorted(basins),
            sentence=_sentence(basins),
            severities=Counter(map(attrgetter("severity"), basins)),
            counts=np.bincount(colours, minlength=len(scale.entries)).tolist(),
            map=drawn(basins, selection.box, colours),
        )


@router.get("/", response_class=HTMLResponse)
def read_day(
    request: Request,
    session: Reading,
    computed: OfAllBasins,
    clock: ServiceClock,
    settings: ServiceSettings,
    selection: Selected,
    units: ChosenUnits,
) -> HTMLResponse:
    """Show every basin as it stands today."""
    now = clock.now()
    everything = today(session, computed, now, with_skill="skill" in (selection.colour, selection.sort))
    every: AllBasins = everything.derived("every", lambda basins: AllBasins.of(basins, now.date()))
    colour = selection.colour or every.colour
    scale, key = SCALES[colour], replace(selection, page=1)
    chosen: Chosen = everything.derived(key, lambda basins: Chosen.of(selection, basins, scale))
    rows, first = selection.of_page(chosen.in_order), chosen.basins[:THREATENED]
    outlooks = reader.outlooks(session, list(dict.fromkeys(basin.id for basin in (*rows, *first))), now)
    return render(
        request,
        "day.html",
        chosen=chosen,
        every=every,
        renewed_at=renewed_at(session, now),
        selection=selection,
        problems=status.problems(session, clock, settings),
        colour=colour,
        scale=scale,
        scales=SCALES,
        states=STATES,
        alerts=ALERTS,
        columns=COLUMNS,
        rows=[river(basin, outlooks[basin.id], units) for basin in rows],
        threatened=[threatened(session, basin, outlooks[basin.id], units) for basin in first],
        pages=-(-len(chosen.basins) // PAGE),
        file=_file(selection),
    )


def _places(basins: Sequence[BasinOverview]) -> dict[str, list[str]]:
    """Return the states, regions and agencies of basins; empty where there is no choice."""
    found: dict[str, set[str | None]] = {
        "us_state": {basin.us_state for basin in basins},
        "huc": {basin.huc and basin.huc[:2] for basin in basins},
        "agency": {basin.id.partition("-")[0] for basin in basins},
    }
    known = {name: sorted(value for value in values if value) for name, values in found.items()}
    return {name: values if len(values) > 1 else [] for name, values in known.items()}


def _sentence(basins: Sequence[BasinOverview]) -> str:
    """Return a summary of the day; the basins are most urgent first."""
    alarmed = [basin for basin in basins if basin.severity is not None and basin.is_official]
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


def _file(selection: Selection) -> str:
    """Return the API call for the basins as a file; the API knows the search and the part of the map."""
    asked = {"q": selection.search, "bbox": selection.bbox or ""}
    return "/v1/basins?" + urlencode({name: value for name, value in asked.items() if value} | {"format": "csv"})


def _first_known(basins: Sequence[BasinOverview]) -> ColourBy:
    """Return the first scale with a value for any basin; by default the chance."""
    return next(
        (name for name, scale in SCALES.items() if any(scale.value(basin) is not None for basin in basins)), "chance"
    )


def _basins(count: int) -> str:
    return "basin" if count == 1 else "basins"
