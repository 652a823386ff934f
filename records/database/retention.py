"""Retention: the rules, and answers about records that were pruned by one.

Days count by the machine's clock, from the record's creation or end. Records without a rule are stored for ever: issued
quantiles, the ledgers of members, scores, observations, versions, the audit trail.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.errors import NotFound
from hydrology.base.reasons import Reason
from records.database.statements import add_all
from records.database.tables import PrunedRow
from runtime.settings import Settings

RuleName = Literal["what-if", "members", "states", "weather", "jobs", "deliveries", "checkpoints"]


class Gone(NotFound):
    """The record was stored, and was pruned by the rule that the message quotes."""

    kind = "gone"
    status = 410
    remedy = "It is no longer stored: an administrator can lengthen the retention for future ones."


@dataclass(frozen=True, slots=True)
class Rule:
    """How long a kind of record is stored.

    Attributes:
        setting: the field of `Settings` with the number of days.
        sentence: the rule in words, with `{days}`.
    """

    setting: str
    sentence: str

    def days(self, settings: Settings) -> int:
        """Return the number of days that the settings give."""
        days: int = getattr(settings, self.setting)
        return days

    def in_words(self, days: int) -> str:
        """Return the rule as a sentence."""
        return self.sentence.format(days=days)


RULES: Mapping[RuleName, Rule] = {
    "what-if": Rule("retain_what_if_days", "What-if runs are stored for {days} days."),
    "members": Rule(
        "retain_members_days",
        "The results of a run's members are stored for {days} days, its quantiles and ledger sums for ever.",
    ),
    "states": Rule("retain_states_days", "States are stored for {days} days, and the last of each month for ever."),
    "weather": Rule("retain_weather_days", "Weather forecasts are stored for {days} days."),
    "jobs": Rule("retain_jobs_days", "Jobs are stored for {days} days after they have ended."),
    "deliveries": Rule("retain_deliveries_days", "Deliveries are stored for {days} days after they have ended."),
    "checkpoints": Rule(
        "retain_checkpoints_days", "The checkpoints of an unfinished training are stored for {days} days."
    ),
}


def before(now: datetime, days: int) -> datetime:
    """Return the instant before which a record with this retention is outdated."""
    return now - timedelta(days=days)


def note(session: Session, rule: RuleName, ids: Collection[str], at: datetime, days: int) -> None:
    """Record which records are pruned, to explain later why they are missing."""
    add_all(session, PrunedRow, [{"rule": rule, "id": id_, "at": at, "retention_days": days} for id_ in ids])


def pruned_row(session: Session, rule: RuleName, id_: str) -> Gone | None:
    """Return the answer for a record that was pruned. None if it never was."""
    result = pruned(session, rule, [id_]).get(id_)
    return None if result is None else Gone(f"{id_}: {result}")


def pruned(session: Session, rule: RuleName, ids: Collection[str]) -> dict[str, Absent]:
    """Return the rule and day of the pruning of each record. Those never pruned are left out."""
    rows = session.scalars(select(PrunedRow).where(PrunedRow.rule == rule, PrunedRow.id.in_(ids)))
    return {
        row.id: absent(Reason.PRUNED, rule=RULES[rule].in_words(row.retention_days), day=f"{row.at:%Y-%m-%d}")
        for row in rows
    }
