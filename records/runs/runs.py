"""Forecast runs. They never change: a corrected input creates a new run. `records.runs.run_store` stores them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day
from hydrology.base.errors import NotFound
from hydrology.base.staleness import stale_note
from hydrology.uncertainty.exceedance import FlowAhead
from hydrology.water.spin_up import is_spinning_up, spin_up_note
from hydrology.weather.forcing_kinds import KINDS, ForcingKind
from records.database import retention
from records.database.base import JsonList
from records.database.composite_keys import where_keys
from records.database.statements import as_record, table_of
from records.runs.run_arrays import (
    CALIBRATED,
    LEDGER,
    LEVELS_OF_MEMBERS,
    MEAN_OF_MEMBERS,
    NORMAL,
    NOTHING,
    PATHS,
    Content,
    Ledger,
    RunSeries,
    levels_of_members,
    mean_of_members,
    owner_of,
    unpacked,
)
from records.runs.run_summary import NOT_STORED, RunSummary
from records.runs.shared_cells import with_cells
from records.runs.tables import RunBasinRow, RunContentRow, RunRow
from records.runs.weather_used import RunWeather
from records.runs.what_if import RunWhatIf

__all__ = [
    "AGE",
    "CALIBRATED",
    "CLOSURE",
    "LEDGER",
    "LEVELS_OF_MEMBERS",
    "MEAN_OF_MEMBERS",
    "NORMAL",
    "ORIGIN",
    "PART_STATISTICS",
    "PATHS",
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
    "Of",
    "Purpose",
    "QuantilesOf",
    "Run",
    "RunBasin",
    "RunCounts",
    "RunSeries",
    "UnknownRun",
    "basin_of",
    "basins_of",
    "basins_with_issued_run",
    "calibrated_flow",
    "content_of_many",
    "count_issue_days",
    "counts_by_version",
    "flow_ahead",
    "get",
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
    "series_of",
    "series_of_many",
    "unchanged",
]

Purpose = Literal["operational", "on-request", "reforecast", "what-if"]
"""Purpose of a run. `operational`: posted by a schedule, an admin or the owner of the data folder: it may become the
latest. `on-request`: posted with an operator's key, or for a season's volume, which never becomes the latest.
`what-if`: with hypothetical weather (`hydrology.weather.forcing_kinds`), or with changes."""
QuantilesOf = Literal["members", "members and traces"]
"""Basis of the quantiles of discharge; with weather traces, every member with every trace."""
QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
"""The levels of the discharge quantiles that a run stores."""
QUANTILES_NOTE = (
    "They are the spread of the members, not calibrated, and narrower than the truth: in 32 real basins over the test "
    "years, p05 to p95 held 29 % of the days, where calibrated quantiles would hold 90 %"
)
"""Note that is shown with the discharge quantiles of a run with one weather."""
TRACES_NOTE = "They cover every member with every weather trace, and are not calibrated"
"""Note that is shown with those of a run with traces."""
SPREAD_LEVELS = (0.05, 0.95)
"""The quantiles of members (and traces) that are stored for water."""
SNOW_SPREAD = "snow_spread"
"""The array of these quantiles of snow."""
ORIGIN, AGE = "discharge_by_origin", "discharge_by_age"
PART_STATISTICS = ("mean", "p05", "p95")
"""The arrays of discharge by its store at T0 and by its season of origin, with the stored statistics of members
(and traces): their mean, which adds up to that of the discharge, and quantiles at SPREAD_LEVELS, which do not."""
VARIANCE = "discharge_variance"
"""The array of the variance of discharge by source, in runs that split it
(`hydrology.uncertainty.variance_sources`)."""
CLOSURE = ("residual", "tolerance")
"""The entries of the first axis of the array LEDGER, `entry`, after the terms."""
Of = tuple[str, str]  # a run and one of its basins
BasinStatus = Literal["issued", "withheld", "failed"]


class UnknownRun(NotFound):
    """No run with this id is stored, or it has no such basin."""

    kind = "unknown-run"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBasin:
    """A run's content for one basin.

    Attributes:
        basin_id: the basin.
        status: `issued`, `withheld` (for example, its ledger did not close) or `failed`.
        reason: why it was not issued; None if it was.
        parent_day, parent_hash: the run's initial state.
        state_hash: hash of the state at T0.
        inputs_hash: hash of everything used since the parent.
        area_m2, area_name: the area that discharge is converted with.
        summary: what lists and maps show.
        spin_up_days: how many days after the empty store the state of T0 is; None where nothing was computed.
        pruned: why the members' results are no longer stored; None where they are.
    """

    basin_id: str
    status: BasinStatus
    reason: Absent | None = None
    parent_day: Day | None = None
    parent_hash: str | None = None
    state_hash: str | None = None
    inputs_hash: str | None = None
    area_m2: float | None = None
    area_name: str | None = None
    summary: RunSummary = field(default_factory=RunSummary)
    spin_up_days: int | None = None
    pruned: Absent | None = None

    @property
    def is_spinning_up(self) -> bool:
        """Whether its state is too young for the latest forecast."""
        return self.spin_up_days is not None and is_spinning_up(self.spin_up_days)

    @property
    def spin_up_note(self) -> str | None:
        """The warning about a young state; None without one."""
        return None if self.spin_up_days is None else spin_up_note(self.spin_up_days)

    @property
    def why_not_calibrated(self) -> Absent:
        """Why it has no calibrated quantiles."""
        return self.why(self.summary.calibration)

    @property
    def why_missing(self) -> Absent:
        """Why it lacks an array that runs store."""
        return self.reason or self.pruned or NOT_STORED

    def why(self, value: object) -> Absent:
        """Return why a value of the summary, or what belongs to it, is missing."""
        return self.reason or (value if isinstance(value, Absent) else self.why_missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinResult:
    """A run's results of one basin to store: content, arrays and its members' ledgers."""

    basin: RunBasin
    series: Sequence[RunSeries] = ()
    ledgers: Sequence[Ledger] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run to be stored.

    Attributes:
        id: from `ids.new_id(created_at)`.
        t0: the last day that the states have consumed.
        t0_age_days: how many days T0 lay before the clock's day.
        t0_stale: whether that is too many, where T0 was not named but chosen.
        horizon_days: how many days it looks ahead.
        issued_at: the clock's time; available_at: when readers may see it; created_at: the wall's time.
        version_id, weights_hash, code_version: what computed it.
        program: torch's version and the like, on which the last digits depend.
        product: of the forcing; forcing_kind: of the forcing after T0; forcing_cutoff: its last observed day.
        weather: the weather forecast that it used; None if the kind is not `supplied`.
        purpose: why it was posted.
        what_if: its changes, if this is the purpose; None otherwise.
        owner: the operator's key that posted it; None for the service's. A run with an owner is never official.
        members: the labels of the member axis.
        request_key: names the request that it answers, if that may be repeated.
        reason: why it is not fully issued, if its basins do not explain it.
    """

    id: str
    t0: Day
    horizon_days: int
    issued_at: datetime
    available_at: datetime
    created_at: datetime
    version_id: str
    weights_hash: str
    code_version: str
    program: str
    product: str
    forcing_kind: ForcingKind
    forcing_cutoff: Day | None = None
    weather: RunWeather | None = None
    purpose: Purpose
    what_if: RunWhatIf | None = None
    owner: str | None = None
    members: JsonList
    request_key: str | None = None
    reason: Absent | None = None
    t0_age_days: int
    t0_stale: bool

    @property
    def t0_note(self) -> str | None:
        """The warning about its T0; None where there is none."""
        if not self.t0_stale:
            return None
        observed_until = self.forcing_cutoff if KINDS[self.forcing_kind].of_record else None
        return stale_note(self.t0, self.t0_age_days, self.product, observed_until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(NewRun):
    """A stored run; `status` is `issued` (every basin), `partial` or `failed` (none)."""

    status: str

    @property
    def quantiles_of(self) -> QuantilesOf:
        """The basis of the quantiles of discharge."""
        return "members and traces" if self._has_traces else "members"

    @property
    def quantiles_note(self) -> str:
        """The note that is shown with them."""
        return TRACES_NOTE if self._has_traces else QUANTILES_NOTE

    @property
    def _has_traces(self) -> bool:
        return KINDS[self.forcing_kind].traces


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
    session: Session, keys: Sequence[Of], variables: Sequence[str] | None = None
) -> dict[Of, Mapping[str, RunSeries]]:
    """Return the arrays by variable of many basins, each from its own run. Empty without arrays."""
    return {key: content.series for key, content in content_of_many(session, keys, variables).items()}


