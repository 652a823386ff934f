"""Published scores; a newer file replaces older values."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period
from records.database.statements import as_record, as_values, insert_into
from records.verification.tables import PublicationRow, PublishedScoreRow

_KEY = ("source", "model", "basin_id", "metric", "first_day", "last_day")


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """The origin of published scores.

    Attributes:
        source: the repository and its commit.
        citation: the original publication.
        file_id: the last file read (`records.series.sources`).
    """

    source: str
    citation: str
    file_id: int
    stored_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedScore:
    """A published score of a model in a basin, whether the basin is stored or not; a value or a reason."""

    source: str
    model: str
    basin_id: str
    metric: str
    first_day: Day
    last_day: Day
    value: float | None
    reason: Absent | None = None


@dataclass(frozen=True, slots=True)
class StoredCounts:
    """How many scores were new, differed from the stored ones, or were the same."""

    new: int
    changed: int
    unchanged: int


def store(session: Session, publication: Publication, scores: Sequence[PublishedScore]) -> StoredCounts:
    """Store a publication and its scores by key, replacing older values. Repeating it writes nothing."""
    insert = insert_into(session, PublicationRow)
    replaced = {name: insert.excluded[name] for name in ("citation", "file_id", "stored_at")}
    differs = insert.table.c.citation.is_distinct_from(replaced["citation"]) | (
        insert.table.c.file_id != replaced["file_id"]
    )
    session.execute(
        insert.on_conflict_do_update(index_elements=["source"], set_=replaced, where=differs), as_values(publication)
    )
    stored = {_key(score): (score.value, score.reason) for score in list_scores(session, publication.source)}
    differing = [score for score in scores if stored.get(_key(score)) != (score.value, score.reason)]
    new = sum(_key(score) not in stored for score in differing)
    if differing:
        insert = insert_into(session, PublishedScoreRow)
        content = {name: insert.excluded[name] for name in ("value", "reason")}
        session.execute(
            insert.on_conflict_do_update(index_elements=list(_KEY), set_=content),
            [as_values(score) for score in differing],
        )
    return StoredCounts(new, len(differing) - new, len(scores) - len(differing))


def publications(session: Session) -> list[Publication]:
    """Return every publication, by source."""
    rows = session.scalars(select(PublicationRow).order_by(PublicationRow.source))
    return [as_record(Publication, row) for row in rows]


def list_scores(
    session: Session,
    source: str,
    *,
    period: Period | None = None,
    basins: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
) -> list[PublishedScore]:
    """Return the scores of a publication that match, by key. Only those of exactly the period."""
    query = select(PublishedScoreRow).filter_by(source=source)
    if period is not None:
        query = query.filter_by(first_day=period.first, last_day=period.last)
    for column, values in ((PublishedScoreRow.basin_id, basins), (PublishedScoreRow.metric, metrics)):
        if values is not None:
            query = query.where(column.in_(values))
    order = [getattr(PublishedScoreRow, name) for name in _KEY]
    return [as_record(PublishedScore, row) for row in session.scalars(query.order_by(*order))]


def _key(score: PublishedScore) -> tuple[object, ...]:
    return tuple(getattr(score, name) for name in _KEY)
