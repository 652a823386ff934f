"""The observed flow in the distributions that a version's past forecasts gave it, for their recalibration.

Past forecasts are those that were issued, and reforecasts with past weather forecasts.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Period, days_between
from hydrology.uncertainty.recalibration import scores_of
from operations.basin_data.dataset import load_discharge
from operations.forecasting.calibrated_flow import recalibration_of
from records.runs import run_arrays, run_types, runs
from records.versions.versions import Version
from runtime.clock import Clock

SETTLED_AFTER = np.timedelta64(30, "D")
"""Observed flow is used once it is this old: services first publish provisional values, and revise them in weeks."""


@dataclass(frozen=True, slots=True)
class IssueDays:
    """The runs of a version with one weather model for which settled flow was observed.

    Attributes:
        weather: the name of the weather model (`records.runs.run_weather.name_of_weather`).
        runs: reforecasts, then issued ones, each the oldest first.
    """

    weather: str
    runs: Sequence[run_types.Run]

    @property
    def days(self) -> list[Day]:
        """Their last past days, in order: T0, where no weather was filled."""
        return sorted({run.weather_until for run in self.runs})

    @property
    def reforecast_days(self) -> int:
        """Number of issue days of reforecasts alone."""
        return len(self.days) - len({run.weather_until for run in self.runs if run.purpose != "reforecast"})


def last_settled(clock: Clock) -> Day:
    """Return the last day whose observed flow is used."""
    return np.datetime64(clock.now().date(), "D") - SETTLED_AFTER


def settled(session: Session, clock: Clock, version: str) -> list[IssueDays]:
    """Return a version's runs over settled days, by weather model."""
    last = last_settled(clock)
    by_weather: dict[str, list[run_types.Run]] = defaultdict(list)
    for run in [*runs.reforecasts(session, version, last), *runs.operational(session, version, last)]:
        if run.weather is not None and run.t0 + np.timedelta64(run.horizon_days, "D") <= last:
            by_weather[run.weather.name].append(run)
    return [IssueDays(weather, by_weather[weather]) for weather in sorted(by_weather)]


def past_scores(session: Session, version: Version, issue_days: IssueDays) -> list[Array]:
    """Return the scores of the flow that came, for each issue day (basins, leads), NaN where unknown.

    They are those in the distributions before recalibration of the last forecast issued of a basin and day, else of its
    reforecast, that counts.
    Leads are counted from the last past day. Left out are forecasts from a store that was still filling, and of days
    that the weights or the error model were fitted to: their errors are smaller than those to come.
    """
    by_day: dict[Day, dict[str, run_types.Run]] = defaultdict(dict)
    for run in issue_days.runs:  # an issued forecast replaces the reforecast of its day
        by_day[run.weather_until] |= dict.fromkeys(_basins_that_count(session, version, run), run)
    by_day = {at: of_day for at, of_day in by_day.items() if of_day}
    if not by_day:
        return []
    horizon = max(run.horizon_days for run in issue_days.runs)
    days = Period(min(by_day), max(by_day) + np.timedelta64(horizon, "D"))
    basins = sorted({basin for of_day in by_day.values() for basin in of_day})
    observed = {basin: load_discharge(session, basin, version.area_products, days) for basin in basins}
    flows = {name: flow.astype(np.float64) for name, flow in observed.items() if not isinstance(flow, Absent)}
    return [
        _of_issue_day(session, {name: run for name, run in by_day[at].items() if name in flows}, flows, days.first)
        for at in sorted(by_day)
    ]


def _basins_that_count(session: Session, version: Version, run: run_types.Run) -> Iterator[str]:
    ahead = Period(run.weather_until, run.t0 + np.timedelta64(run.horizon_days, "D"))
    if any(ahead.overlap(fitted) for fitted in version.fitted_periods):
        return
    for basin in runs.basins_of(session, run.id):
        used = basin.summary.calibration
        if basin.status != "issued" or basin.is_spinning_up or isinstance(used, Absent):
            continue
        if ahead.overlap(Period.parse(used.fitted_on)) is None:
            yield basin.basin_id


def _of_issue_day(
    session: Session, issued: Mapping[str, run_types.Run], flows: Mapping[str, Array], first: Day
) -> Array:
    """Return the scores of an issue day, (basins, leads).

    Args:
        flows: by basin, (days,) from the first day on, mm/day.
    """
    scores = np.full((len(issued), max((run.horizon_days for run in issued.values()), default=0)), np.nan)
    series = runs.series_of_many(session, [(run.id, name) for name, run in issued.items()], (run_arrays.CALIBRATED,))
    for row, ((_, name), arrays) in zip(scores, series.items(), strict=True):
        if run_arrays.CALIBRATED in arrays:
            run = issued[name]
            quantiles = arrays[run_arrays.CALIBRATED].values.T[run.filled_days :].astype(np.float64)
            of_leads = days_between(first, run.weather_until) + 1 + np.arange(len(quantiles))
            of_run = scores_of(quantiles, flows[name][of_leads])
            assert run.weather is not None
            row[: len(quantiles)] = recalibration_of(run.weather.recalibration).undo(of_run)
    return scores