def content_of_many(
    session: Session, keys: Sequence[Of], variables: Collection[str] | None = None
) -> dict[Of, Content]:
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


def ledgers_of_many(session: Session, keys: Sequence[Of]) -> dict[Of, Sequence[Ledger]]:
    """Return the ledgers of many basins, each from its own run. Empty for a network without ledgers."""
    return {key: content.ledgers for key, content in content_of_many(session, keys, ()).items()}


def list_runs(
    session: Session,
    *,
    basin: str | None = None,
    version: str | None = None,
    purpose: Purpose | None = None,
    t0_from: Day | None = None,
    t0_to: Day | None = None,
    issued_after: datetime | None = None,
    available_by: datetime | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[Run]:
    """Return runs, newest first. `after` is the last id of the previous page, `t0_to` is included."""
    filters: tuple[tuple[Callable[[Any], ColumnElement[bool]], object], ...] = (
        (RunRow.version_id.__eq__, version),
        (RunRow.purpose.__eq__, purpose),
        (RunRow.t0.__ge__, t0_from),
        (RunRow.t0.__le__, t0_to),
        (RunRow.issued_at.__gt__, issued_after),
        (RunRow.available_at.__le__, available_by),
        (RunRow.id.__lt__, after),
    )
    query = select(RunRow).where(*(holds(value) for holds, value in filters if value is not None))
    if basin is not None:
        query = query.where(RunRow.id.in_(select(RunBasinRow.run_id).where(RunBasinRow.basin_id == basin)))
    rows = session.scalars(query.order_by(RunRow.id.desc()).limit(limit))
    return [as_record(Run, row) for row in rows]


def unchanged(session: Session, version: str, t0: Day, horizon_days: int, kind: ForcingKind) -> list[Run]:
    """Return a version's runs without changes for given days and weather, newest first."""
    alike = {"version_id": version, "t0": t0, "horizon_days": horizon_days, "forcing_kind": kind}
    rows = session.scalars(
        select(RunRow).filter_by(**alike).where(RunRow.status != "failed").order_by(RunRow.id.desc())
    )
    return [as_record(Run, row) for row in rows if row.what_if is None or not row.what_if.changes]


def newest_changed(session: Session, basin: str, at: datetime) -> Run:
    """Return a basin's newest run with changes, available at an instant.

    Raises:
        UnknownRun: there is none.
    """
    rows = session.scalars(
        select(RunRow)
        .join(RunBasinRow, RunBasinRow.run_id == RunRow.id)
        .where(RunBasinRow.basin_id == basin, RunRow.what_if.is_not(None), RunRow.available_at <= at)
        .order_by(RunRow.id.desc())
    )
    for row in rows:
        if row.what_if is not None and row.what_if.changes:
            return as_record(Run, row)
    raise UnknownRun(f"No what-if run of {basin} is stored: start one (freshet what-if --basin {basin}).")


def operational(session: Session, version: str, until: Day) -> list[Run]:
    """Return a version's issued operational runs, oldest first.

    Args:
        until: the last T0.
    """
    rows = session.scalars(
        select(RunRow)
        .filter_by(version_id=version, purpose="operational")
        .where(RunRow.status != "failed", RunRow.t0 <= until)
        .order_by(RunRow.id)
    )
    return [as_record(Run, row) for row in rows]


def count_issue_days(session: Session, version: str, source: str, model: str) -> int:
    """Return the number of T0 days with operational runs on a weather model."""
    weather = RunRow.weather
    rows = session.execute(
        select(RunRow.t0, weather)
        .filter_by(version_id=version, purpose="operational", forcing_kind="supplied")
        .where(RunRow.status != "failed")
    )
    return len({t0 for t0, used in rows if used is not None and (used.source, used.model) == (source, model)})


def issued_pairs(session: Session, runs: Sequence[str]) -> list[Of]:
    """Return the issued basins of runs, as pairs of run and basin."""
    rows = session.execute(
        select(RunBasinRow.run_id, RunBasinRow.basin_id)
        .where(RunBasinRow.run_id.in_(runs), RunBasinRow.status == "issued")
        .order_by(RunBasinRow.run_id, RunBasinRow.basin_id)
    )
    return [(run, basin) for run, basin in rows]


def basins_with_issued_run(session: Session, runs: Sequence[str]) -> list[str]:
    """Return the basins that any of some runs was issued for, by name."""
    of_runs = RunBasinRow.run_id.in_(runs), RunBasinRow.status == "issued"
    return list(session.scalars(select(RunBasinRow.basin_id).where(*of_runs).distinct().order_by(RunBasinRow.basin_id)))


def issued_runs_of_basin(session: Session, basin: str, runs: Sequence[str]) -> dict[str, RunBasin]:
    """Return runs' content for a basin, by run id. Runs not issued for it are left out."""
    rows = session.scalars(
        select(RunBasinRow).filter_by(basin_id=basin, status="issued").where(RunBasinRow.run_id.in_(runs))
    )
    pruned = retention.pruned(session, "members", runs)
    return {row.run_id: as_record(RunBasin, row, pruned=pruned.get(row.run_id)) for row in rows}


@dataclass(frozen=True, slots=True)
class RunCounts:
    """A version's readable runs: their number, newest T0 and newest issue."""

    runs: int
    newest_t0: Day
    newest_issue: datetime


def counts_by_version(session: Session, at: datetime, purpose: Purpose = "operational") -> dict[str, RunCounts]:
    """Return each version's available runs of a purpose. Versions without any are left out.

    The newest T0 is of runs issued for at least one basin.
    """
    issued = RunRow.status != "failed"
    rows = session.execute(
        select(RunRow.version_id, func.count(), func.max(RunRow.t0), func.max(RunRow.issued_at))
        .where(RunRow.purpose == purpose, RunRow.available_at <= at, issued)
        .group_by(RunRow.version_id)
        .order_by(RunRow.version_id)
    )
    return {version: RunCounts(count, t0, issued_at) for version, count, t0, issued_at in rows}


def ledger_entry(ledger: RunSeries, entry: str) -> npt.NDArray[Any]:
    """Return a term of a ledger array, or an entry of CLOSURE: (members, traces) in mm."""
    values: npt.NDArray[Any] = ledger.values[list(ledger.axes["entry"]).index(entry)]
    return values
