"""Changes of alerts that wait for a person's approval, until a deadline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from hydrology.base.errors import InvalidInput, NotFound
from jobspec.changes import HeldRuling, Ruling
from records.alerts.alert_changes import Change, as_json
from records.alerts.tables import HeldAlertsRow
from records.basins import basins
from records.database.statements import as_record
from records.levels import level_doubts


class NothingHeld(NotFound):
    """No changes of the basin's alerts wait for approval: there were none, or they have gone out."""

    kind = "nothing-held"
    remedy = "Read `/v1/alerts/held` for those that wait, and the basin's changes for those that have gone out."


class HeldOtherwise(InvalidInput):
    """The changes that wait are of another run, or somebody has decided them."""

    kind = "held-otherwise"
    status = 409
    remedy = "Read `/v1/alerts/held` again, and decide what it shows now."


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldAlerts:
    """The changes of a basin's alerts that a run proposes.

    Attributes:
        proposed: each as receivers would get it (`alert_changes.as_json`), without an id.
        held_at, due_at, ruled_at: by the machine's clock; due_at: when they go out without a ruling; None where they
            are of levels in doubt, and wait until somebody decides.
        ruling: None until somebody decides.
    """

    basin_id: str
    run_id: str
    proposed: Sequence[Mapping[str, Any]]
    held_at: datetime
    due_at: datetime | None
    ruling: Ruling | None
    ruled_by: str | None
    ruled_at: datetime | None
    note: str | None


def hold(
    session: Session, basin: str, run: str, changes: Sequence[Change], at: datetime, due_at: datetime | None
) -> HeldAlerts:
    """Hold the changes that a run proposes, in the place of what was held of the basin before."""
    session.merge(
        HeldAlertsRow(
            basin_id=basin,
            run_id=run,
            proposed=proposal(changes),
            held_at=at,
            due_at=due_at,
            ruling=None,
            ruled_by=None,
            ruled_at=None,
            note=None,
        )
    )
    session.flush()
    return get(session, basin)


def proposal(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Return changes as they are held: as receivers would get them, without what they have once they are stored."""
    later = ("event", "official", "message")
    return [{name: value for name, value in as_json(change).items() if name not in later} for change in changes]


def find(session: Session, basin: str) -> HeldAlerts | None:
    """Return the held changes of a basin. None where nothing waits."""
    row = session.get(HeldAlertsRow, basin, populate_existing=True)
    return None if row is None else as_record(HeldAlerts, row)


def get(session: Session, basin: str) -> HeldAlerts:
    """Return the held changes of a basin.

    Raises:
        NothingHeld: there are none.
    """
    held = find(session, basin)
    if held is None:
        raise NothingHeld(f"No changes of the alerts of {basin} wait for approval.")
    return held


def rule(session: Session, basin: str, ruling: HeldRuling, by: str, at: datetime) -> HeldAlerts:
    """Record what a person decides on the held changes of a basin.

    Args:
        by: the name of the person's key.

    Raises:
        NothingHeld: there are none.
        HeldOtherwise: they are of another run, or somebody has decided them.
    """
    basins.lock(session, basin)
    held = get(session, basin)
    if held.run_id != ruling.run:
        raise HeldOtherwise(f"The alerts of {basin} that wait are of run {held.run_id}, not of {ruling.run}.")
    if held.ruling is not None:
        raise HeldOtherwise(f"{held.ruled_by} has decided on the alerts of {basin}: {held.ruling}.")
    row = session.get_one(HeldAlertsRow, basin)
    row.ruling, row.ruled_by, row.ruled_at, row.note = ruling.ruling, by, at, ruling.note
    session.flush()
    return get(session, basin)


def approve_confirmed(session: Session, basin: str, *, by: str, now: datetime, wall: datetime) -> None:
    """Approve the changes that wait for levels to be confirmed, where all are confirmed now.

    Args:
        by: who confirmed them.
        now: by the service's clock; wall: by the machine's.
    """
    held = find(session, basin)
    if held is None or held.due_at is not None or held.ruling is not None:
        return
    doubts = level_doubts.in_doubt(session, basin, day(now.date()))
    if not any(change["level"] in doubts for change in held.proposed):
        rule(session, basin, HeldRuling(run=held.run_id, ruling="approve"), by, wall)


def release(session: Session, basin: str, run: str | None = None) -> None:
    """Delete what is held of a basin: of any run, or of one alone."""
    of_run = {} if run is None else {"run_id": run}
    session.execute(delete(HeldAlertsRow).filter_by(basin_id=basin, **of_run))


def waiting(session: Session, basins_: Sequence[str]) -> set[str]:
    """Return the basins of which changes wait that nobody has decided."""
    undecided = select(HeldAlertsRow.basin_id).filter_by(ruling=None).where(HeldAlertsRow.basin_id.in_(basins_))
    return set(session.scalars(undecided))


def count_in_doubt(session: Session) -> int:
    """Return the number of basins whose changes wait because a level is in doubt."""
    waiting = select(func.count()).select_from(HeldAlertsRow).filter_by(due_at=None, ruling=None)
    return session.scalar(waiting) or 0


def is_any_due(session: Session, at: datetime) -> bool:
    """Return whether something is to be carried out."""
    return session.scalar(select(HeldAlertsRow.basin_id).where(_is_due(at)).limit(1)) is not None


def due(session: Session, at: datetime, basin: str | None = None) -> list[HeldAlerts]:
    """Return what somebody has decided, and what has waited until its deadline.

    Args:
        basin: restrict to it; None for all.
    """
    query = select(HeldAlertsRow).where(_is_due(at)).order_by(HeldAlertsRow.basin_id)
    if basin is not None:
        query = query.filter_by(basin_id=basin)
    return [as_record(HeldAlerts, row) for row in session.scalars(query)]


def page(session: Session, *, after: str | None = None, limit: int | None = None) -> list[HeldAlerts]:
    """Return what waits, by basin.

    Args:
        after: the last basin of the previous page.
    """
    query = select(HeldAlertsRow).where(HeldAlertsRow.ruling.is_(None)).order_by(HeldAlertsRow.basin_id).limit(limit)
    if after is not None:
        query = query.where(HeldAlertsRow.basin_id > after)
    return [as_record(HeldAlerts, row) for row in session.scalars(query)]


def _is_due(at: datetime) -> ColumnElement[bool]:
    return or_(HeldAlertsRow.ruling.is_not(None), HeldAlertsRow.due_at <= at)
