"""How the forecasts of a version are recalibrated, for each weather model."""

from datetime import datetime

from sqlalchemy import delete
from sqlalchemy.orm import Session

from hydrology.uncertainty.recalibration import PRIOR_SPREAD
from records.database.statements import add_all
from records.runs.run_request import RunRecalibration
from records.versions import versions
from records.versions.tables import RecalibrationRow

ASSUMED = RunRecalibration(fitted_on=None, issue_days=0, reforecast_days=0, days=0, centre=[0.0], spread=[PRIOR_SPREAD])


def replace(session: Session, version: str, weather: str, new: RunRecalibration, at: datetime) -> None:
    """Store the recalibration of a version's forecasts with a weather model, replacing the last.

    Raises:
        UnknownVersion: there is no such version.
    """
    versions.get(session, version)
    session.execute(delete(RecalibrationRow).filter_by(version_id=version, weather=weather))
    row = {"version_id": version, "weather": weather, "content": new, "created_at": at}
    add_all(session, RecalibrationRow, [row])


def get(session: Session, version: str, weather: str) -> RunRecalibration:
    """Return the recalibration of a version's forecasts with a weather model: fitted, or assumed.

    Raises:
        Corrupt: it is damaged.
    """
    row = session.get(RecalibrationRow, (version, weather), populate_existing=True)
    return ASSUMED if row is None else row.content
