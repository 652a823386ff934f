"""Skill of versions, and published scores: each under its full key."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any

from sqlalchemy import CheckConstraint, ForeignKey, Select, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period
from hydrology.scores.comparisons import quartiles as of_values
from hydrology.verification.held_out_years import HELD_OUT, PeriodUse
from records.basins.ownership import BASINS
from records.database.stored import add_all, as_values, grouped, narrowed, read, stored, table_of, upsert

_KEY = (
    "version_id",
    "basin_id",
    "member",
    "metric",
    "first_day",
    "last_day",
    "lead",
    "season",
    "threshold",
    "forcing_kind",
    "reference",
)


MEAN, DRAWS = "mean", "draws"
"""The members of scores of the members' mean, and of draws of the calibrated flow."""


@stored(
    "scores",
    CheckConstraint("(value IS NULL) = (reason IS NOT NULL)", name="reason"),
    CheckConstraint("first_day <= last_day", name="order"),
    CheckConstraint("n >= 0", name="n"),
    CheckConstraint("low <= high", name="interval"),
    key=_KEY,
)
class Score:
    """One score.

    Attributes:
        member: a member's number, `MEAN` or `DRAWS`; or of a combined version, the products that the mean is of alone.
        lead, season, threshold: the subset of the days, or `all`.
        low, high: its interval, if one was computed.
        shipped: whether it came with the ensemble; an evaluation here takes its place.
    """

    version_id: Annotated[str, ForeignKey("versions.id")]
    basin_id: Annotated[str, ForeignKey("basins.id")]
    member: str
    metric: str
    first_day: Day
    last_day: Day
    lead: str = "all"
    season: str = "all"
    threshold: str = "all"
    forcing_kind: str = "observed"
    reference: str = "observed"
    n: int
    value: float | None
    reason: Absent | None = None
    low: float | None = None
    high: float | None = None
    attributes_assumed: list[str] = field(default_factory=list)
    shipped: bool = False
    period_use: PeriodUse
    evaluated_at: datetime


SCORES = table_of(Score)
_CONTENT = ("n", "value", "reason", "low", "high", "attributes_assumed", "shipped", "period_use")


def replace(session: Session, scores: Sequence[Score]) -> None:
    """Store scores, each replacing the one under its key. Equal ones are not written."""
    upsert(session, Score, map(as_values, scores), compared=_CONTENT)


def add(session: Session, scores: Sequence[Score]) -> None:
    """Add scores whose keys have none yet."""
    add_all(session, Score, map(as_values, scores), if_new=True)


def scores(
    session: Session,
    *,
    versions: Sequence[str] | None = None,
    basins: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    members: Sequence[str] | None = None,
    uses: Sequence[PeriodUse] | None = None,
    first_day: Day | None = None,
    last_day: Day | None = None,
) -> list[Score]:
    """Return the scores that match, by key. `first_day` and `last_day` match a whole period."""
    query = narrowed(
        select(SCORES).order_by(*(SCORES.c[name] for name in _KEY)),
        (SCORES.c.version_id.in_, versions),
        (SCORES.c.basin_id.in_, basins),
        (SCORES.c.metric.in_, metrics),
        (SCORES.c.member.in_, members),
        (SCORES.c.period_use.in_, uses),
        (SCORES.c.first_day.__eq__, first_day),
        (SCORES.c.last_day.__eq__, last_day),
    )
    return read(session, Score, query)


OfMetric = tuple[str, str, str]
"""A version, a basin and a metric."""


@dataclass(frozen=True, slots=True)
class HeldOutScore:
    """A score over held-out days; `n` and `shipped` as in `Score`."""

    value: float
    n: int
    shipped: bool
    period: Period


def held_out_scores(
    session: Session,
    versions: Sequence[str],
    metrics: Sequence[str],
    basins: Sequence[str] | None = None,
    member: str = MEAN,
) -> dict[OfMetric, HeldOutScore]:
    """Return the scores of a member over all days of the newest held-out period. Computed scores come before shipped
    ones."""
    names = ("version_id", "basin_id", "metric", "value", "n", "shipped", "first_day", "last_day")
    query = _held_out(names, versions, metrics, member)
    # By all basins, where none are named: so that the index is searched by basin.
    query = query.where(SCORES.c.basin_id.in_(select(BASINS.c.id) if basins is None else basins))
    return {
        (version, basin, metric): HeldOutScore(value, n, shipped, Period(first, last))
        for version, basin, metric, value, n, shipped, first, last in session.execute(query)
    }


