"""What a change of an alert states of its level beside the discharge."""

from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from records.alerts.tables import ThresholdRow
from records.ratings import ratings


def of(session: Session, basin: str, level: str, discharge: float, at: datetime) -> dict[str, Any]:
    """Return `stage` (m), `category` and `impact` of a level, each None where it has none.

    The stage is the official one of a category, otherwise that of the discharge by the rating.

    Args:
        discharge: m3/s.
        at: by the service's clock.
    """
    row = session.get(ThresholdRow, (basin, level))
    stored = ratings.newest(session, basin, day(at.date()))
    stage = None if row is None else row.official_stage
    if stage is None and stored is not None:
        by_rating = float(stored.rating.stage(discharge))
        stage = None if np.isnan(by_rating) else by_rating
    category, impact = (None, None) if row is None else (row.category, row.impact)
    return {"stage": stage, "category": category, "impact": impact}
