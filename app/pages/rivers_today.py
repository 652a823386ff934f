"""/: today's overview: a map of the basins, and their list, most urgent first, with search, filters and order."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from operator import attrgetter
from types import SimpleNamespace
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlencode

import numpy as np
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BeforeValidator
from sqlalchemy.orm import Session

from app.basins.queries import BoundingBox, corners
from app.http.dependencies import Reading, ServiceClock, ServiceSettings
from app.outlooks.today import Everything
from app.pages.basin_facts import threatening
from app.pages.basins_today import SCALES, ColourBy, Scale
from app.pages.figures.small_hydrograph import small_hydrograph
from app.pages.render import ChosenUnits, PageRoute, render
from app.pages.rivers_map import Box, drawn
from app.service import status
from hydrology.alerts import SEVERITIES, Severity, rank
from hydrology.base.errors import counted
from jobspec.fields import Name
from records.basins import ownership, regions
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
Sort = Literal["concern", "name", "chance", "peak", "flow", "snow", "skill", "t0"]
COLUMNS: Mapping[Sort, tuple[str, Callable[[BasinOverview], Any]]] = {
    "name": ("Basin", lambda basin: basin.title.lower()),
    "concern": ("Alert", attrgetter("concern")),
    "chance": ("Chance of passing a level", attrgetter("chance")),
    "peak": ("Highest", attrgetter("peak")),
    "flow": ("Flow, % of normal", attrgetter("percent_of_normal")),
    "snow": ("Snow, % of normal", attrgetter("snow_percent")),
    "skill": ("Skill, NSE", attrgetter("nse")),
    "t0": ("T0", attrgetter("t0")),
}
"""The columns of the table that can be sorted: their titles, and what basins are sorted by."""
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
    us_state: Annotated[str, Query(description="State that names end with.", max_length=2)] = ""
    huc: Annotated[str, Query(description="Start of the hydrologic unit code.", max_length=12)] = ""
    region: Annotated[Name | None, _OR_EMPTY, Query(description="Name of a region.")] = None
    agency: Annotated[str, Query(description="Start of the identifier.", max_length=20)] = ""
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
        return parse_qsl(self.query(**{name: _DEFAULTS[name] for name in shown}).removeprefix("?"))

    @property
    def box(self) -> Box | None:
        """The part of the map; None for the whole."""
        return None if self.bbox is None else Box.of_corners(*corners(self.bbox))

    @property
    def filtered(self) -> bool:
        return self != replace(Selection(), colour=self.colour, sort=self.sort, reverse=self.reverse, page=self.page)

    def holds(self, basin: BasinOverview) -> bool:
        return (
            (not self.search or self.search.lower() in f"{basin.id} {basin.name} {basin.title}".lower())
            and (not self.basin or basin.id in self.basin)
            and (self.state is None or _is_in(self.state, basin))
            and (self.alert is None or rank(basin.severity) >= rank(self.alert))
            and (not self.us_state or basin.us_state == self.us_state)
            and (basin.huc or "").startswith(self.huc)
            and (not self.agency or basin.id.partition("-")[0] == self.agency)
            and (self.box is None or self.box.holds(basin.latitude, basin.longitude))
        )

    def sorted(self, basins: Sequence[BasinOverview]) -> list[BasinOverview]:
        """Return basins, which are the most urgent first, in the requested order, those without a value last."""
        if self.sort == "concern" and not self.reverse:
            return [*basins]
        key = COLUMNS[self.sort][1]
        known = [basin for basin in basins if key(basin) is not None]
        ordered = sorted(known, key=key, reverse=(self.sort not in _RISING) != self.reverse)
        return [*ordered, *(basin for basin in basins if key(basin) is None)]

    def of_page(self, basins: Sequence[BasinOverview]) -> Sequence[BasinOverview]:
        """Return the basins of the page of the table."""
        return basins[(self.page - 1) * PAGE : self.page * PAGE]


_DEFAULTS = {field.name: field.default for field in fields(Selection)}
ALERTS: Mapping[Severity, str] = {name: f"{name} or more" if name != SEVERITIES[-1] else name for name in SEVERITIES}


def _is_in(state: State, basin: BasinOverview) -> bool:
    if state == "undecided":
        return basin.t0 is not None and basin.chance is None
    return basin.t0 is None if state == "none" else basin.state == state


router = APIRouter(route_class=PageRoute)


def _renewal(basins: Sequence[BasinOverview], today: date) -> SimpleNamespace:
    """Return how many of the official basins have a fresh forecast, and what the others lack."""
    official = [basin for basin in basins if basin.is_official]
    late = [basin.weather_age_days for basin in official if basin.state == "stale" and basin.weather_age_days]
    return SimpleNamespace(
        basins=len(official),
        states=Counter(map(attrgetter("state"), official)),
        without_model=[basin.has_model for basin in official].count(False),
        weather_until=today - timedelta(days=min(late)) if late else None,  # of the newest of the stale forecasts
    )


def _of_all(basins: Sequence[BasinOverview], today: date) -> dict[str, Any]:
    """Return what the page shows of all basins, whichever are chosen."""
    t0s = Counter([basin.t0 for basin in basins if basin.t0 is not None]).most_common(1)
    return {
        "of": len(basins),
        "t0": date.fromisoformat(t0s[0][0]) if t0s else None,
        "renewal": _renewal(basins, today),
        "places": _places(basins),
        "first_known": _first_known(basins),
    }


def _of_chosen(selection: Selection, everything: Sequence[BasinOverview], scale: Scale) -> dict[str, Any]:
    """Return what the page shows of all chosen basins, whichever page of their list."""
    basins = [basin for basin in everything if selection.holds(basin)] if selection.filtered else everything
    colours = scale.colours(basins)
    return {
        "basins": basins,
        "in_order": selection.sorted(basins),
        "sentence": _sentence(basins),
        "severities": Counter(map(attrgetter("severity"), basins)),
        "counts": np.bincount(colours, minlength=len(scale.entries)).tolist(),
        "pages": -(-len(basins) // PAGE),
        "map": drawn(basins, selection.box, colours),
    }


@router.get("/", response_class=HTMLResponse)
def read_day(
    request: Request,
    session: Reading,
    all_basins: Everything,
    clock: ServiceClock,
    settings: ServiceSettings,
    selection: Annotated[Selection, Depends()],
    units: ChosenUnits,
) -> HTMLResponse:
    """Show every basin as it stands today."""
    now = clock.now()
    everything = all_basins.today(session, now, with_skill="skill" in (selection.colour, selection.sort))
    of_all = everything.derived("all", lambda basins: _of_all(basins, now.date()))
    colour: ColourBy = selection.colour or of_all["first_known"]
    scale, members = SCALES[colour], _members(session, selection.region)
    key = replace(selection, page=1), members
    chosen = everything.derived(key, lambda basins: _of_chosen(selection, _among(basins, members), scale))
    rows, first = selection.of_page(chosen["in_order"]), chosen["basins"][:THREATENED]
    outlooks = reader.outlooks(session, list(dict.fromkeys(basin.id for basin in (*rows, *first))), now)
    # The filters that the API knows.
    of_api = {"q": selection.search, "bbox": selection.bbox, "region": selection.region}
    return render(
        request,
        "day.html",
        **of_all,
        **chosen,
        renewed_at=renewed_at(session, now),
        selection=selection,
        regions=[region.id for region in regions.list_regions(session)],
        problems=status.problems(session, clock, settings),
        colour=colour,
        scale=scale,
        scales=SCALES,
        states=STATES,
        alerts=ALERTS,
        columns=COLUMNS,
        rows=rows,
        threatened=[(basin, threatening(session, outlooks[basin.id], units)) for basin in first],
        outlooks=outlooks,
        hydrographs={basin: small_hydrograph(outlook, units) for basin, outlook in outlooks.items()},
        file="/v1/basins?" + urlencode({name: value for name, value in of_api.items() if value} | {"format": "csv"}),
    )


def _members(session: Session, region: str | None) -> frozenset[str] | None:
    """Return the basins of a region; None without one."""
    return None if region is None else frozenset(session.scalars(regions.members(regions.get(session, region).id)))


def _among(basins: Sequence[BasinOverview], members: frozenset[str] | None) -> Sequence[BasinOverview]:
    return basins if members is None else [basin for basin in basins if basin.id in members]


def _places(basins: Sequence[BasinOverview]) -> dict[str, list[str]]:
    """Return the states, regions and agencies of basins; empty where there is no choice."""
    found = {
        "us_state": {ownership.us_state(basin.name or "") or "" for basin in basins},
        "huc": {(basin.huc or "")[:2] for basin in basins},
        "agency": {basin.id.partition("-")[0] for basin in basins},
    }
    return {name: sorted(values - {""}) if len(values - {""}) > 1 else [] for name, values in found.items()}


def _sentence(basins: Sequence[BasinOverview]) -> str:
    """Return a summary of the day; the basins are most urgent first."""
    alarmed = [basin for basin in basins if basin.severity is not None and basin.is_official]
    chances = [basin.chance for basin in basins if basin.t0 is not None]
    forecasts, undecided = len(chances), chances.count(None)
    if not alarmed and undecided:
        return f"No alert, but in {undecided} of {counted(forecasts, 'basin')} none can be decided yet."
    if not alarmed:
        return f"No alert in {counted(forecasts, 'basin')} with a forecast."
    return (
        f"{len(alarmed)} of {counted(forecasts, 'basin')} {'has' if len(alarmed) == 1 else 'have'} an alert, "
        f"the most severe ({alarmed[0].severity}) at {alarmed[0].title}."
    )


def _first_known(basins: Sequence[BasinOverview]) -> ColourBy:
    """Return the first scale with a value for any basin; by default the chance."""
    return next(
        (name for name, scale in SCALES.items() if any(scale.value(basin) is not None for basin in basins)), "chance"
    )
