"""The stage of a discharge, by the rating of a basin."""

import numpy as np
from sqlalchemy.orm import Session

from app.basins.ratings.schemas import Stage
from hydrology.base.absent import absent
from hydrology.base.calendar import Day
from hydrology.base.reasons import Reason
from hydrology.ratings.rating import M_PER_FT, Rating
from records.ratings import ratings

NO_RATING = str(absent(Reason.NO_RATING))


def rating_of(session: Session, basin: str, on: Day) -> Rating | None:
    """Return the rating of a basin that holds on a day; None without one."""
    stored = ratings.newest(session, basin, on)
    return None if stored is None else stored.rating


def stage_of(rating: Rating | None, discharge: float | None) -> Stage:
    """Return the stage of a discharge, m3/s, or why there is none."""
    if rating is None:
        return Stage(ft=None, m=None, reason=NO_RATING)
    if discharge is None:
        return Stage(ft=None, m=None, reason=str(absent(Reason.NO_STAGE_OF_NOTHING)))
    metres = float(rating.stage(discharge))
    if np.isnan(metres):
        return Stage(ft=None, m=None, reason=str(rating.why_no_stage(discharge)))
    return Stage(ft=round(metres / M_PER_FT, 3), m=round(metres, 4), reason=None)
