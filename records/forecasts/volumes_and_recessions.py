"""The newest runs of a basin with the weather of other years, or without rain; and the volumes of their seasons."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Period
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries
from hydrology.base.units import Area, to_mm_per_day
from hydrology.climatology.volumes import Normal, Observed, Season, default_season, exceeded, normal
from hydrology.weather.forcing_kinds import KINDS, ForcingKind
from records.basins import basins
from records.database.retention import ids_pruned
from records.forecasts.latest import (
    CAN_BE_LATEST,
    NEWEST_FIRST,
    Latest,
    NoForecast,
    NoModel,
    awaited_version,
    result_of,
)
from records.runs import run_arrays, run_types, runs
from records.runs.run_types import RUN_BASINS, RUNS, NewRun, RunBasin
from records.runs.run_weather import weights_of_members
from records.series import series
from records.versions import promotions


class NotDry(InvalidInput):
    """The run is not a recession run."""


def newest_result(session: Session, run: str, basin: str) -> Latest:
    result = result_of(session, run, basin)
    return replace(
        result, awaited=awaited_version(result.run.version_id, promotions.current(session, [basin]).get(basin))
    )


def newest_on(session: Session, basin: str, weather: ForcingKind, at: datetime) -> Iterator[tuple[str, Day, Day]]:
    """Yield id, T0 and last day of the service's dry or climatology runs of a basin, newest T0 first.

    Those of the current version come first. Left out are runs of operators' keys, with changes, or with pruned members.
    """
    basins.require(session, basin)
    if basin not in promotions.current(session, [basin]):
        raise NoModel(f"No model version is current for {basin}: promote one.")
    promoted = promotions.last_promotions([basin])
    rows = session.execute(
        select(RUNS.c.id, RUNS.c.t0, RUNS.c.horizon_days)
        .join(RUN_BASINS, RUN_BASINS.c.run_id == RUNS.c.id)
        .join(promoted, (promoted.c.basin_id == RUN_BASINS.c.basin_id) & (promoted.c.version_id == RUNS.c.version_id))
        .where(
            RUNS.c.forcing_kind == weather, RUNS.c.owner.is_(None), RUNS.c.what_if.is_(None), RUNS.c.available_at <= at
        )
        .where(
            RUNS.c.id.not_in(ids_pruned("members")),
            RUN_BASINS.c.basin_id == basin,
            CAN_BE_LATEST,
        )
        .order_by(promoted.c.number.desc(), *NEWEST_FIRST)
    )
    for row in rows:
        yield row.id, row.t0, row.t0 + np.timedelta64(row.horizon_days, "D")


def newest_recession(session: Session, basin: str, at: datetime, t0: Day | None = None) -> Latest:
    for run, of, _ in newest_on(session, basin, "dry", at):
        if t0 in (None, of):
            return newest_result(session, run, basin)
    of_t0, option = ("", "") if t0 is None else (f" from T0 {t0}", f" --t0 {t0}")
    raise NoForecast(
        f"There is no run of {basin}{of_t0} without rain after T0. Start one: freshet forecast --basin {basin}{option} "
        "--weather dry --horizon 180."
    )


def require_dry(run: run_types.Run) -> None:
    if run.forcing_kind != "dry":
        raise NotDry(f"Run {run.id} has {run.forcing_kind} weather: name a run with `dry` weather, or leave `run` out.")


ARRAYS = ("discharge", run_arrays.PATHS)
"""The arrays that a volume is computed from."""
SNOW_SHARE = "frac_snow"
"""The attribute with the share of precipitation that falls as snow."""


class SeasonNotHeld(InvalidInput):
    """The run does not reach the end of the season."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """The volume of a season, as depths in mm.

    Attributes:
        period: the season's days; ahead: those of them after T0.
        observed: until T0; None if the season begins after T0.
        raw, calibrated: of the days ahead, at the exceedance probabilities `EXCEEDED_PERCENT`: from uncalibrated
            members with traces, and from the calibrated paths.
    """

    season: Season
    period: Period
    ahead: Period
    area: Area | None
    observed: Observed | Absent | None
    normal: Normal | Absent
    raw: Array | Absent
    calibrated: Array | Absent

    def whole(self, ahead: Array | Absent) -> Array | Absent:
        """Return the exceeded depths of the whole season: the observed part plus the days ahead, mm."""
        if isinstance(ahead, Absent) or self.observed is None:
            return ahead
        if isinstance(self.observed, Absent):
            return self.observed
        missing = self.observed.missing
        if len(missing):
            days = len(self.observed.period)
            return absent(Reason.SEASON_NOT_OBSERVED, missing=len(missing), days=days, first=str(missing[0]))
        return self.observed.depth + ahead


def of_run(session: Session, latest: Latest, season: Season | None = None) -> Volume:
    run, basin = latest.run, latest.basin
    return of_arrays(session, run, basin, runs.series_of(session, run.id, basin.basin_id, ARRAYS), season)


def of_arrays(
    session: Session,
    run: NewRun,
    basin: RunBasin,
    arrays: Mapping[str, run_arrays.RunSeries],
    season: Season | None = None,
) -> Volume:
    season = season or season_of(session, basin.basin_id, run.t0)
    period, last = season.after(run.t0), run.last_day
    if period.last > last:
        raise SeasonNotHeld(
            f"Run {run.id} holds days until {last}, and {season} ends on {period.last}: forecast its volume (freshet "
            f"volumes --basin {basin.basin_id} --season {season}), or ask for a season that ends earlier."
        )
    ahead = Period(max(period.first, run.t0 + 1), period.last)
    observed, of_years = _of_record(session, basin.basin_id, basin.area, run.t0, season)
    raw, calibrated = _forecast(run, basin, ahead, arrays)
    return Volume(
        season=season,
        period=period,
        ahead=ahead,
        area=basin.area,
        observed=observed,
        normal=of_years,
        raw=raw,
        calibrated=calibrated,
    )


def season_of(session: Session, basin: str, t0: Day) -> Season:
    return default_season(basins.get(session, basin).attributes.get(SNOW_SHARE), t0)


def newest(session: Session, basin: str, at: datetime, season: Season | None = None) -> Latest:
    """Return the newest run with the weather of other years that contains the season."""
    for run, t0, last in newest_on(session, basin, "climatology", at):
        asked = season or season_of(session, basin, t0)
        if asked.after(t0).last <= last:
            return newest_result(session, run, basin)
    option = "" if season is None else f" --season {season}"
    raise NoForecast(
        f"No forecast of {basin} with the weather of other years contains {season or 'its season'}. Issue one: freshet "
        f"volumes --basin {basin}{option}."
    )


def _of_record(
    session: Session, basin: str, area: Area | None, t0: Day, season: Season
) -> tuple[Observed | Absent | None, Normal | Absent]:
    period, record = season.after(t0), series.read(session, basin, gauge_product(basin), "discharge")
    started = period.first <= t0
    if record is None:
        reason = absent(Reason.NO_DISCHARGE, basin=basin)
        return (reason if started else None), reason
    if area is None and record.unit != "mm/day":
        reason = absent(Reason.RUN_WITHOUT_AREA_FOR_DEPTH, basin=basin)
        return (reason if started else None), reason
    until_t0 = Period(period.first, t0)
    observed = Observed.of(until_t0, _depths(record.over(until_t0), area)) if started else None
    return observed, normal(_depths(record, area), record.period, season, period)


def _depths(record: DailySeries, area: Area | None) -> Array:
    if area is None:
        return record.values.astype(np.float64)
    return to_mm_per_day(record.values, unit=record.unit, area=area)


def _forecast(
    run: NewRun, basin: RunBasin, ahead: Period, arrays: Mapping[str, run_arrays.RunSeries]
) -> tuple[Array | Absent, Array | Absent]:
    if (without := KINDS[run.forcing_kind].without_volume) is not None:
        return absent(without), absent(without)
    if basin.status != "issued":
        return basin.why_missing, basin.why_missing
    leads = slice(*(int((end - run.t0).astype(int)) for end in (ahead.first - 1, ahead.last)))
    members = arrays.get("discharge")
    weights = None if members is None else weights_of_members(basin.summary.parts, members.axes["member"])
    return (
        basin.why_missing if members is None else exceeded(members.values, leads, weights),
        exceeded(arrays[run_arrays.PATHS].values, leads) if run_arrays.PATHS in arrays else basin.why_not_calibrated,
    )
