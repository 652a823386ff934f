"""Requests daily values of many places from Open-Meteo at a known cost, and checks each place's answer.

A place counts as one call, or as more where it asks for more than 10 variables or 14 days. Source: the limits that
open-meteo.com/en/pricing states, and how its server counts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, TypeVar

import numpy as np

from extensions.openmeteo.columns import HOURLY, UNITS, Array, in_days, members_of, numbers
from hydrology.base.calendar import Days, day, zone
from hydrology.base.errors import Problem, counted
from hydrology.base.outline import difference
from hydrology.base.products import Credit
from hydrology.base.units import daylight_mean
from hydrology.weather.climate import daylength, saturation_vapour_pressure
from ingestion.feeds.base import FeedProblem, FetchedBasinData, RunUnavailable, Site
from ingestion.feeds.http import Broken, Refused, Service, parsed

SOURCE = "open-meteo"
LICENCE = "CC BY 4.0"
MAX_DAYS = 16  # of a forecast, as far as a run of any model goes
FARTHEST_CELL = 2.0  # degrees from the gauge: the answer gives the place of the grid cell
_LAST_BYTES = 1000
_STREAMED = b"Unexpected error while streaming data"
_FIRST_DAY, _LAST_DAY = day("1800-01-01"), day("2199-12-31")

_OWNERS = {
    "ecmwf": "ECMWF",
    "era5": "Copernicus Climate Change Service (ECMWF)",
    "ncep": "NOAA NCEP",
    "gfs": "NOAA NCEP",
    "cmc": "Environment and Climate Change Canada",
    "gem": "Environment and Climate Change Canada",
    "icon": "Deutscher Wetterdienst",
    "dwd": "Deutscher Wetterdienst",
}


@dataclass(frozen=True, slots=True)
class Place:
    """The answer about one place.

    Days are consecutive, of `time_zone`; `cell` is latitude and longitude of the grid cell. `members` are Open-Meteo's
    values (days,) by variable, by the label of the member; NaN where null.
    """

    time_zone: str
    cell: tuple[float, float]
    days: Days
    members: Mapping[str, Mapping[str, Array]]


@dataclass(frozen=True, slots=True)
class Model:
    """A model at a host of Open-Meteo.

    `path` is of its values, below the host; `report` gets the cost of a fetch, before the request.
    """

    service: Service
    path: str
    name: str
    report: Callable[[str], None]

    @property
    def credit(self) -> Credit:
        """The credit of the model, with its owner where its name implies one."""
        name = next((owner for prefix, owner in _OWNERS.items() if self.name.startswith(prefix)), None)
        return Credit(f"Weather data by Open-Meteo.com (model {self.name}{f' of {name}' if name else ''}).", LICENCE)

    def parts(self, sites: Sequence[Site], members: int, days: int) -> list[Sequence[Site]]:
        """Report the cost of located sites, and split them into requests."""
        weight = weight_of_place(len(UNITS) * members, days)
        self.announce(len(sites), weight)
        return in_requests(sites, weight, self.keyless)

    @property
    def keyless(self) -> bool:
        """Whether the limits without a key apply."""
        return self.service.key is None

    def announce(self, places: int, weight: float, runs: int = 1) -> None:
        """Report the cost of a fetch before its first request.

        `places` counts over all runs, `weight` is the cost of one. FeedProblem: it is more than the service allows in
        an hour without a key.
        """
        total = weight * places
        weighed = counted(round(total), "call")
        self.report(f"The fetch weighs {weighed} by Open-Meteo's count.")
        if self.keyless and total > PER_HOUR:
            fewer = "ask" if runs > 1 else f"name at most {counted(int(PER_HOUR // weight), 'basin')}, ask"
            raise FeedProblem(
                f"The fetch weighs {weighed} by Open-Meteo's count, and without a key it gives {PER_HOUR} an "
                f"hour ({PER_DAY} a day): {fewer} for fewer days, or set FRESHET_OPEN_METEO_KEY."
            )

    def ask(self, sites: Sequence[Site], days: Mapping[str, Any], *, hourly: bool = False) -> dict[str, Any]:
        """Request the values of sites by days of their own time zones; return each site's, to be checked by `place`.

        `days` are the parameters that select the days; with `hourly`, `place` adds hours up to days. Refused: the
        service refuses the request, such as days of a run that begins within one.
        """
        places = [site.place() for site in sites]
        body = {
            "latitude": [latitude for latitude, _ in places],
            "longitude": [longitude for _, longitude in places],
            "timezone": [site.time_zone or "auto" for site in sites],
            **({"hourly": list(HOURLY)} if hourly else {"daily": list(UNITS)}),
            "models": [self.name],
            **days,
        }
        parse = partial(_places, count=len(sites))
        try:
            answer = self.service.read(parse, self.path, body=body, media="application/json")
        except FeedProblem as problem:
            raise (RunUnavailable(str(problem)) if "model run is not available" in str(problem) else problem) from None
        return {site.basin: (at, of_site) for at, (site, of_site) in enumerate(zip(sites, answer, strict=True))}

    def place(self, site: Site, answer: Mapping[str, Any]) -> Place:
        """Return a site's answer; its shape, place, model and units are checked."""
        at, of_site = answer[site.basin]
        try:
            return _place(site, at, of_site, self.name)
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
            cause = f"The answer about {site.basin} is not of Open-Meteo's shape: nothing of it was taken."
            raise FeedProblem(cause) from None

    def places(self, sites: Sequence[Site], answer: Mapping[str, Any]) -> "PlacesByBasin":
        """Return the answer about each site, or why it cannot be used, by basin."""
        result: PlacesByBasin = {}
        for site in sites:
            try:
                result[site.basin] = self.place(site, answer)
            except Problem as problem:
                result[site.basin] = problem
        return result