def held_out_values(session: Session, version: str, metric: str) -> dict[str, float]:
    """Return the values of `held_out_scores` in all basins of a version, of the members' mean."""
    query = _held_out(("basin_id", "value"), [version], [metric], MEAN)
    rows = session.execute(query.where(SCORES.c.basin_id.in_(select(BASINS.c.id))))
    return dict(rows.all())


def _held_out(names: Sequence[str], versions: Sequence[str], metrics: Sequence[str], member: str) -> Select[Any]:
    """Return the query of columns of known scores over all held-out days: the last row of a key counts."""
    return (
        select(*(SCORES.c[name] for name in names))
        .where(SCORES.c.version_id.in_(versions), SCORES.c.metric.in_(metrics), SCORES.c.value.is_not(None))
        .filter_by(member=member, lead="all", season="all", threshold="all", period_use=HELD_OUT)
        .order_by(SCORES.c.shipped.desc(), SCORES.c.first_day, SCORES.c.last_day)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Quartiles:
    """One score over the basins of an evaluation whose days had the same use, its key as in `Score`.

    Attributes:
        n: number of basins with a value; lacking: with a reason instead; shipped: values that came with the ensemble.
    """

    member: str
    metric: str
    first_day: Day
    last_day: Day
    lead: str
    season: str
    threshold: str
    forcing_kind: str
    reference: str
    period_use: PeriodUse
    n: int
    lacking: int
    shipped: int
    p25: float | None
    median: float | None
    p75: float | None


def quartiles(
    session: Session, version: str, metrics: Sequence[str] | None = None, uses: Sequence[PeriodUse] | None = None
) -> list[Quartiles]:
    """Return the quartiles of a version's scores over basins, by key and use of the days."""
    key = (*_KEY[2:], "period_use")
    columns = [SCORES.c[name] for name in key]
    query = select(*columns, SCORES.c.value, SCORES.c.shipped).filter_by(version_id=version).order_by(*columns)
    query = narrowed(query, (SCORES.c.metric.in_, metrics), (SCORES.c.period_use.in_, uses))
    groups = grouped((tuple(group), (value, shipped)) for *group, value, shipped in session.execute(query))
    return [_quartiles(dict(zip(key, group, strict=True)), values) for group, values in groups.items()]


def _quartiles(key: dict[str, Any], values: Sequence[tuple[float | None, bool]]) -> Quartiles:
    known = [value for value, _ in values if value is not None]
    came = sum(shipped for value, shipped in values if value is not None)
    return Quartiles(**key, **asdict(of_values(known)), lacking=len(values) - len(known), shipped=came)


_PUBLISHED_KEY = ("source", "model", "basin_id", "metric", "first_day", "last_day")
_published_key = attrgetter(*_PUBLISHED_KEY)


@stored("publications", key=("source",))
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
    key=_PUBLISHED_KEY,
)
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


def store_published(session: Session, publication: Publication, scores: Sequence[PublishedScore]) -> StoredCounts:
    """Store a publication and its scores by key, replacing older values. Repeating it writes nothing."""
    upsert(session, Publication, [as_values(publication)], compared=("citation", "file_id"))
    before = {
        _published_key(score): (score.value, score.reason) for score in published_scores(session, publication.source)
    }
    differing = [score for score in scores if before.get(_published_key(score)) != (score.value, score.reason)]
    new = sum(_published_key(score) not in before for score in differing)
    upsert(session, PublishedScore, map(as_values, differing))
    return StoredCounts(new, len(differing) - new, len(scores) - len(differing))


def publications(session: Session) -> list[Publication]:
    return read(session, Publication, select(PUBLICATIONS).order_by(PUBLICATIONS.c.source))


def published_scores(
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
    row = PUBLISHED_SCORES.c
    query = narrowed(query, (row.basin_id.in_, basins), (row.metric.in_, metrics))
    return read(session, PublishedScore, query.order_by(*(PUBLISHED_SCORES.c[name] for name in _PUBLISHED_KEY)))
