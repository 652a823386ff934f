"""Seasonal volume of a run, with the observed part and the normal."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.arrays import Array
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Period
from hydrology.base.errors import InvalidInput
from hydrology.base.series import DailySeries
from hydrology.base.units import Area, to_mm_per_day
from hydrology.climatology.volumes import Normal, Observed, Season, default_season, exceeded, normal
from hydrology.weather.forcing import ForcingKind
from records.basins import basins
from records.forecasts.latest import Latest, NoForecast, NoModel, newest_on
from records.runs import runs
from records.series import series
from records.versions import promotions

SNOW_SHARE = "frac_snow"
"""The attribute with the share of precipitation that falls as snow."""
NOT_EXPECTED: Mapping[ForcingKind, str] = {
    "observed": "The run is a hindcast: it uses the weather after T0, so its volume is not a forecast.",
    "dry": "The run has no precipitation after T0, so its volume is not an expected one.",
}
"""Why runs with such weather have no volume."""


class SeasonNotHeld(InvalidInput):
    """The run does not reach the end of the season."""

    kind = "season-not-held"


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """The volume of a season, as depths in mm. A text gives the reason for a missing value.

    Attributes:
        period: the season's days; ahead: those of them after T0.
        area: the run's area; None if it has none.
        observed: until T0; None if the season begins after T0.
        raw, calibrated: of the days ahead, at the exceedance probabilities `EXCEEDED_PERCENT`: from uncalibrated
            members with traces, and from the calibrated paths.
    """

    season: Season
    period: Period
    ahead: Period
    area: Area | None
    observed: Observed | str | None
    normal: Normal | str
    raw: Array | str
    calibrated: Array | str

    def whole(self, ahead: Array | str) -> Array | str:
        """Return the exceeded depths of the whole season: the observed part plus the days ahead, mm."""
        if isinstance(ahead, str) or self.observed is None:
            return ahead
        if isinstance(self.observed, str):
            return self.observed
        missing = self.observed.missing
        if len(missing):
            return (
                f"{len(missing)} of the {len(self.observed.period)} days of the season until T0 were not observed, "
                f"{missing[0]} the first."
            )
        return self.observed.depth + ahead


def of_run(session: Session, latest: Latest, season: Season | None = None) -> Volume:
    """Return a run's volume of a season, by default of the season from `season_of`.

    Raises:
        SeasonNotHeld: the run does not reach its end.
    """
    run, basin = latest.run, latest.basin
    season = season or season_of(session, basin.basin_id, run.t0)
    period, last = season.after(run.t0), run.t0 + np.timedelta64(run.horizon_days, "D")
    if period.last > last:
        raise SeasonNotHeld(
            f"Run {run.id} holds days until {last}, and {season} ends on {period.last}: forecast its volume (freshet "
            f"volumes --basin {basin.basin_id} --season {season}), or ask for a season that ends earlier."
        )
    ahead = Period(max(period.first, run.t0 + 1), period.last)
    area = None if basin.area_m2 is None or basin.area_name is None else Area(basin.area_name, basin.area_m2)
    observed, of_years = _of_record(session, basin.basin_id, area, run.t0, season)
    raw, calibrated = _forecast(session, run, basin, ahead)
    return Volume(
        season=season,
        period=period,
        ahead=ahead,
        area=area,
        observed=observed,
        normal=of_years,
        raw=raw,
        calibrated=calibrated,
    )


def season_of(session: Session, basin: str, t0: Day) -> Season:
    """Return the default season of a basin's volume."""
    return default_season(basins.get(session, basin).attributes.get(SNOW_SHARE), t0)


def newest(session: Session, basin: str, at: datetime, season: Season | None = None) -> Latest:
    """Return the newest run with the weather of other years that contains the season.

    Raises:
        UnknownBasin, NoModel: there is no such basin, or no version is current for it.
        NoForecast: there is no such run; the message gives the command for one.
    """
    basins.require(session, basin)
    if basin not in promotions.current(session, [basin]):
        raise NoModel(f"No model version is current for {basin}: promote one.")
    for run in newest_on(session, basin, "climatology", at):
        asked = season or season_of(session, basin, run.t0)
        if asked.after(run.t0).last <= run.last:
            return Latest(runs.get(session, run.run_id), runs.basin_of(session, run.run_id, basin), None)
    option = "" if season is None else f" --season {season}"
    raise NoForecast(
        f"No forecast of {basin} with the weather of other years contains {season or 'its season'}. Issue one: freshet "
        f"volumes --basin {basin}{option}."
    )


def _of_record(
    session: Session, basin: str, area: Area | None, t0: Day, season: Season
) -> tuple[Observed | str | None, Normal | str]:
    """Return the observed depth of the season until T0, and its normal."""
    period, record = season.after(t0), series.read(session, basin, gauge_product(basin), "discharge")
    started = period.first <= t0
    if record is None:
        reason = f"No discharge of {basin} is stored."
        return (reason if started else None), reason
    if area is None and record.unit != "mm/day":
        reason = f"The run names no drainage area of {basin}, by which its discharge would be a depth."
        return (reason if started else None), reason
    until_t0 = Period(period.first, t0)
    observed = Observed.of(until_t0, _depths(record.over(until_t0), area)) if started else None
    return observed, normal(_depths(record, area), record.period, season, period)


def _depths(record: DailySeries, area: Area | None) -> Array:
    if area is None:
        return record.values.astype(np.float64)
    return to_mm_per_day(record.values, unit=record.unit, area=area)


def _forecast(session: Session, run: runs.Run, basin: runs.RunBasin, ahead: Period) -> tuple[Array | str, Array | str]:
    """Return the exceeded depths of the days ahead: uncalibrated and calibrated."""
    if (reason := NOT_EXPECTED.get(run.forcing_kind)) is not None:
        return reason, reason
    if basin.status != "issued":
        return basin.why_missing, basin.why_missing
    arrays = runs.series_of(session, run.id, basin.basin_id, ("discharge", runs.PATHS))
    leads = slice(*(int((end - run.t0).astype(int)) for end in (ahead.first - 1, ahead.last)))
    return (
        exceeded(arrays["discharge"].values, leads) if "discharge" in arrays else basin.why_missing,
        exceeded(arrays[runs.PATHS].values, leads) if runs.PATHS in arrays else basin.why_not_calibrated,
    )
