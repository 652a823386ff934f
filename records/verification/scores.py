"""Skill of a version: scores under their full key, and snow cells."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ColumnElement, Text, cast, or_, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period
from hydrology.scores.paired_comparison import quartiles as of_values
from hydrology.verification.held_out_years import HELD_OUT, PeriodUse
from records.database.base import Base, JsonObject
from records.database.statements import as_record, as_values, insert_into
from records.verification.tables import ScoreRow, SnowCellsRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One score.

    Attributes:
        version_id, basin_id: the version and the basin.
        member: a member's number, or `mean`; or of a combined version, the products that the mean is of alone.
        metric: its name (`nse`, `kge`).
        first_day, last_day: the period.
        lead, season, threshold: the subset of the days, or `all`.
        forcing_kind: of the forcing that drove the simulation.
        reference: the data that it is computed against.
        n: number of pairs.
        value: the score; None with the reason.
        low, high: its interval, if one was computed.
        attributes_assumed: the attributes of the basin that were assumed in the simulation.
        shipped: whether it came with the ensemble; an evaluation here takes its place.
        period_use: how the training of the version used the days of the period in the basin.
    """

    version_id: str
    basin_id: str
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SnowCells:
    """The snow cells of a basin, chosen on the training period.

    Attributes:
        version_id, basin_id: the version and the basin.
        product: the reference snow product.
        cells: the chosen cells by member label.
        training_first, training_last, training_r: the days of the choice, and Pearson's r there.
        test_first, test_last, test_r: other days, and Pearson's r there.
        bias_pct: of the test days, %.
        bare_mm: what reads as snow in the mean of the test days on which the reference has none; None where there are
            no such days.
        reason: why another number is missing.
    """

    version_id: str
    basin_id: str
    product: str
    cells: JsonObject
    training_first: Day
    training_last: Day
    training_r: float | None
    test_first: Day
    test_last: Day
    test_r: float | None
    bias_pct: float | None
    bare_mm: float | None = None
    reason: Absent | None = None
    evaluated_at: datetime


_CONTENT = ("n", "value", "reason", "low", "high", "attributes_assumed", "shipped", "period_use")


def replace(session: Session, scores: Sequence[Score]) -> None:
    """Store scores, each replacing the one under its key. Equal ones are not written."""
    if not scores:
        return
    insert = insert_into(session, ScoreRow)
    table, new = insert.table, insert.excluded
    session.execute(
        insert.on_conflict_do_update(
            index_elements=_key(ScoreRow),
            set_={name: new[name] for name in (*_CONTENT, "evaluated_at")},
            where=or_(*(_comparable(table.c[name]).is_distinct_from(_comparable(new[name])) for name in _CONTENT)),
        ),
        [as_values(score) for score in scores],
    )


def add(session: Session, scores: Sequence[Score]) -> None:
    """Add scores whose keys have none yet."""
    if scores:
        insert = insert_into(session, ScoreRow).on_conflict_do_nothing()
        session.execute(insert, [as_values(score) for score in scores])


