"""Replays an archive as daily operation: day by day, forecasts are issued as data become known.

The weather forecasts are perturbed observations, and are labelled so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from typing import Self

import numpy as np
import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Period, as_date
from hydrology.base.errors import InvalidInput
from hydrology.base.products import WEATHER
from hydrology.weather.bridge import BRIDGED
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from hydrology.weather.forecast_errors import CREDIT, SOURCE, perturbed
from jobspec.jobs.forecasting import ISSUE_TIME, ReplayParams
from operations.alerts.decide_alerts import decide
from operations.basin_data.basins import chosen, last_ended
from operations.daily.daily_forecasts import DailyRequest, Reasons, issue_newest
from operations.forecasting.weather_ahead import RunDays, needed
from records.alerts.alert_changes import Change
from records.basins import basins
from records.database.stored import grouped
from records.database.work import Work
from records.runs import run_types
from records.runs.runs import RunRequest
from records.series import series
from records.versions import promotions, versions
from records.weather import bridges, weather_issues
from runtime.clock import Clock

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Replayed:
    """The outcome of a replay; the reasons are why basins got no forecast on the last issue day."""

    runs: list[run_types.Run]
    changes: list[Change]
    reasons: Reasons


@dataclass(frozen=True, slots=True)
class ReplayedPart:
    """The outcome of a replay of a part of the basins: numbers of runs and changes of alerts, and reasons."""

    runs: int
    changes: int
    reasons: Reasons

    @classmethod
    def failed(cls, names: Sequence[str], reason: Absent) -> Self:
        """Return the outcome of a part that failed."""
        return cls(0, 0, dict.fromkeys(names, reason))


def basins_by_product(work: Work, params: ReplayParams) -> dict[str, list[str]]:
    """Return the basins that have a version by its product, of several that of most weight; refuse days ahead."""
    if datetime.combine(as_date(params.period.last), ISSUE_TIME) > work.clock.now():
        raise InvalidInput(
            f"The issue day {params.period.last} is in the future: it is {work.clock.now():%Y-%m-%d %H:%M} UTC by the "
            "clock."
        )
    with work.database.reading() as session:
        current = promotions.current(session, chosen(session, params.basins))
        return grouped((versions.get(session, version).products[0], name) for name, version in current.items())


def replay(work: Work, request: RunRequest[ReplayParams]) -> Replayed:
    """Issue the forecasts of every issue day of a period, for the named basins, by default all that have a version.

    On each issue day the days are known that had ended `latency_days` before, and one weather forecast per product.
    Operational forecasts decide the alerts, by the levels of the whole record. A repeated replay stores nothing new.
    """
    params, operational = request.params, request.purpose == "operational"
    issue_days = [datetime.combine(as_date(day), ISSUE_TIME) for day in params.period.days]
    by_product = basins_by_product(work, params)
    issued: list[run_types.Run] = []
    changes: list[Change] = []
    reasons: Reasons = {}
    for done, issue_day in enumerate(issue_days):
        reasons, at = {}, replace(work.piece(done, len(issue_days), f"{issue_day:%Y-%m-%d}"), clock=Clock(issue_day))
        for product, names in by_product.items():
            forecast = _store_perturbed(at, params, product, names, operational=operational)
            asked = DailyRequest(params.horizon, request.purpose, params.latency_days, forecast, request.owner)
            newest = issue_newest(at, names, asked)
            issued += newest.issued
            if operational:
                changes += decide(at, names, may_hold=False)
            reasons |= newest.late | newest.failed
    log.info("replay.done", issue_days=len(issue_days), runs=len(issued))
    return Replayed(issued, changes, reasons)


def _store_perturbed(
    work: Work, params: ReplayParams, product: str, names: Sequence[str], *, operational: bool
) -> str | None:
    """Store a weather forecast perturbed from the observations after the last known days; return its id.

    A basin without complete stored weather of those days is left out; None where all are.
    """
    with work.database.reading() as session:
        in_force = bridges.applied(session, product, names)
        latency = np.timedelta64(params.latency_days, "D")
        stored = basins.get_many(session, names)
        t0s = {name: last_ended(basin, work.clock.now()) - latency for name, basin in stored.items()}
        ahead = {name: needed(RunDays(t0, params.horizon), in_force.get(name)) for name, t0 in t0s.items()}
        observed = {
            name: _observed(session, name, in_force[name].bridge.from_product if name in in_force else product, days)
            for name, days in ahead.items()
        }
    known = {name: values for name, values in observed.items() if values is not None}
    if not known:
        return None
    first = min(ahead[name].first for name in known)
    issue = WeatherIssue(
        source=SOURCE,
        model=f"perturbed-{product}",
        reference_time=datetime.combine(as_date(first), time(), UTC),
        available_time=work.clock.now(),
        credit=CREDIT,
    )
    forecasts = [_forecast(issue, name, ahead[name].first, values, params.traces) for name, values in known.items()]
    with work.database.transaction() as session:
        return weather_issues.store(session, forecasts, work.clock.wall(), operational=operational).issue_id


def _observed(session: Session, basin: str, product: str, days: Period) -> Mapping[str, Array] | None:
    values = series.read_many(session, [basin], product, BRIDGED, days)[0].astype(np.float64)
    return dict(zip(BRIDGED, values.T, strict=True)) if np.isfinite(values).all() else None


def _forecast(
    issue: WeatherIssue, basin: str, first: Day, observed: Mapping[str, Array], traces: int
) -> WeatherForecast:
    # A trace is one weather, so its errors are the same in every basin.
    chance = np.random.default_rng(int(first.astype(int)))
    return WeatherForecast(
        issue=issue,
        basin=basin,
        traces=tuple(f"perturbed-{trace:02}" for trace in range(traces)),
        first=first,
        values={name: values.astype(np.float32) for name, values in perturbed(observed, traces, chance).items()},
        units={name: WEATHER[name].unit for name in BRIDGED},
    )
