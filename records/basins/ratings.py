"""Rating tables of basins, version by version: the newest in force of a day converts between discharge and stage.

A version is never changed or deleted. One that a service delivers and that seems wrong waits for a forecaster.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import CheckConstraint, ColumnElement, ForeignKey, Index, Select, func, select
from sqlalchemy.orm import Session

from hydrology.base.basins import source_code
from hydrology.base.calendar import Day, day
from hydrology.base.doc import Doc, Why
from hydrology.base.errors import NotFound
from hydrology.ratings import InvalidRating, Rating, read_rating
from jobspec.changes import RatingRuling, Ruling
from jobspec.levels import NewRating
from records.basins import basins
from records.database.base import FreeText
from records.database.stored import as_record, as_values, insert_into, narrowed, read, stored, table_of


class NoRating(NotFound):
    """No rating table of the basin is stored."""


class NoRatingHeld(NotFound):
    """This version of the basin's rating waits for no agreement: somebody has decided, or a newer one has come."""

    remedy = "Read `/v1/basins/{basin}/ratings` for those that wait."


_WAITS, _NO_NEED = Why("Nobody has decided yet, or nobody had to."), Why("It came into force at once.")


@stored(
    "rating_versions",
    CheckConstraint("(ruling IS NULL) = (ruled_by IS NULL) AND (ruling IS NULL) = (ruled_at IS NULL)", name="ruled"),
    CheckConstraint("in_force IS NOT NULL OR held IS NOT NULL", name="held"),
    Index(None, "basin_id", "valid_from"),
    key=("version",),
    numbered=True,
)
class StoredRating:
    """A version of the rating table of a basin's gauge, in m and m3/s, from a day on until that of a later version.

    Attributes:
        site, number: gauge and number, as the file has them; None where it has none.
        largest_shift: m, with its sign.
        ruled_at: by the service's clock, as the other instants.
    """

    version: Annotated[int, Doc("Its number, which grows with every version of any gauge.")]
    basin_id: Annotated[str, ForeignKey("basins.id")]
    valid_from: Annotated[Day, Doc("The first day that it holds for.")]
    source: FreeText
    datum: Annotated[str | None, Doc("What the gauge's zero refers to."), Why("None was given.")]
    site: Annotated[str | None, Doc("The gauge's number, as the file has it."), Why("The file names none.")]
    number: Annotated[str | None, Doc("The rating's number, as the file has it."), Why("The file names none.")]
    shifted: Annotated[str | None, Doc("Time of the shifts, as the file has it."), Why("The table has no shifts.")]
    largest_shift: float
    rating: Rating
    set_at: Annotated[datetime, Doc("When it came, by the service's clock.")]
    in_force: Annotated[
        datetime | None, Doc("Since when it converts."), Why("It waits for a forecaster's agreement, or was dismissed.")
    ]
    held: Annotated[FreeText | None, Doc("Why it waits, or waited, for a forecaster."), _NO_NEED] = None
    ruling: Annotated[Ruling | None, Doc("What somebody decided."), _WAITS] = None
    ruled_by: Annotated[FreeText | None, _WAITS] = None
    ruled_at: Annotated[datetime | None, _WAITS] = None
    note: Annotated[FreeText | None, Why("There is none.")] = None

    @property
    def waits(self) -> bool:
        """Whether it waits for a forecaster's agreement."""
        return self.in_force is None and self.ruling is None


RATINGS = table_of(StoredRating)
_ROW = RATINGS.c
_WAITING = _ROW.in_force.is_(None) & _ROW.ruling.is_(None)
Doubt = Callable[[Rating | None, Rating], str | None]
"""Returns why a rating, the second, cannot follow the first; None where it can."""


