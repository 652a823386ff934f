"""The latest forecast of a basin at the clock's time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
from sqlalchemy import bindparam, func, or_, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day
from hydrology.base.errors import NotFound
from hydrology.base.reasons import Reason
from hydrology.water.spin_up import SPIN_UP_DAYS, spin_up_note
from hydrology.weather.forcing_kinds import ForcingKind
from records.basins import basins as basin_records
from records.database import retention
from records.database.statements import as_record, table_of
from records.database.tables import PrunedRow
from records.runs import runs
from records.runs.newest_runs import LATEST, TRIED
from records.runs.run_types import last_past_day
from records.runs.runs import BasinStatus, Run, RunBasin
from records.runs.tables import NewestRunRow, RunBasinRow, RunRow
from records.versions import promotions, versions
from records.versions.tables import PromotionRow


class NoModel(NotFound):
    """No version is current for the basin."""

    kind = "no-model"
    remedy = "Promote a version for it: `freshet models install-pretrained --promote`, or `models promote VERSION`."


class NoForecast(NotFound):
    """The current version has not issued a forecast of the basin yet."""

    kind = "no-forecast"
    remedy = "Issue one: `freshet forecast --basin BASIN`, or post a job of the kind `forecast`."


def asked_version(session: Session, basin: str, version: str | None) -> versions.Version:
    """Return a version; by default the current one of a basin.

    Raises:
        UnknownVersion: there is none of that id.
        NoModel: no version is named, and none is current.
    """
    if version is not None:
        return versions.get(session, version)
    current = promotions.current(session, [basin]).get(basin)
    if current is None:
        raise NoModel(f"No model version is current for {basin}: name one, or promote one.")
    return versions.get(session, current)


@dataclass(frozen=True, slots=True)
class Superseded:
    """A newer run that cannot be the latest of the basin, and why."""

    run_id: str
    status: BasinStatus
    reason: Absent


@dataclass(frozen=True, slots=True)
class Latest:
    """The newest issued run of a basin, its content for the basin, and the newer run that could not replace it."""

    run: Run
    basin: RunBasin
    superseded_by: Superseded | None


def latest(session: Session, basin: str, at: datetime) -> Latest:
    """Return the latest forecast of a basin that is available at an instant.

    Of the operational runs of the version that is current for the basin: the newest T0, then the newest issue. A run
    whose state is still spinning up (`hydrology.water.spin_up`) is not among them.

    Raises:
        UnknownBasin: there is no such basin.
        NoModel: no version is current for it.
        NoForecast: the current version has issued none; the message gives the outcome of its newest run.
    """
    answer = latest_many(session, [basin], at)[basin]
    if isinstance(answer, Latest):
        return answer
    basin_records.require(session, basin)
    raise answer


_CAN_BE_LATEST = (RunBasinRow.status == "issued") & (
    func.coalesce(RunBasinRow.spin_up_days, SPIN_UP_DAYS + 1) > SPIN_UP_DAYS
)
CURRENT = (
    NewestRunRow.version_id
    == select(PromotionRow.version_id)
    .where(PromotionRow.basin_id == NewestRunRow.basin_id)
    .order_by(PromotionRow.id.desc())
    .limit(1)
    .scalar_subquery()
)
"""Whether a noted newest run is of its basin's current version."""
_COLUMNS = table_of(NewestRunRow).c  # of the table, not of row objects: every answer needs a look-up
_NOTED = select(_COLUMNS.basin_id, _COLUMNS.which, _COLUMNS.run_id, _COLUMNS.t0, _COLUMNS.available_at).where(CURRENT)
_NOTED_OF = _NOTED.where(_COLUMNS.basin_id.in_(bindparam("basins", expanding=True)))


class _Noted(NamedTuple):
    run_id: str
    t0: Day
    available_at: datetime


Glance = tuple[str, Day]
"""Run and T0 of a latest forecast."""


def glance(session: Session, basins: Sequence[str], at: datetime) -> dict[str, Glance]:
    """Return the latest forecasts of basins by one small look-up. Those that need a search are left out."""
    newest = _noted(session, basins)
    return {
        basin: (of_basin[LATEST].run_id, of_basin[LATEST].t0)
        for basin, of_basin in newest.items()
        if _is_newest(of_basin) and of_basin[TRIED].available_at <= at
    }


def result_of(session: Session, run: str, basin: str) -> Latest:
    """Return the result of a given run for a basin.

    Raises:
        UnknownRun: there is no such run, or it does not include that basin.
    """
    return Latest(runs.get(session, run), runs.basin_of(session, run, basin), None)


