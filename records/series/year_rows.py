"""Daily series in rows of calendar years, with their arrivals and revisions; and damaged years.

A year whose checksum does not match is never read, and only a write with all of its days repairs it.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
from sqlalchemy import CheckConstraint, ForeignKey, Index, Row, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period, calendar_year, days_between
from hydrology.base.series import DailySeries, Flag
from records.database.checksums import Corrupt, Summed
from records.database.stored import stored, table_of

YEAR_SUMMED = Summed(("basin_id", "product", "variable", "year", "unit"), ("value_bytes", "flag_bytes"))


@stored(
    "series",
    CheckConstraint("length(flag_bytes) IN (365, 366)", name="days"),
    CheckConstraint("length(value_bytes) = 4 * length(flag_bytes)", name="values"),
    key=("basin_id", "product", "variable", "year"),
    summed=YEAR_SUMMED,
)
class _Year:
    """A calendar year of a daily series: little-endian float32 values and one flag byte per day.

    `unknown_days`: the number of those without a value.
    """

    basin_id: Annotated[str, ForeignKey("basins.id")]
    product: str
    variable: str
    year: int
    unit: str
    value_bytes: bytes
    flag_bytes: bytes
    source_id: Annotated[int, ForeignKey("sources.id")]
    revision: int
    updated_at: datetime
    unknown_days: int


@stored(
    "series_revisions",
    CheckConstraint("length(flag_bytes) > 0", name="days"),
    CheckConstraint("length(offset_bytes) = 2 * length(flag_bytes)", name="offsets"),
    CheckConstraint("length(value_bytes) = 4 * length(flag_bytes)", name="values"),
    key=("basin_id", "product", "variable", "year", "revision"),
    summed=Summed(
        ("basin_id", "product", "variable", "year", "revision"), ("offset_bytes", "value_bytes", "flag_bytes")
    ),
)
class _Revision:
    """The known days of a year that one write replaced: positions (uint16), old values and old flags.

    `revision` is that of the series row that was replaced.
    """

    basin_id: Annotated[str, ForeignKey("basins.id")]
    product: str
    variable: str
    year: int
    revision: int
    offset_bytes: bytes
    value_bytes: bytes
    flag_bytes: bytes
    old_source_id: Annotated[int, ForeignKey("sources.id")]
    new_source_id: Annotated[int, ForeignKey("sources.id")]
    replaced_at: datetime


@stored(
    "series_arrivals",
    CheckConstraint("first_day <= last_day", name="order"),
    Index(None, "basin_id", "product", "variable"),
    Index(None, "product", "last_day"),  # one row per day and series: the newest day is found without reading them
)
class _Arrival:
    """A range of days that became known at one instant."""

    id: int
    basin_id: Annotated[str, ForeignKey("basins.id")]
    product: str
    variable: str
    first_day: Day
    last_day: Day
    arrived_at: datetime
    source_id: Annotated[int, ForeignKey("sources.id")]


SERIES, REVISIONS, ARRIVALS = table_of(_Year), table_of(_Revision), table_of(_Arrival)
Mask = npt.NDArray[np.bool_]
VALUE = np.dtype("<f4")
OFFSET = np.dtype("<u2")


def january(year: int) -> Day:
    return np.datetime64(f"{year:04}-01-01", "D")


def years_of(period: Period) -> range:
    return range(calendar_year(period.first), calendar_year(period.last) + 1)


def calendar_years(first: int, last: int) -> Period:
    return Period(january(first), january(last + 1) - np.timedelta64(1, "D"))


def joined(rows: Iterable[Row[Any]], span: Period, unit: str) -> DailySeries:
    """Join stored years into one series over whole calendar years. Unstored years are ABSENT."""
    stored = {row.year: (row.value_bytes, row.flag_bytes) for row in rows}
    of_years = (stored.get(year) or _unstored(year) for year in years_of(span))
    values, flags = (bytearray().join(parts) for parts in zip(*of_years, strict=True))
    return DailySeries(span.first, np.frombuffer(values, VALUE), np.frombuffer(flags, np.uint8), unit)


@cache
def _unstored(year: int) -> tuple[bytes, bytes]:
    days = len(calendar_years(year, year))
    return np.full(days, np.nan, VALUE).tobytes(), np.full(days, Flag.ABSENT, np.uint8).tobytes()


def years_with(span: Period, mask: Mask) -> Iterator[tuple[int, slice]]:
    for year in years_of(span):
        days = slice(days_between(span.first, january(year)), days_between(span.first, january(year + 1)))
        if mask[days].any():
            yield year, days


def known(series: DailySeries) -> Mask:
    """Return which days of a series are known: those not ABSENT."""
    return np.asarray(series.flags & Flag.ABSENT == 0)


def trimmed(series: DailySeries) -> DailySeries | None:
    """Return a series over its known days. None if no day is known."""
    days = np.flatnonzero(known(series))
    return series.over(Period(series.start + days[0], series.start + days[-1])) if len(days) else None


_AGAIN = "ingest the whole year again, which replaces it, or restore a backup."


class DamagedSeries(Corrupt):
    """A stored year of a series is not as it was written."""

    kind = "damaged-series"
    remedy = "Ingest the whole year that `detail` names again, which replaces it, or restore a backup."

    def __init__(self, basin: str, product: str, variable: str, year: int, mending: str = _AGAIN) -> None:
        super().__init__(
            f"The stored {variable} of {product} in {basin} in {year} is damaged (its checksum does not match): "
            f"{mending}"
        )
        self.basin = basin


READ = tuple(SERIES.c[name] for name in (*YEAR_SUMMED.names, *YEAR_SUMMED.contents, "checksum"))
"""The columns of years to read."""


def whole(rows: Iterable[Any]) -> Iterator[Any]:
    """Yield stored years (READ) unchanged after checking them; a damaged one raises DamagedSeries."""
    of_series, of_years = dict[tuple[str, str, str], int](), dict[tuple[int, str], bytes]()  # what many years share
    for row in rows:
        basin, product, variable, year, unit, value_bytes, flag_bytes, checksum = row
        started = of_series.get((basin, product, variable))
        if started is None:
            started = of_series[basin, product, variable] = crc32(f"{basin}\0{product}\0{variable}\0".encode())
        named = of_years.get((year, unit))
        if named is None:
            named = of_years[year, unit] = f"{year}\0{unit}".encode()
        if crc32(flag_bytes, crc32(value_bytes, crc32(named, started))) != checksum:
            raise DamagedSeries(basin, product, variable, year)
        yield row


def arrived(session: Session, key: Mapping[str, str], span: Period, at: datetime | None = None) -> Mask:
    """Return which days of a series have arrived, by an instant or ever, even in damaged years."""
    days = np.zeros(len(span), dtype=np.bool_)
    ranges = select(ARRIVALS.c.first_day, ARRIVALS.c.last_day).filter_by(**key)
    ranges = ranges.where(ARRIVALS.c.first_day <= span.last, ARRIVALS.c.last_day >= span.first)
    for first, last in session.execute(ranges if at is None else ranges.where(ARRIVALS.c.arrived_at <= at)):
        days[max(days_between(span.first, first), 0) : days_between(span.first, last) + 1] = True
    return days
