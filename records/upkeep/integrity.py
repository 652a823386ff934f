"""Checks the integrity of the database: its pages, its references, and every row with a checksum."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Table, func, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from hydrology.base.digests import fingerprint, sha256
from hydrology.base.errors import DataProblem, counted
from records.database import checksums
from records.database.base import to_json
from records.database.engine import Database
from records.database.stored import table_of
from records.runs import run_arrays, states
from records.runs.tables import RUN_CONTENTS, STATES
from records.series.year_rows import REVISIONS, SERIES
from records.simulations.simulated_series import SIMULATED_FLOW, SIMULATED_WATER
from records.upkeep.sqlite_schema import unsafe_objects
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
class Soundness:
    """The result of a check.

    `faults` are of pages, tables and references, in sentences.
    """

    row_count: int
    faults: tuple[str, ...]
    damages: tuple[Damage, ...]

    @property
    def sentences(self) -> list[str]:
        return [*self.faults, *(damage.sentence for damage in self.damages)]

    def require(self) -> None:
        """Return if nothing is wrong; else raise NotSound with the first faults."""
        if wrong := self.sentences:
            more = f" And {len(wrong) - MAX_NAMED} more." if len(wrong) > MAX_NAMED else ""
            raise NotSound(" ".join(wrong[:MAX_NAMED]) + more)


def check(database: Database, show: Callable[[int, int], None] = lambda _done, _total: None) -> Soundness:
    """Check the whole database, without changing it and while others use it."""
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
    row_count = 0
    for checker in CHECKERS:
        try:
            for damage in _checked(database, checker):
                row_count += 1
                damages += [damage] if damage else []
                show(row_count, total)
        except (DatabaseError, ValueError) as error:  # a page, or a column that is no longer JSON
            faults.append(f"{checker.table.name} cannot be read to its end ({_in_words(error)}): {_RESTORE}.")
    return Soundness(row_count, tuple(faults), tuple(damages))


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


def _checked(database: Database, checker: Checker) -> Iterator[Damage | None]:
    table = checker.table
    with database.reading() as session:
        for row in session.execute(select(*table.columns).execution_options(yield_per=BATCH)):
            if checker.is_whole(row):
                yield None
            else:
                yield Damage(
                    table.name, {key.name: str(row._mapping[key]) for key in table.primary_key}, checker.mending
                )


def _hashed(content: str, digest: str, row: Any) -> bool:
    stored = getattr(row, content)
    return bool(getattr(row, digest) == (None if stored is None else sha256(stored)))


def _in_words(error: Exception) -> str:
    return " ".join(str(getattr(error, "orig", error)).split())


_RESTORE = "restore a backup"
_CALIBRATE = "fit the error model again (freshet calibrate), or restore a backup"
_TRAIN = "start the training again, or restore a backup"
_SUMMED = {
    SERIES: "ingest the whole year again, which replaces it, or restore a backup",
    REVISIONS: _RESTORE,
    ERROR_MODELS: _CALIBRATE,
    SIMULATED_WATER: "simulate it again (freshet thresholds simulate)",
    SIMULATED_FLOW: "evaluate the version again (freshet evaluate)",
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
    Checker(RUN_CONTENTS, run_arrays.is_whole_row, "forecast again, which issues another run, or restore a backup"),
    Checker(table_of(BasinPart), weather_issues.is_whole, _RESTORE),
    Checker(
        table_of(BridgePart),
        lambda row: bool(row.sha256 == fingerprint(to_json(row.corrections))),
        "fit the bridge again, or restore a backup",
    ),
)
"""One for each table with checksums of its rows."""