def newest_on(session: Session, basin: str, weather: ForcingKind, at: datetime) -> Iterator[tuple[str, Day, Day]]:
    """Yield id, T0 and last day of the service's dry or climatology runs of a basin, newest T0 first.

    Left out are runs of operators' keys, runs with changes and runs whose members were pruned.

    Args:
        weather: `climatology` or `dry`.

    Raises:
        UnknownBasin, NoModel: there is no such basin, or no version is current for it.
    """
    basin_records.require(session, basin)
    version = promotions.current(session, [basin]).get(basin)
    if version is None:
        raise NoModel(f"No model version is current for {basin}: promote one.")
    rows = session.execute(
        select(RunRow.id, RunRow.t0, RunRow.horizon_days)
        .join(RunBasinRow, RunBasinRow.run_id == RunRow.id)
        .where(
            RunRow.version_id == version,
            RunRow.forcing_kind == weather,
            RunRow.owner.is_(None),
            RunRow.what_if.is_(None),
            RunRow.available_at <= at,
        )
        .where(
            RunRow.id.not_in(select(PrunedRow.id).where(PrunedRow.rule == "members")),
            RunBasinRow.basin_id == basin,
            _CAN_BE_LATEST,
        )
        .order_by(RunRow.t0.desc(), RunRow.issued_at.desc(), RunRow.id.desc())
    )
    for row in rows:
        yield row.id, row.t0, row.t0 + np.timedelta64(row.horizon_days, "D")


def latest_many(session: Session, basins: Sequence[str], at: datetime) -> dict[str, Latest | NotFound]:
    """Return each basin's latest forecast, or the error `latest` would raise."""
    issued, tried = _newest(session, basins, at)
    lacking = _lacking(session, [basin for basin in basins if basin not in issued], tried)
    rows = {run.id: run for run, _ in issued.values()}
    of_id = {id_: as_record(Run, row) for id_, row in rows.items()}  # one run is of many basins
    pruned = _pruned(session, issued)
    return {
        basin: _latest(of_id[issued[basin][0].id], issued[basin][1], tried[basin], pruned.get(issued[basin][0].id))
        if basin in issued
        else lacking[basin]
        for basin in basins
    }


def updated_since(session: Session, basins: Sequence[str], since: datetime, at: datetime) -> list[str]:
    """Return the basins whose latest forecasts differ between two instants.

    The later one became available in between, or its version was promoted in between.
    """
    noted = _noted(session, basins)
    early = [basin for basin, of_basin in noted.items() if not _available(of_basin, at)]
    searched, _ = _searched(session, early, at)
    newest = {basin: of_basin[LATEST].available_at for basin, of_basin in noted.items() if LATEST in of_basin}
    newest = {basin: available_at for basin, available_at in newest.items() if basin not in early}
    newest |= {basin: run.available_at for basin, (run, _) in searched.items()}
    promoted = promotions.since(session, since)
    return [basin for basin in basins if basin in promoted or (basin in newest and newest[basin] > since)]


def last_past_days(session: Session, at: datetime) -> dict[str, Day]:
    """Return the last past day, T0 or filled after it, of every basin's latest forecast at an instant."""
    newest = _noted(session, None)
    early = [basin for basin, of_basin in newest.items() if not _available(of_basin, at)]
    searched, _ = _searched(session, early, at)
    noted = {basin: of[LATEST] for basin, of in newest.items() if LATEST in of and basin not in early}
    run_ids = {one.run_id for one in noted.values()}
    filled = dict(session.execute(select(RunRow.id, RunRow.filled_days).where(RunRow.id.in_(run_ids))).all())
    found = {basin: last_past_day(one.t0, filled[one.run_id]) for basin, one in noted.items()}
    found |= {basin: last_past_day(run.t0, run.filled_days) for basin, (run, _) in searched.items()}
    return dict(sorted(found.items()))


def newest_tried(session: Session, basins: Sequence[str], at: datetime) -> dict[str, tuple[Run, RunBasin]]:
    """Return, by basin, its current version's newest available operational run, whatever its outcome."""
    _, tried = _newest(session, basins, at)
    pruned = _pruned(session, tried)
    return {
        basin: (as_record(Run, run), as_record(RunBasin, row, pruned=pruned.get(run.id)))
        for basin, (run, row) in tried.items()
    }


def _lacking(session: Session, basins: Sequence[str], tried: Mapping[str, "RunAndBasin"]) -> dict[str, NotFound]:
    """Explain for each basin why it has no forecast."""
    if not basins:
        return {}
    unknown = basin_records.unknown(session, basins)
    current = promotions.current(session, basins)
    lacking: dict[str, NotFound] = {}
    for basin in basins:
        if basin in unknown:
            lacking[basin] = unknown[basin]
        elif basin not in current:
            lacking[basin] = NoModel(f"No model version is current for {basin}: promote one.")
        elif basin in tried:
            run, row = tried[basin]
            why = row.reason or spin_up_note(row.spin_up_days or 0)
            lacking[basin] = NoForecast(
                f"No forecast of {basin} can be the latest yet: run {run.id} was {row.status} ({why})."
            )
        else:
            sentence = f"Version {current[basin]} has no available forecast of {basin} yet: run one."
            lacking[basin] = NoForecast(sentence)
    return lacking


