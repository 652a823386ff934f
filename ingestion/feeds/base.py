"""What every feed gives: of each basin that it is asked for, what it holds or why it gives nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Days, Period, last_ended_day, zone_of_longitude
from hydrology.base.credit import Credit
from hydrology.base.errors import Problem
from hydrology.base.series import DailySeries, Flag, Flags
from hydrology.base.variables import WEATHER
from hydrology.weather.forcing import WeatherForecast
from hydrology.weather.unit_hints import unit_hint
from ingestion.base import BasinData, SourceFile, SourceSeries


class FeedProblem(Problem):
    """A service does not give what it was asked for. The text names it, without key and query, and the cause."""

    kind = "feed-failed"
    exit_code = 4


@dataclass(frozen=True, slots=True)
class Site:
    """A basin as a feed is asked for it.

    Attributes:
        basin: the full identifier.
        latitude, longitude: of the gauge, degrees; None where they are not known.
        time_zone: whose calendar days its days are; None where it is not known yet.
        fetched_at: when the feed last gave something of it; what was revised since then is asked for too.
        points: latitude and longitude of each point that its weather is averaged over; none: the gauge alone.
    """

    basin: str
    latitude: float | None = None
    longitude: float | None = None
    time_zone: str | None = None
    fetched_at: datetime | None = None
    points: tuple[tuple[float, float], ...] = ()

    def place(self) -> tuple[float, float]:
        """Return latitude and longitude.

        Raises:
            FeedProblem: they are not known.
        """
        if self.latitude is None or self.longitude is None:
            raise FeedProblem(f"The place of {self.basin} is not known: give its latitude and longitude.")
        return self.latitude, self.longitude


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which days are asked for.

    Attributes:
        days: from the first to the last; those that have not ended where the gauge is are never taken.
        now: the service's time, in UTC.
    """

    days: Period
    now: datetime

    def last_of(self, site: Site, time_zone: str | None = None) -> Day:
        """Return the last day wanted of a site: it has ended there.

        Args:
            time_zone: of the site, as the source tells it; else the one that is known, else that of its meridian.
        """
        zone = time_zone or site.time_zone or zone_of_longitude(site.longitude or 0)
        return min(self.days.last, last_ended_day(self.now, zone))


@dataclass(frozen=True, slots=True)
class Observations:
    """What a feed gave of what was observed in a basin.

    Attributes:
        variables: daily series by variable; none where the feed holds nothing of the days asked for.
        origin: where they came from, as shown to people.
        time_zone: of the gauge, where the source tells it.
    """

    variables: Mapping[str, DailySeries]
    origin: str
    time_zone: str | None = None

    @property
    def file(self) -> SourceFile:
        """What stands for them as a file: their origin, and the checksum of their days and values."""
        return SourceFile(self.origin, *_digest(self.variables))

    def as_data(self, basin: str, product: str | None) -> BasinData:
        """Return them as a source's data of a basin.

        Args:
            product: that weather is kept under; None for a feed of discharge, which is kept under its gauge's.
        """
        file = self.file
        series = tuple(
            SourceSeries(gauge_product(basin) if name == "discharge" else str(product), name, daily, file)
            for name, daily in self.variables.items()
        )
        texts = {} if self.time_zone is None else {"time_zone": self.time_zone}
        return BasinData(basin, None, None, None, None, {}, {}, texts, series, (file,))


@dataclass(frozen=True, slots=True)
class Given:
    """What a feed gave of one basin: observations, a weather forecast, or the reason for which it gave nothing."""

    basin: str
    content: Observations | WeatherForecast | Problem

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
    """A service that is asked for basins."""

    @property
    def credit(self) -> Credit:
        """What is to be said wherever its data are shown."""
        ...

    def fetch(self, sites: Sequence[Site], wanted: Wanted) -> Iterator[Given]:
        """Give of every site what the service holds, whole, or the reason for which it gives nothing, in any order."""
        ...


def placed(sites: Sequence[Site]) -> tuple[list[Site], list[Given]]:
    """Return the sites whose place is known, and the reason for which nothing can be given of the others."""
    known, unknown = [], []
    for site in sites:
        try:
            site.place()
            known.append(site)
        except FeedProblem as problem:
            unknown.append(Given(site.basin, problem))
    return known, unknown


def daily_series(days: Days, values: npt.NDArray[np.float64], unit: str, flags: Flags | None = None) -> DailySeries:
    """Return the values of days in any order as a series from the first to the last; days between them are ABSENT.

    Args:
        flags: of the values; by default MISSING where one is NaN.
    """
    if flags is None:
        flags = np.where(np.isnan(values), Flag.MISSING, 0).astype(np.uint8)
    places = (days - days.min()).astype(np.int64)
    length = int(places.max()) + 1
    all_values, all_flags = np.full(length, np.nan), np.full(length, Flag.ABSENT, dtype=np.uint8)
    all_values[places], all_flags[places] = values, flags
    return DailySeries(days.min(), all_values, all_flags, unit)


def possible(basin: str, weather: Observations) -> Observations:
    """Return weather whose every value the Earth can have.

    Raises:
        FeedProblem: one is outside the limits, as a sentinel or another unit would be.
    """
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
    """Return the SHA-256 and the size of what series say, so that the same days and values are one source."""
    digest, size = sha256(), 0
    for name, daily in sorted(variables.items()):
        content = f"{name} {daily.unit} {daily.start} ".encode() + daily.values.tobytes() + daily.flags.tobytes()
        digest.update(content)
        size += len(content)
    return digest.hexdigest(), size
