"""Tomorrow's discharge, from a forecast."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import known
from hydrology.base.calendar import Day
from hydrology.base.units import Area, mm_per_day_to_m3s
from hydrology.weather.forcing_kinds import ForcingKind
from operations.basin_data.basins import last_ended
from records.basins import basins
from records.runs import run_arrays, runs
from records.runs.filled_note import weather_note
from records.runs.run_summary import CalibrationKind

_LEVELS = (0.05, 0.5, 0.95)
_TWO_DAYS = np.timedelta64(2, "D")  # from the day that has ended to the day after the one that has not


@dataclass(frozen=True, slots=True)
class Tomorrow:
    """The discharge of tomorrow, m3/s: the quantiles 0.05, 0.5 and 0.95.

    They are calibrated, or the members' where `calibration` is None. The notes are cautions: the version extrapolates
    beyond its training, or weather was not observed in time or not forecast.
    """

    day: Day
    low: float
    median: float
    high: float
    weather: ForcingKind
    calibration: CalibrationKind | None
    training_note: str | None
    weather_note: str | None


def tomorrow(session: Session, basin: str, run: str, now: datetime) -> Tomorrow | None:
    """Return a run's discharge for tomorrow; None where its horizon is too short or the area unknown."""
    stored, of_basin = runs.get(session, run), runs.basin_of(session, run, basin)
    day = last_ended(basins.get(session, basin), now) + _TWO_DAYS
    series = runs.series_of(session, run, basin, [run_arrays.CALIBRATED, "discharge_quantiles"])
    quantiles = series.get(run_arrays.CALIBRATED) or series.get("discharge_quantiles")
    lead = int((day - stored.t0).astype(int))
    if quantiles is None or lead not in quantiles.axes["lead"] or of_basin.area_m2 is None:
        return None
    at = [quantiles.axes["level"].index(level) for level in _LEVELS], quantiles.axes["lead"].index(lead)
    area = Area(str(of_basin.area_name), of_basin.area_m2)
    low, median, high = mm_per_day_to_m3s(quantiles.values[at], area=area).tolist()
    note = of_basin.summary.training_note if of_basin.summary.beyond(stored.product) else None
    used = known(of_basin.summary.calibration)
    kind = None if used is None else used.kind
    return Tomorrow(
        day=day,
        low=low,
        median=median,
        high=high,
        weather=stored.forcing_kind,
        calibration=kind,
        training_note=note,
        weather_note=weather_note(stored, of_basin.summary),
    )
