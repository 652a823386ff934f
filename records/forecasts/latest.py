"""The latest forecast of a basin at the clock's time."""

from collections.abc import Collection, Mapping, Sequence
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
from records.database.stored import read, where_keys
from records.runs import runs
from records.runs.run_store import LATEST, TRIED
from records.runs.run_types import RUN_BASINS, RUNS, BasinStatus, Run, RunBasin, RunBasinKey, last_past_day
from records.runs.tables import ADJUSTMENTS, IS_PUBLISHED, NEWEST_RUNS, Adjustment
from records.versions import promotions, versions
from records.versions.promotions import PROMOTIONS


class NoModel(NotFound):
    """No version is current for the basin."""

    remedy = "Promote a version for it: `freshet models install-pretrained --promote`, or `models promote VERSION`."


class NoForecast(NotFound):
    """The current version has not issued a forecast of the basin yet."""

    remedy = "Issue one: `freshet forecast --basin BASIN`, or post a job of the kind `forecast`."


def asked_version(session: Session, basin: str, version: str | None) -> versions.Version:
    """Return a version, by default the current one of a stored basin."""
    basin_records.require(session, basin)
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
        owner: the basin's; None for the service.
    """

    run: Run
    basin: RunBasin
    superseded_by: Superseded | None
    awaited: str | None = None
    owner: str | None = None
    adjustment: str | None = None

    @property
    def is_official(self) -> bool:
        """Whether the basin is."""
        return self.owner is None

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


NEWEST_FIRST = (RUNS.c.t0.desc(), RUNS.c.issued_at.desc(), RUNS.c.id.desc())
CAN_BE_LATEST = (RUN_BASINS.c.status == "issued") & (
    func.coalesce(RUN_BASINS.c.spin_up_days, SPIN_UP_DAYS + 1) > SPIN_UP_DAYS
)
"""Whether a run's forecast of a basin may be its latest."""
_NEWEST = NEWEST_RUNS.c
_OF_BASIN = (
    select(PROMOTIONS.c.version_id)
    .where(PROMOTIONS.c.basin_id == _NEWEST.basin_id)
    .order_by(PROMOTIONS.c.id.desc())
    .limit(1)
)
CURRENT = _NEWEST.version_id == _OF_BASIN.scalar_subquery()
"""Whether a noted newest run is of its basin's current version."""
_ISSUED = NEWEST_RUNS.alias()
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
    (_NEWEST.which == LATEST, _NEWEST.version_id == _OF_BASIN.where(_HAS_ISSUED).scalar_subquery()), else_=CURRENT
)
"""Whether a noted newest run counts: one that was tried, of the current version; the latest forecast, of the last
promoted version that has issued one."""
_IS_OFFICIAL = select(BASINS.c.id).where(BASINS.c.id == _NEWEST.basin_id, ownership.is_official()).exists()
_IS_ADJUSTED = (
    select(ADJUSTMENTS.c.id)
    .where(ADJUSTMENTS.c.run_id == _NEWEST.run_id, ADJUSTMENTS.c.basin_id == _NEWEST.basin_id, IS_PUBLISHED)
    .exists()
)
_NOTED = select(
    *(_NEWEST.basin_id, _NEWEST.which, _NEWEST.run_id, _NEWEST.t0, _NEWEST.available_at),
    _IS_OFFICIAL.label("is_official"),
    _IS_ADJUSTED.label("is_adjusted"),
).where(_SERVES)
_NOTED_OF = _NOTED.where(_NEWEST.basin_id.in_(bindparam("basins", expanding=True)))


class _Noted(NamedTuple):
    run_id: str
    t0: Day
    available_at: datetime
    is_official: bool = True
    is_adjusted: bool = False


Glance = tuple[str, Day]
"""Run and T0 of a latest forecast."""


def newest_run_keys(session: Session, basins: Sequence[str], at: datetime) -> dict[str, Glance]:
    """Return the latest forecasts of official basins by one small look-up. Those that need a search or a note, and
    adjusted ones, are left out."""
    keys: dict[str, Glance] = {}
    for basin, newest in _noted(session, basins).items():
        issued = newest.get(LATEST)
        if issued is None or newest.get(TRIED) != issued or issued.available_at > at:
            continue
        if issued.is_official and not issued.is_adjusted:
            keys[basin] = issued.run_id, issued.t0
    return keys


