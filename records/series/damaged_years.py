"""Damaged years of a series: those whose checksum does not match. They are never read, and only a write with all of
their days repairs them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period, days_between
from records.database.checksums import is_whole
from records.database.ids import Corrupt
from records.database.tables import Checksummed
from records.series.tables import ArrivalRow, SeriesRow
from records.series.year_rows import Mask

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
        """Return the value of `checksums.checksum` for a year."""
        started = self._series.get((basin, variable))
        if started is None:
            started = self._series[basin, variable] = crc32(f"{basin}\0{self._product}\0{variable}\0".encode())
        named = self._years.get((year, unit))
        if named is None:
            named = self._years[year, unit] = f"{year}\0{unit}".encode()
        return crc32(flag_bytes, crc32(value_bytes, crc32(named, started)))


def whole(rows: Sequence[Stored], of: type[Checksummed] = SeriesRow, mending: str = _AGAIN) -> Sequence[Stored]:
    """Return stored years, or logged replaced days, unchanged after checking them.

    Args:
        of: the table of the rows.
        mending: what an operator can do about a damaged one.

    Raises:
        DamagedSeries: one is damaged.
    """
    for row in rows:
        if not is_whole(of, row):
            raise DamagedSeries(row.basin_id, row.product, row.variable, row.year, mending)
    return rows


def arrived(session: Session, key: Mapping[str, str], span: Period, at: datetime | None = None) -> Mask:
    """Return which days of a series have arrived, by an instant or ever, even in damaged years."""
    days = np.zeros(len(span), dtype=np.bool_)
    ranges = select(ArrivalRow.first_day, ArrivalRow.last_day).filter_by(**key)
    ranges = ranges.where(ArrivalRow.first_day <= span.last, ArrivalRow.last_day >= span.first)
    for first, last in session.execute(ranges if at is None else ranges.where(ArrivalRow.arrived_at <= at)):
        days[max(days_between(span.first, first), 0) : days_between(span.first, last) + 1] = True
    return days