def _comparable(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return a column in a form that both databases can compare: PostgreSQL compares no JSON."""
    return cast(column, Text) if isinstance(column.type, JSON) else column


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
    query = select(ScoreRow).order_by(*(getattr(ScoreRow, name) for name in _key(ScoreRow)))
    filters = (
        (ScoreRow.version_id, versions),
        (ScoreRow.basin_id, basins),
        (ScoreRow.metric, metrics),
        (ScoreRow.member, members),
        (ScoreRow.period_use, uses),
    )
    for column, values in filters:
        if values is not None:
            query = query.where(column.in_(values))
    if first_day is not None:
        query = query.where(ScoreRow.first_day == first_day)
    if last_day is not None:
        query = query.where(ScoreRow.last_day == last_day)
    return [as_record(Score, row) for row in session.scalars(query)]


OfMetric = tuple[str, str, str]
"""A version, a basin and a metric."""


@dataclass(frozen=True, slots=True)
class HeldOutScore:
    """A score of the members' mean over held-out days; `n` and `shipped` as in `Score`."""

    value: float
    n: int
    shipped: bool
    period: Period


def held_out_scores(
    session: Session, versions: Sequence[str], metrics: Sequence[str], basins: Sequence[str] | None = None
) -> dict[OfMetric, HeldOutScore]:
    """Return the scores of the members' mean over all days of the newest held-out period, with these days.

    Computed scores come before shipped ones. Missing ones are left out.
    """
    columns = (getattr(ScoreRow, name) for name in ("value", "n", "shipped", "first_day", "last_day"))
    query = (
        select(ScoreRow.version_id, ScoreRow.basin_id, ScoreRow.metric, *columns)
        .where(ScoreRow.version_id.in_(versions), ScoreRow.metric.in_(metrics))
        .filter_by(member="mean", lead="all", season="all", threshold="all", period_use=HELD_OUT)
        .order_by(ScoreRow.shipped.desc(), ScoreRow.first_day, ScoreRow.last_day)
    )
    if basins is not None:
        query = query.where(ScoreRow.basin_id.in_(basins))
    return {
        (version, basin, metric): HeldOutScore(value, n, shipped, Period(first, last))
        for version, basin, metric, value, n, shipped, first, last in session.execute(query)
        if value is not None
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Quartiles:
    """One score over the basins of an evaluation whose days had the same use, its key as in `Score`.

    Attributes:
        n: number of basins with a value; lacking: number with a reason instead.
        shipped: number of values that came with the ensemble.
        p25, median, p75: over the basins with a value; None without any.
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
    key = [name for name in _key(ScoreRow) if name not in ("version_id", "basin_id")] + ["period_use"]
    columns = [getattr(ScoreRow, name) for name in key]
    query = select(*columns, ScoreRow.value, ScoreRow.shipped).filter_by(version_id=version).order_by(*columns)
    for column, values in ((ScoreRow.metric, metrics), (ScoreRow.period_use, uses)):
        if values is not None:
            query = query.where(column.in_(values))
    groups: dict[tuple[Any, ...], list[tuple[float | None, bool]]] = {}
    for *group, value, shipped in session.execute(query):
        groups.setdefault(tuple(group), []).append((value, shipped))
    return [_quartiles(dict(zip(key, group, strict=True)), values) for group, values in groups.items()]


def _quartiles(key: dict[str, Any], values: Sequence[tuple[float | None, bool]]) -> Quartiles:
    known = [value for value, _ in values if value is not None]
    came = sum(shipped for value, shipped in values if value is not None)
    return Quartiles(**key, **asdict(of_values(known)), lacking=len(values) - len(known), shipped=came)


def replace_snow_cells(session: Session, rows: Sequence[SnowCells]) -> None:
    """Store snow cells, replacing those of the same version, basin and product."""
    if not rows:
        return
    insert = insert_into(session, SnowCellsRow)
    content = [column.name for column in insert.table.columns if not column.primary_key]
    session.execute(
        insert.on_conflict_do_update(
            index_elements=_key(SnowCellsRow), set_={name: insert.excluded[name] for name in content}
        ),
        [as_values(row) for row in rows],
    )


def snow_cells(session: Session, version: str, basins: Sequence[str] | None = None) -> list[SnowCells]:
    """Return a version's snow cells, in all or some basins."""
    query = select(SnowCellsRow).filter_by(version_id=version)
    if basins is not None:
        query = query.where(SnowCellsRow.basin_id.in_(basins))
    rows = session.scalars(query.order_by(SnowCellsRow.basin_id, SnowCellsRow.product))
    return [as_record(SnowCells, row) for row in rows]


def _key(row: type[Base]) -> list[str]:
    return [column.name for column in row.__table__.primary_key]
