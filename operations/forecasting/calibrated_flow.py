"""Calibrated quantiles of a forecast, from its version's error model and the members' expected flow.

A hindcast has the observed weather, and ESP the weather of every other year: the remaining error is that of the
network, which the error model describes. A weather forecast has errors of its own, which only past pairs of forecast
and observed flow can show.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Period
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries
from hydrology.base.units import Area, to_mm_per_day
from hydrology.uncertainty.error_model import BasinErrorModel, errors_of, mixed
from hydrology.uncertainty.error_paths import paths
from operations.basin_data.basins import area_by
from operations.states.advance_states import ONE_DAY
from records.basins.basins import Basin
from records.runs import runs
from records.runs.run_request import RunWeather
from records.runs.run_summary import RunCalibration
from records.runs.states import State
from records.series import series
from records.versions import error_models
from records.versions.versions import Version

log = structlog.get_logger()

MIN_DAYS = 3 * 365
"""Days of forcing needed to derive high flows in a basin without a fitted error model."""
MIN_ISSUE_DAYS = 90
"""Issue days T0 with a weather model that are needed for its calibration: about a season."""


@dataclass(frozen=True, slots=True)
class LastFlow:
    """The last observed flow up to T0, and the simulated flow of that day, mm/day."""

    day: Day
    observed: float
    simulated: float


@dataclass(frozen=True, slots=True)
class CalibratedFlow:
    """Flow over the days ahead, mm/day. Quantiles (`LEVELS`, leads), and equally likely paths (paths, leads)."""

    quantiles: npt.NDArray[np.float32]
    paths: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The error model and last flow that calibrate one basin.

    Attributes:
        last_flow: None where no flow was observed on the last days.
        summary: the calibration as stored with the run.
        of_forecasts: whether its errors are those of the mean of all traces, and include the traces' spread.
    """

    error_model: BasinErrorModel
    t0: Day
    last_flow: LastFlow | None
    summary: RunCalibration
    of_forecasts: bool = False

    def of(self, flow: npt.NDArray[np.float64]) -> CalibratedFlow:
        """Return the calibrated flow of the days ahead.

        Args:
            flow: the members' mean discharge with every trace of weather, (traces, leads), mm/day.
        """
        last, lead = self.last_flow, np.arange(1, flow.shape[1] + 1, dtype=float)
        gap, error = lead, np.full(len(lead), np.nan)
        if last is not None:
            gap = lead + float((self.t0 - last.day).astype(int))
            error[:] = errors_of(self.error_model.errors, np.array([last.simulated]), np.array([last.observed]))
        if self.of_forecasts:
            flow = flow.mean(axis=0, keepdims=True)
        together = (flow.ravel(), np.tile(gap, len(flow)), np.tile(error, len(flow)))
        of_traces = self.error_model.quantiles(*together).reshape(*flow.shape, -1)
        quantiles = of_traces[0] if len(flow) == 1 else mixed(of_traces)
        traces = paths(self.error_model.errors, flow, of_traces)
        return CalibratedFlow(quantiles.T.astype(np.float32), traces.astype(np.float32))


def calibrations(
    session: Session,
    version: Version,
    weather: RunWeather | None,
    t0: Day,
    states: Mapping[str, State],
    basins: Mapping[str, Basin],
) -> dict[str, Calibration | Absent]:
    """Return the calibration of each basin, or why it has none.

    Args:
        weather: the weather forecast that drives the run, if any.
        states: at T0.
    """
    model = (
        error_model_of(session, version, list(states))
        if weather is None
        else _of_weather(session, version, weather, list(states))
    )
    if isinstance(model, Absent):
        return dict.fromkeys(states, model)
    return {
        name: errors
        if isinstance(errors := errors_in(model, name), Absent)
        else _of_basin(model, errors, t0, _last_flow(session, t0, state, basins[name], version.area_products))
        for name, state in states.items()
    }


def error_model_of(session: Session, version: Version, basins: Sequence[str]) -> error_models.ErrorModel | Absent:
    """Return the error model of a version, or of the twin that is scored for it; or why there is none."""
    model = error_models.get(session, version.id, basins)
    if model is None and version.twin_id is not None:
        model = error_models.get(session, version.twin_id, basins)
    return model or absent(Reason.NO_ERROR_MODEL, version=version.id)


def _of_weather(
    session: Session, version: Version, weather: RunWeather, basins: Sequence[str]
) -> error_models.ErrorModel | Absent:
    """Return the error model of a version's forecasts with a weather model, or what is missing for it."""
    name = error_models.of_weather(weather.source, weather.model)
    model = error_models.get(session, version.id, basins, name)
    if model is not None:
        return model
    days = runs.count_issue_days(session, version.id, weather.source, weather.model)
    return absent(Reason.TOO_FEW_ISSUE_DAYS, needed=MIN_ISSUE_DAYS, weather=name, days=days)


def errors_in(model: error_models.ErrorModel, basin: str) -> BasinErrorModel | Absent:
    """Return the error model of a basin, or why there is none."""
    if (errors := model.of_basin(basin)) is not None:
        return errors
    if not model.for_unseen:
        return absent(Reason.NO_REGIONAL_ERROR_MODEL, version=model.version_id, basin=basin)
    return absent(Reason.RECORD_TOO_SHORT_TO_CALIBRATE, version=model.version_id, basin=basin, days=MIN_DAYS)


def _of_basin(
    model: error_models.ErrorModel, error_model: BasinErrorModel, t0: Day, last: LastFlow | None
) -> Calibration:
    shown = RunCalibration(
        sha256=model.sha256,
        weather=model.weather,
        fitted_on=str(model.period),
        own_days=error_model.errors.days,
        last_flow_day=None if last is None else str(last.day),
        last_flow_mm=None if last is None else last.observed,
    )
    return Calibration(error_model, t0, last, shown, of_forecasts=model.weather != error_models.OBSERVED)


def _last_flow(session: Session, t0: Day, state: State, basin: Basin, area_products: Sequence[str]) -> LastFlow | None:
    area = area_by(basin.areas, area_products)
    if state.recent_flow is None or not len(state.recent_flow) or area is None:
        return None
    days = Period(t0 - (len(state.recent_flow) - 1) * ONE_DAY, t0)
    try:
        stored = series.read(session, basin.id, gauge_product(basin.id), "discharge", days)
    except series.DamagedSeries as problem:
        log.warning("forecast.without_last_flow", basin=basin.id, error=str(problem))
        return None
    if stored is None:
        return None
    observed = _in_mm(stored, area)
    known = np.flatnonzero(np.isfinite(observed) & np.isfinite(state.recent_flow))
    if not len(known):
        return None
    at = int(known[-1])
    return LastFlow(days.first + at, float(observed[at]), float(state.recent_flow[at]))


def _in_mm(stored: DailySeries, area: Area) -> npt.NDArray[np.float64]:
    return np.asarray(to_mm_per_day(stored.values, unit=stored.unit, area=area), dtype=float)
