"""Messages to operators about the issue of a day and about alarms of the service, and their deliveries."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import UniqueConstraint, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from records.alerts.deliveries import Delivery
from records.database.base import JsonObject
from records.database.checksums import new_id
from records.database.stored import add_all, as_values, find, insert_into, read, stored, table_of


@stored("issue_notices", UniqueConstraint("alarm", "day", "causes"))
class Notice:
    """A message about the issue of a day, or about an alarm.

    Attributes:
        causes: why it is not complete, in order, separated by commas; empty where it is, and where an alarm ends.
        alarm: what is wrong, in words; empty of the issue of a day.
        at: by the service's clock.
    """

    id: str
    day: Day
    causes: str
    at: datetime
    why: str
    alarm: str = ""

    @property
    def kind(self) -> str:
        if self.alarm:
            return "begins" if self.causes else "ends"
        return "incomplete" if self.causes else "complete"

    @property
    def type(self) -> str:
        return f"{'alarm' if self.alarm else 'issue'}.{self.kind}"

    @property
    def headline(self) -> str:
        if self.alarm:
            return f"{'Alarm' if self.causes else 'Over'}: {self.alarm}"
        return f"The issue of {self.day} is {'not ' if self.causes else ''}complete"

    @property
    def page(self) -> str:
        """The path of the page about it."""
        return "status" if self.alarm else f"issues?day={self.day}"


NOTICES = table_of(Notice)


def as_json(notice: Notice) -> JsonObject:
    causes = notice.causes.split(",") if notice.causes else []
    content = {"event": notice.id, "day": str(notice.day), "kind": notice.kind, "why": notice.why, "causes": causes}
    return content | ({"alarm": notice.alarm} if notice.alarm else {})


def store(session: Session, notice: Notice, receivers: Sequence[str], at: datetime) -> bool:
    """Store a notice, and its deliveries to subscriptions: of an issue where it has a new cause or none at all.

    Return False if another process has stored it.
    """
    before, insert = last(session), insert_into(session, Notice).values(as_values(notice))
    new = insert.on_conflict_do_nothing(index_elements=["alarm", "day", "causes"]).returning(NOTICES.c.id)
    if session.execute(new).one_or_none() is None:
        return False
    known = {*before.causes.split(",")} if before else set()
    if notice.alarm or not notice.causes or not known.issuperset(notice.causes.split(",")):
        waiting = {"notice_id": notice.id, "status": "pending", "tries": 0}
        add_all(session, Delivery, [waiting | {"id": new_id(at), "subscription_id": one} for one in receivers])
    return True


def is_stored(session: Session, of_day: Day, causes: str, alarm: str = "") -> bool:
    return find(session, Notice, alarm=alarm, day=of_day, causes=causes) is not None


def get_many(session: Session, ids: Collection[str]) -> dict[str, Notice]:
    return {one.id: one for one in read(session, Notice, select(NOTICES).where(NOTICES.c.id.in_(ids)))}


def last(session: Session) -> Notice | None:
    """Return the newest notice about an issue."""
    newest = select(NOTICES).filter_by(alarm="").order_by(NOTICES.c.at.desc(), NOTICES.c.id.desc()).limit(1)
    return next(iter(read(session, Notice, newest)), None)


def standing_alarms(session: Session) -> dict[str, Notice]:
    """Return the alarms that have not ended, by name."""
    of_alarms = select(NOTICES).where(NOTICES.c.alarm != "").order_by(NOTICES.c.at, NOTICES.c.id)
    newest = {one.alarm: one for one in read(session, Notice, of_alarms)}
    return {name: one for name, one in newest.items() if one.causes}
