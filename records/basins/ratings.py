"""Rating tables of basins: the newest of a day converts between discharge and stage."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from sqlalchemy import ForeignKey, select
from sqlalchemy.orm import Session

from hydrology.base.basins import source_code
from hydrology.base.calendar import Day, day
from hydrology.base.errors import NotFound
from hydrology.ratings import InvalidRating, Rating, read_rating
from jobspec.levels import NewRating
from records.basins import basins
from records.database.base import FreeText
from records.database.stored import as_values, read, stored, table_of, upsert


class NoRating(NotFound):
    """No rating table of the basin is stored."""


@stored("ratings", key=("basin_id", "valid_from"))
class StoredRating:
    """A rating table of a basin's gauge, in m and m3/s, from a day on until the next one.

    Attributes:
        site, number, shifted: gauge, number and time of the shifts, as the file has them; None where it has none.
        largest_shift: m, with its sign.
        set_at: by the service's clock.
    """

    basin_id: Annotated[str, ForeignKey("basins.id")]
    valid_from: Day
    source: FreeText
    datum: str | None
    site: str | None
    number: str | None
    shifted: str | None
    largest_shift: float
    rating: Rating
    set_at: datetime


RATINGS = table_of(StoredRating)


def put(session: Session, basin: str, new: NewRating, at: datetime) -> tuple[StoredRating, bool]:
    """Store a rating table in place of one from the same day; return it, and whether that changed anything. Without a
    day, a table equal to the newest changes nothing."""
    basins.lock(session, basin)
    valid_from = new.valid_from or day(at.date())
    if valid_from > day(at.date()):
        raise InvalidRating(
            f"The table is valid from {valid_from} on, and today is {day(at.date())}: set it on that day."
        )
    file = read_rating(new.table)
    if file.site is not None and basin.startswith("USGS-") and file.site != source_code(basin):
        raise InvalidRating(f"The table is of gauge {file.site}, not of {basin}: import the basin's own.")
    rating = StoredRating(
        basin_id=basin, valid_from=valid_from, source=new.source, datum=new.datum, **as_values(file), set_at=at
    )
    before = newest(session, basin, valid_from)
    if before is not None and new.valid_from in (None, before.valid_from):
        apart = ("set_at", "valid_from")
        if as_values(before, *apart) == as_values(rating, *apart):
            return before, False
    upsert(session, StoredRating, [as_values(rating)])
    return rating, True


def newest(session: Session, basin: str, on: Day) -> StoredRating | None:
    query = select(RATINGS).where(RATINGS.c.basin_id == basin, RATINGS.c.valid_from <= on)
    return next(iter(read(session, StoredRating, query.order_by(RATINGS.c.valid_from.desc()).limit(1))), None)


def newest_many(session: Session, names: Sequence[str], on: Day) -> dict[str, Rating]:
    query = select(RATINGS).where(RATINGS.c.basin_id.in_(names), RATINGS.c.valid_from <= on)
    return {row.basin_id: row.rating for row in session.execute(query.order_by(RATINGS.c.valid_from))}


def require(session: Session, basin: str, on: Day) -> StoredRating:
    basins.require(session, basin)
    found = newest(session, basin, on)
    if found is None:
        raise NoRating(f"{basin} has no rating table that holds on {on}: import one (freshet ratings import).")
    return found
