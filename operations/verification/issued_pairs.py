"""Pairs of a version's past forecasts and the observed flow, for calibration.

Past forecasts are those that were issued, and reforecasts with past weather forecasts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period
from hydrology.uncertainty.error_model import BasinErrors, errors_of
from hydrology.uncertainty.errors_by_lead import PastForecasts
from operations.basin_data.dataset import load_discharge
from records.runs import runs, states
from records.versions import error_models
from records.versions.versions import Version
from runtime.clock import Clock

SETTLED_AFTER = np.timedelta64(30, "D")
"""Observed flow is used once it is this old: services first publish provisional values, and revise them in weeks."""


@dataclass(frozen=True, slots=True)
class IssueDays:
    """The runs of a version with one weather model for which settled flow was observed.

    Attributes:
        weather: the weather forecasts' source and model (`error_models.of_weather`).
        runs: reforecasts, then issued ones, each the oldest first.
    """

    weather: str
    runs: Sequence[runs.Run]

    @property
    def days(self) -> list[Day]:
        """Their issue days T0, in order."""
        return sorted({run.t0 for run in self.runs})

    @property
    def reforecast_days(self) -> int:
        """Number of issue days of reforecasts alone."""
        return len(self.days) - len({run.t0 for run in self.runs if run.purpose != "reforecast"})


def last_settled(clock: Clock) -> Day:
    """Return the last day whose observed flow is used."""
    return np.datetime64(clock.now().date(), "D") - SETTLED_AFTER


def settled(session: Session, clock: Clock, version: str) -> list[IssueDays]:
    """Return a version's runs over settled days, by weather model."""
    last = last_settled(clock)
    by_weather: dict[str, list[runs.Run]] = defaultdict(list)
    for run in [*runs.reforecasts(session, version, last), *runs.operational(session, version, last)]:
        if run.weather is not None and run.t0 + np.timedelta64(run.horizon_days, "D") <= last:
            by_weather[error_models.of_weather(run.weather.source, run.weather.model)].append(run)
    return [IssueDays(weather, by_weather[weather]) for weather in sorted(by_weather)]


def past_forecasts(
    session: Session, version: Version, issue_days: IssueDays, errors: Mapping[str, BasinErrors]
) -> dict[str, PastForecasts]:
    """Return the past forecasts of each basin with observed flow: of each T0 the last issued, else the reforecast.

    Args:
        errors: of the version's simulation, which scale the flows; other basins are left out.
    """
    horizon = min(run.horizon_days for run in issue_days.runs)
    by_basin: dict[str, dict[Day, runs.Run]] = defaultdict(dict)
    issued = defaultdict(list)
    for run, basin in runs.issued_pairs(session, [run.id for run in issue_days.runs]):
        issued[run].append(basin)
    for of in issue_days.runs:  # an issued forecast replaces the reforecast of its T0
        for basin in issued[of.id]:
            if basin in errors:
                by_basin[basin][of.t0] = of
    pairs = {
        basin: _of_basin(session, version, basin, [by_day[t0] for t0 in sorted(by_day)], horizon, errors[basin])
        for basin, by_day in sorted(by_basin.items())
    }
    return {basin: forecasts for basin, forecasts in pairs.items() if forecasts is not None}


def _of_basin(
    session: Session, version: Version, basin: str, issued: Sequence[runs.Run], horizon: int, errors: BasinErrors
) -> PastForecasts | None:
    days = Period(issued[0].t0, issued[-1].t0 + np.timedelta64(horizon, "D"))
    flow = load_discharge(session, basin, version.area_products, days)
    if isinstance(flow, Absent):
        return None
    forecast = np.stack([_mean(session, run.id, basin)[:horizon] for run in issued])
    at = np.array([int((run.t0 - days.first).astype(int)) for run in issued])
    simulated = np.array([_simulated(session, version.id, basin, run.t0) for run in issued])
    return PastForecasts(
        of_simulation=errors,
        forecast=forecast,
        observed=flow.astype(np.float64)[at[:, None] + np.arange(1, horizon + 1)],
        last_error=errors_of(errors, simulated, flow.astype(np.float64)[at]),
    )


def _mean(session: Session, run: str, basin: str) -> npt.NDArray[np.float64]:
    """Return the mean discharge over members and traces, (leads,) in mm/day."""
    wanted = ("discharge", runs.MEAN_OF_MEMBERS)
    return runs.mean_of_members(runs.series_of_many(session, [(run, basin)], wanted)[run, basin])


def _simulated(session: Session, version: str, basin: str, t0: Day) -> float:
    """Return the simulated flow of T0, mm/day.

    Values are NaN where no state stores it."""
    state = states.get(session, version, basin, t0)
    if state is None or state.recent_flow is None or not len(state.recent_flow):
        return np.nan
    return float(state.recent_flow[-1])
