"""Past weather from Daymet's single-pixel service. The gauge's square kilometre, a year or more late.

Source of the shapes: daymet.ornl.gov/single-pixel. Radiation is already the mean over daylight, as in CAMELS.
"""

import csv
import io
from collections.abc import Iterator, Sequence

import numpy as np

from extensions.daymet.feed_kinds import DaymetSettings
from extensions.daymet.settings import DaymetService
from hydrology.base.calendar import Day, Period, day
from hydrology.base.errors import InvalidInput
from hydrology.base.products import Credit
from hydrology.base.series import first_needed, with_lacking_days
from ingestion.daily import daily_series
from ingestion.feeds.base import FeedProblem, FetchedBasinData, FetchWindow, Observations, Site, each, possible
from ingestion.feeds.http import Broken, FeedAccess, Service
from ingestion.feeds.points import OverPoints

PATH = "/single-pixel/api/data"
_COLUMNS = {
    "dayl (s)": ("daylength", "s"),
    "prcp (mm/day)": ("precipitation", "mm/day"),
    "srad (W/m^2)": ("srad", "W/m2"),
    "swe (kg/m^2)": ("swe", "mm"),  # a kilogram of water on a square metre is a millimetre deep
    "tmax (deg c)": ("tmax", "degC"),
    "tmin (deg c)": ("tmin", "degC"),
    "vp (Pa)": ("vp", "Pa"),
}
"""Our variable and its unit, by the column's name with unit."""
_NO_DATA = -9999.0
_VARIABLES = ",".join(name.partition(" ")[0] for name in _COLUMNS)

Table = tuple[list[Day], dict[str, list[float]]]


class DaymetFeed:
    """The weather of past years at gauges, one request per gauge."""

    credit = Credit("Daymet daily surface weather data, ORNL DAAC (doi:10.3334/ORNLDAAC/2129).", "no restrictions")

    def __init__(self, service: Service) -> None:
        self._service = service

    def fetch(self, sites: Sequence[Site], wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield the requested days' weather, with 31 December of leap years filled."""
        return each(sites, lambda: None, lambda site, _: self._observations(site, wanted))

    def _observations(self, site: Site, wanted: FetchWindow) -> Observations:
        latitude, longitude = site.place()
        params = {"lat": str(latitude), "lon": str(longitude), "vars": _VARIABLES, "format": "csv"}
        params |= {"start": str(first_needed(wanted.days.first)), "end": str(wanted.days.last)}
        days, columns = self._service.read(_table, PATH, params)
        last = wanted.last_of(site)
        inside = [at for at, each in enumerate(days) if each <= last]
        origin = f"{self._service.base}{PATH} {site.basin} at {latitude:g},{longitude:g}"
        if not inside or last < wanted.days.first:
            return Observations({}, origin)
        variables = {}
        for name, values in columns.items():
            variable, unit = _COLUMNS[name]
            given = with_lacking_days(daily_series(np.array(days)[inside], np.array(values)[inside], unit), last)
            part = given.period.overlap(Period(wanted.days.first, last))
            if part is not None:
                variables[variable] = given.over(part)
        return possible(site.basin, Observations(variables, origin))


def weather_feed(_settings: DaymetSettings, access: FeedAccess) -> OverPoints:
    """Open a feed of past weather."""
    return OverPoints(DaymetFeed(access.service(DaymetService.load().daymet_url)))


def _table(body: bytes) -> Table:
    """Parse comments, a line of names, and values into days and columns."""
    lines = body.decode("utf-8", errors="replace").splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith("year,yday")), None)
    if start is None:
        raise Broken("the answer has no table")
    reader = csv.DictReader(io.StringIO("\n".join(lines[start:])))
    if missing := [name for name in _COLUMNS if name not in (reader.fieldnames or [])]:
        raise FeedProblem(f"Daymet's answer lacks {', '.join(missing)}, or has it in another unit.")
    days: list[Day] = []
    columns: dict[str, list[float]] = {name: [] for name in _COLUMNS}
    try:
        for row in reader:
            days.append(_day(float(row["year"]), int(row["yday"])))
            for name in _COLUMNS:
                columns[name].append(_finite(row[name]))
    except (csv.Error, KeyError, ValueError, OverflowError, TypeError, InvalidInput):
        raise Broken("a line of the answer's table is not whole") from None
    return days, columns


def _day(year: float, number: int) -> Day:
    """Return a day of Daymet's calendar, which has 29 February and lacks 31 December of leap years."""
    if not 1 <= number <= 365:
        raise ValueError("the years of Daymet have 365 days")
    return day(f"{int(year):04}-01-01") + np.timedelta64(number - 1, "D")


def _finite(text: str) -> float:
    value = float(text)
    return np.nan if not np.isfinite(value) or value == _NO_DATA else value
