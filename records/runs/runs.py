"""Forecast runs, with their basins and arrays: single ones, lists and counts. `records.runs.run_store` stores them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

import numpy as np
from sqlalchemy import ColumnElement, Select, Table, func, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period
from hydrology.uncertainty.exceedance import FlowAhead
from hydrology.water.storage import is_spinning_up
from hydrology.weather.forcing_kinds import ForcingKind
from records.database import retention
from records.database.stored import as_record, grouped, narrowed, read, where_keys
from records.runs.run_arrays import CALIBRATED, FOR_EVER, NOTHING, PATHS, Content, Ledger, RunSeries, unpacked
from records.runs.run_types import (
    ISSUED,
    RUN_BASINS,
    RUNS,
    Purpose,
    Run,
    RunBasin,
    RunBasinKey,
    UnknownRun,
    last_past_day,
)
from records.runs.shared_cells import with_cells
from records.runs.tables import RUN_CONTENTS, RUN_MEMBERS

Params = TypeVar("Params")
MAX_DAYS_BEFORE = 10
"""A forecast is compared with the newest one from at most this many days before its T0."""


def get(session: Session, run: str) -> Run:
    unknown = UnknownRun(f"No run {run!r} is stored here: list the runs to see their ids.")
    return retention.get(session, Run, "what-if", run, unknown)


def get_many(session: Session, ids: Collection[str]) -> dict[str, Run]:
    return {run.id: run for run in read(session, Run, select(RUNS).where(RUNS.c.id.in_(ids)))}


def of_key(session: Session, key: str) -> list[Run]:
    return read(session, Run, select(RUNS).where(RUNS.c.request_key == key).order_by(RUNS.c.id))


@dataclass(frozen=True, slots=True)
class RunRequest(Generic[Params]):
    """A request for runs.

    A run on hypothetical weather is always a what-if. `key` identifies the request, so that repeating it returns its
    runs; None for new runs each time. `available_at`: when the runs become readable; None: as they are issued.
    """

    params: Params
    purpose: Purpose = "operational"
    owner: str | None = None
    key: str | None = None
    available_at: datetime | None = None

    def earlier_runs(self, session: Session) -> list[Run]:
        return [] if self.key is None else of_key(session, self.key)


def basins_of(session: Session, run: str) -> list[RunBasin]:
    get(session, run)
    return [*_contents(session, RUN_BASINS.c.run_id == run).values()]


def basin_of(session: Session, run: str, basin: str) -> RunBasin:
    get(session, run)
    found = _contents(session, RUN_BASINS.c.run_id == run, RUN_BASINS.c.basin_id == basin)
    if not found:
        raise UnknownRun(f"Run {run} does not contain {basin}: list the run's basins.")
    return found[run, basin]


def read_pairs(session: Session, keys: Collection[RunBasinKey]) -> dict[RunBasinKey, tuple[Run, RunBasin]]:
    """Return runs, each with its content for a basin, by both ids."""
    found = get_many(session, {run for run, _ in keys})
    query = where_keys(select(RUN_BASINS), (RUN_BASINS.c.run_id, RUN_BASINS.c.basin_id), keys)
    return {key: (found[key[0]], basin) for key, basin in _read_contents(session, query).items()}


def _contents(session: Session, *which: ColumnElement[bool]) -> dict[RunBasinKey, RunBasin]:
    return _read_contents(session, select(RUN_BASINS).where(*which).order_by(RUN_BASINS.c.basin_id))


def _read_contents(session: Session, query: Select[Any]) -> dict[RunBasinKey, RunBasin]:
    rows = session.execute(query).all()
    pruned = retention.pruned(session, "members", {row.run_id for row in rows})
    return {(row.run_id, row.basin_id): as_record(RunBasin, row, pruned=pruned.get(row.run_id)) for row in rows}


def series_of(
    session: Session, run: str, basin: str, variables: Sequence[str] | None = None
) -> Mapping[str, RunSeries]:
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
    """Return the stored content of many basins, each from its own run: all arrays, or some, and the ledgers."""
    by_key = dict.fromkeys(keys, NOTHING)
    needs_members = variables is None or not {*variables} <= {*FOR_EVER}
    members = _packed(session, RUN_MEMBERS, by_key) if needs_members else {}
    for key, content in _packed(session, RUN_CONTENTS, by_key).items():
        by_key[key] = unpacked(*key, content, members.get(key), variables)
    return with_cells(session, by_key)


def _packed(session: Session, table: Table, keys: Collection[RunBasinKey]) -> dict[RunBasinKey, bytes]:
    columns = table.c
    query = select(columns.run_id, columns.basin_id, columns.content)
    rows = session.execute(where_keys(query, (columns.run_id, columns.basin_id), keys))
    return {(run, basin): content for run, basin, content in rows}


def calibrated_flow(series: Mapping[str, RunSeries]) -> FlowAhead | None:
    if not {CALIBRATED, PATHS} <= series.keys():
        return None
    quantiles, paths = series[CALIBRATED], series[PATHS]
    return FlowAhead(
        tuple(quantiles.axes["level"]), quantiles.values.astype(np.float64), paths.values.astype(np.float64)
    )


def ledger_of(session: Session, run: str, basin: str) -> Sequence[Ledger]:
    basin_of(session, run, basin)
    return content_of_many(session, [(run, basin)], ())[run, basin].ledgers


def list_runs(
    session: Session,
    *,
    basin: str | None = None,
    version: str | None = None,
    purpose: Purpose | None = None,
    purposes: Sequence[Purpose] | None = None,
    t0_from: Day | None = None,
    t0_to: Day | None = None,
    issued_after: datetime | None = None,
    available_by: datetime | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[Run]:
    """Return runs, newest first. `after` is the last id of the previous page, `t0_to` is included."""
    query = narrowed(
        select(RUNS),
        (RUNS.c.version_id.__eq__, version),
        (RUNS.c.purpose.__eq__, purpose),
        (RUNS.c.purpose.in_, purposes),
        (RUNS.c.t0.__ge__, t0_from),
        (RUNS.c.t0.__le__, t0_to),
        (RUNS.c.issued_at.__gt__, issued_after),
        (RUNS.c.available_at.__le__, available_by),
        (RUNS.c.id.__lt__, after),
    )
    if basin is not None:
        query = query.where(RUNS.c.id.in_(select(RUN_BASINS.c.run_id).where(RUN_BASINS.c.basin_id == basin)))
    return read(session, Run, query.order_by(RUNS.c.id.desc()).limit(limit))


def unchanged(session: Session, version: str, t0: Day, horizon_days: int, kind: ForcingKind) -> list[Run]:
    """Return a version's runs without changes for given days and weather, newest first."""
    alike = {"version_id": version, "t0": t0, "horizon_days": horizon_days, "forcing_kind": kind}
    query = select(RUNS).filter_by(**alike).where(RUNS.c.status != "failed").order_by(RUNS.c.id.desc())
    return [run for run in read(session, Run, query) if run.what_if is None or not run.what_if.changes]