def result_of(session: Session, run: str, basin: str) -> Latest:
    of_basin, owner = runs.basin_of(session, run, basin), ownership.owner(session, basin)
    adjusted = published_adjustments(session, [(run, basin)]).get((run, basin))
    adjustment = None if adjusted is None else adjusted.id
    return Latest(runs.get(session, run), of_basin, None, owner=owner, adjustment=adjustment)


def latest_many(session: Session, basins: Sequence[str], at: datetime) -> dict[str, Latest | NotFound]:
    """Return each basin's latest forecast, or the error `latest` would raise."""
    issued, tried = newest_noted(session, basins, at)
    pairs = _pairs(session, issued, tried)
    lacking = _lacking(session, [basin for basin in basins if basin not in issued], pairs, tried)
    current, owners = promotions.current(session, list(issued)), ownership.owners(session, basins)
    adjusted = published_adjustments(session, [(newest.run_id, basin) for basin, newest in issued.items()], at)
    answers: dict[str, Latest | NotFound] = {}
    for basin in basins:
        if basin not in issued:
            answers[basin] = lacking[basin]
            continue
        run, found = pairs[issued[basin].run_id, basin]
        newer = pairs[tried[basin].run_id, basin] if basin in tried else None
        awaited, superseded = awaited_version(run.version_id, current.get(basin)), _superseded(run, newer)
        adjustment = adjusted[run.id, basin].id if (run.id, basin) in adjusted else None
        answers[basin] = Latest(run, found, superseded, awaited, owners.get(basin), adjustment)
    return answers


def updated_since(session: Session, basins: Sequence[str], since: datetime, at: datetime) -> list[str]:
    """Return the basins whose latest forecasts differ between two instants. The later one became available, or its
    version was promoted, in between."""
    issued, _ = newest_noted(session, basins, at)
    promoted = promotions.since(session, since)
    return [one for one in basins if one in promoted or (one in issued and issued[one].available_at > since)]


def last_past_days(session: Session, at: datetime) -> dict[str, Day]:
    """Return the last past day, T0 or filled after it, of every official basin's latest forecast at an instant."""
    issued, _ = newest_noted(session, None, at)
    run_ids = {newest.run_id for newest in issued.values()}
    filled = dict(session.execute(select(RUNS.c.id, RUNS.c.filled_days).where(RUNS.c.id.in_(run_ids))).all())
    days = {basin: last_past_day(newest.t0, filled[newest.run_id]) for basin, newest in issued.items()}
    return {basin: days[basin] for basin in ownership.official(session, sorted(days))}


def newest_tried(
    session: Session, basins: Sequence[str], at: datetime, version: str | None = None
) -> dict[str, tuple[Run, RunBasin]]:
    """Return, by basin, its current or the given version's newest available operational run, whatever its outcome."""
    if version is None:
        _, tried = newest_noted(session, basins, at)
    else:
        columns = _NEWEST.basin_id, _NEWEST.run_id, _NEWEST.t0, _NEWEST.available_at
        of_version = (_NEWEST.version_id == version, _NEWEST.which == TRIED, _NEWEST.available_at <= at)
        rows = session.execute(select(*columns).where(_NEWEST.basin_id.in_(basins), *of_version))
        tried = {basin: _Noted(*noted) for basin, *noted in rows}
    return {basin: pair for (_, basin), pair in _pairs(session, tried).items()}


Newest = Mapping[str, _Noted]
"""A newest run of each basin."""
Pairs = Mapping[RunBasinKey, tuple[Run, RunBasin]]


def _pairs(session: Session, *newest: Newest) -> Pairs:
    return runs.read_pairs(session, {(one.run_id, basin) for of in newest for basin, one in of.items()})


def _lacking(session: Session, basins: Sequence[str], pairs: Pairs, tried: Newest) -> dict[str, NotFound]:
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
            run, content = pairs[tried[basin].run_id, basin]
            why = content.reason or spin_up_note(content.spin_up_days or 0)
            lacking[basin] = NoForecast(
                f"No forecast of {basin} can be the latest yet: run {run.id} was {content.status} ({why})."
            )
        else:
            sentence = f"Version {current[basin]} has no available forecast of {basin} yet: run one."
            lacking[basin] = NoForecast(sentence)
    return lacking


