"""Checks the integrity of the database: its pages, its references, and every row with a checksum.

On PostgreSQL, which slices of tables (`records.upkeep.slices`) were found whole is stored slice by slice, so that a
check of what has changed since leaves them out, and goes on where another was interrupted.
"""

from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Select, Table, func, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from hydrology.base.digests import fingerprint, sha256
from hydrology.base.errors import DataProblem, counted
from records.database import checksums, verified_slices
from records.database.base import to_json
from records.database.engine import Database
from records.database.stored import table_of
from records.database.verified_slices import Mark
from records.runs import run_arrays, states
from records.runs.tables import RUN_CONTENTS, RUN_MEMBERS, STATES
from records.series.year_rows import REVISIONS, SERIES
from records.simulations.simulated_series import SIMULATED_FLOW, SIMULATED_WATER
from records.upkeep import slices
from records.upkeep.sqlite_schema import unsafe_objects
from records.verification.rivals import RIVAL_FLOWS
from records.versions.error_models import BASIN_ERRORS, ERROR_MODELS
from records.versions.trainings import Checkpoint, FinishedMember
from records.versions.versions import Weights
from records.weather import weather_issues
from records.weather.bridges import BridgePart
from records.weather.weather_issues import BasinPart

BATCH = 200  # rows: some hold megabytes
MAX_NAMED = 3  # of the damages, in a sentence


class NotSound(DataProblem):
    """The database holds rows or pages that are not as they were written."""


@dataclass(frozen=True, slots=True)
class Checker:
    """How to check the rows of a table.

    `is_whole` gets a row with its columns as attributes.
    """

    table: Table
    is_whole: Callable[[Any], bool]
    mending: str


