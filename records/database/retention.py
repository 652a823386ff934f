"""How long things are kept: the rules, and what is told of a thing that was pruned by one.

Days count by the machine's clock, from when a thing was made or had ended. What no rule names is kept for ever: issued
quantiles, the ledgers of members, scores, observations, versions, the audit trail.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.errors import NotFound
from records.database.statements import add_all
from records.database.tables import PrunedRow
from runtime.settings import Settings

RuleName = Literal["what-if", "members", "states", "weather", "jobs", "deliveries", "checkpoints"]


class Gone(NotFound):
    """It was kept, and was pruned by the rule that the sentence tells."""

    kind = "gone"
    status = 410
    remedy = "It is not kept any more: let an administrator lengthen the rule of retention for those to come."


@dataclass(frozen=True, slots=True)
class Rule:
    """How long something is kept.

    Attributes:
        setting: the field of `Settings` that has the days.
        sentence: what is kept for how many `{days}`.
    """

    setting: str
    sentence: str

    def days(self, settings: Settings) -> int:
        """Return for how many days the settings keep it."""
        days: int = getattr(settings, self.setting)
        return days

    def in_words(self, days: int) -> str:
        """Return the rule as a sentence."""
        return self.sentence.format(days=days)


RULES: Mapping[RuleName, Rule] = {
    "what-if": Rule("retain_what_if_days", "What-if runs are kept for {days} days."),
    "members": Rule(
        "retain_members_days",
        "What the members of a run computed is kept for {days} days, its quantiles and the sums of its ledgers for "
        "ever.",
    ),
    "states": Rule("retain_states_days", "States are kept for {days} days, and the last of each month for ever."),
    "weather": Rule("retain_weather_days", "Weather forecasts are kept for {days} days."),
    "jobs": Rule("retain_jobs_days", "Jobs are kept for {days} days after they have ended."),
    "deliveries": Rule("retain_deliveries_days", "Deliveries are kept for {days} days after they have ended."),
    "checkpoints": Rule(
        "retain_checkpoints_days", "The checkpoints of a training that is not finished are kept for {days} days."
    ),
}


def before(now: datetime, days: int) -> datetime:
    """Return the instant before which something that is kept for so many days is outdated."""
    return now - timedelta(days=days)


def note(session: Session, rule: RuleName, ids: Collection[str], at: datetime, days: int) -> None:
    """Note what is pruned, so that whoever has its address is told."""
    add_all(session, PrunedRow, [{"rule": rule, "id": id_, "at": at, "retention_days": days} for id_ in ids])


def pruned_row(session: Session, rule: RuleName, id_: str) -> Gone | None:
    """Return what to answer of something that was pruned; None where it never was."""
    result = pruned(session, rule, [id_]).get(id_)
    return None if result is None else Gone(f"{id_}: {result}")


def pruned(session: Session, rule: RuleName, ids: Collection[str]) -> dict[str, str]:
    """Return when each of some things was pruned and what the rule said then; one that never was is not there."""
    rows = session.scalars(select(PrunedRow).where(PrunedRow.rule == rule, PrunedRow.id.in_(ids)))
    return {row.id: f"{RULES[rule].in_words(row.retention_days)} It was pruned on {row.at:%Y-%m-%d}." for row in rows}