def newest_changed(session: Session, basin: str, at: datetime) -> Run:
    """Return a basin's newest run with changes, available at an instant."""
    query = (
        select(RUNS)
        .join(RUN_BASINS, RUN_BASINS.c.run_id == RUNS.c.id)
        .where(RUN_BASINS.c.basin_id == basin, RUNS.c.what_if.is_not(None), RUNS.c.available_at <= at)
        .order_by(RUNS.c.id.desc())
    )
    for row in session.execute(query):
        if row.what_if.changes:
            return as_record(Run, row)
    raise UnknownRun(f"No what-if run of {basin} is stored: start one (freshet what-if --basin {basin}).")


def issued_runs(session: Session, version: str, until: Day, purposes: Sequence[Purpose] = ISSUED) -> list[Run]:
    """Return a version's issued runs of some purposes up to a T0, oldest first."""
    query = select(RUNS).where(RUNS.c.version_id == version, RUNS.c.purpose.in_(purposes))
    return read(session, Run, query.where(RUNS.c.status != "failed", RUNS.c.t0 <= until).order_by(RUNS.c.id))


def late_runs(session: Session, basins: Collection[str], issued_at: datetime) -> dict[str, str]:
    """Return the late run of each basin that was issued for an instant; basins without one are left out."""
    query = select(RUN_BASINS.c.basin_id, RUNS.c.id).join(RUNS, RUNS.c.id == RUN_BASINS.c.run_id)
    of_instant = (RUNS.c.purpose == "late", RUNS.c.issued_at == issued_at, RUN_BASINS.c.basin_id.in_(basins))
    return dict(session.execute(query.where(*of_instant).order_by(RUNS.c.id)).all())


