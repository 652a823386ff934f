"""Adjustments of issued forecasts: drafts of forecasters, and what they published. The runs stay as they are."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.errors import InvalidInput, NotFound, counted
from hydrology.extremes.alerting import WINDOW_DAYS
from hydrology.uncertainty.flow_adjustment import FlowAdjustment
from jobspec.adjustments import NewAdjustment
from records.adjustments.tables import AdjustmentRow
from records.alerts import thresholds
from records.database.composite_keys import where_keys
from records.database.ids import new_id
from records.database.statements import add_all, as_record, as_values
from records.forecasts import latest
from records.runs import runs
from records.runs.runs import RunBasinKey


class UnknownAdjustment(NotFound):
    """No adjustment with this id is stored."""

    kind = "unknown-adjustment"


class NotAdjusted(NotFound):
    """No forecaster has published an adjustment of the forecast: it stands as it was computed."""

    kind = "not-adjusted"
    remedy = "Read the forecast itself."


class NotAdjustable(InvalidInput):
    """The run's forecast of the basin cannot be adjusted like this."""

    kind = "not-adjustable"
    remedy = "Adjust the latest forecast of the basin, by no more days than it has."


class AlreadyPublished(InvalidInput):
    """The adjustment is published: readers have seen it, so that it stays as it is."""

    kind = "already-published"
    status = 409
    remedy = "Make another adjustment of the run, and publish that: the newest counts."


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """What a forecaster changes of a run's forecast of a basin.

    Attributes:
        chances: by level, in place of the computed exceedance probability.
        author, publisher: the names of their keys; None for a publisher of a draft.
        created_at, published_at: by the service's clock.
        levels: the chances of levels as issued and as adjusted, as readers saw them first; None for a draft.
        alerts_at: when alerts were decided by it; None: not yet.
    """

    id: str
    run_id: str
    basin_id: str
    factor: float
    shift_days: int
    chances: Mapping[str, float]
    words: str
    author: str
    key_id: str
    created_at: datetime
    published_at: datetime | None = None
    publisher: str | None = None
    note: str | None = None
    levels: Sequence[Mapping[str, Any]] | None = None
    alerts_at: datetime | None = None

    @property
    def of_flow(self) -> FlowAdjustment:
        """The change of the flow."""
        return FlowAdjustment(self.factor, self.shift_days)


def create(
    session: Session, basin: str, new: NewAdjustment, author: str, key: str, *, now: datetime, wall: datetime
) -> Adjustment:
    """Store a draft.

    Args:
        author: the name of the key.
        now: by the service's clock; wall: by the machine's.

    Raises:
        UnknownRun: there is no such run, or it has no such basin.
        UnknownBasin, NoModel, NoForecast: as `records.forecasts.latest.latest`.
        NotAdjustable: it is not the latest forecast of the basin, is moved by all its days, or has no such level.
    """
    run, _ = runs.get(session, new.run), runs.basin_of(session, new.run, basin)
    _require_latest(session, run.id, basin, now)
    ahead = min(run.horizon_days - run.filled_days, WINDOW_DAYS)
    if abs(new.shift_days) >= ahead:
        raise NotAdjustable(
            f"Run {run.id} decides by {counted(ahead, 'day')}: move its flow by fewer than {counted(ahead, 'day')}."
        )
    if new.chances:
        _require_levels(session, basin, new.chances)
    adjustment = Adjustment(
        id=new_id(wall),
        run_id=run.id,
        basin_id=basin,
        **new.model_dump(exclude={"run"}),
        author=author,
        key_id=key,
        created_at=now,
    )
    add_all(session, AdjustmentRow, [as_values(adjustment)])
    return adjustment


def get(session: Session, adjustment: str) -> Adjustment:
    """Return an adjustment.

    Raises:
        UnknownAdjustment: there is none with this id.
    """
    return as_record(Adjustment, _row(session, adjustment))


def publish(
    session: Session,
    adjustment: str,
    publisher: str,
    note: str | None,
    levels: Sequence[Mapping[str, Any]] | None,
    now: datetime,
) -> Adjustment:
    """Publish a draft.

    Args:
        publisher: the name of the key.
        levels: the chances that readers see from now on; None where there are none.
        now: by the service's clock.

    Raises:
        UnknownAdjustment: there is none with this id.
        AlreadyPublished: it is published.
        NotAdjustable: a newer forecast of the basin is the latest.
    """
    row = _draft(session, adjustment)
    _require_latest(session, row.run_id, row.basin_id, now)
    row.published_at, row.publisher, row.note = now, publisher, note
    row.levels = None if levels is None else [*levels]
    session.flush()
    return as_record(Adjustment, row)


