"""Past weather forecasts from Open-Meteo: runs of a model as they were issued, from its API of single runs.

It has ECMWF's `ecmwf_ifs` since 2024-03-14, other models since 2026-04-02, and no ensembles. Source:
open-meteo.com/en/docs/single-runs-api.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import numpy as np

from extensions.openmeteo.asking import (
    MAX_DAYS,
    PER_MINUTE,
    SOURCE,
    Model,
    PlacesByBasin,
    in_requests,
    placed,
    required,
    usable,
    weight_of_place,
)
from extensions.openmeteo.columns import UNITS
from extensions.openmeteo.extents import Extents
from extensions.openmeteo.forecast import weather_forecast
from hydrology.base.calendar import Day, begin_of, day, zone
from hydrology.base.products import Credit
from hydrology.weather.forcing import WeatherForecast
from ingestion.feeds.base import FeedProblem, FetchedBasinData, FetchWindow, Site, each
from ingestion.feeds.http import Refused, Service
from ingestion.feeds.points import OverPoints

PATH = "/v1/forecast"
USUAL_DELAY = timedelta(hours=6)
"""From the reference time of a run until the service has it: 4 to 6 hours for global models. Source: as above."""
_MINUTE = 60.0


class OpenMeteoPastRuns:
    """The past runs of a model, such as `ecmwf_ifs` or `ncep_gfs_seamless`."""

    source = SOURCE

    def __init__(self, service: Service, model: str, report: Callable[[str], None] = lambda _sentence: None) -> None:
        self._model = Model(service, PATH, model, report)
        self._weight = weight_of_place(len(UNITS), MAX_DAYS)
        self._owed = 0.0
        self._hourly = False  # once the service has refused days

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._model.name

    @property
    def credit(self) -> Credit:
        """The credit to show with the forecasts."""
        return self._model.credit

    def announce(self, runs: Sequence[Sequence[Site]]) -> None:
        """Report the cost of runs, each of some sites, before the first request."""
        places = sum(max(1, len(site.points)) for sites in runs for site in sites)
        self._model.announce(places, self._weight, len(runs))

    def run(self, began: datetime) -> OverPoints:
        """Return the run of a reference time as a feed, averaged over the points of a basin."""
        return OverPoints(PastRun(self, began))

    def ask(self, sites: Sequence[Site], began: datetime) -> tuple[PlacesByBasin, Extents]:
        """Request a run at some sites, no faster than the service allows without a key; return places and extents.

        The service does not give days of a run that begins within a day of the gauge: then hours are asked for.
        """
        since = partial(first_whole_day, began)
        places = self._model.places(sites, self._answer(sites, began))
        return places, Extents.of(usable(places), since)

    def _answer(self, sites: Sequence[Site], began: datetime) -> dict[str, Any]:
        days = {"run": f"{began:%Y-%m-%dT%H:%M}", "forecast_days": MAX_DAYS}
        try:
            self._pace(sites)
            return self._model.ask(sites, days, hourly=self._hourly)
        except Refused as refused:
            if self._hourly or all(_begins_a_day(began, site.time_zone) for site in sites):
                raise
            try:
                self._pace(sites)
                answer = self._model.ask(sites, days, hourly=True)
            except Refused:
                raise refused from None
        self._hourly = True
        return answer

    def _pace(self, sites: Sequence[Site]) -> None:
        if self._owed:
            self._model.service.pause(self._owed)
        self._owed = self._weight * len(sites) * _MINUTE / PER_MINUTE if self._model.keyless else 0.0

    def parts(self, sites: Sequence[Site]) -> list[Sequence[Site]]:
        """Split sites into groups for one request each."""
        return in_requests(sites, self._weight, self._model.keyless)

    def forecast(self, site: Site, answer: tuple[PlacesByBasin, Extents], began: datetime) -> WeatherForecast:
        """Return a run at a site, available when a forecast of its time would have had it."""
        places, extents = answer
        of = required(places, site)
        if len(of.members) != 1:
            raise FeedProblem(f"{self._model.name} has several members for {site.basin}: nothing of it was taken.")
        if begin_of(of.days[0] + np.timedelta64(1, "D"), of.time_zone) <= began:
            raise FeedProblem(
                f"{self._model.name} of {site.basin}: its first day, {of.days[0]}, had ended when the run of "
                f"{began:%Y-%m-%dT%H:%MZ} began: its days are listed too early, and nothing of it was taken. Report it "
                "to the service."
            )
        extents.require(self._model.name, site.basin, of)
        return weather_forecast(self._model, site, of, (began, began + USUAL_DELAY), extents.since)


class PastRun:
    """A past run of a model, as a feed."""

    def __init__(self, runs: OpenMeteoPastRuns, began: datetime) -> None:
        self._runs, self._began = runs, began
        self.credit = runs.credit

    def fetch(self, sites: Sequence[Site], wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield the forecast of each gauge, from the first whole day after the beginning of the run."""
        if self._began + USUAL_DELAY > wanted.now:
            raise FeedProblem(f"The run of {self._began:%Y-%m-%dT%H:%MZ} is not past yet: ask for an earlier one.")
        known, unknown = placed(sites)
        yield from unknown
        for part in self._runs.parts(known):
            yield from each(part, partial(self._runs.ask, part, self._began), self._content)

    def _content(self, site: Site, answer: tuple[PlacesByBasin, Extents]) -> WeatherForecast:
        return self._runs.forecast(site, answer, self._began)


def first_whole_day(began: datetime, time_zone: str) -> Day:
    """Return the first day of a time zone that begins when a run does, or later."""
    local = began.astimezone(UTC).astimezone(zone(time_zone))
    starts = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return day(local.date()) + np.timedelta64(int(local > starts), "D")


def _begins_a_day(began: datetime, time_zone: str | None) -> bool:
    """Return whether an instant begins a day of a time zone. False where the zone is not known."""
    return time_zone is not None and began == begin_of(day(began.astimezone(zone(time_zone)).date()), time_zone)
