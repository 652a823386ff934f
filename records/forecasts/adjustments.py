"""Adjustments of issued forecasts: drafts of forecasters, and what they published. The runs stay as they are."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.alerts import WINDOW_DAYS
from hydrology.base.errors import InvalidInput, NotFound, counted
from jobspec.changes import NewAdjustment
from records.basins import regions
from records.database.checksums import new_id
from records.database.stored import add_all, as_values, find_or_raise, narrowed, read
from records.forecasts import latest
from records.levels import basin_levels
from records.runs import runs
from records.runs.tables import ADJUSTMENTS, IS_PUBLISHED, Adjustment


class UnknownAdjustment(NotFound):
    """No adjustment with this id is stored."""


class NotAdjusted(NotFound):
    """No forecaster has published an adjustment of the forecast: it stands as it was computed."""

    remedy = "Read the forecast itself."


class NotAdjustable(InvalidInput):
    """The run's forecast of the basin cannot be adjusted like this."""

    remedy = "Adjust the latest forecast of the basin, by no more days than it has."


class AlreadyPublished(InvalidInput):
    """The adjustment is published: readers have seen it, so that it stays as it is."""

    status = 409
    remedy = "Make another adjustment of the run, and publish that: the newest counts."


_IS_UNDECIDED = IS_PUBLISHED & ADJUSTMENTS.c.alerts_at.is_(None)


def create(
    session: Session, basin: str, new: NewAdjustment, author: str, key: str, *, now: datetime, wall: datetime
) -> Adjustment:
    """Store a draft, if it is of the latest forecast; `now` is by the service's clock, `wall` by the machine's."""
    run, _ = runs.get(session, new.run), runs.basin_of(session, new.run, basin)
    _require_latest(session, run.id, basin, now)
    ahead = min(run.days_to_come, WINDOW_DAYS)
    if abs(new.shift_days) >= ahead:
        raise NotAdjustable(
            f"Run {run.id} decides by {counted(ahead, 'day')}: move its flow by fewer than {counted(ahead, 'day')}."
        )
    known = {one.name for one in basin_levels.alert_levels(basin_levels.levels_of(session, basin)) if new.chances}
    if unknown := ", ".join(sorted({*new.chances} - known)):
        raise NotAdjustable(f"{basin} has no level with alerts of the name {unknown}: list its thresholds.")
    adjustment = Adjustment(
        id=new_id(wall),
        run_id=run.id,
        basin_id=basin,
        **new.model_dump(exclude={"run"}),
        author=author,
        key_id=key,
        created_at=now,
    )
    add_all(session, Adjustment, [as_values(adjustment)])
    return adjustment


def get(session: Session, adjustment: str, *, for_update: bool = False) -> Adjustment:
    unknown = UnknownAdjustment(f"No adjustment {adjustment!r} is stored here: list those of the basin.")
    return find_or_raise(session, Adjustment, unknown, id=adjustment, for_update=for_update)


def publish(
    session: Session,
    adjustment: str,
    publisher: str,
    note: str | None,
    levels: Sequence[Mapping[str, Any]] | None,
    now: datetime,
) -> Adjustment:
    """Publish a draft, unless a newer forecast of the basin is the latest."""
    draft = _draft(session, adjustment)
    _require_latest(session, draft.run_id, draft.basin_id, now)
    shown = None if levels is None else [*levels]
    _update(session, adjustment, published_at=now, publisher=publisher, note=note, levels=shown)
    return get(session, adjustment)


def remove(session: Session, adjustment: str) -> None:
    session.execute(ADJUSTMENTS.delete().where(ADJUSTMENTS.c.id == _draft(session, adjustment).id))


def published(session: Session, run: str, basin: str) -> Adjustment | None:
    return latest.published_adjustments(session, [(run, basin)]).get((run, basin))


def is_any_undecided(session: Session) -> bool:
    return session.scalar(select(ADJUSTMENTS.c.id).where(_IS_UNDECIDED).limit(1)) is not None


def undecided(session: Session, basin: str | None = None) -> list[Adjustment]:
    query = select(ADJUSTMENTS).where(_IS_UNDECIDED).order_by(ADJUSTMENTS.c.published_at, ADJUSTMENTS.c.id)
    return read(session, Adjustment, query if basin is None else query.filter_by(basin_id=basin))


def mark_decided(session: Session, adjustment: str, at: datetime) -> None:
    _update(session, get(session, adjustment).id, alerts_at=at)


def page(
    session: Session,
    *,
    basin: str | None = None,
    region: str | None = None,
    drafts: bool = False,
    after: str | None = None,
    limit: int | None = None,
) -> list[Adjustment]:
    query = select(ADJUSTMENTS).order_by(ADJUSTMENTS.c.id.desc()).limit(limit)
    if not drafts:
        query = query.where(IS_PUBLISHED)
    of_basin = ADJUSTMENTS.c.basin_id
    query = narrowed(query, (of_basin.__eq__, basin), (regions.holding(of_basin), region))
    return read(session, Adjustment, narrowed(query, (ADJUSTMENTS.c.id.__lt__, after)))


def _require_latest(session: Session, run: str, basin: str, now: datetime) -> None:
    newest = latest.latest(session, basin, now).run.id
    if newest != run:
        raise NotAdjustable(f"Run {run} is not the latest forecast of {basin}: adjust run {newest}.")


def _draft(session: Session, adjustment: str) -> Adjustment:
    draft = get(session, adjustment, for_update=True)
    if draft.published_at is not None:
        raise AlreadyPublished(f"Adjustment {adjustment} was published by {draft.publisher}: it stays as it is.")
    return draft


def _update(session: Session, adjustment: str, **values: Any) -> None:
    session.execute(ADJUSTMENTS.update().where(ADJUSTMENTS.c.id == adjustment).values(values))
