"""Calibrated quantiles of a forecast, from its version's error model and the members' expected flow.

A hindcast has the observed weather, and ESP the weather of every other year: the remaining error is that of the
network, which the error model describes. A weather forecast has errors of its own: the distribution is the mixture over
traces of weather around it, recalibrated by what came after the forecasts that were issued with the weather model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period, days_between
from hydrology.base.reasons import Reason
from hydrology.uncertainty.error_model import BasinErrorModel, errors_of, mixed
from hydrology.uncertainty.error_network import PAST, DaysAhead
from hydrology.uncertainty.error_paths import paths
from hydrology.uncertainty.recalibration import Recalibration
from operations.basin_data.dataset import discharge_of
from operations.forecasting.plans import Plan
from operations.forecasting.weather_ahead import RunDays
from operations.states.advance_states import ONE_DAY
from records.runs.run_summary import CalibrationKind, RunCalibration
from records.runs.run_weather import OBSERVED, RunRecalibration, RunWeather
from records.versions import error_models
from records.versions.versions import Version

log = structlog.get_logger()

Flow = npt.NDArray[np.float64]
RecentFlow = npt.NDArray[np.float32] | None

MIN_DAYS = 3 * 365
"""Days of forcing needed to derive high flows in a basin without a fitted error model."""


@dataclass(frozen=True, slots=True, eq=False)
class LastFlow:
    """The flow of the last days, mm/day: observed until `day`, the last one known, which may be a past day after T0.

    Observed (days,), NaN where missing; simulated (days,) until T0.
    """

    day: Day
    observed: Flow
    simulated: Flow

    @property
    def observed_mm(self) -> float:
        return float(self.observed[-1])

    def simulated_mm(self, t0: Day) -> float | None:
        """Return the simulated flow of that day; None where it is after T0."""
        return None if self.day > t0 else float(self.simulated[-1 - days_between(self.day, t0)])


@dataclass(frozen=True, slots=True)
class CalibratedFlow:
    """Flow over the days ahead, mm/day. Quantiles (`LEVELS`, leads), and equally likely paths (paths, leads)."""

    quantiles: npt.NDArray[np.float32]
    paths: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The error model and last flow that calibrate one basin.

    Attributes:
        recalibration: of forecasts with the weather model; None without a weather forecast.
        last_flow: None where no flow was observed on the last days.
        around: the members' mean discharge with the traces around its weather forecast, (traces, days) in mm/day; None
            where the run's own traces are far enough apart.
    """

    error_model: BasinErrorModel
    recalibration: Recalibration | None
    days: RunDays
    last_flow: LastFlow | None
    _summary: RunCalibration
    around: Flow | None = None

    def summary(self, flow: Flow) -> RunCalibration:
        """Return the calibration as stored; `flow` is the mean of members and traces, (leads,) in mm/day."""
        last = self.last_flow
        if last is None or last.day <= self.days.t0:
            return self._summary
        return replace(self._summary, simulated_mm=float(flow[self._lead_of(last) - 1]))

    def of(self, flow: Flow) -> CalibratedFlow:
        """Return the calibrated flow; `flow` is the members' mean by trace, (traces, leads) in mm/day."""
        traces = flow if self.around is None else self.around
        of_traces = self._quantiles(self.error_model, traces)
        quantiles = of_traces[0] if len(traces) == 1 else mixed(of_traces)
        if self.recalibration is not None:
            before, past = quantiles, self.days.filled  # leads are counted from the last past day
            quantiles = np.concatenate([before[:past], self.recalibration.apply(before[past:])])
        sampled = paths(self.error_model.errors, traces, of_traces, quantiles)
        return CalibratedFlow(quantiles.T.astype(np.float32), sampled.astype(np.float32))

    def root_shifts(self, flow: Flow, leads: Sequence[int]) -> Flow:
        """Return by how much the error model moves the cube root of flow, (leads, classes of flow).

        The flow is the mean of members and traces, (leads,) in mm/day.
        """
        gaps = np.array(leads, dtype=float)
        if self.last_flow is not None:
            gaps = np.maximum(gaps - self._lead_of(self.last_flow), 1)
        return self.error_model.root_shifts(gaps, self._days_ahead(flow[None]))

    def _days_ahead(self, flow: Flow) -> DaysAhead:
        """Return the days ahead of each trace, (traces x leads,), from the flow of traces, (traces, leads)."""
        last, (traces, leads) = self.last_flow, flow.shape
        if last is None:
            unknown = np.full(flow.size, np.nan)
            return DaysAhead.after(flow.ravel(), np.tile(np.arange(1.0, leads + 1), traces), unknown)
        past = np.concatenate([np.full(PAST, np.nan), last.simulated])
        simulated = np.concatenate([np.broadcast_to(past, (traces, len(past))), flow], axis=1)
        observed, at = np.full(simulated.shape, np.nan), len(past) - 1 + self._lead_of(last)
        count = min(len(last.observed), at + 1)
        observed[:, at + 1 - count : at + 1] = last.observed[-count:]
        errors = errors_of(self.error_model.errors, simulated, observed)
        of_traces = np.arange(traces)[:, None] * simulated.shape[1]
        ahead = of_traces + np.arange(len(past), simulated.shape[1])
        of_last = np.broadcast_to(of_traces + at, ahead.shape)
        return DaysAhead.of(simulated.ravel(), errors.ravel(), of_last.ravel(), ahead.ravel())

    def _quantiles(self, model: BasinErrorModel, flow: Flow) -> Flow:
        """Return the quantiles of flow given each trace, (traces, leads, `LEVELS`)."""
        return model.quantiles(self._days_ahead(flow)).reshape(*flow.shape, -1)

    def _lead_of(self, last: LastFlow) -> int:
        return days_between(self.days.t0, last.day)


