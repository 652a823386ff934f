"""Weather forecasts from Open-Meteo. One trace, or an ensemble's members, of one named model."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np

from extensions.openmeteo.asking import SOURCE, Model, Place, PlacesByBasin, converted, placed, required, usable
from extensions.openmeteo.columns import UNITS
from extensions.openmeteo.extents import Expected, Extents, FirstDay, whole_days
from hydrology.base.calendar import Day, last_ended_day
from hydrology.base.errors import counted
from hydrology.base.products import WEATHER
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from ingestion.feeds.base import FeedProblem, FetchedBasinData, FetchWindow, Site, each
from ingestion.feeds.http import Broken, Service, parsed

LATE_AFTER = timedelta(minutes=20)
"""Beyond the interval between two runs, the next is late. Source: Open-Meteo's model updates page."""
MAX_INTERVAL = timedelta(days=31)
"""Longest interval between two runs of a model."""


@dataclass(frozen=True, slots=True)
class ModelRun:
    """The newest run of a model.

    `began` is its reference time; `until`, the end of its data, is None where the service does not state it.
    """

    began: datetime
    available: datetime
    interval: timedelta
    until: datetime | None = None


class OpenMeteoForecast:
    """The weather of the days ahead at gauges.

    Args:
        path: `/v1/forecast` or `/v1/ensemble`.
        model: `ecmwf_ifs`, `ncep_gefs025`, …: one whose runs the service lists, so not a blend of several.
        days: number of days, today included.
        members: number of members of each place, the control included; 1 for a forecast of one trace.
        behind: number of days before today to include, from the model's runs of those days.
    """

    def __init__(
        self,
        service: Service,
        path: str,
        model: str,
        days: int,
        members: int = 1,
        report: Callable[[str], None] = lambda _sentence: None,
        behind: int = 0,
    ) -> None:
        self._model = Model(service, path, model, report)
        self._days, self._members, self._behind = days, members, behind
        self.credit = self._model.credit

    def fetch(self, sites: Sequence[Site], wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield the newest forecast of each gauge, over the days with every variable of every member."""
        known, unknown = placed(sites)
        yield from unknown
        parts = self._model.parts(known, self._members, self._behind + self._days)
        run = self._run(wanted.now)
        if run.available + run.interval + LATE_AFTER < wanted.now:
            self._model.report(f"{self._model.name} is late: its newest run is of {run.began:%Y-%m-%dT%H:%MZ}.")
        for part in parts:
            yield from each(part, partial(self._ask, part, wanted.now), partial(self._content, now=wanted.now))

    def _ask(self, sites: Sequence[Site], now: datetime) -> tuple[ModelRun, PlacesByBasin, Extents]:
        """Request sites; return the run that the answer is of, its places and their extents."""
        run = self._run(now)
        days = {"forecast_days": self._days} | ({"past_days": self._behind} if self._behind else {})
        answer = self._model.ask(sites, days)
        if self._run(now) != run:
            raise FeedProblem(f"{self._model.name} was updated while it was asked for. Nothing was taken: fetch again.")
        places = self._model.places(sites, answer)
        return run, places, Extents.of(usable(places))

    def _run(self, now: datetime) -> ModelRun:
        """Return the model's newest run; one after the clock's time is refused."""
        run = self._model.service.read(_run, f"/data/{self._model.name}/static/meta.json")
        if run.available > now:
            raise FeedProblem(
                f"{self._model.name} is stated as available at {run.available:%Y-%m-%dT%H:%MZ}, and this service's "
                f"clock is at {now:%Y-%m-%dT%H:%MZ}: a forecast from the future is not taken."
            )
        return run

    def _content(self, site: Site, answer: tuple[ModelRun, PlacesByBasin, Extents], now: datetime) -> WeatherForecast:
        run, places, extents = answer
        of = required(places, site)
        if len(of.members) != self._members:
            raise FeedProblem(
                f"{self._model.name} has {counted(len(of.members), 'member')} for {site.basin}, not "
                f"{self._members}: nothing of "
                "it was taken."
            )
        expected = Expected(partial(self._first, now), self._behind + self._days, run.until)
        extents.require(self._model.name, site.basin, of, expected)
        return weather_forecast(self._model, site, of, (run.began, run.available))

    def _first(self, now: datetime, time_zone: str) -> Day:
        return last_ended_day(now, time_zone) + np.timedelta64(1 - self._behind, "D")


def weather_forecast(
    model: Model, site: Site, of: Place, times: tuple[datetime, datetime], since: FirstDay | None = None
) -> WeatherForecast:
    """Return an answer about a site as a weather forecast, over the days with every variable of every member.

    `times` are the reference time of its run, and when it was available.
    """
    days, (latitude, _) = whole_days(of, since), site.place()
    if not len(days):
        raise FeedProblem(f"{model.name} has no whole day for {site.basin}: nothing of it was taken.")
    whole = (of.days >= days[0]) & (of.days <= days[-1])
    issue = WeatherIssue(
        source=SOURCE,
        model=model.name,
        reference_time=times[0],
        available_time=times[1],
        licence=model.credit.licence,
        credit=model.credit.credit,
    )
    labels = tuple(sorted(of.members))
    numbers = {name: np.stack([of.members[label][name][whole] for label in labels]) for name in UNITS}
    values = {name: array.astype(np.float32) for name, array in converted(numbers, days, latitude).items()}
    units = {name: WEATHER[name].unit for name in values}
    return WeatherForecast(issue=issue, basin=site.basin, traces=labels, first=days[0], values=values, units=units)


def _run(body: bytes) -> ModelRun:
    result = parsed(body)
    names = ("last_run_initialisation_time", "last_run_availability_time", "update_interval_seconds")
    try:
        began, available, interval = (float(result[name]) for name in names)
        run = ModelRun(
            *(datetime.fromtimestamp(began, UTC), datetime.fromtimestamp(available, UTC), timedelta(seconds=interval)),
            until=datetime.fromtimestamp(float(result["data_end_time"]), UTC) if result.get("data_end_time") else None,
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, OSError):
        raise Broken("the answer does not state the model's run") from None
    if not timedelta(0) < run.interval <= MAX_INTERVAL or run.began > run.available:
        raise Broken("the answer states an impossible run")
    return run
