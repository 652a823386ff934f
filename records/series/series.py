"""Daily series: a row per basin, product, variable and calendar year.

If a year's row lacks a day, the day is NaN and `Flag.ABSENT`. A known day is never lost: a different value or flag for
it is first written to the log of revisions (`records.series.revisions` reads it).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Row, Select, and_, func, or_, select
from sqlalchemy.orm import Session

from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Days, Period, days_between
from hydrology.base.errors import NotFound
from hydrology.base.series import DailySeries, Flag
from records.basins import basins
from records.database.checksums import is_whole
from records.database.stored import grouped, narrowed
from records.series.year_rows import (
    READ,
    SERIES,
    VALUE,
    DamagedSeries,
    arrived,
    calendar_years,
    january,
    joined,
    known,
    trimmed,
    whole,
    years_of,
)

_KEY = ("basin_id", "product", "variable")
AT_A_TIME = 64
"""Number of basins whose series are read by one statement."""


class NoObservations(NotFound):
    """No days of this product, variable or period are stored for the basin."""

    remedy = "Ask for a product and days that `/v1/basins/{basin}` lists, or ingest what is missing."


@dataclass(frozen=True, slots=True)
class Entry:
    """A series in a basin's catalogue: its unit, first and last known day, and last change."""

    product: str
    variable: str
    unit: str
    period: Period
    updated_at: datetime


def read(session: Session, basin: str, product: str, variable: str, period: Period | None = None) -> DailySeries | None:
    """Return a series over a period, by default of all known days. None if no day is known."""
    query = _stored_years(period).filter_by(basin_id=basin, product=product, variable=variable)
    rows = session.execute(query).all()
    if not rows:
        return None
    stored = _joined(rows, period)
    if period is None:
        return trimmed(stored)
    return stored if known(stored).any() else None


def _stored_years(period: Period | None) -> Select[Any]:
    query = select(*READ).order_by(SERIES.c.basin_id, SERIES.c.variable, SERIES.c.year)
    return query if period is None else query.where(SERIES.c.year.between(years_of(period)[0], years_of(period)[-1]))


def _joined(rows: Iterable[Row[Any]], period: Period | None) -> DailySeries:
    years = [*whole(rows)]
    stored = joined(years, calendar_years(years[0].year, years[-1].year), years[0].unit)
    return stored if period is None else stored.over(period)


def read_product(
    session: Session,
    basin_ids: Sequence[str],
    product: str,
    variables: Sequence[str] | None = None,
    period: Period | None = None,
) -> Iterator[tuple[str, dict[str, DailySeries | DamagedSeries]]]:
    """Yield basins with the series of a product by variable, over their known days; of a damaged one what is damaged.

    Only AT_A_TIME basins are in memory.
    """
    query = narrowed(_stored_years(period).filter_by(product=product), (SERIES.c.variable.in_, variables))
    for first in range(0, len(basin_ids), AT_A_TIME):
        some = basin_ids[first : first + AT_A_TIME]
        found: dict[str, dict[str, DailySeries | DamagedSeries]] = {basin: {} for basin in some}
        rows = session.execute(query.where(SERIES.c.basin_id.in_(some))).all()
        for (basin, variable), years in groupby(rows, key=attrgetter("basin_id", "variable")):
            try:
                stored = trimmed(_joined(years, period))
            except DamagedSeries as problem:
                found[basin][variable] = problem
                continue
            if stored is not None:
                found[basin][variable] = stored
        yield from found.items()


def unknown_days(
    session: Session, basin_ids: Sequence[str], product: str, variables: Sequence[str] | None = None
) -> Iterator[tuple[str, dict[str, tuple[Period, Days]]]]:
    """Yield basins with the stored years of a product, and their days without a value, by variable.

    Years with all their values are read only at the ends of what is stored without a gap between years. Basins where a
    year that lacks values is damaged are left out.
    """
    of_series: dict[str, Any] = {"partition_by": (SERIES.c.basin_id, SERIES.c.variable), "order_by": SERIES.c.year}
    before, after = (function(SERIES.c.year).over(**of_series) for function in (func.lag, func.lead))
    columns = (*READ, SERIES.c.unknown_days, before.label("before"), after.label("after"))
    years = narrowed(select(*columns).filter_by(product=product), (SERIES.c.variable.in_, variables))
    for first in range(0, len(basin_ids), AT_A_TIME):
        some = basin_ids[first : first + AT_A_TIME]
        year = years.where(SERIES.c.basin_id.in_(some)).subquery().c
        at_an_end = or_(year.before.is_(None), year.after.is_(None), year.before < year.year - 1)
        query = select(*year).where(or_(year.unknown_days > 0, at_an_end)).order_by(year.variable, year.year)
        rows = grouped((row.basin_id, row) for row in session.execute(query))
        for basin in some:
            by_variable = grouped((row.variable, row) for row in rows.get(basin, ()))
            try:
                found = {variable: _unknown(of_variable) for variable, of_variable in by_variable.items()}
            except DamagedSeries:
                continue
            yield basin, found


