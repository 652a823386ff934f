"""Messages to operators about the issue of a day, and their deliveries."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import UniqueConstraint, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from records.alerts.deliveries import Delivery
from records.database.base import JsonObject
from records.database.checksums import new_id
from records.database.stored import add_all, as_values, find, insert_into, read, stored, table_of


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


def store(session: Session, notice: Notice, receivers: Sequence[str], at: datetime) -> bool:
    """Store a notice, and its deliveries to subscriptions where it has a new cause or none at all.

    Return False if another process has stored it.
    """
    before, insert = last(session), insert_into(session, Notice).values(as_values(notice))
    new = insert.on_conflict_do_nothing(index_elements=["day", "causes"]).returning(NOTICES.c.id)
    if session.execute(new).one_or_none() is None:
        return False
    known = {*before.causes.split(",")} if before else set()
    if not notice.causes or not known.issuperset(notice.causes.split(",")):
        waiting = {"notice_id": notice.id, "status": "pending", "tries": 0}
        add_all(session, Delivery, [waiting | {"id": new_id(at), "subscription_id": one} for one in receivers])
    return True


def is_stored(session: Session, of_day: Day, causes: str) -> bool:
    return find(session, Notice, day=of_day, causes=causes) is not None


def get_many(session: Session, ids: Collection[str]) -> dict[str, Notice]:
    return {one.id: one for one in read(session, Notice, select(NOTICES).where(NOTICES.c.id.in_(ids)))}


def last(session: Session) -> Notice | None:
    """Return the newest notice."""
    newest = select(NOTICES).order_by(NOTICES.c.at.desc(), NOTICES.c.id.desc()).limit(1)
    return next(iter(read(session, Notice, newest)), None)
