"""Current status of basins: latest forecast and alert, in a few values each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
from sqlalchemy.orm import Session

from app.http.json_numbers import column
from hydrology.base.calendar import as_date
from hydrology.base.staleness import age_days, stale
from hydrology.base.units import Area, converted
from hydrology.extremes.alerting import Severity, rank
from records.alerts import alerts
from records.forecasts.latest import Latest, latest_many


@dataclass(frozen=True, slots=True)
class State:
    """The current status of a basin; None where there is no value.

    Attributes:
        run, t0, issued_at: of the latest forecast.
        age_days, stale: days from its T0 to the clock, and whether a newer forecast is overdue.
        peak: the highest day of the median of its members, m3/s; peak_day: that day.
        alert: the highest severity of the basin's alerts.
        reason: why there is no forecast.
    """

    run: str | None = None
    t0: date | None = None
    issued_at: datetime | None = None
    age_days: int | None = None
    stale: bool | None = None
    peak: float | None = None
    peak_day: date | None = None
    alert: Severity | None = None
    reason: str | None = None


def states(session: Session, basins: Sequence[str], at: datetime) -> list[State]:
    """Return the status of basins at an instant, in their order."""
    severities = {alert.basin_id: alert.severity for alert in sorted(alerts.active(session), key=_rank)}
    forecasts = latest_many(session, basins, at)
    return [_state(forecast, severities.get(basin), at) for basin, forecast in forecasts.items()]


def _rank(alert: alerts.Alert) -> int:
    return rank(alert.severity)


def _state(forecast: Latest | Exception, alert: Severity | None, at: datetime) -> State:
    if not isinstance(forecast, Latest):
        return State(alert=alert, reason=str(forecast))
    run, basin = forecast.run, forecast.basin
    peak, day = None, None
    if basin.summary.peak_mm_per_day is not None and basin.area_m2 is not None and basin.area_name is not None:
        area = Area(basin.area_name, basin.area_m2)
        depth = np.array([basin.summary.peak_mm_per_day])
        (peak,) = column(converted(depth, unit="mm/day", into="m3/s", area=area))
    if basin.summary.peak_lead is not None:
        day = as_date(run.t0 + np.timedelta64(basin.summary.peak_lead, "D"))
    age = age_days(run.t0, at)
    return State(
        run=run.id,
        t0=as_date(run.t0),
        issued_at=run.issued_at,
        age_days=age,
        stale=stale(age),
        peak=peak,
        peak_day=day,
        alert=alert,
    )
