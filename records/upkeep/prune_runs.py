"""Finds and prunes outdated runs: what-if runs entirely, members' results of the rest."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from records.alerts.alerts import ALERTS, STANDINGS
from records.database.array_codec import is_whole
from records.database.retention import ids_pruned
from records.database.stored import narrowed, where_keys
from records.outlooks.flow_outlooks import OUTLOOKS
from records.runs.run_arrays import owner_of, packed, unpacked, without_members
from records.runs.run_types import RUN_BASINS, RUNS
from records.runs.tables import NEWEST_RUNS, RUN_CONTENTS, RUN_MEMBERS

WHAT_IF = "what-if"


def outdated_what_ifs(session: Session, before: datetime, runs: Collection[str] | None = None) -> dict[str, int]:
    """Return the what-if runs posted before an instant, each with a count of 1.

    Runs that a newer one is compared with are left out.
    """
    query = select(RUNS.c.id).where(RUNS.c.purpose == WHAT_IF, RUNS.c.created_at < before)
    return _counted(session, query, runs, except_=_bases(session, before))


def remove_what_ifs(session: Session, runs: Collection[str]) -> list[str]:
    for table in (OUTLOOKS, RUN_MEMBERS, RUN_CONTENTS, RUN_BASINS):
        session.execute(table.delete().where(table.c.run_id.in_(runs)))
    return list(session.scalars(RUNS.delete().where(RUNS.c.id.in_(runs)).returning(RUNS.c.id)))


def outdated_members(session: Session, before: datetime, runs: Collection[str] | None = None) -> dict[str, int]:
    """Return runs with members' results from before an instant. Each has its number of basins.

    Left out are the newest run of a basin, those that decide present alerts, and those that a what-if run is compared
    with.
    """
    query = select(RUNS.c.id).where(
        RUNS.c.purpose != WHAT_IF,
        RUNS.c.created_at < before,
        RUNS.c.id.not_in(ids_pruned("members")),
        RUNS.c.id.not_in(select(NEWEST_RUNS.c.run_id)),
        RUNS.c.id.not_in(select(STANDINGS.c.run_id)),
        RUNS.c.id.not_in(select(ALERTS.c.run_id)),
    )
    found = _counted(session, query, runs, except_=_bases(session))
    run = RUN_CONTENTS.c.run_id
    counts = where_keys(select(run, func.count()), (run,), [(one,) for one in found]).group_by(run)
    return dict.fromkeys(found, 0) | dict(session.execute(counts).all())


def remove_members(session: Session, runs: Collection[str]) -> list[str]:
    """Prune the members' results of runs, and return the runs' ids.

    Of runs from before those were stored apart, what remains is packed anew; damaged contents stay as they are.
    """
    deleted = RUN_MEMBERS.delete().where(RUN_MEMBERS.c.run_id.in_(runs)).returning(RUN_MEMBERS.c.run_id)
    before = {*runs} - {*session.scalars(deleted)}
    table = RUN_CONTENTS
    for run, basin, content in session.execute(select(table).where(table.c.run_id.in_(before))).all():
        owner = owner_of(run, basin)
        if is_whole(owner, content):
            left = without_members(unpacked(run, basin, content))
            stored = packed(owner, left.series.values(), left.ledgers)
            session.execute(table.update().filter_by(run_id=run, basin_id=basin).values(content=stored))
    return list(runs)


def _counted(
    session: Session, query: "Select[str]", runs: Collection[str] | None, *, except_: Collection[str]
) -> dict[str, int]:
    found = session.scalars(narrowed(query, (RUNS.c.id.in_, runs)).order_by(RUNS.c.id))
    return {run: 1 for run in found if run not in except_}


def _bases(session: Session, since: datetime | None = None) -> set[str]:
    query = select(RUNS.c.what_if).where(RUNS.c.purpose == WHAT_IF, RUNS.c.what_if.is_not(None))
    asked = session.scalars(query if since is None else query.where(RUNS.c.created_at >= since))
    return {what_if.base for what_if in asked if what_if is not None and what_if.base is not None}