def issued_pairs(session: Session, runs: Sequence[str]) -> list[RunBasinKey]:
    rows = session.execute(
        select(RUN_BASINS.c.run_id, RUN_BASINS.c.basin_id)
        .where(RUN_BASINS.c.run_id.in_(runs), RUN_BASINS.c.status == "issued")
        .order_by(RUN_BASINS.c.run_id, RUN_BASINS.c.basin_id)
    )
    return [(run, basin) for run, basin in rows]


def issued_before(
    session: Session, basins: Sequence[str], days: Period, version: str
) -> dict[str, tuple[Run, RunBasin]]:
    """Return each basin's newest operational run with its T0 on some days, and its content.

    Of the runs of the last T0, one of the named version, else of any. Basins without one that could have been the
    latest are left out.
    """
    rows = session.execute(
        select(RUN_BASINS.c.basin_id, RUNS.c.id, RUN_BASINS.c.spin_up_days)
        .join(RUNS, RUNS.c.id == RUN_BASINS.c.run_id)
        .where(RUNS.c.purpose == "operational", RUNS.c.t0.between(days.first, days.last))
        .where(RUN_BASINS.c.basin_id.in_(basins), RUN_BASINS.c.status == "issued")
        .order_by(RUNS.c.t0, RUNS.c.version_id == version, RUNS.c.issued_at, RUNS.c.id)
    )
    newest = {basin: run for basin, run, age in rows if age is None or not is_spinning_up(age)}
    pairs = read_pairs(session, [(run, basin) for basin, run in newest.items()])
    return {basin: pair for (_, basin), pair in pairs.items()}


def basins_with_issued_run(session: Session, runs: Sequence[str]) -> list[str]:
    of_runs = RUN_BASINS.c.run_id.in_(runs), RUN_BASINS.c.status == "issued"
    return list(
        session.scalars(select(RUN_BASINS.c.basin_id).where(*of_runs).distinct().order_by(RUN_BASINS.c.basin_id))
    )


def issued_runs_of_basin(session: Session, basin: str, runs: Sequence[str]) -> dict[str, RunBasin]:
    """Return runs' content for a basin, by run id. Runs not issued for it are left out."""
    of_runs = RUN_BASINS.c.basin_id == basin, RUN_BASINS.c.status == "issued", RUN_BASINS.c.run_id.in_(runs)
    return {run: content for (run, _), content in _contents(session, *of_runs).items()}


@dataclass(frozen=True, slots=True)
class RunCounts:
    """A version's readable runs: their number, newest T0, newest past day (T0 or filled after it) and newest issue."""

    runs: int
    newest_t0: Day
    weather_until: Day
    newest_issue: datetime


def counts_by_version(session: Session, at: datetime) -> dict[str, RunCounts]:
    """Return each version's available operational runs. Versions without any are left out.

    The newest T0 is of runs issued for at least one basin.
    """
    issued = RUNS.c.status != "failed"
    rows = session.execute(
        select(RUNS.c.version_id, RUNS.c.filled_days, func.count(), func.max(RUNS.c.t0), func.max(RUNS.c.issued_at))
        .where(RUNS.c.purpose == "operational", RUNS.c.available_at <= at, issued)
        .group_by(RUNS.c.version_id, RUNS.c.filled_days)
        .order_by(RUNS.c.version_id)
    )
    by_version = grouped(
        (version, (count, t0, last_past_day(t0, filled), issued_at)) for version, filled, count, t0, issued_at in rows
    )
    return {
        version: RunCounts(sum(counts), max(days), max(past_days), max(issues))
        for version, of_version in by_version.items()
        for counts, days, past_days, issues in [zip(*of_version, strict=True)]
    }
