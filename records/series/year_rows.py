"""Daily series in rows of calendar years, with their arrivals and revisions; and damaged years.

A year whose checksum does not match is never read, and only a write with all of its days repairs it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar
from zlib import crc32

import numpy as np
import numpy.typing as npt
from sqlalchemy import CheckConstraint, ForeignKey, Index, Row, Table, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period, calendar_year, days_between
from hydrology.base.series import DailySeries, Flag
from records.database.checksums import Corrupt, Summed, is_whole
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
    """A calendar year of a daily series: little-endian float32 values and one flag byte per day."""

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
    values = np.full(len(span), np.nan, dtype=VALUE)
    flags = np.full(len(span), Flag.ABSENT, dtype=np.uint8)
    for row in rows:
        offset = days_between(span.first, january(row.year))
        values[offset : offset + len(row.flag_bytes)] = np.frombuffer(row.value_bytes, VALUE)
        flags[offset : offset + len(row.flag_bytes)] = np.frombuffer(row.flag_bytes, np.uint8)
    return DailySeries(span.first, values, flags, unit)


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
    days = series.days[known(series)]
    return series.over(Period(days[0], days[-1])) if len(days) else None


Stored = TypeVar("Stored", bound=Any)
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


class YearSums:
    """Expected checksums of a product's years; what many years share is computed once."""

    def __init__(self, product: str) -> None:
        self._product = product
        self._series: dict[tuple[str, str], int] = {}
        self._years: dict[tuple[int, str], bytes] = {}

    def of(self, basin: str, variable: str, year: int, unit: str, value_bytes: bytes, flag_bytes: bytes) -> int:
        started = self._series.get((basin, variable))
        if started is None:
            started = self._series[basin, variable] = crc32(f"{basin}\0{self._product}\0{variable}\0".encode())
        named = self._years.get((year, unit))
        if named is None:
            named = self._years[year, unit] = f"{year}\0{unit}".encode()
        return crc32(flag_bytes, crc32(value_bytes, crc32(named, started)))


def whole(rows: Sequence[Stored], of: Table = SERIES, mending: str = _AGAIN) -> Sequence[Stored]:
    """Return stored years, or logged replaced days, unchanged after checking them.

    `mending` is what an operator can do about a damaged one, which raises DamagedSeries.
    """
    for row in rows:
        if not is_whole(of, row):
            raise DamagedSeries(row.basin_id, row.product, row.variable, row.year, mending)
    return rows


def arrived(session: Session, key: Mapping[str, str], span: Period, at: datetime | None = None) -> Mask:
    """Return which days of a series have arrived, by an instant or ever, even in damaged years."""
    days = np.zeros(len(span), dtype=np.bool_)
    ranges = select(ARRIVALS.c.first_day, ARRIVALS.c.last_day).filter_by(**key)
    ranges = ranges.where(ARRIVALS.c.first_day <= span.last, ARRIVALS.c.last_day >= span.first)
    for first, last in session.execute(ranges if at is None else ranges.where(ARRIVALS.c.arrived_at <= at)):
        days[max(days_between(span.first, first), 0) : days_between(span.first, last) + 1] = True
    return days
