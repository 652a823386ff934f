"""Recalibrates a version's forecasts with weather forecasts by the flow that came after past ones.

Past forecasts are those that were issued, and reforecasts with past weather forecasts.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Period, days_between
from hydrology.base.errors import DataProblem
from hydrology.uncertainty.recalibration import Recalibration, scores_of
from operations.basin_data.dataset import load_discharge
from operations.forecasting.calibrated_flow import error_model_of, recalibration_of
from records.database.stored import grouped
from records.database.work import Work
from records.runs import run_arrays, run_types, runs
from records.runs.run_weather import RunRecalibration
from records.versions import error_models, versions
from records.versions.versions import Version
from runtime.clock import Clock

log = structlog.get_logger()

MIN_ISSUE_DAYS = 10
"""Issue days T0 with a weather model before its forecasts are recalibrated; their weight grows with their number."""
_DIGITS = 4
SETTLED_AFTER = np.timedelta64(30, "D")
"""Observed flow is used once it is this old: services first publish provisional values, and revise them in weeks."""


@dataclass(frozen=True, slots=True)
class IssueDays:
    """A version's runs with one weather model that have settled flow: reforecasts, then issued, oldest first."""

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
    ended = [*runs.issued_runs(session, version, last, ["reforecast"]), *runs.issued_runs(session, version, last)]
    by_weather = grouped((run.weather.name, run) for run in ended if run.weather is not None and run.last_day <= last)
    return [IssueDays(weather, by_weather[weather]) for weather in sorted(by_weather)]


def past_scores(session: Session, version: Version, issue_days: IssueDays) -> list[Array]:
    """Return the scores of the flow that came, for each issue day (basins, leads), NaN where unknown.

    They are those in the distributions before recalibration of the last forecast issued of a basin and day, else of its
    reforecast, that counts. Leads are counted from the last past day. Left out are forecasts from a store that was
    still filling, and of days that the weights or the error model were fitted to: their errors are smaller than those
    to come.
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
    ahead = Period(run.weather_until, run.last_day)
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
    """Return the scores of an issue day, (basins, leads); flows are (days,) from the first day on, mm/day."""
    scores = np.full((len(issued), max((run.horizon_days for run in issued.values()), default=0)), np.nan)
    series = runs.series_of_many(session, [(run.id, name) for name, run in issued.items()], run_arrays.CALIBRATIONS)
    for row, ((_, name), arrays) in zip(scores, series.items(), strict=True):
        run = issued[name]
        assert run.weather is not None
        if (own := run_arrays.by_weather(arrays, run.weather_name).get(run.weather_name)) is not None:
            quantiles = own.T[run.filled_days :].astype(np.float64)
            of_leads = days_between(first, run.weather_until) + 1 + np.arange(len(quantiles))
            of_run = scores_of(quantiles, flows[name][of_leads])
            row[: len(quantiles)] = recalibration_of(run.weather.recalibration).undo(of_run)
    return scores


@dataclass(frozen=True, slots=True)
class Recalibrated:
    version_id: str
    weather: str
    fitted: RunRecalibration


def recalibrate(work: Work, version_id: str, weather: str | None = None) -> list[Recalibrated]:
    """Fit the recalibration of a version's forecasts with each weather model, replacing the one before.

    Refused with too few observed days with every weather model, or without an error model, because the forecasts then
    have no distribution.
    """
    with work.database.reading() as session:
        version = versions.get(session, version_id)
        by_weather = [of for of in settled(session, work.clock, version_id) if weather in (None, of.weather)]
        errors = error_model_of(session, version, [])
        ready = [of for of in by_weather if len(of.days) >= MIN_ISSUE_DAYS]
        scores = [past_scores(session, version, of) for of in ready]
    fits = [
        Recalibrated(version_id, of.weather, _fitted(of, of_weather))
        for of, of_weather in zip(ready, scores, strict=True)
        if sum(np.isfinite(of_day).any() for of_day in of_weather) >= MIN_ISSUE_DAYS
    ]
    if not fits:
        raise DataProblem(str(errors) if isinstance(errors, Absent) else too_few(version_id, by_weather))
    with work.database.transaction() as session:
        for of in fits:
            error_models.replace_recalibration(session, version_id, of.weather, of.fitted, work.clock.wall())
    for of in fits:
        log.info("recalibrate.done", version=version_id, weather=of.weather, issue_days=of.fitted.issue_days)
    return fits


def too_few(version_id: str, by_weather: Sequence[IssueDays]) -> str:
    """Describe how many issue days a version's forecasts still lack."""
    there = ", ".join(f"{len(of.days)} with {of.weather}" for of in by_weather) or "none"
    return (
        f"Forecasts of version {version_id} with a weather forecast are recalibrated once {MIN_ISSUE_DAYS} days T0 "
        "with one weather model have been observed, 30 days ago at least, and had a calibrated distribution that was "
        "fitted to other days, as the weights were. So far: "
        f"{there} (fitted to or not). Past issues of a weather model give them at once: freshet feeds backfill."
    )


def _fitted(issue_days: IssueDays, scores: Sequence[Array]) -> RunRecalibration:
    known = [of_day for of_day in scores if np.isfinite(of_day).any()]
    fitted = Recalibration.fit(known)
    return RunRecalibration(
        fitted_on=str(Period(issue_days.days[0], issue_days.days[-1])),
        issue_days=len(known),
        reforecast_days=min(issue_days.reforecast_days, len(known)),
        days=sum(int(np.isfinite(of_day).sum()) for of_day in known),
        centre=fitted.centre.round(_DIGITS).tolist(),
        spread=fitted.spread.round(_DIGITS).tolist(),
    )