PlacesByBasin = dict[str, Place | Problem]


def usable(places: PlacesByBasin) -> list[Place]:
    """Return the places that can be used."""
    return [place for place in places.values() if isinstance(place, Place)]


def required(places: PlacesByBasin, site: Site) -> Place:
    """Return the place of a site, or raise why it is unusable."""
    place = places[site.basin]
    if isinstance(place, Problem):
        raise place
    return place


def converted(values: Mapping[str, Array], days: Days, latitude: float) -> dict[str, Array]:
    """Convert values (..., days) to network input, in the units of `hydrology.base.products.WEATHER`.

    Radiation becomes the mean over daylight, and vapour pressure is computed from the dew point."""
    lit = daylength(days, latitude)[:, 0]
    return {
        "precipitation": values["precipitation_sum"],
        "tmax": values["temperature_2m_max"],
        "tmin": values["temperature_2m_min"],
        "srad": daylight_mean(values["shortwave_radiation_sum"], lit),
        "vp": saturation_vapour_pressure(values["dew_point_2m_mean"]),
    }


def _places(body: bytes, count: int) -> list[Any]:
    """Parse the answers, one per place. An object for one place, a list in the requested order for several."""
    if b"modelRunUnavailable" in body[-_LAST_BYTES:]:  # what the service streams of several places then, as a 200
        raise RunUnavailable("The requested model run is not available.")
    if _STREAMED in body[-_LAST_BYTES:] and b"daily" in body[-_LAST_BYTES:].partition(_STREAMED)[2].lower():
        raise Refused("The service does not add the hours of the requested run up to days.")
    answer = parsed(body)  # an interrupted stream ends in words that are not JSON
    places = [answer] if isinstance(answer, dict) else answer
    if not isinstance(places, list) or len(places) != count:
        raise Broken(f"the answer is not of the {counted(count, 'place')} asked for")
    return places


def _place(site: Site, at: int, place: dict[str, Any], model: str) -> Place:
    if place.get("location_id", at) != at:  # the first place has none
        raise FeedProblem(f"The answer about {site.basin} is of another place: nothing of it was taken.")
    cell = float(place["latitude"]), float(place["longitude"])
    latitude, longitude = site.place()
    if max(abs(cell[0] - latitude), abs(float(difference(cell[1], longitude)))) > FARTHEST_CELL:
        raise FeedProblem(f"The answer about {site.basin} is of a place far from its gauge: nothing of it was taken.")
    of_days = in_days(site.basin, place, model) if "daily" not in place else place
    daily, units = of_days["daily"], of_days["daily_units"]
    # Text only: numpy would read a number as days since 1970, and fail otherwise on a large one.
    days = np.array([date.fromisoformat(text) for text in daily["time"]], dtype="datetime64[D]")
    if not len(days) or (np.diff(days) != np.timedelta64(1, "D")).any():
        raise FeedProblem(f"The days of {site.basin} do not follow each other: nothing of it was taken.")
    if days[0] < _FIRST_DAY or days[-1] > _LAST_DAY:
        raise FeedProblem(f"The days of {site.basin} are outside {_FIRST_DAY} to {_LAST_DAY}: nothing of it was taken.")
    members: dict[str, dict[str, Array]] = {}
    for variable, unit in UNITS.items():
        for name, label in members_of(variable, tuple(daily), model):
            if units.get(name) != unit:
                raise FeedProblem(f"{variable} of {site.basin} is not in {unit}: nothing of it was taken.")
            members.setdefault(label, {})[variable] = numbers(f"{variable} of {site.basin}", days, daily[name])
    if not members or any(values.keys() != UNITS.keys() for values in members.values()):
        raise FeedProblem(f"The answer about {site.basin} lacks a variable: nothing of it was taken.")
    return Place(zone(str(place["timezone"])).key, cell, days, members)


def placed(sites: Sequence[Site]) -> tuple[list[Site], list[FetchedBasinData]]:
    """Return the sites with a known location, and the reason for none for the others."""
    known, unknown = [], []
    for site in sites:
        try:
            site.place()
            known.append(site)
        except FeedProblem as problem:
            unknown.append(FetchedBasinData(site.basin, problem))
    return known, unknown


Asked = TypeVar("Asked")

PER_MINUTE, PER_HOUR, PER_DAY = 600, 5_000, 10_000  # without a key
MAX_PLACES = 1_000  # in one request
MAX_WEIGHT = 5_000.0  # of one request
_FREE_VARIABLES, _FREE_DAYS = 10, 14


def weight_of_place(variables: int, days: int) -> float:
    """Return the cost of a place; `variables` counts each model and member."""
    share = variables / _FREE_VARIABLES
    return max(1.0, share, share * days / _FREE_DAYS)


def in_requests(places: Sequence[Asked], weight: float, keyless: bool) -> list[Sequence[Asked]]:
    """Split places into groups for one request each.

    The service checks before it counts, so without a key (`keyless`) a heavy request would pass and block those after
    it.
    """
    size = max(1, min(MAX_PLACES, int((PER_MINUTE if keyless else MAX_WEIGHT) // weight)))
    return [places[start : start + size] for start in range(0, len(places), size)]
