"""The interface of feeds. Data of each requested basin, or the reason for none."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

import numpy as np

from hydrology.base.basins import TIME_ZONE, gauge_product
from hydrology.base.calendar import Day, Period, last_ended_day, zone_of_longitude
from hydrology.base.digests import sha256
from hydrology.base.errors import Problem, printable
from hydrology.base.products import WEATHER, Credit
from hydrology.base.series import DailySeries
from hydrology.weather.forcing import WeatherForecast
from hydrology.weather.runoff import unit_hint
from ingestion.base import BasinData, SourceFile, SourceSeries
from jobspec.levels import NewCategories, NewRating

Answer = TypeVar("Answer")


class FeedProblem(Problem):
    """A service does not deliver the requested data. The text names it, without key and query, and the cause."""

    kind = "feed-failed"
    exit_code = 4


class RunUnavailable(FeedProblem):
    """The service does not have a run of a model."""


@dataclass(frozen=True, slots=True)
class Site:
    """A basin in a request to a feed.

    Attributes:
        latitude, longitude: of the gauge, degrees; None where unknown.
        time_zone: sets its calendar days; None where not known yet.
        fetched_at: when the feed last delivered its usual days; later revisions are requested too.
        points: latitude and longitude of each point that its weather is averaged over; empty for the gauge alone.
        outline: closed rings of latitude and longitude; empty where unknown.
        elevation: its mean, m; None where unknown.
    """

    basin: str
    latitude: float | None = None
    longitude: float | None = None
    time_zone: str | None = None
    fetched_at: datetime | None = None
    points: tuple[tuple[float, float], ...] = ()
    outline: Sequence[Sequence[Sequence[float]]] = ()
    elevation: float | None = None

    def place(self) -> tuple[float, float]:
        """Return latitude and longitude; FeedProblem where unknown."""
        if self.latitude is None or self.longitude is None:
            raise FeedProblem(f"The location of {self.basin} is not known: give its latitude and longitude.")
        return self.latitude, self.longitude


@dataclass(frozen=True, slots=True)
class FetchWindow:
    """The days requested.

    Days that have not ended at the gauge are never taken; `now` is the service's time, in UTC.
    """

    days: Period
    now: datetime

    def last_of(self, site: Site, time_zone: str | None = None) -> Day:
        """Return the last requested day that has ended at a site.

        `time_zone` is the one from the source; else it is the known one, else that of its meridian.
        """
        zone = time_zone or site.time_zone or zone_of_longitude(site.longitude or 0)
        return min(self.days.last, last_ended_day(self.now, zone))


@dataclass(frozen=True, slots=True)
class Observations:
    """Observations of a basin from a feed.

    `variables` is empty without data of the requested days. `since` is the first day of the record that the source
    states to have; None where it states none.
    """

    variables: Mapping[str, DailySeries]
    origin: str
    time_zone: str | None = None
    since: Day | None = None

    @property
    def file(self) -> SourceFile:
        """What stands for them as a file: their origin, and the checksum of their days and values."""
        return SourceFile(printable(self.origin), *_digest(self.variables))

    def as_data(self, basin: str, product: str | None) -> BasinData:
        """Return them as source data of a basin.

        Without a product it is discharge, which is stored under the gauge's product.
        """
        file = self.file
        series = tuple(
            SourceSeries(gauge_product(basin) if name == "discharge" else str(product), name, daily, file)
            for name, daily in self.variables.items()
        )
        texts = {} if self.time_zone is None else {TIME_ZONE: self.time_zone}
        return BasinData(basin, texts=texts, series=series, files=(file,))


@dataclass(frozen=True, slots=True)
class MeasuredFlow:
    """The newest flow that a gauge has measured, m3/s, and when, in UTC."""

    at: datetime
    m3s: float


Content = Observations | WeatherForecast | MeasuredFlow | NewRating | NewCategories | None
"""What a feed brings of a basin."""


@dataclass(frozen=True, slots=True)
class FetchedBasinData:
    """A feed's result for one basin: data, None where its service has no such table, or the reason for none."""

    basin: str
    content: Content | Problem

    @property
    def file(self) -> SourceFile | None:
        """What stands for the data as a file, with their checksum; None where there are none."""
        match self.content:
            case Observations() as observed:
                return observed.file if observed.variables else None
            case WeatherForecast() as forecast:
                issue = forecast.issue
                name = f"{issue.source} {issue.model} {issue.reference_time:%Y-%m-%dT%H:%MZ} {self.basin}"
                traces = {
                    f"{variable} {label}": DailySeries(
                        forecast.first, values[row], np.zeros(values.shape[1], np.uint8), forecast.units[variable]
                    )
                    for variable, values in forecast.values.items()
                    for row, label in enumerate(forecast.traces)
                }
                return SourceFile(name, *_digest(traces))
            case _:
                return None


class Feed(Protocol):
    """A service that delivers data of basins."""

    @property
    def credit(self) -> Credit:
        """The credit to show with its data."""
        ...

    def fetch(self, sites: Sequence[Site], wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield for every site its complete data, or the reason for none, in any order."""
        ...


class PastForecasts(Protocol):
    """The past runs of a service's weather model."""

    @property
    def source(self) -> str: ...

    @property
    def model(self) -> str: ...

    def announce(self, runs: Sequence[Sequence[Site]]) -> None:
        """Report the cost of runs, each of some sites, before the first request."""
        ...

    def run(self, began: datetime) -> Feed:
        """Return the run of a reference time as a feed, which raises RunUnavailable where the service lacks it."""
        ...


def each(
    sites: Sequence[Site], ask: Callable[[], Answer], content: Callable[[Site, Answer], Content]
) -> Iterator[FetchedBasinData]:
    """Yield what one answer of a service has for each site, or the reason for nothing.

    A FeedProblem of `ask`, which requests all sites, is the reason of each; `content` may raise a Problem for one site.
    """
    try:
        answer = ask()
    except FeedProblem as problem:
        yield from (FetchedBasinData(site.basin, problem) for site in sites)
        return
    for site in sites:
        try:
            given = FetchedBasinData(site.basin, content(site, answer))
        except Problem as problem:
            given = FetchedBasinData(site.basin, problem)
        yield given


def possible(basin: str, weather: Observations) -> Observations:
    """Refuse impossible values of weather, such as sentinels or other units."""
    for name, daily in weather.variables.items():
        limits = WEATHER.get(name)
        if limits is None:
            continue
        outside = (daily.values < limits.lowest) | (daily.values > limits.highest)
        if outside.any():
            raise FeedProblem(
                f"{name} of {basin} on {daily.days[int(outside.argmax())]} is outside {limits.lowest:g} to "
                f"{limits.highest:g} {limits.unit}{unit_hint(name, daily.values)}: nothing of the basin was taken."
            )
    return weather


def _digest(variables: Mapping[str, DailySeries]) -> tuple[str, int]:
    """Return the SHA-256 and the size of the series' content, so that equal content is one source."""
    content = b"".join(
        f"{name} {daily.unit} {daily.start} ".encode() + daily.values.tobytes() + daily.flags.tobytes()
        for name, daily in sorted(variables.items())
    )
    return sha256(content), len(content)
