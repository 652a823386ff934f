"""What the local server knows: gauges, their flow and weather, the time, and what goes wrong on which day."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Day, Period, as_date, day, last_ended_day
from hydrology.base.series import DailySeries, Flag

Fault = Literal[
    "usgs-repeated-cursor",
    "usgs-next-elsewhere",
    "usgs-ice-null",
    "usgs-estimated-ice",
    "usgs-qualifier-text",
    "usgs-two-series",
    "usgs-empty",
    "usgs-no-head",
    "usgs-400",
    "usgs-403",
    "usgs-429",
    "usgs-500-page-2",
    "usgs-truncated",
    "usgs-revised-row",
    "usgs-thousands",
    "usgs-tide",
    "meteo-no-location-id",
    "meteo-shifted-grid",
    "meteo-null-tail",
    "meteo-unequal-lengths",
    "meteo-400",
    "meteo-429-minutely",
    "meteo-stream-break",
    "meteo-stale",
    "meteo-run-days-refused",
    "meteo-run-days-early",
    "ratings-500",
    "ratings-404",
    "ratings-elsewhere",
    "ratings-cut-off",
    "nwps-500",
    "nwps-404",
    "nwps-no-flows",
    "nwps-nothing",
    "daymet-8-lead-lines",
    "daymet-400",
]
FAULTS: tuple[Fault, ...] = get_args(Fault)

_STANDARD_TIME = (  # the easternmost longitude that it ends at in the west, its USGS abbreviation, its zone
    (-85.0, "EST", "America/New_York"),
    (-102.0, "CST", "America/Chicago"),
    (-114.0, "MST", "America/Denver"),
    (-180.0, "PST", "America/Los_Angeles"),
)


@dataclass(frozen=True, slots=True)
class Revision:
    """A day of a gauge that its source changes.

    Attributes:
        at: when.
        value: in cfs, from then on.
    """

    basin: str
    day: Day
    at: datetime
    value: float


@dataclass(frozen=True, slots=True)
class Gauge:
    """A gauge.

    Attributes:
        flow: discharge in cfs, with flags.
        weather: precipitation, tmax, tmin, srad and vp, in the units of `hydrology.base.products.WEATHER`.
    """

    basin: str
    latitude: float
    longitude: float
    area_m2: float
    flow: DailySeries
    weather: Mapping[str, DailySeries]

    @property
    def number(self) -> str:
        """Its USGS site number."""
        return self.basin.removeprefix("USGS-")

    @property
    def series(self) -> str:
        """The id of its series of daily mean discharge."""
        return f"{int(self.number):032x}"

    @property
    def standard_time(self) -> tuple[str, str]:
        """The abbreviation of its standard time, and its time zone."""
        return next((name, zone) for west, name, zone in _STANDARD_TIME if self.longitude >= west)


@dataclass(slots=True)
class World:
    """All that can be asked for.

    Attributes:
        gauges: by basin.
        now: the time; what has not happened by then is not reported.
        faults: what goes wrong, by the UTC day of `now`.
        revisions: what sources change.
        page_size: features a page, if fewer than asked for.
        flow_latency, weather_latency: days until an ended day's values are there.
        members: of the ensemble, the control included.
        key: that every request must send; None is any or none.
        requests: the method, path, query and headers of every request.
        ratings: the rating file of gauges, by basin; categories: their official categories, as `flood` of the service.
        missing_runs: past runs that the service does not have, like `2026-11-01T00:00`.
        played: how often each fault went wrong, by the UTC day.
    """

    gauges: Mapping[str, Gauge]
    now: datetime
    faults: Mapping[Day, Iterable[Fault]] = field(default_factory=dict)
    revisions: list[Revision] = field(default_factory=list)
    page_size: int = 10_000
    flow_latency: int = 0
    weather_latency: int = 0
    members: int = 31
    key: str | None = None
    requests: list[tuple[str, str, str, Mapping[str, str]]] = field(default_factory=list)
    ratings: dict[str, str] = field(default_factory=dict)
    categories: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing_runs: set[str] = field(default_factory=set)
    played: Counter[tuple[Day, Fault]] = field(default_factory=Counter)
    _placed: tuple[Mapping[str, Gauge], npt.NDArray[np.float64]] | None = None

    @property
    def places(self) -> npt.NDArray[np.float64]:
        """Latitude and longitude of the gauges, [2, gauges], for which many are searched."""
        if self._placed is None or self._placed[0] is not self.gauges:
            places = np.array([(gauge.latitude, gauge.longitude) for gauge in self.gauges.values()]).T
            self._placed = self.gauges, places
        return self._placed[1]

    @property
    def today(self) -> Day:
        """The day of `now` in UTC."""
        return day(self.now.astimezone(UTC).date())

    def has(self, fault: Fault) -> bool:
        """Whether something goes wrong today; asked where it does."""
        wrong = fault in self.faults.get(self.today, ())
        self.played[self.today, fault] += wrong
        return wrong

    def once(self, fault: Fault) -> bool:
        """Whether something that happens once a day happens now."""
        return self.has(fault) and self.played[self.today, fault] == 1

    def flow(self, gauge: Gauge) -> DailySeries:
        """Return the discharge that is known by now, as revised by now."""
        values = gauge.flow.values.copy()
        for revision in self.revisions:
            if revision.basin == gauge.basin and revision.at <= self.now:
                values[int((revision.day - gauge.flow.start).astype(int))] = revision.value
        known = last_ended_day(self.now, gauge.standard_time[1]) - np.timedelta64(self.flow_latency, "D")
        return _until(replace(gauge.flow, values=values), known)

    def modified(self, basin: str, at: Day) -> datetime:
        """Return when a day's value was last changed: the day after it, or when it was revised."""
        revised = [one.at for one in self.revisions if (one.basin, one.day) == (basin, at) and one.at <= self.now]
        first = datetime.combine(as_date(at), datetime.min.time(), UTC) + timedelta(days=1, hours=17)
        return max([first, *revised])

    def past_weather(self, gauge: Gauge) -> Mapping[str, DailySeries]:
        """Return the weather that an archive knows by now."""
        known = last_ended_day(self.now, gauge.standard_time[1]) - np.timedelta64(self.weather_latency, "D")
        return {name: _until(series, known) for name, series in gauge.weather.items()}


def _until(series: DailySeries, last: Day) -> DailySeries:
    """Return the days of a series until a last one; before its first day, that one without a value."""
    if last >= series.period.last:
        return series
    if last < series.start:
        return DailySeries(series.start, np.array([np.nan]), np.array([Flag.ABSENT], dtype=np.uint8), series.unit)
    return series.over(Period(series.start, last))
