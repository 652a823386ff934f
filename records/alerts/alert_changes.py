"""The history of alerts, level by level, and changes in words. What a decision changes at a river is one message.

A river is a basin and a direction. One transaction stores the changes of a message and their deliveries. The gravest
heads it: feeds and CAP show it alone, with the levels of the river that have an alert.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, String, UniqueConstraint, select
from sqlalchemy.orm import Session

from hydrology.alerts import IMPACT, SEVERITIES, Severity, Trend, Turn, rank
from hydrology.base.calendar import Day
from hydrology.base.doc import Doc, Why
from hydrology.base.errors import NotFound
from hydrology.base.units import M_PER_FT
from hydrology.extremes.level_checks import LevelAdvice, gravity, level_title, percent
from hydrology.uncertainty.exceedance import Direction
from jobspec.levels import CategoryName
from records.alerts import subscriptions
from records.alerts.deliveries import Delivery
from records.basins import ownership, regions
from records.database.base import FreeText, JsonList
from records.database.checksums import new_id
from records.database.stored import add_all, as_record, as_values, find_or_raise, narrowed, read, stored, table_of

ChangeKind = Turn | Literal["level", "undecided", "decided", "promotion"]


class UnknownChange(NotFound):
    """No change of an alert with this id is stored."""


NO_ALERT = Why("There is no alert.")
NO_CATEGORY = Why("The level is not an official category.")
NO_IMPACT = Why("Nothing is stated.")
NO_TREND = Why("There was no run before to compare with.")
_OF_THE_BASIN = Why("It concerns all levels of the basin.")
_OF_PROMOTION = Why("The change comes from a promotion, not from a run.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChange:
    """A change to be stored: of a level, or of the whole basin, which has no fields of a level.

    Attributes:
        discharge, stage: m3/s and m.
        chance: exceedance probability of the level on any of the first `window_days` days after T0.
        levels: of the head of a message: `standing_levels` since then. None of others, of a change of the whole basin,
            and of changes from before levels were stored with them. advice: likewise, as `LevelAdvice`.
    """

    kind: Annotated[
        ChangeKind,
        Doc(
            "`begins`, `rises`, `falls`, `ends`: the severity of a level. `level`: somebody changed or removed a level "
            "with an alert. `undecided`, `decided`: the alerts of the basin can not, or again, be decided. "
            "`promotion`: its forecasts come from another model version; the river has not changed."
        ),
    ]
    at: Annotated[datetime, Doc("By the service's clock.")]
    basin_id: Annotated[str, ForeignKey("basins.id")]
    level: Annotated[str | None, _OF_THE_BASIN] = None
    direction: Annotated[Direction | None, _OF_THE_BASIN] = None
    discharge: Annotated[float | None, _OF_THE_BASIN] = None
    stage: Annotated[
        float | None,
        Doc("The official stage of a flood category, otherwise that of the discharge by the basin's rating."),
        Why("No rating of the basin covers its discharge."),
    ] = None
    category: Annotated[
        CategoryName | None, Doc("The official flood category; null for other levels."), NO_CATEGORY
    ] = None
    impact: Annotated[FreeText | None, Doc(IMPACT), NO_IMPACT] = None
    severity: Annotated[Severity | None, Doc("Now; of the whole basin, the highest."), NO_ALERT] = None
    severity_before: Annotated[Severity | None, Why("There was no alert.")] = None
    trend: Annotated[Trend | None, NO_TREND] = None
    chance: Annotated[float | None, _OF_THE_BASIN] = None
    chance_before: Annotated[
        float | None, Doc("By the run before."), Why("There was no run before that decided the level.")
    ] = None
    window_days: Annotated[int | None, Why("A promotion covers no days.")] = None
    run_id: Annotated[str | None, ForeignKey("runs.id"), Doc("The run that caused it."), _OF_PROMOTION] = None
    t0: Annotated[Day | None, _OF_PROMOTION] = None
    version_id: Annotated[str, ForeignKey("versions.id"), Doc("The model version that the forecasts come from.")]
    why: Annotated[str, Doc("The numbers and the rule, and what a forecaster contributed.")]
    decided_by: Annotated[
        FreeText | None,
        Doc("Who approved it or published the adjustment behind it."),
        Why("The service decided it alone."),
    ] = None
    adjustment_id: Annotated[
        str | None,
        ForeignKey("adjustments.id"),
        Doc("The published adjustment behind it."),
        Why("The forecast was not adjusted."),
    ] = None
    replayed: bool = False
    levels: JsonList | None = None
    advice: JsonList | None = None

    @property
    def stage_ft(self) -> float | None:
        return None if self.stage is None else round(self.stage / M_PER_FT, 3)


@stored(
    "alert_changes",
    # Prevents a run from recording the same change twice.
    Column("key", String, nullable=False),
    CheckConstraint("(kind = 'promotion') = (run_id IS NULL)", name="run"),
    UniqueConstraint("id"),
    UniqueConstraint("key"),
    Index(None, "basin_id", "seq"),
    key=("seq",),
    numbered=True,
)
class Change(NewChange):
    """A stored change. Receivers detect duplicates by `id`; `seq` grows with each change.

    Attributes:
        sender: the official one when it was stored; None without one, and for an unofficial basin.
        owner: the operator's key whose unofficial basin it was; message: the id of the head, None where it is not sent.
    """

    seq: int
    id: str
    message: str | None
    sender: str | None = None
    owner: str | None = None

    @property
    def is_official(self) -> bool:
        """Whether it is meant: neither an exercise nor of an unofficial basin."""
        return self.sender is not None and not self.replayed


CHANGES = table_of(Change)
_HEADS = CHANGES.c.message == CHANGES.c.id


def as_json(change: Change) -> dict[str, Any]:
    return {
        "event": change.id,
        "kind": change.kind,
        "at": change.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "basin": change.basin_id,
        "official": change.is_official,
        "level": change.level,
        "direction": change.direction,
        "discharge_m3s": change.discharge,
        "stage_ft": change.stage_ft,
        "category": change.category,
        "impact": change.impact,
        "severity": change.severity,
        "severity_before": change.severity_before,
        "trend": change.trend,
        "chance": change.chance,
        "chance_before": change.chance_before,
        "window_days": change.window_days,
        "run": change.run_id,
        "t0": None if change.t0 is None else str(change.t0),
        "version": change.version_id,
        "why": change.why,
        "decided_by": change.decided_by,
        "adjustment": change.adjustment_id,
        "message": change.message,
        "levels": change.levels,
        "advice": change.advice,
    }


def record_message(session: Session, new: Sequence[NewChange], at: datetime, *, sent: bool = True) -> list[Change]:
    """Store the changes of a message with their deliveries, and return them.

    Changes that the same run, or adjustment of it, has stored before are left out.

    Args:
        new: of one river, or one of a whole basin.
        at: the machine's time, at which the keys of subscriptions must be valid.
        sent: whether it goes to subscribers and into feeds.
    """
    by_key = {_key(change, identifier): (identifier, change) for change in new for identifier in [new_id(at)]}
    known = session.scalars(select(CHANGES.c.key).where(CHANGES.c.key.in_(by_key)))
    for key in known.all():
        del by_key[key]
    head, _ = max(by_key.values(), key=lambda one: _urgency(one[1]), default=("", None))
    return [
        _insert(
            session,
            change if identifier == head else replace(change, levels=None, advice=None),
            at,
            key=key,
            id=identifier,
            message=head if sent else None,
        )
        for key, (identifier, change) in by_key.items()
    ]


def _key(new: NewChange, identifier: str) -> str:
    named = (new.run_id, new.basin_id, new.level or "", new.kind, new.adjustment_id or "")
    return identifier if new.run_id is None else " ".join(map(str, named)).rstrip()


def _insert(session: Session, new: NewChange, at: datetime, *, key: str, **named: str | None) -> Change:
    owner = ownership.owner(session, new.basin_id)
    sender = session.info["sender"] if owner is None else None
    issuer = {"owner": owner, "sender": sender, "replayed": new.replayed or session.info["replayed"]}
    insert = CHANGES.insert().values(key=key, **as_values(new) | issuer | named)
    change = as_record(Change, session.execute(insert.returning(*CHANGES.c)).one())
    if change.message is not None:
        severity = None if new.level is None else max(new.severity, new.severity_before, key=rank)
        receivers = subscriptions.matching(session, new.basin_id, severity, at, owner)
        waiting = {"change_seq": change.seq, "status": "pending", "tries": 0}
        rows = [{"id": new_id(at), "subscription_id": one.id, "next_at": one.sent_from(at)} for one in receivers]
        add_all(session, Delivery, [waiting | row for row in rows])
    return change


def page(
    session: Session,
    *,
    basins: Sequence[str] | None = None,
    region: str | None = None,
    minimum: Severity = SEVERITIES[0],
    before: int | None = None,
    limit: int | None = None,
    in_feeds: bool = False,
) -> list[Change]:
    """Return changes, newest first; `before` is the last number of the previous page.

    Args:
        in_feeds: restrict to those that head a message, and not of basins that were unofficial.
        minimum: restrict to changes of alerts that reach or had reached it; those of a whole basin are included.
    """
    query = select(CHANGES).order_by(CHANGES.c.seq.desc()).limit(limit)
    of_basin = CHANGES.c.basin_id
    query = narrowed(query, (of_basin.in_, basins), (regions.holding(of_basin), region), (CHANGES.c.seq.__lt__, before))
    if minimum != SEVERITIES[0]:
        reached = SEVERITIES[rank(minimum) - 1 :]
        of_level = CHANGES.c.severity.in_(reached) | CHANGES.c.severity_before.in_(reached)
        query = query.where(CHANGES.c.level.is_(None) | of_level)
    if in_feeds:
        query = query.where(CHANGES.c.owner.is_(None), _HEADS)
    return read(session, Change, query)


def heads_of_runs(
    session: Session, of_runs: Sequence[str], basins: Sequence[str]
) -> dict[tuple[str, str, Direction], Change]:
    """Return the heads of the messages that runs caused at rivers, by run, basin and direction."""
    query = select(CHANGES).where(CHANGES.c.run_id.in_(of_runs), CHANGES.c.basin_id.in_(basins))
    query = query.where(CHANGES.c.level.is_not(None), _HEADS)
    found = read(session, Change, query.order_by(CHANGES.c.seq))
    return {(one.run_id, one.basin_id, one.direction): one for one in found if one.run_id and one.direction}


def worst_first(changes: Sequence[Change]) -> list[Change]:
    """Return changes by the severity that they reach or had reached, then as levels stand for a river."""
    return sorted(changes, key=_urgency, reverse=True)


def _urgency(change: NewChange) -> tuple[float, ...]:
    of_level = (change.chance or 0.0, change.discharge or 0.0, change.direction or "rising")
    severities = (rank(change.severity), rank(change.severity_before))
    return max(severities), *gravity(change.severity, *of_level)


def get_many(session: Session, numbers: Sequence[int]) -> dict[int, Change]:
    found = read(session, Change, select(CHANGES).where(CHANGES.c.seq.in_(numbers)))
    return {change.seq: change for change in found}


def get(session: Session, change: str) -> Change:
    unknown = UnknownChange(f"No change {change!r} is stored here: list the changes of a basin to see their ids.")
    return find_or_raise(session, Change, unknown, id=change)


def head_of(session: Session, change: str) -> Change:
    message = get(session, change).message
    if message is None:
        raise UnknownChange(f"Change {change} is of a level below the alert of its river, and no message has it.")
    return get(session, message)


def earlier_of_alert(session: Session, change: Change) -> list[Change]:
    """Return the heads of the earlier messages of the same alert, oldest first.

    A river's alert lasts as long as any of its levels has one. Changes without `levels` were sent as alerts of their
    own level, which the next message of the river goes on from.
    """
    if change.level is None:
        return []
    query = select(CHANGES).filter_by(basin_id=change.basin_id, direction=change.direction)
    if change.levels is None:
        query = query.filter_by(level=change.level)
    earlier: list[Change] = []
    ended: set[str | None] = set()
    for head in read(session, Change, query.where(_HEADS, CHANGES.c.seq < change.seq).order_by(CHANGES.c.seq.desc())):
        if head.levels == []:
            break
        if head.levels is None and head.severity is None:
            ended.add(head.level)
        if head.levels is not None or head.level not in ended:
            earlier.append(head)
    return earlier[::-1]


def first(session: Session) -> str | None:
    """Return the id of the oldest change: no other service has it, and it stays. None before there is one."""
    return session.scalar(select(CHANGES.c.id).order_by(CHANGES.c.seq).limit(1))


_OF_BASIN: Mapping[ChangeKind, str] = {
    "undecided": "Alerts cannot be decided",
    "decided": "Alerts are decided again",
    "promotion": "Another model version",
}


def headline(change: Change, name: str) -> str:
    """Return a change in a line: "Watch (was advisory): 5-year flood, Boise River near Twin Springs, chance 43 %"."""
    label = ("Exercise: " if change.replayed else "") + ("Unofficial: " if change.owner is not None else "")
    if change.level is None:
        return f"{label}{_OF_BASIN[change.kind]}: {name}"
    chance = "" if change.chance is None else f", chance {percent(change.chance)}"
    leading = change.levels[0] if change.levels else {"level": change.level}
    changed = leading["level"] == change.level
    now = "" if changed else f"; now {leading['severity']}: {level_title(leading['level'])}"
    return f"{label}{turn(change)}, {name}{chance}{now}"


def turn(change: Change) -> str:
    """Return what changed at a level, in a few words: "Watch (was advisory): 5-year flood"."""
    severity, before, level = change.severity, change.severity_before, level_title(change.level or "")
    if severity is None:
        return f"{str(before or 'alert').capitalize()} ended: {level}"
    if before is None or before == severity:
        return f"{severity.capitalize()}{', level changed' if change.kind == 'level' else ''}: {level}"
    return f"{severity.capitalize()} (was {before}): {level}"


def other_levels(change: Change) -> str:
    """Return the other levels of the river with an alert, in a sentence; empty where there are none."""
    named = ", ".join(
        f"{level_title(one['level'])} ({one['severity']}, {percent(one['chance'])})"
        for one in change.levels or ()
        if one["level"] != change.level
    )
    return f"Other levels with an alert: {named}." if named else ""


def advice_of(change: Change) -> list[LevelAdvice]:
    """Return what was stated of the likely and of the possible level of the river."""
    return [LevelAdvice(**one) for one in change.advice or ()]


def first_of(title: str, others: int) -> str:
    return f"{title} (and {others} more)" if others else title


def template_values(change: Change, name: str, link: str, others: int = 0) -> dict[str, str]:
    """Return the values of a message template's placeholders. They are empty where the change has none; `others` is the
    number of further messages by the same run."""
    return {
        "headline": first_of(headline(change, name), others),
        "why": change.why,
        "basin": change.basin_id,
        "name": name,
        "level": change.level or "",
        "kind": change.kind,
        "severity": change.severity or "none",
        "chance": "" if change.chance is None else f"{change.chance:.3g}",
        "discharge": "" if change.discharge is None else f"{change.discharge:.6g}",
        "at": change.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "event": change.id,
        "link": link,
    }
