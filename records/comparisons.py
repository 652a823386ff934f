"""Comparisons of model versions: each is kept once and never changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.calendar import Day
from hydrology.errors import NotFound
from records.ids import fingerprint, new_id
from records.statements import add_all, insert_into
from records.tables.base import JsonObject
from records.tables.comparisons import ComparisonRow, ComparisonVersionRow


class UnknownComparison(NotFound):
    """No comparison of that id is kept."""

    kind = "unknown-comparison"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewComparison:
    """A comparison to be kept.

    Attributes:
        first_day, last_day: the days that were scored.
        versions: those compared, the one that the others are held against first.
        basins: those that every version was scored in.
        result: what came of it. It holds no time of its making, so that the same again is the same.
    """

    first_day: Day
    last_day: Day
    versions: tuple[str, ...]
    basins: tuple[str, ...]
    result: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(NewComparison):
    """A kept comparison.

    Attributes:
        id: sorts by creation.
        created_at: the wall's time.
    """

    id: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A comparison in a list: of which days, versions and how many basins."""

    id: str
    created_at: datetime
    first_day: Day
    last_day: Day
    versions: tuple[str, ...]
    basins: int


def keep(session: Session, new: NewComparison, at: datetime) -> tuple[Comparison, bool]:
    """Keep a comparison, and say whether it is new: one that says the same is returned in its place.

    Raises:
        IntegrityError: a version is not kept.
        ValueError: a number of the result is not finite.
    """
    days = [str(new.first_day), str(new.last_day)]
    said = fingerprint([days, new.versions, new.basins, new.result])
    row = {
        "id": new_id(at),
        "created_at": at,
        "first_day": new.first_day,
        "last_day": new.last_day,
        "basins": list(new.basins),
        "result": new.result,
        "fingerprint": said,
    }
    insert = insert_into(session, ComparisonRow).on_conflict_do_nothing(index_elements=["fingerprint"])
    session.execute(insert, row)
    kept = session.scalars(select(ComparisonRow).filter_by(fingerprint=said)).one()
    made = kept.id == row["id"]
    if made:
        places = enumerate(new.versions)
        add_all(
            session,
            ComparisonVersionRow,
            [{"comparison_id": kept.id, "position": at, "version_id": version} for at, version in places],
        )
    return _comparison(session, kept), made


def get(session: Session, comparison: str) -> Comparison:
    """Return a comparison.

    Raises:
        UnknownComparison: there is none of that id.
    """
    row = session.get(ComparisonRow, comparison)
    if row is None:
        raise UnknownComparison(f"No comparison {comparison!r} is kept here: list the comparisons to see their ids.")
    return _comparison(session, row)


def list_comparisons(
    session: Session, *, version: str | None = None, after: str | None = None, limit: int | None = None
) -> list[Summary]:
    """Return comparisons, the newest first, of all versions or of one; `after` is the last id of the page before."""
    row = ComparisonRow
    wanted = select(row.id, row.created_at, row.first_day, row.last_day, row.basins).order_by(row.id.desc())
    if version is not None:
        of_it = select(ComparisonVersionRow.comparison_id).where(ComparisonVersionRow.version_id == version)
        wanted = wanted.where(row.id.in_(of_it))
    if after is not None:
        wanted = wanted.where(row.id < after)
    found = session.execute(wanted.limit(limit)).all()
    versions = _versions(session, [one.id for one in found])
    return [
        Summary(
            id=one.id,
            created_at=one.created_at,
            first_day=one.first_day,
            last_day=one.last_day,
            versions=versions[one.id],
            basins=len(one.basins),
        )
        for one in found
    ]


def _comparison(session: Session, row: ComparisonRow) -> Comparison:
    return Comparison(
        id=row.id,
        created_at=row.created_at,
        first_day=row.first_day,
        last_day=row.last_day,
        versions=_versions(session, [row.id])[row.id],
        basins=tuple(row.basins),
        result=row.result,
    )


def _versions(session: Session, comparisons: Sequence[str]) -> dict[str, tuple[str, ...]]:
    row = ComparisonVersionRow
    found = session.execute(
        select(row.comparison_id, row.version_id).where(row.comparison_id.in_(comparisons)).order_by(row.position)
    )
    groups: dict[str, tuple[str, ...]] = dict.fromkeys(comparisons, ())
    for comparison, version in found:
        groups[comparison] += (version,)
    return groups
