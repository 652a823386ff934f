"""The latest forecast of a basin at the clock's time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, case, func, or_, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day
from hydrology.base.errors import NotFound
from hydrology.base.reasons import Reason
from hydrology.water.storage import SPIN_UP_DAYS, spin_up_note
from records.basins import basins as basin_records
from records.basins import ownership
from records.basins.ownership import BASINS
from records.database import retention
from records.database.stored import as_record, table_of, where_keys
from records.runs import runs
from records.runs.adjustment import ADJUSTMENTS, IS_PUBLISHED
from records.runs.run_store import LATEST, TRIED
from records.runs.run_types import BasinStatus, Run, RunBasin, last_past_day
from records.runs.tables import NewestRunRow, RunBasinRow, RunRow
from records.versions import promotions, versions
from records.versions.promotions import PROMOTIONS


class NoModel(NotFound):
    """No version is current for the basin."""

    kind = "no-model"
    remedy = "Promote a version for it: `freshet models install-pretrained --promote`, or `models promote VERSION`."


class NoForecast(NotFound):
    """The current version has not issued a forecast of the basin yet."""

    kind = "no-forecast"
    remedy = "Issue one: `freshet forecast --basin BASIN`, or post a job of the kind `forecast`."


def asked_version(session: Session, basin: str, version: str | None) -> versions.Version:
    """Return a version; by default the current one."""
    if version is not None:
        return versions.get(session, version)
    current = promotions.current(session, [basin]).get(basin)
    if current is None:
        raise NoModel(f"No model version is current for {basin}: name one, or promote one.")
    return versions.get(session, current)


@dataclass(frozen=True, slots=True)
class Superseded:
    """A newer run that cannot become the basin's latest forecast."""

    run_id: str
    status: BasinStatus
    reason: Absent


@dataclass(frozen=True, slots=True)
class Latest:
    """The newest issued run of a basin, its content for the basin, and the newer run that could not replace it.

    Attributes:
        awaited: the basin's current version, where that has issued no such run yet and this one is of the version
            before it; None where the run is of the current version, or was named.
    """

    run: Run
    basin: RunBasin
    superseded_by: Superseded | None
    awaited: str | None = None
    is_official: bool = True
    adjustment: str | None = None

    @property
    def version_note(self) -> str | None:
        """Whose forecast it is, where a newly promoted version has issued none yet; None otherwise."""
        if self.awaited is None:
            return None
        return (
            f"Version {self.awaited} was promoted for {self.basin.basin_id} and has issued no such forecast of it yet: "
            f"until then, this one of version {self.run.version_id} stays the latest."
        )


def latest(session: Session, basin: str, at: datetime) -> Latest:
    """Return the latest forecast of a basin that is available at an instant.

    Of the operational runs of the version that is current for the basin, or, until that has issued one, of the version
    before it: the newest T0, then the newest issue. A run whose state is still spinning up (`hydrology.water.storage`)
    is not among them. NoForecast gives the outcome of the newest run.
    """
    answer = latest_many(session, [basin], at)[basin]
    if isinstance(answer, Latest):
        return answer
    basin_records.require(session, basin)
    raise answer


NEWEST_FIRST = (RunRow.t0.desc(), RunRow.issued_at.desc(), RunRow.id.desc())
CAN_BE_LATEST = (RunBasinRow.status == "issued") & (
    func.coalesce(RunBasinRow.spin_up_days, SPIN_UP_DAYS + 1) > SPIN_UP_DAYS
)
"""Whether a run's forecast of a basin may be its latest."""
_OF_BASIN = (
    select(PROMOTIONS.c.version_id)
    .where(PROMOTIONS.c.basin_id == NewestRunRow.basin_id)
    .order_by(PROMOTIONS.c.id.desc())
    .limit(1)
)
CURRENT = NewestRunRow.version_id == _OF_BASIN.scalar_subquery()
"""Whether a noted newest run is of its basin's current version."""
_ISSUED = table_of(NewestRunRow).alias()
_HAS_ISSUED = (
    select(_ISSUED.c.run_id)
    .where(
        _ISSUED.c.version_id == PROMOTIONS.c.version_id,
        _ISSUED.c.basin_id == PROMOTIONS.c.basin_id,
        _ISSUED.c.which == LATEST,
    )
    .exists()
)
_SERVES = case(
    (NewestRunRow.which == LATEST, NewestRunRow.version_id == _OF_BASIN.where(_HAS_ISSUED).scalar_subquery()),
    else_=CURRENT,
)
"""Whether a noted newest run counts: one that was tried, of the current version; the latest forecast, of the last
promoted version that has issued one."""
_COLUMNS = table_of(NewestRunRow).c  # of the table, not of row objects: every answer needs a look-up
_IS_OFFICIAL = select(BASINS.c.id).where(BASINS.c.id == _COLUMNS.basin_id, ownership.is_official()).exists()
_IS_ADJUSTED = (
    select(ADJUSTMENTS.c.id)
    .where(
        ADJUSTMENTS.c.run_id == _COLUMNS.run_id,
        ADJUSTMENTS.c.basin_id == _COLUMNS.basin_id,
        IS_PUBLISHED,
    )
    .exists()
)
_NOTED = select(
    *(_COLUMNS.basin_id, _COLUMNS.which, _COLUMNS.run_id, _COLUMNS.t0, _COLUMNS.available_at),
    _IS_OFFICIAL.label("is_official"),
    _IS_ADJUSTED.label("is_adjusted"),
).where(_SERVES)
_NOTED_OF = _NOTED.where(_COLUMNS.basin_id.in_(bindparam("basins", expanding=True)))