def calibrations(
    session: Session, plan: Plan, version: Version, flows: Mapping[str, RecentFlow]
) -> dict[str, Calibration | Absent]:
    """Return the calibration of each basin by a version's error model, or why it has none.

    The last observed flow may be of a past day after T0, whose weather is not observed yet. The flows are the simulated
    ones of the last days until T0, mm/day; None where unknown.
    """
    model, weather = error_model_of(session, version, list(flows)), plan.forecast
    if isinstance(model, Absent):
        return dict.fromkeys(flows, model)
    recalibration = None if weather is None else recalibration_of(weather.recalibration)
    found: dict[str, Calibration | Absent] = {}
    errors_of = {name: errors_in(model, name) for name in flows}
    calibrated = [name for name, errors in errors_of.items() if not isinstance(errors, Absent)]
    last_flows = _last_flows(session, plan, {name: flows[name] for name in calibrated}, version.area_products)
    for name, errors in errors_of.items():
        if isinstance(errors, Absent):
            found[name] = errors
            continue
        last = last_flows.get(name)
        summary = RunCalibration(
            kind=_kind(weather),
            sha256=model.sha256,
            fitted_on=str(model.period),
            own_days=errors.errors.days,
            weather=OBSERVED if weather is None else weather.name,
            weather_issues=None if weather is None else weather.skill.issues,
            last_flow_day=None if last is None else str(last.day),
            last_flow_mm=None if last is None else last.observed_mm,
            simulated_mm=None if last is None else last.simulated_mm(plan.days.t0),
        )
        found[name] = Calibration(errors, recalibration, plan.days, last, summary)
    return found


def recalibration_of(stored: RunRecalibration) -> Recalibration:
    return Recalibration(np.array(stored.centre), np.array(stored.spread))


def error_model_of(session: Session, version: Version, basins: Sequence[str]) -> error_models.ErrorModel | Absent:
    """Return the error model of a version, or of the twin that is scored for it; or why there is none."""
    _, model = version.first_stored(lambda of: error_models.get(session, of, basins))
    return model or absent(Reason.NO_ERROR_MODEL, version=version.id)


def errors_in(model: error_models.ErrorModel, basin: str) -> BasinErrorModel | Absent:
    if (errors := model.of_basin(basin)) is not None:
        return errors
    if not model.for_unseen:
        return absent(Reason.NO_REGIONAL_ERROR_MODEL, version=model.version_id, basin=basin)
    return absent(Reason.RECORD_TOO_SHORT_TO_CALIBRATE, version=model.version_id, basin=basin, days=MIN_DAYS)


def _kind(weather: RunWeather | None) -> CalibrationKind:
    if weather is None:
        return "observed"
    used = weather.recalibration
    if not used.issue_days:
        return "provisional"
    return "backfilled" if 2 * used.reforecast_days > used.issue_days else "fitted"


def _last_flows(
    session: Session, plan: Plan, recent: Mapping[str, RecentFlow], area_products: Sequence[str]
) -> dict[str, LastFlow]:
    """Return the last observed flow of basins; those without one on the last days are left out."""
    days, simulated = plan.days, {name: flow for name, flow in recent.items() if flow is not None and len(flow)}
    if not simulated:
        return {}
    longest = max(len(flow) for flow in simulated.values())
    known = Period(days.t0 - (longest - 1) * ONE_DAY, days.last_past)
    stored, found = [plan.inputs.basins[name] for name in simulated], dict[str, LastFlow]()
    for name, observed in discharge_of(session, stored, area_products, known, plan.inputs.by):
        if isinstance(observed, Absent):
            if observed.code == Reason.FAILED.name.lower():  # its series is damaged
                log.warning("forecast.without_last_flow", basin=name, error=str(observed))
            continue
        until_t0 = np.full(longest, np.nan, np.float32)
        until_t0[longest - len(simulated[name]) :] = simulated[name]
        usable = np.isfinite(observed)
        usable[:longest] &= np.isfinite(until_t0)
        if usable.any():
            at = int(np.flatnonzero(usable)[-1])
            found[name] = LastFlow(known.first + at, observed[: at + 1].astype(float), until_t0.astype(float))
    return found
