"""Builds the answer about seasonal volumes."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from app.forecasts.discharge import Representation, calibration_of
from app.forecasts.header import header, missing_in_header
from app.forecasts.volumes.schemas import NormalVolume, ObservedVolume, VolumeQuantiles, VolumesOfRun
from app.http.base_schema import Area, Period
from app.http.json_numbers import column, rounded
from hydrology.base.absent import Absent, absent, texts
from hydrology.base.arrays import Array
from hydrology.base.reasons import Reason
from hydrology.climatology.volumes import EXCEEDED_PERCENT, Normal, Observed, Season, million_m3
from records.forecasts import seasonal_volumes
from records.forecasts.latest import Latest
from records.forecasts.seasonal_volumes import Volume

NO_AREA = absent(Reason.RUN_WITHOUT_AREA)


@dataclass(frozen=True, slots=True)
class _ValueAndReasons:
    """A part of the answer, and why fields of it are null by their names."""

    part: VolumeQuantiles | None
    missing: dict[str, Absent]


def volumes_of_run(session: Session, latest: Latest, season: Season | None, at: datetime | None) -> VolumesOfRun:
    """Return the seasonal volume of a run; `at`: clock time for the newest run.

    Raises:
        SeasonNotHeld: the run does not reach the end of the season.
    """
    volume, basin = seasonal_volumes.of_run(session, latest, season), latest.basin
    calibrated, raw = (_part_of_answer(volume, name, getattr(volume, name)) for name in ("calibrated", "raw"))
    missing = missing_in_header(basin) | calibrated.missing | raw.missing
    calibration = (
        calibration_of(latest.run, basin, Representation("mm/day", members=False)) if calibrated.part else None
    )
    if calibration is None:
        missing["calibration"] = basin.why_not_calibrated
    observed = _observed(volume)
    if observed is None:
        seen = volume.observed
        missing["observed"] = seen if isinstance(seen, Absent) else absent(Reason.SEASON_NOT_STARTED)
    if isinstance(volume.normal, Absent):
        missing["normal"] = volume.normal
    if volume.area is None:
        fields = ["area", *(["observed.volume"] if observed else [])]
        fields += ["normal.mean_volume", "normal.median_volume"] if isinstance(volume.normal, Normal) else []
        missing |= dict.fromkeys(fields, NO_AREA)
    return VolumesOfRun(
        **header(latest, at),
        season=str(volume.season),
        period=Period.between(volume.period.first, volume.period.last),
        ahead=Period.between(volume.ahead.first, volume.ahead.last),
        exceeded_percent=list(EXCEEDED_PERCENT),
        area=None if volume.area is None else Area.of(volume.area),
        calibrated=calibrated.part,
        calibration=calibration,
        raw=raw.part,
        observed=observed,
        normal=_normal(volume),
        missing=texts(missing),
    )


def _part_of_answer(volume: Volume, name: str, ahead: Array | Absent) -> _ValueAndReasons:
    if isinstance(ahead, Absent):
        return _ValueAndReasons(None, {name: ahead})
    missing: dict[str, Absent] = {} if volume.area else {f"{name}.ahead_volume": NO_AREA, f"{name}.volume": NO_AREA}
    whole = volume.whole(ahead)
    if isinstance(volume.normal, Absent):
        missing[f"{name}.percent_of_normal"] = volume.normal
    elif volume.normal.mean == 0:
        missing[f"{name}.percent_of_normal"] = absent(Reason.NORMAL_IS_0)
    if isinstance(whole, Absent):
        missing |= {f"{name}.{part}": whole for part in ("depth", "volume", "percent_of_normal")}
    of_whole = None if isinstance(whole, Absent) else whole
    normal = volume.normal.mean if isinstance(volume.normal, Normal) and volume.normal.mean > 0 else None
    part = VolumeQuantiles(
        depth=None if of_whole is None else column(of_whole),
        volume=None if of_whole is None else _in_m3(volume, of_whole),
        percent_of_normal=None if of_whole is None or normal is None else column(100 * of_whole / normal),
        ahead_depth=column(ahead),
        ahead_volume=_in_m3(volume, ahead),
    )
    return _ValueAndReasons(part, missing)


def _observed(volume: Volume) -> ObservedVolume | None:
    seen = volume.observed
    if not isinstance(seen, Observed):
        return None
    return ObservedVolume(
        period=Period.between(seen.period.first, seen.period.last),
        days=len(seen.period) - len(seen.missing),
        missing_days=len(seen.missing),
        depth=rounded(seen.depth),
        volume=_one_in_m3(volume, seen.depth),
    )


def _normal(volume: Volume) -> NormalVolume | None:
    normal = volume.normal
    if isinstance(normal, Absent):
        return None
    return NormalVolume(
        mean_depth=rounded(normal.mean),
        median_depth=rounded(normal.median),
        mean_volume=_one_in_m3(volume, normal.mean),
        median_volume=_one_in_m3(volume, normal.median),
        years=len(normal.years),
        first_year=normal.years[0],
        last_year=normal.years[-1],
    )


def _in_m3(volume: Volume, depths: Array) -> list[float] | None:
    return None if volume.area is None else column(million_m3(depths, volume.area))


def _one_in_m3(volume: Volume, depth: float) -> float | None:
    converted = _in_m3(volume, np.array([depth]))
    return None if converted is None else converted[0]