class _Noted(NamedTuple):
    run_id: str
    t0: Day
    available_at: datetime
    is_official: bool
    is_adjusted: bool


Glance = tuple[str, Day]
"""Run and T0 of a latest forecast."""


def newest_run_keys(session: Session, basins: Sequence[str], at: datetime) -> dict[str, Glance]:
    """Return the latest forecasts of official basins by one small look-up. Those that need a search or a note, and
    adjusted ones, are left out."""
    newest = _noted(session, basins)
    return {
        basin: (of_basin[LATEST].run_id, of_basin[LATEST].t0)
        for basin, of_basin in newest.items()
        if _is_newest(of_basin) and _is_plain(of_basin[LATEST]) and of_basin[TRIED].available_at <= at
    }


def _is_plain(noted: _Noted) -> bool:
    return noted.is_official and not noted.is_adjusted


def result_of(session: Session, run: str, basin: str) -> Latest:
    of_basin, is_official = runs.basin_of(session, run, basin), ownership.owner(session, basin) is None
    adjustment = _adjustments(session, {basin: run}).get(basin)
    return Latest(runs.get(session, run), of_basin, None, is_official=is_official, adjustment=adjustment)


def latest_many(session: Session, basins: Sequence[str], at: datetime) -> dict[str, Latest | NotFound]:
    """Return each basin's latest forecast, or the error `latest` would raise."""
    issued, tried = _newest(session, basins, at)
    lacking = _lacking(session, [basin for basin in basins if basin not in issued], tried)
    rows = {run.id: run for run, _ in issued.values()}
    of_id = {id_: as_record(Run, row) for id_, row in rows.items()}  # one run is of many basins
    pruned, current = _pruned(session, issued), promotions.current(session, list(issued))
    owners = ownership.owners(session, basins)
    adjusted = _adjustments(session, {basin: run.id for basin, (run, _) in issued.items()}, at)
    answers: dict[str, Latest | NotFound] = {}
    for basin in basins:
        if basin not in issued:
            answers[basin] = lacking[basin]
            continue
        run, row = of_id[issued[basin][0].id], issued[basin][1]
        found = as_record(RunBasin, row, pruned=pruned.get(run.id))
        awaited, superseded = awaited_version(run.version_id, current.get(basin)), _superseded(run, tried.get(basin))
        is_official, adjustment = basin not in owners, adjusted.get(basin)
        answers[basin] = Latest(run, found, superseded, awaited, is_official=is_official, adjustment=adjustment)
    return answers


def updated_since(session: Session, basins: Sequence[str], since: datetime, at: datetime) -> list[str]:
    """Return the basins whose latest forecasts differ between two instants. The later one became available, or its
    version was promoted, in between."""
    noted = _noted(session, basins)
    early = [basin for basin, of_basin in noted.items() if not _available(of_basin, at)]
    searched, _ = _searched(session, early, at)
    newest = {basin: of_basin[LATEST].available_at for basin, of_basin in noted.items() if LATEST in of_basin}
    newest = {basin: available_at for basin, available_at in newest.items() if basin not in early}
    newest |= {basin: run.available_at for basin, (run, _) in searched.items()}
    promoted = promotions.since(session, since)
    return [basin for basin in basins if basin in promoted or (basin in newest and newest[basin] > since)]


def last_past_days(session: Session, at: datetime) -> dict[str, Day]:
    """Return the last past day, T0 or filled after it, of every official basin's latest forecast at an instant."""
    newest = _noted(session, None)
    early = [basin for basin, of_basin in newest.items() if not _available(of_basin, at)]
    searched, _ = _searched(session, early, at)
    noted = {basin: of[LATEST] for basin, of in newest.items() if LATEST in of and basin not in early}
    run_ids = {one.run_id for one in noted.values()}
    filled = dict(session.execute(select(RunRow.id, RunRow.filled_days).where(RunRow.id.in_(run_ids))).all())
    found = {basin: last_past_day(one.t0, filled[one.run_id]) for basin, one in noted.items()}
    found |= {basin: last_past_day(run.t0, run.filled_days) for basin, (run, _) in searched.items()}
    return {basin: found[basin] for basin in ownership.official(session, sorted(found))}


def newest_tried(session: Session, basins: Sequence[str], at: datetime) -> dict[str, tuple[Run, RunBasin]]:
    """Return, by basin, its current version's newest available operational run, whatever its outcome."""
    _, tried = _newest(session, basins, at)
    pruned = _pruned(session, tried)
    return {
        basin: (as_record(Run, run), as_record(RunBasin, row, pruned=pruned.get(run.id)))
        for basin, (run, row) in tried.items()
    }


