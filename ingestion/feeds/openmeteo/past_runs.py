"""Past weather forecasts from Open-Meteo: runs of a model as they were issued, from its API of single runs.

It has ECMWF's `ecmwf_ifs` since 2024-03-14, other models since 2026-04-02, and no ensembles. Source:
open-meteo.com/en/docs/single-runs-api.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import numpy as np

from hydrology.base.calendar import Day, day, zone
from hydrology.base.credit import Credit
from hydrology.weather.forcing import WeatherForecast
from ingestion.feeds.base import FeedProblem, Given, Site, Wanted, each, placed
from ingestion.feeds.http import Service
from ingestion.feeds.openmeteo.asking import MAX_DAYS, PER_MINUTE, UNITS, Model, in_requests, weight_of_place
from ingestion.feeds.openmeteo.forecast import weather_forecast

PATH = "/v1/forecast"
USUAL_DELAY = timedelta(hours=6)
"""From the reference time of a run until the service has it: 4 to 6 hours for global models. Source: as above."""
_MINUTE = 60.0


class OpenMeteoPastRuns:
    """The past runs of a model.

    Args:
        service: the host of single runs.
        model: `ecmwf_ifs`, `ncep_gfs_seamless`, …
        report: called with the cost of a fetch, before its first request.
    """

    def __init__(self, service: Service, model: str, report: Callable[[str], None] = lambda _sentence: None) -> None:
        self._model = Model(service, PATH, model, report)
        self._weight = weight_of_place(len(UNITS), MAX_DAYS)
        self._owed = 0.0

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._model.name

    @property
    def credit(self) -> Credit:
        """The credit to show with the forecasts."""
        return self._model.credit

    def announce(self, runs: Sequence[Sequence[Site]]) -> None:
        """Report the cost of runs, each of some sites, before the first request.

        Raises:
            FeedProblem: they cost more than the service allows.
        """
        places = sum(max(1, len(site.points)) for sites in runs for site in sites)
        self._model.announce(places, self._weight, len(runs))

    def of(self, began: datetime) -> "PastRun":
        """Return the run of a reference time."""
        return PastRun(self, began)

    def ask(self, sites: Sequence[Site], began: datetime) -> dict[str, Any]:
        """Request a run at some sites, no faster than the service allows without a key."""
        if self._owed:
            self._model.service.pause(self._owed)
        self._owed = self._weight * len(sites) * _MINUTE / PER_MINUTE if self._model.keyless else 0.0
        return self._model.ask(sites, {"run": f"{began:%Y-%m-%dT%H:%M}", "forecast_days": MAX_DAYS})

    def parts(self, sites: Sequence[Site]) -> list[Sequence[Site]]:
        """Split sites into groups for one request each."""
        return in_requests(sites, self._weight, self._model.keyless)

    def forecast(self, site: Site, answer: dict[str, Any], began: datetime) -> WeatherForecast:
        """Return a run at a site, available when a forecast of its time would have had it.

        Raises:
            FeedProblem: the answer is of another shape, place, model or unit, has several members or no whole day.
        """
        of = self._model.place(site, answer)
        if len(of.members) != 1:
            raise FeedProblem(f"{self._model.name} has several members for {site.basin}: nothing of it was taken.")
        return weather_forecast(
            self._model, site, of, (began, began + USUAL_DELAY), first_whole_day(began, of.time_zone)
        )


class PastRun:
    """A past run of a model, as a feed."""

    def __init__(self, runs: OpenMeteoPastRuns, began: datetime) -> None:
        self._runs, self._began = runs, began
        self.credit = runs.credit

    def fetch(self, sites: Sequence[Site], wanted: Wanted) -> Iterator[Given]:
        """Yield the forecast of each gauge, from the first whole day after the beginning of the run.

        Raises:
            FeedProblem: the run is not past.
        """
        if self._began + USUAL_DELAY > wanted.now:
            raise FeedProblem(f"The run of {self._began:%Y-%m-%dT%H:%MZ} is not past yet: ask for an earlier one.")
        known, unknown = placed(sites)
        yield from unknown
        for part in self._runs.parts(known):
            yield from each(part, partial(self._runs.ask, part, self._began), self._content)

    def _content(self, site: Site, answer: dict[str, Any]) -> WeatherForecast:
        return self._runs.forecast(site, answer, self._began)


def first_whole_day(began: datetime, time_zone: str) -> Day:
    """Return the first day of a time zone that begins when a run does, or later."""
    local = began.astimezone(UTC).astimezone(zone(time_zone))
    starts = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return day(local.date()) + np.timedelta64(int(local > starts), "D")
