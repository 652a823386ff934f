"""History of series: their files, each day's arrival, values that revisions replaced, and findings on their quality."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import numpy as np
from sqlalchemy import CheckConstraint, ForeignKey, Row, UniqueConstraint, func, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period, days_between
from hydrology.base.series import DailySeries, Flag
from records.basins import basins, ownership
from records.database.base import JsonList, JsonObject, Long
from records.database.checksums import is_whole
from records.database.stored import add_all, grouped, stored, table_of, upsert
from records.series import series
from records.series.year_rows import ARRIVALS, OFFSET, REVISIONS, VALUE, DamagedSeries, arrived, january, known, trimmed


@stored(
    "sources",
    UniqueConstraint("name", "sha256"),
    CheckConstraint("length(sha256) = 64", name="sha256"),
    CheckConstraint("size >= 0", name="size"),
)
class _Source:
    """A file, or a part of one, that data were read from."""

    id: int
    name: str
    sha256: str
    size: Annotated[int, Long()]
    read_at: datetime


SOURCES = table_of(_Source)


def register_source(session: Session, name: str, sha256: str, size: int, read_at: datetime) -> int:
    """Return the id of a source, as `register_sources` does."""
    return register_sources(session, [(name, sha256, size)], read_at)[name, sha256]


def register_sources(
    session: Session, sources: Iterable[tuple[str, str, int]], read_at: datetime
) -> dict[tuple[str, str], int]:
    """Return the ids of sources (name, SHA-256, size), each stored once per name and content, by name and SHA-256.

    `read_at` is the time of the first reading.
    """
    rows = [{"name": name, "sha256": sha, "size": size, "read_at": read_at} for name, sha, size in sources]
    add_all(session, SOURCES, rows, if_new=True)
    stored = select(SOURCES.c.name, SOURCES.c.sha256, SOURCES.c.id)
    stored = stored.where(*(SOURCES.c[of].in_({row[of] for row in rows}) for of in ("name", "sha256")))
    return {(name, sha): number for name, sha, number in session.execute(stored)}


def as_known_at(
    session: Session, basin: str, product: str, variable: str, at: datetime, period: Period | None = None
) -> DailySeries | None:
    """Return a series as it was known at an instant.

    A day that had not arrived is ABSENT; None if no day had.
    """
    key = {"basin_id": basin, "product": product, "variable": variable}
    stored = series.read(session, basin, product, variable)
    if stored is None:
        return None
    span = stored.period
    values, flags = stored.values.copy(), stored.flags.copy()
    for row in reversed(replaced_days(session, key)):
        if row.replaced_at > at:
            offsets = np.frombuffer(row.offset_bytes, OFFSET).astype(np.int64)
            positions = offsets + days_between(span.first, january(row.year))
            values[positions] = np.frombuffer(row.value_bytes, VALUE)
            flags[positions] = np.frombuffer(row.flag_bytes, np.uint8)
    not_yet = ~arrived(session, key, span, at)
    values[not_yet], flags[not_yet] = np.nan, Flag.ABSENT
    then = DailySeries(span.first, values, flags, stored.unit)
    if period is None:
        return trimmed(then)
    part = then.over(period)
    return part if known(part).any() else None


def last_arrived(
    session: Session, basins: Sequence[str], product: str, variables: Sequence[str], at: datetime
) -> dict[str, Day]:
    """Return the last day of which all variables of a product had arrived by an instant, by basin.

    A basin where a variable had not arrived at all is left out.
    """
    columns = ARRIVALS.c
    query = select(columns.basin_id, func.max(columns.last_day)).group_by(columns.basin_id, columns.variable)
    asked = (columns.product == product, columns.variable.in_(variables), columns.arrived_at <= at)
    by_basin = grouped(session.execute(query.where(columns.basin_id.in_(basins), *asked)))
    return {basin: min(days) for basin, days in by_basin.items() if len(days) == len(set(variables))}


def newest_days(session: Session, until: Day | None = None) -> dict[str, Day]:
    """Return the newest arrived day of each product in the official basins.

    What an operator sends of another basin never hides that the service's own data are late. A mistyped day after
    `until` is not new data; None: all count.
    """
    newest: dict[str, Day] = {}
    following = select(func.min(ARRIVALS.c.product))
    product = session.scalar(following)
    while product is not None:  # product by product, as in the index: arrivals grow by one row per day and series
        if (last := _newest_day(session, product, until)) is not None:
            newest[product] = last
        product = session.scalar(following.where(ARRIVALS.c.product > product))
    return newest


def _newest_day(session: Session, product: str, until: Day | None) -> Day | None:
    official = ARRIVALS.c.basin_id.not_in(ownership.unofficial_ids())
    of_product = select(func.max(ARRIVALS.c.last_day)).where(ARRIVALS.c.product == product, official)
    if until is not None:
        across = of_product.where(ARRIVALS.c.last_day > until, ARRIVALS.c.first_day <= until)
        if session.scalar(across) is not None:
            return until
        of_product = of_product.where(ARRIVALS.c.last_day <= until)
    newest: Day | None = session.scalar(of_product)
    return newest


def replaced_days(session: Session, key: Mapping[str, str]) -> Sequence[Row[Any]]:
    rows = session.execute(select(REVISIONS).filter_by(**key).order_by(REVISIONS.c.year, REVISIONS.c.revision)).all()
    for row in rows:
        if not is_whole(REVISIONS, row):
            mending = "its values before the revision are lost; restore a backup to recover them."
            raise DamagedSeries(row.basin_id, row.product, row.variable, row.year, mending)
    return rows


@stored("basin_quality", key=("basin_id", "product"))
class _Findings:
    """Errors and oddities of a basin's data of one product."""

    basin_id: Annotated[str, ForeignKey("basins.id")]
    product: str
    findings: JsonList
    found_at: datetime


_FINDINGS = table_of(_Findings)


def replace_findings(session: Session, basin: str, product: str, findings: Sequence[JsonObject], at: datetime) -> None:
    """Replace all findings on a basin's data of one product. Repeating it writes nothing."""
    basins.lock(session, basin)
    row = {"basin_id": basin, "product": product, "findings": list(findings), "found_at": at}
    upsert(session, _Findings, [row], compared=("findings",))


def findings_of(session: Session, basin: str) -> dict[str, list[JsonObject]]:
    """Return a basin's findings by product; unchecked products are left out."""
    found = select(_FINDINGS.c.product, _FINDINGS.c.findings).where(_FINDINGS.c.basin_id == basin)
    return dict(session.execute(found.order_by(_FINDINGS.c.product)).all())
