"""Forecast runs, with their basins and arrays. `records.runs.run_store` stores them."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.uncertainty.exceedance import FlowAhead
from records.database import retention
from records.database.composite_keys import where_keys
from records.database.statements import as_record, table_of
from records.runs.run_arrays import (
    CALIBRATED,
    CHANGES,
    LEDGER,
    LEVELS_OF_MEMBERS,
    MEAN_OF_MEMBERS,
    NORMAL,
    NOTHING,
    OF_VERSION,
    PATHS,
    Content,
    Ledger,
    RunSeries,
    levels_of_members,
    mean_of_members,
    over_members,
    owner_of,
    unpacked,
)
from records.runs.run_lists import (
    RunCounts,
    basins_with_issued_run,
    counts_by_version,
    issued_before,
    issued_pairs,
    issued_runs_of_basin,
    list_runs,
    newest_changed,
    operational,
    reforecasts,
    unchanged,
)
from records.runs.run_types import (
    AGE,
    CLOSURE,
    ERROR_SHIFTS,
    ORIGIN,
    PART_STATISTICS,
    PEAKS_BY_RAIN,
    PUBLISHED,
    QUANTILES,
    QUANTILES_NOTE,
    SNOW_SPREAD,
    SPREAD_LEVELS,
    TRACES_NOTE,
    VARIANCE,
    BasinResult,
    BasinStatus,
    NewRun,
    Purpose,
    QuantilesOf,
    Run,
    RunBasin,
    RunBasinKey,
    UnknownRun,
    ledger_entry,
    shares_of,
)
from records.runs.shared_cells import with_cells
from records.runs.tables import RunBasinRow, RunContentRow, RunRow

__all__ = [
    "AGE",
    "CALIBRATED",
    "CHANGES",
    "CLOSURE",
    "ERROR_SHIFTS",
    "LEDGER",
    "LEVELS_OF_MEMBERS",
    "MEAN_OF_MEMBERS",
    "NORMAL",
    "OF_VERSION",
    "ORIGIN",
    "PART_STATISTICS",
    "PATHS",
    "PEAKS_BY_RAIN",
    "PUBLISHED",
    "QUANTILES",
    "QUANTILES_NOTE",
    "SNOW_SPREAD",
    "SPREAD_LEVELS",
    "TRACES_NOTE",
    "VARIANCE",
    "BasinResult",
    "BasinStatus",
    "Content",
    "Ledger",
    "NewRun",
    "Purpose",
    "QuantilesOf",
    "Run",
    "RunBasin",
    "RunBasinKey",
    "RunCounts",
    "RunSeries",
    "UnknownRun",
    "basin_of",
    "basins_of",
    "basins_with_issued_run",
    "calibrated_flow",
    "content_of_many",
    "counts_by_version",
    "flow_ahead",
    "get",
    "issued_before",
    "issued_pairs",
    "issued_runs_of_basin",
    "ledger_entry",
    "ledger_of",
    "ledgers_of_many",
    "levels_of_members",
    "list_runs",
    "mean_of_members",
    "newest_changed",
    "of_key",
    "operational",
    "over_members",
    "reforecasts",
    "series_of",
    "series_of_many",
    "shares_of",
    "unchanged",
]


def get(session: Session, run: str) -> Run:
    """Return a run.

    Raises:
        UnknownRun: there is none with this id.
        Gone: it was pruned.
    """
    row = session.get(RunRow, run)
    if row is None:
        raise retention.pruned_row(session, "what-if", run) or UnknownRun(
            f"No run {run!r} is stored here: list the runs to see their ids."
        )
    return as_record(Run, row)


def of_key(session: Session, key: str) -> list[Run]:
    """Return the runs that answered a named request."""
    rows = session.scalars(select(RunRow).where(RunRow.request_key == key).order_by(RunRow.id))
    return [as_record(Run, row) for row in rows]


def basins_of(session: Session, run: str) -> list[RunBasin]:
    """Return a run's content for each of its basins.

    Raises:
        UnknownRun: there is none with this id.
    """
    get(session, run)
    rows = session.scalars(select(RunBasinRow).filter_by(run_id=run).order_by(RunBasinRow.basin_id))
    pruned = retention.pruned(session, "members", [run]).get(run)
    return [as_record(RunBasin, row, pruned=pruned) for row in rows]


def basin_of(session: Session, run: str, basin: str) -> RunBasin:
    """Return a run's content for a basin.

    Raises:
        UnknownRun: there is no such run, or it has no such basin.
    """
    get(session, run)
    row = session.get(RunBasinRow, (run, basin))
    if row is None:
        raise UnknownRun(f"Run {run} does not contain {basin}: list the run's basins.")
    return as_record(RunBasin, row, pruned=retention.pruned(session, "members", [run]).get(run))


def series_of(
    session: Session, run: str, basin: str, variables: Sequence[str] | None = None
) -> Mapping[str, RunSeries]:
    """Return the arrays of a run for a basin by variable: all, or the present ones of some.

    Raises:
        UnknownRun: there is no such run, or it has no such basin.
    """
    basin_of(session, run, basin)
    return series_of_many(session, [(run, basin)], variables)[run, basin]


def series_of_many(
    session: Session, keys: Sequence[RunBasinKey], variables: Sequence[str] | None = None
) -> dict[RunBasinKey, Mapping[str, RunSeries]]:
    """Return the arrays by variable of many basins, each from its own run. Empty without arrays."""
    return {key: content.series for key, content in content_of_many(session, keys, variables).items()}


def content_of_many(
    session: Session, keys: Sequence[RunBasinKey], variables: Collection[str] | None = None
) -> dict[RunBasinKey, Content]:
    """Return the stored content of many basins, each from its own run: all arrays, or some, and the ledgers.

    Raises:
        Corrupt: it is damaged.
    """
    columns = table_of(RunContentRow).c
    query = select(columns.run_id, columns.basin_id, columns.content)
    by_key = dict.fromkeys(keys, NOTHING)
    for run, basin, content in session.execute(where_keys(query, (columns.run_id, columns.basin_id), by_key)):
        by_key[run, basin] = unpacked(owner_of(run, basin), content, variables)
    return with_cells(session, by_key)


def flow_ahead(session: Session, run: str, basin: str) -> FlowAhead | None:
    """Return a run's calibrated flow for a basin, mm/day. None if it was not calibrated.

    Raises:
        UnknownRun: there is no such run, or it has no such basin.
    """
    return calibrated_flow(series_of(session, run, basin, (CALIBRATED, PATHS)))


def calibrated_flow(series: Mapping[str, RunSeries]) -> FlowAhead | None:
    """Return the calibrated flow among a run's arrays for a basin, mm/day. None without it."""
    if PATHS not in series:
        return None
    quantiles, paths = series[CALIBRATED], series[PATHS]
    return FlowAhead(
        tuple(quantiles.axes["level"]), quantiles.values.astype(np.float64), paths.values.astype(np.float64)
    )


def ledger_of(session: Session, run: str, basin: str) -> Sequence[Ledger]:
    """Return the ledger of each member of a run for a basin. Empty if its network does not conserve mass.

    Raises:
        UnknownRun: there is no such run, or it has no such basin.
    """
    basin_of(session, run, basin)
    return ledgers_of_many(session, [(run, basin)])[run, basin]


def ledgers_of_many(session: Session, keys: Sequence[RunBasinKey]) -> dict[RunBasinKey, Sequence[Ledger]]:
    """Return the ledgers of many basins, each from its own run. Empty for a network without ledgers."""
    return {key: content.ledgers for key, content in content_of_many(session, keys, ()).items()}
