"""Messages that the issue of a day is not complete at its stated time, one for each cause, and that it is again."""

from collections.abc import Collection, Sequence
from datetime import datetime, time, timedelta

from sqlalchemy import UniqueConstraint, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, day
from hydrology.base.errors import counted
from records.alerts.deliveries import Delivery
from records.database.base import JsonObject
from records.database.checksums import new_id
from records.database.stored import add_all, as_values, find, insert_into, read, stored, table_of
from records.forecasts import issues
from records.forecasts.issues import Issue

NOT_STARTED, UNFINISHED, PENDING = "not_started", "unfinished", "pending"
"""Causes beside the codes of the reasons of missing basins: no cycle, one that has not ended, parts that were lost."""
MAX_EXAMPLES = 3


@stored("issue_notices", UniqueConstraint("day", "causes"))
class Notice:
    """A message about the issue of a day.

    Attributes:
        causes: why it is not complete, in order, separated by commas; empty where it is.
        at: by the service's clock.
    """

    id: str
    day: Day
    causes: str
    at: datetime
    why: str

    @property
    def kind(self) -> str:
        return "incomplete" if self.causes else "complete"

    @property
    def headline(self) -> str:
        return f"The issue of {self.day} is {'not ' if self.causes else ''}complete"


NOTICES = table_of(Notice)


def as_json(notice: Notice) -> JsonObject:
    causes = notice.causes.split(",") if notice.causes else []
    return {"event": notice.id, "day": str(notice.day), "kind": notice.kind, "why": notice.why, "causes": causes}


def due(session: Session, now: datetime, stated: time) -> Notice | None:
    """Return the notice to store now: of the last day whose stated time (UTC) is over, if its causes have changed.

    None before the first issue. The same causes count once, also where they last for days.
    """
    of_day = day((now - timedelta(days=int(now.time() < stated))).date())
    if not issues.page(session, before=of_day, limit=1):
        return None
    issue, last = find(session, Issue, day=of_day), _last(session)
    causes = ",".join(sorted(_causes(issue)))
    is_known = causes == (last.causes if last else "") or find(session, Notice, day=of_day, causes=causes) is not None
    if is_known:
        return None
    return Notice(id=new_id(now), day=of_day, causes=causes, at=now, why=_why(session, issue, stated))


def store(session: Session, notice: Notice, receivers: Sequence[str], at: datetime) -> bool:
    """Store a notice, and its deliveries to subscriptions where it has a new cause or none at all.

    Return False if another process has stored it.
    """
    last, insert = _last(session), insert_into(session, Notice).values(as_values(notice))
    new = insert.on_conflict_do_nothing(index_elements=["day", "causes"]).returning(NOTICES.c.id)
    if session.execute(new).one_or_none() is None:
        return False
    before = {*last.causes.split(",")} if last else set()
    if not notice.causes or not before.issuperset(notice.causes.split(",")):
        waiting = {"notice_id": notice.id, "status": "pending", "tries": 0}
        add_all(session, Delivery, [waiting | {"id": new_id(at), "subscription_id": one} for one in receivers])
    return True


def get_many(session: Session, ids: Collection[str]) -> dict[str, Notice]:
    return {one.id: one for one in read(session, Notice, select(NOTICES).where(NOTICES.c.id.in_(ids)))}


def _last(session: Session) -> Notice | None:
    newest = select(NOTICES).order_by(NOTICES.c.at.desc(), NOTICES.c.id.desc()).limit(1)
    return next(iter(read(session, Notice, newest)), None)


def _causes(issue: Issue | None) -> set[str]:
    if issue is None:
        return {NOT_STARTED}
    if issue.closed_at is None:
        return {UNFINISHED}
    return {*issue.tally.reasons} or ({PENDING} if issue.tally.lacking else set())


def _why(session: Session, issue: Issue | None, stated: time) -> str:
    """Return the state of an issue in sentences."""
    if issue is None:
        return f"No cycle of it was started by {stated:%H:%M} UTC."
    renewed = f"{issue.tally.renewed} of {counted(issue.tally.expected, 'basin')} have a forecast of this day"
    if issue.closed_at is None:
        return f"Its cycle has not ended: {renewed}."
    missing = issues.basins_of(session, issue.day, issues.MISSING)
    if not missing:
        return f"{renewed[:1].upper()}{renewed[1:]}{', issued late' if issue.late else ''}."
    examples = [f"{one.basin_id}: {one.reason or 'its part was lost.'}" for one in missing[:MAX_EXAMPLES]]
    more = [f"And {len(missing) - MAX_EXAMPLES} more."] if len(missing) > MAX_EXAMPLES else []
    return " ".join([f"{renewed}, {len(missing)} lack one.", *examples, *more])