@dataclass(frozen=True, slots=True)
class Damage:
    """A row that is not as it was written."""

    table: str
    key: dict[str, str]
    mending: str

    @property
    def sentence(self) -> str:
        named = ", ".join(f"{name} {value}" for name, value in self.key.items())
        return f"A row of {self.table} is damaged ({named}): {self.mending}."


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Rows of a table that an earlier check found whole, and that have not changed since; by the days of their slices
    (of series: by years)."""

    table: str
    rows: int
    first: str
    last: str

    @property
    def sentence(self) -> str:
        return f"{counted(self.rows, 'row')} of {self.table}, {self.first} to {self.last}: whole before, and unchanged."


@dataclass(frozen=True, slots=True)
class Soundness:
    """The result of a check.

    `faults` are of pages, tables and references, in sentences.
    """

    row_count: int
    faults: tuple[str, ...]
    damages: tuple[Damage, ...]
    unchanged: tuple[Unchanged, ...] = ()

    @property
    def sentences(self) -> list[str]:
        return [*self.faults, *(damage.sentence for damage in self.damages)]

    def require(self) -> None:
        """Return if nothing is wrong; else raise NotSound with the first faults."""
        if wrong := self.sentences:
            more = f" And {len(wrong) - MAX_NAMED} more." if len(wrong) > MAX_NAMED else ""
            raise NotSound(" ".join(wrong[:MAX_NAMED]) + more)


def check(
    database: Database,
    at: datetime,
    show: Callable[[int, int], None] = lambda _done, _total: None,
    *,
    only_changed: bool = False,
) -> Soundness:
    """Check the whole database while others use it.

    Args:
        at: the machine's time.
        only_changed: whether to leave out, on PostgreSQL, slices that are as an earlier check found them.
    """
    if unsafe := _unsafe_objects(database):
        return Soundness(0, tuple(unsafe), ())  # nothing of it is run
    faults = page_faults(database)
    total = 0
    try:
        with database.reading() as session:
            total = sum(session.scalar(select(func.count()).select_from(each.table)) or 0 for each in CHECKERS)
            faults += _lost_references(session)
    except DatabaseError as error:
        faults.append(f"References cannot be followed ({_in_words(error)}): {_RESTORE}.")
    damages: list[Damage] = []
    unchanged: list[Unchanged] = []
    row_count = 0
    for checker in CHECKERS:
        try:
            changed, known = _slices(database, checker.table, only_changed=only_changed)
            if known:
                unchanged.append(_unchanged(checker.table, known))
                total -= unchanged[-1].rows
            for name, mark in changed.items():
                before = len(damages)
                with closing(_checked(database, checker, name)) as rows:
                    for damage in rows:
                        row_count += 1
                        damages += [damage] if damage else []
                        show(row_count, total)
                if mark is not None and len(damages) == before:
                    with database.transaction() as session:
                        verified_slices.note(session, checker.table.name, name, mark, at)
        except (DatabaseError, ValueError) as error:  # a page, or a column that is no longer JSON
            faults.append(f"{checker.table.name} cannot be read to its end ({_in_words(error)}): {_RESTORE}.")
    return Soundness(row_count, tuple(faults), tuple(damages), tuple(unchanged))


Marks = Mapping[str, Mark | None]


def _slices(database: Database, table: Table, *, only_changed: bool) -> tuple[Marks, Mapping[str, Mark]]:
    """Return the slices to check and those to leave out, with their marks; "" is the whole table."""
    with database.reading() as session:
        marks = slices.marks(session, table)
        if not marks:
            return {"": None}, {}
        verified = verified_slices.read(session, table.name) if only_changed else {}
    known = {name: mark for name, mark in marks.items() if verified.get(name) == mark}
    return {name: mark for name, mark in marks.items() if name not in known}, known


def _unchanged(table: Table, known: Mapping[str, Mark]) -> Unchanged:
    first, last = (slices.first_day(table, name) for name in (min(known), max(known)))
    return Unchanged(table.name, sum(mark.rows for mark in known.values()), first, last)


def page_faults(database: Database, *, quick: bool = False) -> list[str]:
    """Return SQLite's findings on the pages of its file. PostgreSQL checks its own.

    `quick` skips comparing indexes with their tables, which takes most of the time.
    """
    if database.file is None:
        return []
    if unsafe := _unsafe_objects(database):
        return unsafe
    try:
        with database.reading() as session:
            pragma = "PRAGMA quick_check" if quick else "PRAGMA integrity_check"
            shown = session.connection().exec_driver_sql(pragma).scalars().all()
    except DatabaseError as error:
        shown = [_in_words(error)]
    return [f"{database.file} is damaged ({' '.join(line.split())}): {_RESTORE}." for line in shown if line != "ok"]


def _unsafe_objects(database: Database) -> list[str]:
    if database.file is None:
        return []
    try:
        with database.reading() as session:
            found = unsafe_objects(session.connection())
    except DatabaseError as error:
        return [f"{database.file} is damaged ({_in_words(error)}): {_RESTORE}."]
    return [f"{database.file} has {name}, which is not Freshet's: drop it, or {_RESTORE}." for name in found]


def _lost_references(session: Session) -> list[str]:
    if session.get_bind().dialect.name != "sqlite":
        return []
    lost = session.connection().exec_driver_sql("PRAGMA foreign_key_check")
    counts = Counter((row[0], row[2]) for row in lost)
    return [
        f"{counted(count, 'row')} of {table} {'refers' if count == 1 else 'refer'} to rows of {other} "
        f"that are not there: {_RESTORE}."
        for (table, other), count in counts.items()
    ]


def _checked(database: Database, checker: Checker, slice_name: str) -> Generator[Damage | None]:
    table = checker.table
    query: Select[Any] = select(*table.columns)
    if slice_name:
        query = query.where(slices.rows_of(table, slice_name))
    with database.reading() as session, closing(session.execute(query.execution_options(yield_per=BATCH))) as rows:
        for row in rows:
            if checker.is_whole(row):
                yield None
            else:
                key = {key.name: str(row._mapping[key]) for key in table.primary_key}
                yield Damage(table.name, key, checker.mending)


def _hashed(content: str, digest: str, row: Any) -> bool:
    stored = getattr(row, content)
    return bool(getattr(row, digest) == (None if stored is None else sha256(stored)))


def _in_words(error: Exception) -> str:
    return " ".join(str(getattr(error, "orig", error)).split())


_RESTORE = "restore a backup"
_CALIBRATE = "fit the error model again (freshet calibrate), or restore a backup"
_FORECAST = "forecast again, which issues another run, or restore a backup"
_TRAIN = "start the training again, or restore a backup"
_SUMMED = {
    SERIES: "ingest the whole year again, which replaces it, or restore a backup",
    REVISIONS: _RESTORE,
    ERROR_MODELS: _CALIBRATE,
    SIMULATED_WATER: "simulate it again (freshet thresholds simulate)",
    SIMULATED_FLOW: "evaluate the version again (freshet evaluate)",
    RIVAL_FLOWS: "add the rival's file again (freshet rivals add)",
}
CHECKERS = (
    *(Checker(table, partial(checksums.is_whole, table), mending) for table, mending in _SUMMED.items()),
    Checker(STATES, states.is_whole, "none is needed: the next forecast recomputes it"),
    Checker(table_of(Weights), partial(_hashed, "weights", "sha256"), _RESTORE),
    Checker(table_of(Checkpoint), partial(_hashed, "content", "sha256"), _TRAIN),
    Checker(
        table_of(FinishedMember),
        lambda row: all(_hashed(which, f"{which}_sha256", row) for which in ("best", "last")),
        _TRAIN,
    ),
    Checker(BASIN_ERRORS, partial(_hashed, "content", "sha256"), _CALIBRATE),
    Checker(RUN_CONTENTS, run_arrays.is_whole_row, _FORECAST),
    Checker(RUN_MEMBERS, run_arrays.is_whole_row_of_members, _FORECAST),
    Checker(table_of(BasinPart), weather_issues.is_whole, _RESTORE),
    Checker(
        table_of(BridgePart),
        lambda row: bool(row.sha256 == fingerprint(to_json(row.corrections))),
        "fit the bridge again, or restore a backup",
    ),
)
"""One for each table with checksums of its rows."""