def _unknown(rows: Sequence[Row[Any]]) -> tuple[Period, Days]:
    span = calendar_years(rows[0].year, rows[-1].year)
    unknown = [span.days[:0]]
    for row in rows:
        if row.before is not None and row.before < row.year - 1:  # the years between are not stored
            unknown.append(calendar_years(row.before + 1, row.year - 1).days)
        if row.unknown_days:
            ((*_, values, _, _),) = whole([row[: len(READ)]])
            unknown.append(january(row.year) + np.flatnonzero(np.isnan(np.frombuffer(values, VALUE))))
    return span, np.concatenate(unknown)


def read_variable(
    session: Session, basin_ids: Sequence[str], variable: str, product: str | None = None, period: Period | None = None
) -> Iterator[tuple[str, DailySeries | DamagedSeries | None]]:
    """Yield basins with a variable as `read_product` reads it, of a product or by default of that of their gauge."""
    by_product = grouped((product or gauge_product(basin), basin) for basin in basin_ids)
    for of_variable, names in by_product.items():
        for basin, found in read_product(session, names, of_variable, [variable], period):
            yield basin, found.get(variable)


def unit_of(session: Session, basin: str, product: str, variable: str) -> str | None:
    key = {"basin_id": basin, "product": product, "variable": variable}
    return session.scalar(select(SERIES.c.unit).filter_by(**key).limit(1))


def spans(session: Session, basin_ids: Sequence[str], product: str, variable: str) -> dict[str, Period]:
    """Return the days of the stored calendar years of many series. Series that are not stored are left out."""
    rows = session.execute(
        select(SERIES.c.basin_id, func.min(SERIES.c.year), func.max(SERIES.c.year))
        .where(SERIES.c.basin_id.in_(basin_ids), SERIES.c.product == product, SERIES.c.variable == variable)
        .group_by(SERIES.c.basin_id)
    )
    return {basin: calendar_years(first, last) for basin, first, last in rows}


def read_many(
    session: Session, basin_ids: Sequence[str], product: str, variables: Sequence[str], period: Period
) -> npt.NDArray[np.float32]:
    """Return the values of many series (basins, days, variables), NaN if missing or unknown."""
    return read_many_flagged(session, basin_ids, product, variables, period)[0]


