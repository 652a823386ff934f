"""Published scores; a newer file replaces older values."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from sqlalchemy import CheckConstraint, ForeignKey, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period
from records.database.statements import as_values, table_of, upsert
from records.database.stored import read, stored

_KEY = ("source", "model", "basin_id", "metric", "first_day", "last_day")


@stored("publications", key=("source",))
@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """The origin of published scores: `source` is the repository and its commit."""

    source: str
    citation: str
    file_id: Annotated[int, ForeignKey("sources.id")]
    stored_at: datetime


@stored(
    "published_scores",
    CheckConstraint("(value IS NULL) = (reason IS NOT NULL)", name="reason"),
    CheckConstraint("first_day <= last_day", name="order"),
    key=_KEY,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedScore:
    """A published score of a model in a basin, whether the basin is stored or not; a value or a reason."""

    source: Annotated[str, ForeignKey("publications.source")]
    model: str
    # Not a foreign key: published scores are stored whether or not the gauge's data are.
    basin_id: str
    metric: str
    first_day: Day
    last_day: Day
    value: float | None
    reason: Absent | None = None


PUBLICATIONS, PUBLISHED_SCORES = table_of(Publication), table_of(PublishedScore)


@dataclass(frozen=True, slots=True)
class StoredCounts:
    """How many scores were new, differed from the stored ones, or were the same."""

    new: int
    changed: int
    unchanged: int


def store(session: Session, publication: Publication, scores: Sequence[PublishedScore]) -> StoredCounts:
    """Store a publication and its scores by key, replacing older values. Repeating it writes nothing."""
    upsert(session, Publication, [as_values(publication)], compared=("citation", "file_id"))
    before = {_key(score): (score.value, score.reason) for score in list_scores(session, publication.source)}
    differing = [score for score in scores if before.get(_key(score)) != (score.value, score.reason)]
    new = sum(_key(score) not in before for score in differing)
    upsert(session, PublishedScore, map(as_values, differing))
    return StoredCounts(new, len(differing) - new, len(scores) - len(differing))


def publications(session: Session) -> list[Publication]:
    return read(session, Publication, select(PUBLICATIONS).order_by(PUBLICATIONS.c.source))


def list_scores(
    session: Session,
    source: str,
    *,
    period: Period | None = None,
    basins: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
) -> list[PublishedScore]:
    """Return the scores of a publication that match, by key. Only those of exactly the period."""
    query = select(PUBLISHED_SCORES).filter_by(source=source)
    if period is not None:
        query = query.filter_by(first_day=period.first, last_day=period.last)
    for column, values in ((PUBLISHED_SCORES.c.basin_id, basins), (PUBLISHED_SCORES.c.metric, metrics)):
        if values is not None:
            query = query.where(column.in_(values))
    return read(session, PublishedScore, query.order_by(*(PUBLISHED_SCORES.c[name] for name in _KEY)))


def _key(score: PublishedScore) -> tuple[object, ...]:
    return tuple(getattr(score, name) for name in _KEY)