def _lacking(session: Session, basins: Sequence[str], tried: Mapping[str, "RunAndBasin"]) -> dict[str, NotFound]:
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
"""Each basin's newest run that can be its latest forecast, and the newest of its current version, whatever its
outcome."""


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
        .where(_SERVES, NewestRunRow.basin_id.in_([basin for basin in noted if basin not in early]))
        .where((NewestRunRow.which == LATEST) | NewestRunRow.basin_id.in_(apart))  # the others' two rows are the same
    )
    for which, run, basin in rows:
        (issued if which == LATEST else tried)[basin.basin_id] = run, basin
    both = {basin: issued[basin] for basin, of_basin in noted.items() if basin not in early and _is_newest(of_basin)}
    return issued, both | tried


def _noted(session: Session, basins: Sequence[str] | None) -> dict[str, dict[str, _Noted]]:
    """Return the noted newest runs of basins (default: all) that count (`_SERVES`)."""
    connection = session.connection()
    rows = connection.execute(_NOTED) if basins is None else connection.execute(_NOTED_OF, {"basins": list(basins)})
    newest: dict[str, dict[str, _Noted]] = {}
    for basin, which, *noted in rows:
        newest.setdefault(basin, {})[which] = _Noted(*noted)
    return newest


def _is_newest(newest: Mapping[str, _Noted]) -> bool:
    return LATEST in newest and TRIED in newest and newest[LATEST].run_id == newest[TRIED].run_id


def _available(newest: Mapping[str, _Noted], at: datetime) -> bool:
    return all(row.available_at <= at for row in newest.values())


def _searched(session: Session, basins: Sequence[str], at: datetime) -> Newest:
    """Search for the newest runs that were available at an earlier instant."""
    if not basins:
        return {}, {}
    promoted = promotions.last_promotions()
    of_basin = func.row_number().over(partition_by=(RunBasinRow.basin_id, promoted.c.is_current), order_by=NEWEST_FIRST)
    of_status = func.row_number().over(
        partition_by=(RunBasinRow.basin_id, CAN_BE_LATEST), order_by=(promoted.c.number.desc(), *NEWEST_FIRST)
    )
    ranked = (
        select(
            RunBasinRow.run_id,
            RunBasinRow.basin_id,
            (promoted.c.is_current & (of_basin == 1)).label("tried"),
            (CAN_BE_LATEST & (of_status == 1)).label("latest"),
        )
        .join(RunRow, RunRow.id == RunBasinRow.run_id)
        .join(promoted, (promoted.c.basin_id == RunBasinRow.basin_id) & (promoted.c.version_id == RunRow.version_id))
        .where(RunBasinRow.basin_id.in_(basins), RunRow.purpose == "operational", RunRow.available_at <= at)
        .subquery()
    )
    rows = session.execute(
        select(RunRow, RunBasinRow, ranked.c.tried, ranked.c.latest)
        .join(RunBasinRow, RunBasinRow.run_id == RunRow.id)
        .join(ranked, (ranked.c.run_id == RunRow.id) & (ranked.c.basin_id == RunBasinRow.basin_id))
        .where(or_(ranked.c.tried, ranked.c.latest))
    )
    issued: dict[str, RunAndBasin] = {}
    tried: dict[str, RunAndBasin] = {}
    for run, basin, was_tried, is_latest in rows:
        if was_tried:
            tried[basin.basin_id] = (run, basin)
        if is_latest:
            issued[basin.basin_id] = (run, basin)
    return issued, tried


def _adjustments(session: Session, of_basins: Mapping[str, str], at: datetime | None = None) -> dict[str, str]:
    is_published = IS_PUBLISHED if at is None else ADJUSTMENTS.c.published_at <= at
    query = select(ADJUSTMENTS.c.basin_id, ADJUSTMENTS.c.id).where(is_published)
    query = where_keys(query, (ADJUSTMENTS.c.run_id, ADJUSTMENTS.c.basin_id), [(r, b) for b, r in of_basins.items()])
    rows = session.execute(query.order_by(ADJUSTMENTS.c.published_at, ADJUSTMENTS.c.id))
    return {row.basin_id: row.id for row in rows}


def _pruned(session: Session, of_basins: Mapping[str, RunAndBasin]) -> dict[str, Absent]:
    return retention.pruned(session, "members", {run.id for run, _ in of_basins.values()})


def _superseded(run: Run, tried: RunAndBasin | None) -> Superseded | None:
    if tried is None or tried[0].id == run.id:
        return None
    newer = as_record(RunBasin, tried[1], pruned=None)
    reason = newer.reason
    if reason is None and (note := newer.spin_up_note) is not None:
        reason = absent(Reason.SPINNING_UP, note=note)
    return Superseded(tried[0].id, newer.status, reason or absent(Reason.NOT_THE_LATEST))


def awaited_version(version: str, current: str | None) -> str | None:
    return None if current == version else current
