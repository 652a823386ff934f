"""Stores ratings and official categories that a service renews, and what follows from them."""

from datetime import datetime
from functools import partial

from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from jobspec.levels import NewCategories, NewRating
from records.basins import basins, ratings
from records.feeds.feeds import BasinStatus
from records.levels import basin_levels, categories_and_doubts
from records.outlooks import outlooks


def store_table(
    session: Session, basin: str, new: NewRating | NewCategories, at: datetime
) -> tuple[BasinStatus, list[str]]:
    """Store a version of a rating, or official categories; return what that changed, and why a rating waits."""
    basins.lock(session, basin)
    waits: list[str] = []
    if isinstance(new, NewCategories):
        had_any = any(level.category for level in basin_levels.of_basin(session, basin))
        changed = has_moved = categories_and_doubts.put_categories(session, basin, new, at, renews=True).changed
    else:
        had_any = ratings.newest(session, basin, day(at.date())) is not None
        doubt = partial(categories_and_doubts.doubt_rating, session, basin)
        stored, changed = ratings.put(session, basin, new, at, doubt)
        has_moved = categories_and_doubts.convert_categories(session, basin, at).changed
        if stored.waits:
            waits.append(f"Version {stored.version} of its rating waits for a forecaster's agreement. {stored.held}")
    if has_moved:
        outlooks.renew(session, basin)
    return "unchanged" if not changed else "revised" if had_any else "new", waits
