"""Current status of basins: latest forecast and alert, in a few values each, by their outlooks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.http.json_numbers import rounded
from hydrology.base.absent import text
from hydrology.base.calendar import as_date
from hydrology.base.staleness import age_days
from records.outlooks import reader
from records.outlooks.reader import Outlook

State = dict[str, Any]
"""Values by name, as `app.basins.table` describes them; one that is not known is left out."""


def states(session: Session, basins: Sequence[str], at: datetime) -> list[State]:
    """Return the status of basins at an instant, in their order."""
    return [_state(outlook) for outlook in reader.outlooks(session, basins, at).values()]


def _state(outlook: Outlook) -> State:
    severity = None if outlook.alert is None else outlook.alert.alert.severity
    if outlook.forecast is None:
        return {"alert": severity, "reason": text(outlook.freshness.reason)}
    run, flow = outlook.forecast.run, outlook.peak_m3s
    return {
        "run": run.id,
        "version": run.version_id,
        "awaited_version": outlook.freshness.awaited,
        "t0": as_date(run.t0),
        "issued_at": run.issued_at,
        "age_days": age_days(run.t0, outlook.at),
        "stale": outlook.freshness.state == "stale",
        "peak": None if flow is None else rounded(flow),
        "peak_day": outlook.peak_day,
        "alert": severity,
    }
