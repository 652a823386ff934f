"""The volume of the season that a run holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.reasons import Reason
from records.database.statements import as_record
from records.forecasts import seasonal_volumes
from records.forecasts.latest import CAN_BE_LATEST, NEWEST_FIRST
from records.forecasts.seasonal_volumes import SeasonNotHeld, Volume
from records.outlooks.run_outlook import SeasonVolume
from records.outlooks.tables import OutlookRow
from records.runs.run_arrays import RunSeries
from records.runs.run_types import NewRun, Run, RunBasin
from records.runs.tables import RunBasinRow, RunRow
from records.series.year_rows import DamagedSeries
from records.versions import promotions


@dataclass(frozen=True, slots=True)
class Season:
    """The volume of a season, and the run that it is of."""

    volume: SeasonVolume
    run: Run


def season_of_run(
    session: Session, run: NewRun, basin: RunBasin, series: Mapping[str, RunSeries]
) -> SeasonVolume | Absent | None:
    """Return the volume of the basin's season by a run with the weather of other years, or why it is not known.

    None where the run holds none.
    """
    if run.forcing_kind != "climatology":
        return None
    try:
        volume = seasonal_volumes.of_arrays(session, run, basin, series)
    except SeasonNotHeld:
        return None
    except DamagedSeries as problem:
        return absent(Reason.FAILED, message=str(problem))
    is_calibrated = not isinstance(volume.calibrated, Absent)
    ahead = volume.calibrated if is_calibrated else volume.raw
    if isinstance(ahead, Absent):
        return ahead
    return SeasonVolume(
        season=str(volume.season),
        period=str(volume.period),
        is_calibrated=is_calibrated,
        percent_of_normal=_percent_of_normal(volume, ahead),
    )


def _percent_of_normal(volume: Volume, ahead: Array) -> tuple[float, ...] | Absent:
    whole, normal = volume.whole(ahead), volume.normal
    if isinstance(whole, Absent):
        return whole
    if isinstance(normal, Absent):
        return normal
    return tuple((100 * whole / normal.mean).tolist()) if normal.mean > 0 else absent(Reason.NORMAL_IS_0)


def newest_seasons(session: Session, basins: Sequence[str], at: datetime) -> dict[str, Season]:
    """Return the season of the newest run that holds one, as `records.forecasts.latest.newest_on` orders runs.

    Basins without one are left out.
    """
    promoted = promotions.last_promotions()
    newest_first = (promoted.c.number.desc(), *NEWEST_FIRST)
    place = func.row_number().over(partition_by=OutlookRow.basin_id, order_by=newest_first).label("place")
    of_version = (promoted.c.basin_id == RunBasinRow.basin_id) & (promoted.c.version_id == RunRow.version_id)
    ranked = (
        select(OutlookRow.run_id, OutlookRow.basin_id, place)
        .join(RunRow, RunRow.id == OutlookRow.run_id)
        .join(RunBasinRow, (RunBasinRow.run_id == OutlookRow.run_id) & (RunBasinRow.basin_id == OutlookRow.basin_id))
        .join(promoted, of_version)
        .where(OutlookRow.basin_id.in_(basins), OutlookRow.has_season, CAN_BE_LATEST)
        .where(RunRow.owner.is_(None), RunRow.what_if.is_(None), RunRow.available_at <= at)
        .subquery()
    )
    rows = session.execute(
        select(OutlookRow.basin_id, OutlookRow.outlook, RunRow)
        .join(ranked, (ranked.c.run_id == OutlookRow.run_id) & (ranked.c.basin_id == OutlookRow.basin_id))
        .join(RunRow, RunRow.id == OutlookRow.run_id)
        .where(ranked.c.place == 1)
    )
    return {
        basin: Season(outlook.season, as_record(Run, run))
        for basin, outlook, run in rows
        if isinstance(outlook.season, SeasonVolume)
    }
