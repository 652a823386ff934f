"""Damaged years of a series: those whose checksum does not match. They are never read, and only a write with all of
their days repairs them."""

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period, days_between
from records.database.checksums import is_whole
from records.database.ids import Corrupt
from records.series.tables import ArrivalRow, RevisionRow, SeriesRow
from records.series.year_rows import Mask

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


def whole(rows: Sequence[Row[Any]]) -> Sequence[Row[Any]]:
    """Return stored years unchanged, after checking them.

    Raises:
        DamagedSeries: one is damaged.
    """
    for row in rows:
        if not is_whole(SeriesRow, row):
            raise DamagedSeries(row.basin_id, row.product, row.variable, row.year)
    return rows


def whole_log(rows: Sequence[RevisionRow]) -> Sequence[RevisionRow]:
    """Return the logged replaced days unchanged, after checking them.

    Raises:
        DamagedSeries: one row is damaged.
    """
    for row in rows:
        if not is_whole(RevisionRow, row):
            mending = "its values before the revision are lost; restore a backup to recover them."
            raise DamagedSeries(row.basin_id, row.product, row.variable, row.year, mending)
    return rows


def arrived(session: Session, key: Mapping[str, str], span: Period) -> Mask:
    """Return which days of a series have arrived, even in damaged years."""
    days = np.zeros(len(span), dtype=np.bool_)
    ranges = session.execute(
        select(ArrivalRow.first_day, ArrivalRow.last_day)
        .filter_by(**key)
        .where(ArrivalRow.first_day <= span.last, ArrivalRow.last_day >= span.first)
    )
    for first, last in ranges:
        days[max(days_between(span.first, first), 0) : days_between(span.first, last) + 1] = True
    return days
