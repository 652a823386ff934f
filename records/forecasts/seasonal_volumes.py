"""Seasonal volume of a run, with the observed part and the normal."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
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
from hydrology.weather.forcing_kinds import KINDS
from records.basins import basins
from records.forecasts.latest import Latest, NoForecast
from records.forecasts.newest_by_weather import newest_on, newest_result
from records.runs import run_arrays, runs
from records.runs.run_parts import weights_of_members
from records.runs.run_types import NewRun, RunBasin
from records.series import series

ARRAYS = ("discharge", run_arrays.PATHS)
"""The arrays that a volume is computed from."""
SNOW_SHARE = "frac_snow"
"""The attribute with the share of precipitation that falls as snow."""


class SeasonNotHeld(InvalidInput):
    """The run does not reach the end of the season."""

    kind = "season-not-held"


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
    """Return a run's volume, by default of the season from `season_of`."""
    run, basin = latest.run, latest.basin
    return of_arrays(session, run, basin, runs.series_of(session, run.id, basin.basin_id, ARRAYS), season)


def of_arrays(
    session: Session,
    run: NewRun,
    basin: RunBasin,
    arrays: Mapping[str, run_arrays.RunSeries],
    season: Season | None = None,
) -> Volume:
    """Return the same from a run's arrays of a basin."""
    season = season or season_of(session, basin.basin_id, run.t0)
    period, last = season.after(run.t0), run.t0 + np.timedelta64(run.horizon_days, "D")
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
