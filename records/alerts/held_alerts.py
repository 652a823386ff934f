"""Changes of alerts that wait for a person's approval, until a deadline."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import CheckConstraint, ColumnElement, ForeignKey, func, or_, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from hydrology.base.doc import Doc, Why
from hydrology.base.errors import InvalidInput, NotFound
from jobspec.changes import HeldRuling, Ruling
from records.alerts.alert_changes import Change, as_json
from records.basins import basins, regions
from records.database.base import FreeText, JsonList
from records.database.stored import as_values, find_or_raise, narrowed, read, stored, table_of, upsert
from records.database.stored import find as find_record
from records.levels import categories_and_doubts


class NothingHeld(NotFound):
    """No changes of the basin's alerts wait for approval: there were none, or they have gone out."""

    remedy = "Read `/v1/alerts/held` for those that wait, and the basin's changes for those that have gone out."


class HeldOtherwise(InvalidInput):
    """The changes that wait are of another run, or somebody has decided them."""

    status = 409
    remedy = "Read `/v1/alerts/held` again, and decide what it shows now."


_WAITS = Why("Nobody has decided yet.")


@stored(
    "held_alerts",
    CheckConstraint("(ruling IS NULL) = (ruled_by IS NULL) AND (ruling IS NULL) = (ruled_at IS NULL)", name="ruled"),
    key=("basin_id",),
)
class HeldAlerts:
    """The changes of a basin's alerts that a run proposes.

    Attributes:
        proposed: each as receivers would get it (`alert_changes.as_json`), without an id.
        held_at, due_at, ruled_at: by the machine's clock.
    """

    basin_id: Annotated[str, ForeignKey("basins.id")]
    run_id: Annotated[str, ForeignKey("runs.id")]
    proposed: JsonList
    held_at: datetime
    due_at: Annotated[
        datetime | None,
        Doc("When they go out as proposed if nobody decides before; null where they wait for a level in doubt."),
        Why("A level is in doubt: it waits until somebody decides."),
    ]
    ruling: Annotated[Ruling | None, Doc("What somebody decided; carried out in seconds."), _WAITS] = None
    ruled_by: Annotated[FreeText | None, _WAITS] = None
    ruled_at: Annotated[datetime | None, _WAITS] = None
    note: Annotated[FreeText | None, Why("There is none.")] = None


HELD_ALERTS = table_of(HeldAlerts)


def hold(
    session: Session, basin: str, run: str, changes: Sequence[Change], at: datetime, due_at: datetime | None
) -> HeldAlerts:
    """Hold the changes that a run proposes, in the place of what was held of the basin before."""
    held = HeldAlerts(basin_id=basin, run_id=run, proposed=proposal(changes), held_at=at, due_at=due_at)
    upsert(session, HeldAlerts, [as_values(held)])
    return held


def proposal(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Return changes as they are held: as receivers would get them, without what they have once they are stored."""
    later = ("event", "official", "message")
    return [{name: value for name, value in as_json(change).items() if name not in later} for change in changes]


def find(session: Session, basin: str) -> HeldAlerts | None:
    return find_record(session, HeldAlerts, basin_id=basin)


def get(session: Session, basin: str) -> HeldAlerts:
    nothing = NothingHeld(f"No changes of the alerts of {basin} wait for approval.")
    return find_or_raise(session, HeldAlerts, nothing, basin_id=basin)


def rule(session: Session, basin: str, ruling: HeldRuling, by: str, at: datetime) -> HeldAlerts:
    basins.lock(session, basin)
    held = get(session, basin)
    if held.run_id != ruling.run:
        raise HeldOtherwise(f"The alerts of {basin} that wait are of run {held.run_id}, not of {ruling.run}.")
    if held.ruling is not None:
        raise HeldOtherwise(f"{held.ruled_by} has decided on the alerts of {basin}: {held.ruling}.")
    ruled = replace(held, ruling=ruling.ruling, ruled_by=by, ruled_at=at, note=ruling.note)
    upsert(session, HeldAlerts, [as_values(ruled)])
    return ruled


def approve_confirmed(session: Session, basin: str, *, by: str, now: datetime, wall: datetime) -> None:
    """Approve the changes that wait for levels to be confirmed, where all are confirmed now. `now` is by the service's
    clock, `wall` by the machine's."""
    held = find(session, basin)
    if held is None or held.due_at is not None or held.ruling is not None:
        return
    doubts = categories_and_doubts.in_doubt(session, basin, day(now.date()))
    if not any(change["level"] in doubts for change in held.proposed):
        rule(session, basin, HeldRuling(run=held.run_id, ruling="approve"), by, wall)


def release(session: Session, basin: str, run: str | None = None) -> None:
    deletion = HELD_ALERTS.delete().where(HELD_ALERTS.c.basin_id == basin)
    session.execute(deletion if run is None else deletion.where(HELD_ALERTS.c.run_id == run))


def waiting(session: Session, basins_: Sequence[str]) -> set[str]:
    held = HELD_ALERTS.c
    undecided = select(held.basin_id).where(held.ruling.is_(None), held.basin_id.in_(basins_))
    return set(session.scalars(undecided))


def count_in_doubt(session: Session) -> int:
    waiting = select(func.count()).select_from(HELD_ALERTS).filter_by(due_at=None, ruling=None)
    return session.scalar(waiting) or 0


def is_any_due(session: Session, at: datetime) -> bool:
    return session.scalar(select(HELD_ALERTS.c.basin_id).where(_is_due(at)).limit(1)) is not None


def due(session: Session, at: datetime, basin: str | None = None) -> list[HeldAlerts]:
    query = select(HELD_ALERTS).where(_is_due(at)).order_by(HELD_ALERTS.c.basin_id)
    return read(session, HeldAlerts, narrowed(query, (HELD_ALERTS.c.basin_id.__eq__, basin)))


def page(
    session: Session, *, region: str | None = None, after: str | None = None, limit: int | None = None
) -> list[HeldAlerts]:
    query = select(HELD_ALERTS).where(HELD_ALERTS.c.ruling.is_(None)).order_by(HELD_ALERTS.c.basin_id).limit(limit)
    of_basin = HELD_ALERTS.c.basin_id
    return read(session, HeldAlerts, narrowed(query, (of_basin.__gt__, after), (regions.holding(of_basin), region)))


def _is_due(at: datetime) -> ColumnElement[bool]:
    return or_(HELD_ALERTS.c.ruling.is_not(None), HELD_ALERTS.c.due_at <= at)