def newest_noted(session: Session, basins: Sequence[str] | None, at: datetime) -> tuple[Newest, Newest]:
    """Return the newest runs that can be the latest forecasts, and those of the current versions, whatever their
    outcome."""
    noted = _noted(session, basins)
    issued, tried = _searched(session, [one for one, newest in noted.items() if not _available(newest, at)], at)
    for basin, newest in noted.items():
        if _available(newest, at):
            issued |= {basin: newest[LATEST]} if LATEST in newest else {}
            tried |= {basin: newest[TRIED]} if TRIED in newest else {}
    return issued, tried


def _noted(session: Session, basins: Sequence[str] | None) -> dict[str, dict[str, _Noted]]:
    """Return the noted newest runs of basins (default: all) that count (`_SERVES`)."""
    connection = session.connection()
    rows = connection.execute(_NOTED) if basins is None else connection.execute(_NOTED_OF, {"basins": list(basins)})
    newest: dict[str, dict[str, _Noted]] = {}
    for basin, which, *noted in rows:
        newest.setdefault(basin, {})[which] = _Noted(*noted)
    return newest


def _available(newest: Mapping[str, _Noted], at: datetime) -> bool:
    return all(row.available_at <= at for row in newest.values())


def _searched(session: Session, basins: Sequence[str], at: datetime) -> tuple[dict[str, _Noted], dict[str, _Noted]]:
    """Search for the newest runs that were available at an earlier instant."""
    if not basins:
        return {}, {}
    promoted = promotions.last_promotions(basins)
    basin = RUN_BASINS.c.basin_id
    of_basin = func.row_number().over(partition_by=(basin, promoted.c.is_current), order_by=NEWEST_FIRST)
    of_status = func.row_number().over(
        partition_by=(basin, CAN_BE_LATEST), order_by=(promoted.c.number.desc(), *NEWEST_FIRST)
    )
    ranked = (
        select(
            *(basin, RUNS.c.id.label("run_id"), RUNS.c.t0, RUNS.c.available_at),
            (promoted.c.is_current & (of_basin == 1)).label("tried"),
            (CAN_BE_LATEST & (of_status == 1)).label("latest"),
        )
        .join_from(RUN_BASINS, RUNS, RUNS.c.id == RUN_BASINS.c.run_id)
        .join(promoted, (promoted.c.basin_id == basin) & (promoted.c.version_id == RUNS.c.version_id))
        .where(basin.in_(basins), RUNS.c.purpose == "operational", RUNS.c.available_at <= at)
        .subquery()
    )
    issued, tried = dict[str, _Noted](), dict[str, _Noted]()
    for row in session.execute(select(ranked).where(or_(ranked.c.tried, ranked.c.latest))):
        found = _Noted(row.run_id, row.t0, row.available_at)
        tried |= {row.basin_id: found} if row.tried else {}
        issued |= {row.basin_id: found} if row.latest else {}
    return issued, tried


def published_adjustments(
    session: Session, keys: Collection[RunBasinKey], by: datetime | None = None
) -> dict[RunBasinKey, Adjustment]:
    """Return the newest adjustments of forecasts, published by an instant; those without one are left out."""
    columns = ADJUSTMENTS.c.run_id, ADJUSTMENTS.c.basin_id
    is_published = IS_PUBLISHED if by is None else ADJUSTMENTS.c.published_at <= by
    query = where_keys(select(ADJUSTMENTS).where(is_published), columns, keys)
    found = read(session, Adjustment, query.order_by(ADJUSTMENTS.c.published_at, ADJUSTMENTS.c.id))
    return {(one.run_id, one.basin_id): one for one in found}


def forecasters_adjustments(session: Session, keys: Collection[RunBasinKey]) -> dict[RunBasinKey, Adjustment]:
    """Return the newest published adjustments of forecasts but for updates by measured flow."""
    found = published_adjustments(session, keys)
    return {key: one for key, one in found.items() if one.measured_at is None}


def _superseded(run: Run, newer: tuple[Run, RunBasin] | None) -> Superseded | None:
    if newer is None or newer[0].id == run.id:
        return None
    reason, note = newer[1].reason, newer[1].spin_up_note
    if reason is None and note is not None:
        reason = absent(Reason.SPINNING_UP, note=note)
    return Superseded(newer[0].id, newer[1].status, reason or absent(Reason.NOT_THE_LATEST))


def awaited_version(version: str, current: str | None) -> str | None:
    return None if current == version else current