def put(
    session: Session, basin: str, new: NewRating, at: datetime, doubt: Doubt | None = None
) -> tuple[StoredRating, bool]:
    """Store a version of a rating table; return it, and whether that changed anything.

    Without a day, a table equal to the newest changes nothing. One in `doubt`, of a service, is held.
    """
    basins.lock(session, basin)
    valid_from = new.valid_from or day(at.date())
    if valid_from > day(at.date()):
        raise InvalidRating(
            f"The table is valid from {valid_from} on, and today is {day(at.date())}: set it on that day."
        )
    file = read_rating(new.table)
    if file.site is not None and basin.startswith("USGS-") and file.site != source_code(basin):
        raise InvalidRating(f"The table is of gauge {file.site}, not of {basin}: import the basin's own.")
    values = {"source": new.source, "datum": new.datum} | as_values(file)
    # A service renews the time of the shifts although nothing has moved, and does not name the datum.
    compared = ("rating", "number", *(() if doubt else ("source", "datum", "site")))
    before = newest(session, basin, valid_from)
    same_day = before is not None and new.valid_from in (None, before.valid_from)
    is_known = same_day and all(getattr(before, name) == values[name] for name in compared)
    held = None if doubt is None or is_known else doubt(None if before is None else before.rating, file.rating)
    last = next(iter(versions(session, basin, limit=1)), None)
    if held is not None and last is not None and all(getattr(last, name) == values[name] for name in compared):
        return last, False
    _decide(session, _ROW.basin_id == basin, "freshet", at, ruling="dismiss", note="A newer table has come.")
    if before is not None and is_known:
        return before, False
    values |= {"basin_id": basin, "valid_from": valid_from, "set_at": at, "held": held}
    insert = insert_into(session, StoredRating).values(values | {"in_force": None if held else at})
    return as_record(StoredRating, session.execute(insert.returning(*_ROW)).one()), True


def rule(session: Session, basin: str, ruling: RatingRuling, by: str, at: datetime) -> StoredRating:
    """Decide on a version that waits: approved, it is in force from now on."""
    basins.lock(session, basin)
    given = {"ruling": ruling.ruling, "note": ruling.note, "in_force": at if ruling.ruling == "approve" else None}
    ruled = _decide(session, (_ROW.basin_id == basin) & (_ROW.version == ruling.version), by, at, **given)
    if not ruled:
        raise NoRatingHeld(f"Version {ruling.version} of the rating of {basin} waits for no agreement.")
    return ruled[0]


def _decide(session: Session, chosen: ColumnElement[bool], by: str, at: datetime, **given: Any) -> list[StoredRating]:
    ruled = RATINGS.update().where(chosen, _WAITING).values(given | {"ruled_by": by, "ruled_at": at})
    return [as_record(StoredRating, row) for row in session.execute(ruled.returning(*_ROW)).all()]


def newest(session: Session, basin: str, on: Day, by: datetime | None = None) -> StoredRating | None:
    """Return the version that holds on a day, of those in force (by an instant)."""
    return next(iter(read(session, StoredRating, _newest([basin], on, by))), None)


def newest_many(session: Session, names: Sequence[str], on: Day) -> dict[str, StoredRating]:
    return {one.basin_id: one for one in read(session, StoredRating, _newest(names, on))}


def _newest(names: Sequence[str], on: Day, by: datetime | None = None) -> Select[Any]:
    order = (_ROW.valid_from.desc(), _ROW.version.desc())
    place = func.row_number().over(partition_by=_ROW.basin_id, order_by=order).label("place")
    of_day = select(_ROW.version, place).where(_ROW.basin_id.in_(names), _ROW.valid_from <= on)
    ranked = narrowed(of_day.where(_ROW.in_force.is_not(None)), (_ROW.in_force.__le__, by)).subquery()
    return select(RATINGS).join(ranked, ranked.c.version == _ROW.version).where(ranked.c.place == 1)


def as_known(session: Session, basin: str, at: datetime) -> StoredRating | None:
    """Return the version that was in force at an instant; before the first, the first."""
    first = select(RATINGS).where(_ROW.basin_id == basin, _ROW.in_force.is_not(None)).order_by(_ROW.in_force)
    known = newest(session, basin, day(at.date()), at)
    return known or next(iter(read(session, StoredRating, first.limit(1))), None)


def require(session: Session, basin: str, on: Day, by: datetime | None = None) -> StoredRating:
    basins.require(session, basin)
    found = newest(session, basin, on, by)
    if found is None:
        raise NoRating(f"{basin} has no rating table that holds on {on}: import one (freshet ratings import).")
    return found


def versions(
    session: Session, basin: str, *, before: int | None = None, limit: int | None = None
) -> list[StoredRating]:
    """Return the versions of a basin's rating, the newest first."""
    basins.require(session, basin)
    query = select(RATINGS).where(_ROW.basin_id == basin).order_by(_ROW.version.desc()).limit(limit)
    return read(session, StoredRating, narrowed(query, (_ROW.version.__lt__, before)))


def waiting(session: Session, *, after: str | None = None, limit: int | None = None) -> list[StoredRating]:
    """Return the versions that wait for a forecaster's agreement, by basin: at most one of each."""
    query = select(RATINGS).where(_WAITING).order_by(_ROW.basin_id).limit(limit)
    return read(session, StoredRating, narrowed(query, (_ROW.basin_id.__gt__, after)))
