"""Rating tables of basins, version by version: the newest in force on a day converts between discharge and stage.

A version is never changed or deleted. One that a service delivers and that seems wrong waits for a forecaster.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import CheckConstraint, ForeignKey, Select, func, select
from sqlalchemy.orm import Session

from hydrology.base.basins import source_code
from hydrology.base.calendar import Day, day
from hydrology.base.doc import Doc, Why
from hydrology.base.errors import NotFound
from hydrology.base.units import M_PER_FT
from hydrology.ratings import Expansion, InvalidRating, Rating, read_rating
from jobspec.changes import RatingRuling, Ruling
from jobspec.levels import NewRating
from records.basins import basins, regions
from records.database.base import FreeText
from records.database.stored import add_all, as_record, as_values, narrowed, read, stored, table_of


class NoRating(NotFound):
    """No rating table of the basin is stored."""


class NoRatingHeld(NotFound):
    """This version of a rating does not wait: somebody has decided, or another has taken its place."""


_WAITS = Why("Nobody has decided, or nobody had to.")
_REPLACED = "Another table has come."


@stored(
    "ratings",
    CheckConstraint("(ruling IS NULL) = (ruled_by IS NULL)", name="ruled"),
    key=("basin_id", "version"),
)
class StoredRating:
    """A version of the rating table of a basin's gauge.

    Attributes:
        largest_shift: m, with its sign; rating: in m and m3/s.
    """

    basin_id: Annotated[str, ForeignKey("basins.id")]
    version: Annotated[int, Doc("Its number among those of the gauge.")]
    valid_from: Annotated[Day, Doc("The first day that it holds for.")]
    source: FreeText
    datum: Annotated[str | None, Doc("What the gauge's zero refers to."), Why("None was given.")]
    site: Annotated[str | None, Doc("The gauge's number, as the file has it."), Why("The file names none.")]
    number: Annotated[str | None, Doc("The rating's number, as the file has it."), Why("The file names none.")]
    shifted: Annotated[str | None, Doc("Time of the shifts, as the file has it."), Why("The table has no shifts.")]
    largest_shift: float
    rating: Rating
    set_at: Annotated[datetime, Doc("By the service's clock.")]
    in_force: Annotated[datetime | None, Doc("Since when it converts."), Why("It waits, or was dismissed.")]
    held: Annotated[FreeText | None, Doc("Why it waits, or waited, for a forecaster."), Why("It did not wait.")] = None
    ruling: Annotated[Ruling | None, _WAITS] = None
    ruled_by: Annotated[FreeText | None, _WAITS] = None
    note: Annotated[FreeText | None, Why("There is none.")] = None

    @property
    def waits(self) -> bool:
        return self.in_force is None and self.ruling is None

    @property
    def largest_shift_ft(self) -> Annotated[float, Doc("The largest shift that the table includes, with its sign.")]:
        return self.largest_shift / M_PER_FT

    @property
    def expansion(
        self,
    ) -> Annotated[Expansion, Doc("How points are joined: straight, or by logarithms.")]:
        return self.rating.expansion

    @property
    def stage_ft(self) -> Annotated[list[float], Doc("Stages of the points, ft: the range that is converted.")]:
        return [stage / M_PER_FT for stage in self.rating.stages]

    @property
    def stage_m(self) -> Annotated[list[float], Doc("The same in metres.")]:
        return [*self.rating.stages]

    @property
    def discharge_m3s(self) -> Annotated[list[float], Doc("Discharges of the points, m³/s.")]:
        return [*self.rating.discharges]


RATINGS = table_of(StoredRating)
_ROW = RATINGS.c
_WAITING = _ROW.in_force.is_(None) & _ROW.ruling.is_(None)
Doubt = Callable[[Rating | None, Rating], str | None]


def put(
    session: Session, basin: str, new: NewRating, at: datetime, doubt: Doubt | None = None
) -> tuple[StoredRating, bool]:
    """Store a version of a rating table; return it, and whether that changed anything.

    Without a day, a table equal to the newest changes nothing. That of a service is held where there is a `doubt`: why
    it cannot follow the one before.
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
    facts = {"source": new.source, "datum": new.datum} | as_values(file)

    def is_same(stored: StoredRating | None) -> bool:
        # A service renews the time of the shifts although nothing has moved, and does not name the datum.
        compared = facts.keys() - {"shifted"} if doubt is None else ("rating", "number")
        return stored is not None and all(getattr(stored, name) == facts[name] for name in compared)

    before, last = newest(session, basin, valid_from), next(iter(versions(session, basin, limit=1)), None)
    is_known = before is not None and new.valid_from in (None, before.valid_from) and is_same(before)
    held = None if doubt is None or is_known else doubt(None if before is None else before.rating, file.rating)
    if held is not None and last is not None and is_same(last):
        return last, False
    if last is not None and last.waits:
        rule(session, basin, RatingRuling(version=last.version, ruling="dismiss", note=_REPLACED), "freshet", at)
    if before is not None and is_known:
        return before, False
    facts |= {"basin_id": basin, "version": 1 if last is None else last.version + 1, "valid_from": valid_from}
    added = StoredRating(**facts, set_at=at, in_force=None if held else at, held=held)
    add_all(session, StoredRating, [as_values(added)])
    return added, True


def rule(session: Session, basin: str, ruling: RatingRuling, by: str, at: datetime) -> StoredRating:
    """Decide on a version that waits: approved, it is in force from now on."""
    basins.lock(session, basin)
    held = RATINGS.update().where(_ROW.basin_id == basin, _ROW.version == ruling.version, _WAITING)
    decided = held.values(ruling=ruling.ruling, ruled_by=by, note=ruling.note)
    decided = decided.values(in_force=at) if ruling.ruling == "approve" else decided
    row = session.execute(decided.returning(*_ROW)).one_or_none()
    if row is None:
        raise NoRatingHeld(f"Version {ruling.version} of the rating of {basin} does not wait: read its versions.")
    return as_record(StoredRating, row)


def newest(session: Session, basin: str, on: Day, by: datetime | None = None) -> StoredRating | None:
    """Return the version that holds on a day, of those in force (by an instant)."""
    return next(iter(read(session, StoredRating, _newest([basin], on, by))), None)


def newest_many(session: Session, names: Sequence[str], on: Day) -> dict[str, StoredRating]:
    return {one.basin_id: one for one in read(session, StoredRating, _newest(names, on))}


def _newest(names: Sequence[str], on: Day, by: datetime | None = None) -> Select[Any]:
    order = (_ROW.valid_from.desc(), _ROW.version.desc())
    place = func.row_number().over(partition_by=_ROW.basin_id, order_by=order).label("place")
    of_day = select(_ROW.basin_id, _ROW.version, place).where(_ROW.basin_id.in_(names), _ROW.valid_from <= on)
    ranked = narrowed(of_day.where(_ROW.in_force.is_not(None)), (_ROW.in_force.__le__, by)).subquery().c
    is_first = (ranked.place == 1) & (ranked.basin_id == _ROW.basin_id) & (ranked.version == _ROW.version)
    return select(RATINGS).where(is_first)


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
    query = select(RATINGS).where(_ROW.basin_id == basin).order_by(_ROW.version.desc()).limit(limit)
    return read(session, StoredRating, narrowed(query, (_ROW.version.__lt__, before)))


def waiting(session: Session, region: str | None = None) -> list[StoredRating]:
    """Return the versions that wait for a forecaster, by basin: at most one of each."""
    query = select(RATINGS).where(_WAITING).order_by(_ROW.basin_id)
    return read(session, StoredRating, narrowed(query, (regions.holding(_ROW.basin_id), region)))
