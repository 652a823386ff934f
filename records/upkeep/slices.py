"""Slices of the tables that grow with time, and marks that are equal only where no row of a slice has changed.

A slice holds the rows of a few days (of a year, of a daily series): a backup or a check that knows its mark need not
read it again. Slices are ranges of a key that each row has anyway; tables are not partitioned by month. Of states and
results of runs some rows of every month are stored for ever, so that no partition of them would ever be outdated as a
whole. And no way of dropping one leaves readers alone: an attached one locks its whole table (ACCESS EXCLUSIVE), a
detached one the tables that it refers to, `basins` among them; detaching without a lock (CONCURRENTLY) is refused where
a default partition takes rows of days that have none. Deleting rows locks no reader, and their room is used again.

A mark is the number of the rows and the sum of a hash of where and by which transaction each was written (`ctid` and
`xmin`): PostgreSQL never changes a row in place. It is found without reading what the rows hold. SQLite has nothing
like it, and is backed up and checked as a whole.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Date, String, Table, and_, cast, func, literal_column, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from records.database.verified_slices import Mark
from records.forecasts.issues import ISSUE_BASINS
from records.outlooks.flow_outlooks import OUTLOOKS
from records.runs.run_types import RUN_BASINS, RUNS
from records.runs.tables import RUN_CONTENTS, RUN_MEMBERS, STATES
from records.series.year_rows import ARRIVALS, REVISIONS, SERIES
from records.weather.weather_issues import PARTS

_PREFIX = 5  # hex digits of an identifier that sorts by time (`checksums.new_id`): 2^28 ms, three days
_STEP = {ARRIVALS: 100_000, SERIES: 1, REVISIONS: 1}
COLUMNS: Mapping[Table, ColumnElement[Any]] = {
    RUNS: RUNS.c.id,
    RUN_BASINS: RUN_BASINS.c.run_id,
    RUN_CONTENTS: RUN_CONTENTS.c.run_id,
    RUN_MEMBERS: RUN_MEMBERS.c.run_id,
    OUTLOOKS: OUTLOOKS.c.run_id,
    PARTS: PARTS.c.issue_id,
    STATES: STATES.c.day,
    ISSUE_BASINS: ISSUE_BASINS.c.day,
    SERIES: SERIES.c.year,
    REVISIONS: REVISIONS.c.year,
    ARRIVALS: ARRIVALS.c.id,
}
"""The key by which each table is sliced."""


def rows_of(table: Table, slice_name: str) -> ColumnElement[bool]:
    """Return the condition for the rows of a slice."""
    column = COLUMNS[table]
    if isinstance(column.type, String):  # an index finds the range; digits stand before letters in every collation
        return and_(column >= slice_name, column < f"{slice_name}g", _prefix(column) == slice_name)
    if _is_day(column):
        return column == day(slice_name)
    step = _STEP[table]
    return column.between(int(slice_name) * step, int(slice_name) * step + step - 1)


def marks(session: Session, table: Table) -> dict[str, Mark]:
    """Return the mark of each slice of a table, by its name. Empty on SQLite, and for a table without slices."""
    if table not in COLUMNS or session.get_bind().dialect.name != "postgresql":
        return {}
    name = _name(table).label("name")
    hashes = cast(func.sum(literal_column("hashtextextended(ctid::text || ' ' || xmin::text, 0)")), String)
    rows = session.execute(select(name, func.count(), hashes).select_from(table).group_by(name).order_by(name))
    return {of: Mark(count, total) for of, count, total in rows}


def first_day(table: Table, slice_name: str) -> str:
    """Return the first day (of series: the year) of a slice."""
    if isinstance(COLUMNS[table].type, String):
        milliseconds = int(slice_name, 16) << 4 * (12 - _PREFIX)
        return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d}"
    return slice_name


def _name(table: Table) -> ColumnElement[str]:
    column = COLUMNS[table]
    if isinstance(column.type, String):
        return _prefix(column)
    if _is_day(column):
        return func.to_char(column, "YYYY-MM-DD")
    return cast(column.op("/")(literal_column(str(_STEP[table]))), String)


def _prefix(column: ColumnElement[Any]) -> ColumnElement[str]:
    return func.substr(column, 1, _PREFIX)


def _is_day(column: ColumnElement[Any]) -> bool:
    return isinstance(getattr(column.type, "impl_instance", None), Date)