def read_many_flagged(
    session: Session, basin_ids: Sequence[str], product: str, variables: Sequence[str], period: Period
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
    years, row = years_of(period), SERIES.c
    rows = session.execute(
        select(*READ).where(
            row.basin_id.in_(basin_ids),
            row.product == product,
            row.variable.in_(variables),
            row.year.between(years[0], years[-1]),
        )
    )
    # Whole calendar years are filled, variable by variable, and the period is cut out at the end.
    first = january(years[0])
    starts = {year: days_between(first, january(year)) for year in range(years[0], years[-1] + 2)}
    shape = (len(basin_ids), starts[years[-1] + 1], len(variables))
    values, flags = np.full(shape, np.nan, dtype=np.float32), np.full(shape, Flag.ABSENT, dtype=np.uint8)
    basin_at = {basin: i for i, basin in enumerate(basin_ids)}
    variable_at = {variable: i for i, variable in enumerate(variables)}
    unseen = set(basin_ids)
    for basin, _, variable, year, _, value_bytes, flag_bytes, _ in whole(rows):
        unseen.discard(basin)
        at = basin_at[basin], slice(starts[year], starts[year + 1]), variable_at[variable]
        values[at], flags[at] = np.frombuffer(value_bytes, VALUE), np.frombuffer(flag_bytes, np.uint8)
    for basin in unseen:
        basins.require(session, basin)
    days = slice(days_between(first, period.first), days_between(first, period.last) + 1)
    return values[:, days], flags[:, days]


def extent(
    session: Session, basin_ids: Sequence[str], product: str, variables: Sequence[str]
) -> dict[tuple[str, str], Period]:
    """Return first and last known days by (basin, variable), damaged years included."""
    of_series = (SERIES.c.basin_id.in_(basin_ids), SERIES.c.product == product, SERIES.c.variable.in_(variables))
    key = (SERIES.c.basin_id, SERIES.c.variable)
    first, last = func.min(SERIES.c.year).label("first"), func.max(SERIES.c.year).label("last")
    ends = select(*key, first, last).where(*of_series).group_by(*key).subquery()
    same_series = and_(SERIES.c.basin_id == ends.c.basin_id, SERIES.c.variable == ends.c.variable)
    at_an_end = or_(SERIES.c.year == ends.c.first, SERIES.c.year == ends.c.last)
    rows = session.execute(select(*READ).join(ends, same_series).where(*of_series, at_an_end).order_by(SERIES.c.year))
    extents: dict[tuple[str, str], Period] = {}
    for row in rows:
        year = calendar_years(row.year, row.year)
        if is_whole(SERIES, row):
            days = year.days[known(joined([row], year, row.unit))]
        else:
            days = year.days[arrived(session, {name: getattr(row, name) for name in _KEY}, year)]
        started = extents.get((row.basin_id, row.variable))
        extents[row.basin_id, row.variable] = Period(started.first if started else days[0], days[-1])
    return extents


def written_since(session: Session, variable: str, since: Mapping[str, datetime], first_year: int) -> list[str]:
    """Return the basins with a value of a variable, of a year or later ones, that was written after an instant each."""
    of_basin, newest = SERIES.c.basin_id, func.max(SERIES.c.updated_at)
    written = select(of_basin, newest).where(of_basin.in_(since), SERIES.c.variable == variable)
    rows = session.execute(written.where(SERIES.c.year >= first_year).group_by(of_basin).order_by(of_basin))
    return [basin for basin, at in rows if at > since[basin]]


def catalogue(session: Session, basin: str) -> list[Entry]:
    basins.require(session, basin)
    key = (SERIES.c.product, SERIES.c.variable)
    unit, updated = func.min(SERIES.c.unit), func.max(SERIES.c.updated_at)
    stored = select(*key, unit, updated).where(SERIES.c.basin_id == basin).group_by(*key).order_by(*key)
    return [
        Entry(product, variable, unit, extent(session, [basin], product, [variable])[basin, variable], updated_at)
        for product, variable, unit, updated_at in session.execute(stored)
    ]


def longest_records(
    session: Session, basin_ids: Sequence[str], variables: Sequence[str], preferred: str | None = None
) -> dict[str, tuple[str, Period]]:
    """Return each basin's product with the longest record of some variables, and its years; none without any.

    `preferred` is returned if it has at least two years.
    """
    of_record, count = (SERIES.c.basin_id, SERIES.c.product), func.count(SERIES.c.year.distinct())
    query = select(*of_record, count, func.min(SERIES.c.year), func.max(SERIES.c.year))
    query = query.where(SERIES.c.basin_id.in_(basin_ids), SERIES.c.variable.in_(variables))
    longest: dict[str, tuple[str, Period]] = {}
    rows = session.execute(query.group_by(*of_record).order_by(*of_record))
    for basin, records in grouped((basin, record) for basin, *record in rows).items():
        product, _, first, last = max(records, key=lambda record: (record[0] == preferred and record[1] > 1, record[1]))
        longest[basin] = product, calendar_years(first, last)
    return longest


def stamp(session: Session, basin: str, product: str) -> int:
    """Return a number that grows with every write to a product's series. 0 without one."""
    return stamps(session, [basin], product).get(basin, 0)


def stamps(session: Session, basins: Sequence[str], product: str) -> dict[str, int]:
    """Return the `stamp` of many basins. Those without series of the product are left out."""
    writes = select(SERIES.c.basin_id, func.sum(SERIES.c.revision)).where(
        SERIES.c.basin_id.in_(basins), SERIES.c.product == product
    )
    return {basin: int(number) for basin, number in session.execute(writes.group_by(SERIES.c.basin_id))}


def basins_with(session: Session, basin_ids: Sequence[str], product: str, variables: Sequence[str]) -> set[str]:
    """Return the basins that have a product's series of some variables."""
    of_series = (SERIES.c.basin_id.in_(basin_ids), SERIES.c.product == product, SERIES.c.variable.in_(variables))
    return set(session.scalars(select(SERIES.c.basin_id).where(*of_series).distinct()))


def products(session: Session, variable: str | None = None) -> list[str]:
    """Return the stored products, optionally only those with a variable."""
    query = select(SERIES.c.product).distinct().order_by(SERIES.c.product)
    return list(session.scalars(query if variable is None else query.where(SERIES.c.variable == variable)))
