"""Finds and prunes outdated runs: what-if runs entirely, members' results of the rest."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session

from records.alerts.alerts import ALERTS, STANDINGS
from records.database.array_codec import is_whole
from records.database.retention import PrunedRow
from records.database.stored import table_of
from records.outlooks.flow_outlooks import OutlookRow
from records.runs.run_arrays import owner_of, packed, unpacked, without_members
from records.runs.tables import NewestRunRow, RunBasinRow, RunContentRow, RunRow

WHAT_IF = "what-if"


def outdated_what_ifs(session: Session, before: datetime, runs: Collection[str] | None = None) -> dict[str, int]:
    """Return the what-if runs posted before an instant, each with a count of 1.

    Runs that a newer one is compared with are left out.
    """
    query = select(RunRow.id).where(RunRow.purpose == WHAT_IF, RunRow.created_at < before)
    return _counted(session, query, runs, except_=_bases(session, before))


def remove_what_ifs(session: Session, runs: Collection[str]) -> list[str]:
    """Delete what-if runs, and return their ids."""
    for row in (OutlookRow, RunContentRow, RunBasinRow):
        session.execute(delete(row).where(row.run_id.in_(runs)))
    return list(session.scalars(delete(RunRow).where(RunRow.id.in_(runs)).returning(RunRow.id)))


def outdated_members(session: Session, before: datetime, runs: Collection[str] | None = None) -> dict[str, int]:
    """Return runs with members' results from before an instant. Each has its number of basins.

    Left out are the newest run of a basin, those that decide present alerts, and those that a what-if run is compared
    with.
    """
    thinned = select(PrunedRow.id).where(PrunedRow.rule == "members")
    query = select(RunRow.id).where(
        RunRow.purpose != WHAT_IF,
        RunRow.created_at < before,
        RunRow.id.not_in(thinned),
        RunRow.id.not_in(select(NewestRunRow.run_id)),
        RunRow.id.not_in(select(STANDINGS.c.run_id)),
        RunRow.id.not_in(select(ALERTS.c.run_id)),
    )
    found = _counted(session, query, runs, except_=_bases(session))
    of_run = (
        select(RunContentRow.run_id, func.count()).where(RunContentRow.run_id.in_(found)).group_by(RunContentRow.run_id)
    )
    return dict.fromkeys(found, 0) | dict(session.execute(of_run).all())


def remove_members(session: Session, runs: Collection[str]) -> list[str]:
    """Prune the members' results of runs, and return the runs' ids. Damaged contents stay as they are."""
    table = table_of(RunContentRow)
    for run, basin, content in session.execute(select(table).where(table.c.run_id.in_(runs))).all():
        owner = owner_of(run, basin)
        if is_whole(owner, content):
            left = without_members(unpacked(owner, content))
            own = (table.c.run_id == run) & (table.c.basin_id == basin)
            stored = packed(owner, [*left.series.values()], left.ledgers)
            session.execute(table.update().where(own).values(content=stored))
    return list(runs)


def _counted(
    session: Session, query: "Select[str]", runs: Collection[str] | None, *, except_: Collection[str]
) -> dict[str, int]:
    if runs is not None:
        query = query.where(RunRow.id.in_(runs))
    return {run: 1 for run in session.scalars(query.order_by(RunRow.id)) if run not in except_}


def _bases(session: Session, since: datetime | None = None) -> set[str]:
    query = select(RunRow.what_if).where(RunRow.purpose == WHAT_IF, RunRow.what_if.is_not(None))
    asked = session.scalars(query if since is None else query.where(RunRow.created_at >= since))
    return {what_if.base for what_if in asked if what_if is not None and what_if.base is not None}