RunAndBasin = tuple[RunRow, RunBasinRow]
Newest = tuple[dict[str, RunAndBasin], dict[str, RunAndBasin]]
"""Each basin's newest run that can be its latest forecast, and its newest run whatever its outcome."""


def _newest(session: Session, basins: Sequence[str], at: datetime) -> Newest:
    noted = _noted(session, basins)
    early = [basin for basin, of_basin in noted.items() if not _available(of_basin, at)]
    issued, tried = _searched(session, early, at)
    of_run = (RunBasinRow.run_id == NewestRunRow.run_id) & (RunBasinRow.basin_id == NewestRunRow.basin_id)
    apart = [basin for basin, of_basin in noted.items() if not _is_newest(of_basin)]
    rows = session.execute(
        select(NewestRunRow.which, RunRow, RunBasinRow)
        .join(RunRow, RunRow.id == NewestRunRow.run_id)
        .join(RunBasinRow, of_run)
        .where(CURRENT, NewestRunRow.basin_id.in_([basin for basin in noted if basin not in early]))
        .where((NewestRunRow.which == LATEST) | NewestRunRow.basin_id.in_(apart))  # the others' two rows are the same
    )
    for which, run, basin in rows:
        (issued if which == LATEST else tried)[basin.basin_id] = run, basin
    return issued, issued | tried


def _noted(session: Session, basins: Sequence[str] | None) -> dict[str, dict[str, _Noted]]:
    """Return the noted newest runs of basins (default: all) by their current version."""
    connection = session.connection()
    rows = connection.execute(_NOTED) if basins is None else connection.execute(_NOTED_OF, {"basins": list(basins)})
    newest: dict[str, dict[str, _Noted]] = {}
    for basin, which, run, t0, available_at in rows:
        newest.setdefault(basin, {})[which] = _Noted(run, t0, available_at)
    return newest


def _is_newest(newest: Mapping[str, _Noted]) -> bool:
    """Return whether a basin's latest forecast comes from its newest run."""
    return LATEST in newest and newest[LATEST].run_id == newest[TRIED].run_id


def _available(newest: Mapping[str, _Noted], at: datetime) -> bool:
    return all(row.available_at <= at for row in newest.values())


def _searched(session: Session, basins: Sequence[str], at: datetime) -> Newest:
    """Search for the newest runs that were available at an earlier instant."""
    if not basins:
        return {}, {}
    current = promotions.current_versions()
    order = (RunRow.t0.desc(), RunRow.issued_at.desc(), RunRow.id.desc())
    of_basin = func.row_number().over(partition_by=RunBasinRow.basin_id, order_by=order)
    of_status = func.row_number().over(partition_by=(RunBasinRow.basin_id, _CAN_BE_LATEST), order_by=order)
    ranked = (
        select(RunBasinRow.run_id, RunBasinRow.basin_id, of_basin.label("of_basin"), of_status.label("of_status"))
        .join(RunRow, RunRow.id == RunBasinRow.run_id)
        .join(current, (current.c.basin_id == RunBasinRow.basin_id) & (current.c.version_id == RunRow.version_id))
        .where(RunBasinRow.basin_id.in_(basins), RunRow.purpose == "operational", RunRow.available_at <= at)
        .subquery()
    )
    rows = session.execute(
        select(RunRow, RunBasinRow, ranked.c.of_basin, _CAN_BE_LATEST)
        .join(RunBasinRow, RunBasinRow.run_id == RunRow.id)
        .join(ranked, (ranked.c.run_id == RunRow.id) & (ranked.c.basin_id == RunBasinRow.basin_id))
        .where(or_(ranked.c.of_basin == 1, ranked.c.of_status == 1))
    )
    issued: dict[str, RunAndBasin] = {}
    tried: dict[str, RunAndBasin] = {}
    for run, basin, rank, can_be_latest in rows:
        if rank == 1:
            tried[basin.basin_id] = (run, basin)
        if can_be_latest:
            issued[basin.basin_id] = (run, basin)
    return issued, tried


def _pruned(session: Session, of_basins: Mapping[str, RunAndBasin]) -> dict[str, Absent]:
    """Return why runs lack their members' results, for those that do."""
    return retention.pruned(session, "members", {run.id for run, _ in of_basins.values()})


def _latest(run: Run, basin: RunBasinRow, tried: RunAndBasin, pruned: Absent | None) -> Latest:
    newer, superseded = tried[0], None
    if newer.id != run.id:
        newer_basin = as_record(RunBasin, tried[1], pruned=None)
        reason = newer_basin.reason
        if reason is None and (note := newer_basin.spin_up_note) is not None:
            reason = absent(Reason.SPINNING_UP, note=note)
        superseded = Superseded(newer.id, newer_basin.status, reason or absent(Reason.NOT_THE_LATEST))
    return Latest(run, as_record(RunBasin, basin, pruned=pruned), superseded)
