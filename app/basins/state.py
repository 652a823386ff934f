"""Current status of basins: latest forecast and alert, in a few values each."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from app.http.json_numbers import rounded
from hydrology.base.calendar import as_date
from hydrology.base.staleness import age_days, stale
from hydrology.base.units import Area, mm_per_day_to_m3s
from hydrology.extremes.alerting import Severity, rank
from records.alerts import alerts
from records.forecasts.latest import Latest, latest_many

State = dict[str, Any]
"""Values by name, as `app.basins.table` describes them; one that is not known is left out."""


def states(session: Session, basins: Sequence[str], at: datetime) -> list[State]:
    """Return the status of basins at an instant, in their order."""
    by_rank = sorted(alerts.rivers(session, public=False), key=lambda alert: rank(alert.severity))
    severities = {alert.basin_id: alert.severity for alert in by_rank}
    forecasts = latest_many(session, basins, at)
    return [_state(forecast, severities.get(basin), at) for basin, forecast in forecasts.items()]


def peak(forecast: Latest) -> float | None:
    """Return the highest day of the median of the members, m3/s; None where it is not known."""
    summary, basin = forecast.basin.summary, forecast.basin
    if summary.peak_mm_per_day is None or basin.area_m2 is None or basin.area_name is None:
        return None
    return float(mm_per_day_to_m3s(summary.peak_mm_per_day, area=Area(basin.area_name, basin.area_m2)))


def peak_day(forecast: Latest) -> date | None:
    """Return the day of the peak; None where it is not known."""
    lead = forecast.basin.summary.peak_lead
    return None if lead is None else as_date(forecast.run.t0 + np.timedelta64(lead, "D"))


def _state(forecast: Latest | Exception, alert: Severity | None, at: datetime) -> State:
    if not isinstance(forecast, Latest):
        return {"alert": alert, "reason": str(forecast)}
    run, age, flow = forecast.run, age_days(forecast.run.t0, at), peak(forecast)
    return {
        "run": run.id,
        "version": run.version_id,
        "awaited_version": forecast.awaited,
        "t0": as_date(run.t0),
        "issued_at": run.issued_at,
        "age_days": age,
        "stale": stale(age_days(run.weather_until, at)),
        "peak": None if flow is None else rounded(flow),
        "peak_day": peak_day(forecast),
        "alert": alert,
    }