def remove(session: Session, adjustment: str) -> None:
    """Delete a draft.

    Raises:
        UnknownAdjustment: there is none with this id.
        AlreadyPublished: it is published.
    """
    session.delete(_draft(session, adjustment))
    session.flush()


def published(session: Session, run: str, basin: str) -> Adjustment | None:
    """Return the newest published adjustment of a run's forecast. None without one."""
    return published_many(session, [(run, basin)]).get((run, basin))


def published_many(
    session: Session, keys: Sequence[RunBasinKey], by: datetime | None = None
) -> dict[RunBasinKey, Adjustment]:
    """Return the newest adjustments of forecasts, published by an instant; those without one are left out."""
    is_published = AdjustmentRow.published_at.is_not(None) if by is None else AdjustmentRow.published_at <= by
    query = select(AdjustmentRow).where(is_published)
    columns = AdjustmentRow.run_id, AdjustmentRow.basin_id
    rows = session.scalars(where_keys(query, columns, keys).order_by(AdjustmentRow.published_at, AdjustmentRow.id))
    return {(row.run_id, row.basin_id): as_record(Adjustment, row) for row in rows}


_UNDECIDED = AdjustmentRow.published_at.is_not(None) & AdjustmentRow.alerts_at.is_(None)


def is_any_undecided(session: Session) -> bool:
    """Return whether a published adjustment has decided no alerts yet."""
    return session.scalar(select(AdjustmentRow.id).where(_UNDECIDED).limit(1)) is not None


def undecided(session: Session, basin: str | None = None) -> list[Adjustment]:
    """Return the published adjustments that have decided no alerts yet, oldest first.

    Args:
        basin: restrict to it; None for all.
    """
    query = select(AdjustmentRow).where(_UNDECIDED).order_by(AdjustmentRow.published_at, AdjustmentRow.id)
    if basin is not None:
        query = query.filter_by(basin_id=basin)
    return [as_record(Adjustment, row) for row in session.scalars(query)]


def mark_decided(session: Session, adjustment: str, at: datetime) -> None:
    """Record that alerts were decided by an adjustment."""
    _row(session, adjustment).alerts_at = at
    session.flush()


def page(
    session: Session,
    *,
    basin: str | None = None,
    drafts: bool = False,
    after: str | None = None,
    limit: int | None = None,
) -> list[Adjustment]:
    """Return adjustments, the newest draft first.

    Args:
        basin: restrict to it; None for all.
        drafts: whether drafts are included.
        after: the id of the last one of the previous page.
    """
    query = select(AdjustmentRow).order_by(AdjustmentRow.id.desc()).limit(limit)
    conditions: list[Any] = [] if drafts else [AdjustmentRow.published_at.is_not(None)]
    if basin is not None:
        conditions.append(AdjustmentRow.basin_id == basin)
    if after is not None:
        conditions.append(AdjustmentRow.id < after)
    return [as_record(Adjustment, row) for row in session.scalars(query.where(*conditions))]


def _require_latest(session: Session, run: str, basin: str, now: datetime) -> None:
    newest = latest.latest(session, basin, now).run.id
    if newest != run:
        raise NotAdjustable(f"Run {run} is not the latest forecast of {basin}: adjust run {newest}.")


def _require_levels(session: Session, basin: str, names: Collection[str]) -> None:
    unknown = {*names} - {level.name for level in thresholds.alert_levels(session, basin)}
    if unknown:
        named = ", ".join(sorted(unknown))
        raise NotAdjustable(f"{basin} has no level with alerts of the name {named}: list its thresholds.")


def _draft(session: Session, adjustment: str) -> AdjustmentRow:
    row = _row(session, adjustment, with_for_update=True)
    if row.published_at is not None:
        raise AlreadyPublished(f"Adjustment {adjustment} was published by {row.publisher}: it stays as it is.")
    return row


def _row(session: Session, adjustment: str, *, with_for_update: bool = False) -> AdjustmentRow:
    row = session.get(AdjustmentRow, adjustment, populate_existing=True, with_for_update=with_for_update or None)
    if row is None:
        raise UnknownAdjustment(f"No adjustment {adjustment!r} is stored here: list those of the basin.")
    return row
