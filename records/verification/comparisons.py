"""Comparisons of model versions: each is stored once and never changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from hydrology.base.digests import fingerprint
from hydrology.base.errors import NotFound
from records.database.ids import new_id
from records.database.json_columns import to_json
from records.database.statements import add_all, insert_into
from records.verification.comparison_results import ComparisonResult
from records.verification.tables import ComparisonRow, ComparisonVersionRow


class UnknownComparison(NotFound):
    """No comparison with this id is stored."""

    kind = "unknown-comparison"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewComparison:
    """A comparison to be stored.

    Attributes:
        first_day, last_day: the days that were scored.
        versions: the compared ones; the others are compared with the first.
        basins: those that every version was scored in.
        result: its result.
        owner: the operator's key that posted it; None for the service's.
    """

    first_day: Day
    last_day: Day
    versions: tuple[str, ...]
    basins: tuple[str, ...]
    result: ComparisonResult
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(NewComparison):
    """A stored comparison.

    Attributes:
        id: sorts by creation.
        created_at: the machine's time.
    """

    id: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A comparison in a list: its days, versions and number of basins."""

    id: str
    created_at: datetime
    first_day: Day
    last_day: Day
    versions: tuple[str, ...]
    basins: int
    owner: str | None = None


def store(session: Session, new: NewComparison, at: datetime) -> tuple[Comparison, bool]:
    """Store a comparison, and return it with whether it is new. An equal stored one is returned instead.

    Raises:
        IntegrityError: a version is not stored.
        ValueError: a number of the result is not finite.
    """
    days = [str(new.first_day), str(new.last_day)]
    owner = [] if new.owner is None else [new.owner]
    content_hash = fingerprint([days, new.versions, new.basins, to_json(new.result), *owner])
    values = {
        "id": new_id(at),
        "created_at": at,
        "first_day": new.first_day,
        "last_day": new.last_day,
        "basins": list(new.basins),
        "result": new.result,
        "fingerprint": content_hash,
        "owner": new.owner,
    }
    insert = insert_into(session, ComparisonRow).on_conflict_do_nothing(index_elements=["fingerprint"])
    session.execute(insert, values)
    row = session.scalars(select(ComparisonRow).filter_by(fingerprint=content_hash)).one()
    is_new = row.id == values["id"]
    if is_new:
        positions = enumerate(new.versions)
        add_all(
            session,
            ComparisonVersionRow,
            [{"comparison_id": row.id, "position": at, "version_id": version} for at, version in positions],
        )
    return _comparison(session, row), is_new


def get(session: Session, comparison: str) -> Comparison:
    """Return a comparison.

    Raises:
        UnknownComparison: there is none with this id.
    """
    row = session.get(ComparisonRow, comparison)
    if row is None:
        raise UnknownComparison(f"No comparison {comparison!r} is stored here: list the comparisons to see their ids.")
    return _comparison(session, row)


def list_comparisons(
    session: Session, *, version: str | None = None, after: str | None = None, limit: int | None = None
) -> list[Summary]:
    """Return comparisons, newest first, of all versions or one. `after` is the last id of the previous page."""
    row = ComparisonRow
    query = select(row.id, row.created_at, row.first_day, row.last_day, row.basins, row.owner).order_by(row.id.desc())
    if version is not None:
        of_version = select(ComparisonVersionRow.comparison_id).where(ComparisonVersionRow.version_id == version)
        query = query.where(row.id.in_(of_version))
    if after is not None:
        query = query.where(row.id < after)
    comparisons = session.execute(query.limit(limit)).all()
    versions = _versions(session, [comparison.id for comparison in comparisons])
    return [
        Summary(
            id=comparison.id,
            created_at=comparison.created_at,
            first_day=comparison.first_day,
            last_day=comparison.last_day,
            versions=versions[comparison.id],
            basins=len(comparison.basins),
            owner=comparison.owner,
        )
        for comparison in comparisons
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
        owner=row.owner,
    )


def _versions(session: Session, comparisons: Sequence[str]) -> dict[str, tuple[str, ...]]:
    row = ComparisonVersionRow
    rows = session.execute(
        select(row.comparison_id, row.version_id).where(row.comparison_id.in_(comparisons)).order_by(row.position)
    )
    groups: dict[str, tuple[str, ...]] = dict.fromkeys(comparisons, ())
    for comparison, version in rows:
        groups[comparison] += (version,)
    return groups
