"""Retention: the rules, and answers about records that were pruned by one.

Days count by the machine's clock, from the record's creation or end. Records without a rule are stored for ever: issued
quantiles, the ledgers of members, scores, observations, versions, the audit trail.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Literal

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.errors import NotFound
from hydrology.base.reasons import Reason
from records.database.stored import Record, add_all, find, read, stored, table_of
from runtime.settings import Settings

RuleName = Literal["what-if", "members", "states", "weather", "jobs", "deliveries", "questions", "checkpoints"]


class Gone(NotFound):
    """The record was stored, and was pruned by the rule that the message quotes."""

    status = 410
    remedy = "It is no longer stored: an administrator can lengthen the retention for future ones."


@stored("pruned", key=("rule", "id"))
class Pruned:
    """A pruned record that had an address of its own, with the rule and its number of days."""

    rule: str
    id: str
    at: datetime
    retention_days: int


PRUNED = table_of(Pruned)
RULES: Mapping[RuleName, str] = {
    "what-if": "What-if runs are stored for {days} days.",
    "members": "The results of a run's members are stored for {days} days, its quantiles and ledger sums for ever.",
    "states": "States are stored for {days} days, and the last of each month for ever.",
    "weather": "Weather forecasts are stored for {days} days.",
    "jobs": "Jobs are stored for {days} days after they have ended.",
    "deliveries": "Deliveries are stored for {days} days after they have ended.",
    "questions": "That an address was asked for its consent is stored for {days} days, its refusal for ever.",
    "checkpoints": "The checkpoints of an unfinished training are stored for {days} days.",
}
"""How long each kind of record is stored, in words."""


def days_of(rule: RuleName, settings: Settings) -> int:
    return int(getattr(settings, f"retain_{rule.replace('-', '_')}_days"))


def in_words(rule: RuleName, days: int) -> str:
    return RULES[rule].format(days=days)


def ids_pruned(rule: RuleName) -> Select[str]:
    """Select the ids of the records that a rule has pruned."""
    return select(PRUNED.c.id).where(PRUNED.c.rule == rule)


def note(session: Session, rule: RuleName, ids: Collection[str], at: datetime, days: int) -> None:
    """Record which records are pruned, to explain later why they are missing."""
    add_all(session, Pruned, [{"rule": rule, "id": id_, "at": at, "retention_days": days} for id_ in ids])


def get(
    session: Session, record: type[Record], rule: RuleName, id_: str, unknown: NotFound, *, for_update: bool = False
) -> Record:
    """Return a record that a rule may prune; raise Gone where it did, else that the record is unknown."""
    found = find(session, record, for_update=for_update, id=id_)
    if found is None:
        why = pruned(session, rule, [id_]).get(id_)
        raise unknown if why is None else Gone(f"{id_}: {why}")
    return found


def pruned(session: Session, rule: RuleName, ids: Collection[str]) -> dict[str, Absent]:
    """Return the rule and day of the pruning of each record. Those never pruned are left out."""
    rows = read(session, Pruned, select(PRUNED).where(PRUNED.c.rule == rule, PRUNED.c.id.in_(ids)))
    return {
        row.id: absent(Reason.PRUNED, rule=in_words(rule, row.retention_days), day=f"{row.at:%Y-%m-%d}") for row in rows
    }
