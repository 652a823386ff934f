"""Measures how much room each kind of data takes in the database."""

from collections.abc import Mapping

from sqlalchemy import Table, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from records.database.stored import table_of
from records.forecasts.issues import ISSUE_BASINS
from records.jobs.jobs import JOBS
from records.outlooks.flow_outlooks import OUTLOOKS
from records.runs.run_types import RUN_BASINS, RUNS
from records.runs.tables import NEWEST_RUNS, RUN_CONTENTS, RUN_MEMBERS, STATES
from records.series.year_rows import ARRIVALS, REVISIONS, SERIES
from records.versions.error_models import BASIN_ERRORS, ERROR_MODELS
from records.versions.trainings import Checkpoint, FinishedMember
from records.versions.versions import Weights
from records.weather.weather_issues import ISSUES, PARTS

KINDS: Mapping[str, tuple[Table, ...]] = {
    "forecasts": (RUNS, RUN_BASINS, RUN_CONTENTS, OUTLOOKS, NEWEST_RUNS, ISSUE_BASINS),
    "members of forecasts": (RUN_MEMBERS,),
    "states": (STATES,),
    "weather forecasts": (ISSUES, PARTS),
    "observations": (SERIES, REVISIONS, ARRIVALS),
    "model versions": (
        *(table_of(record) for record in (Weights, Checkpoint, FinishedMember)),
        ERROR_MODELS,
        BASIN_ERRORS,
    ),
    "jobs": (JOBS,),
}
OTHER = "other"
_OF_POSTGRESQL = """\
SELECT relname, pg_total_relation_size(oid) FROM pg_class
WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"""
_OF_SQLITE = """\
SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_master USING (name) WHERE aggregate = TRUE GROUP BY tbl_name"""


def bytes_by_kind(session: Session) -> dict[str, int]:
    """Return the bytes of each kind of data with its indexes. Empty where SQLite was built without `dbstat`."""
    query = _OF_SQLITE if session.get_bind().dialect.name == "sqlite" else _OF_POSTGRESQL
    try:
        of_tables = {name: int(size) for name, size in session.execute(text(query))}
    except OperationalError:
        return {}
    kinds = {table.name: kind for kind, tables in KINDS.items() for table in tables}
    sizes = dict.fromkeys([*KINDS, OTHER], 0)
    for table, size in of_tables.items():
        sizes[kinds.get(table, OTHER)] += size
    return sizes
