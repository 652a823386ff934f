"""Deletes data that exceed their retention, in small transactions. An interrupted run leaves completed ones done."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog

from hydrology.base.calendar import day
from records.access import audit
from records.alerts import deliveries
from records.database import retention, storage_sizes
from records.database.retention import RULES, RuleName
from records.database.work import Work
from records.jobs import jobs
from records.runs import states
from records.upkeep import prune_runs, storage
from records.versions import trainings
from records.weather import weather_issues

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RuleActions:
    """Finds and deletes the data of a retention rule.

    `outdated` returns the ids that were created, or had ended, before an instant (only of the given ones, if any), with
    the number of items of each; `remove` deletes some and returns the ids of all that had an address.
    """

    outdated: Callable[..., Mapping[Any, int]]
    remove: Callable[..., list[str]]
    together: int


ACTIONS: Mapping[RuleName, RuleActions] = {
    "what-if": RuleActions(prune_runs.outdated_what_ifs, prune_runs.remove_what_ifs, 10),
    "members": RuleActions(prune_runs.outdated_members, prune_runs.remove_members, 1),
    "states": RuleActions(states.outdated, states.remove, 2000),
    "jobs": RuleActions(jobs.outdated, jobs.remove, 200),
    "deliveries": RuleActions(deliveries.outdated, deliveries.remove, 200),
    "questions": RuleActions(deliveries.outdated_questions, deliveries.remove_questions, 200),
    "weather": RuleActions(weather_issues.outdated, weather_issues.remove, 5),
    "checkpoints": RuleActions(trainings.outdated, trainings.remove, 1),
}


@dataclass(frozen=True, slots=True)
class Pruned:
    """The result of applying a retention rule: the number of items past their retention."""

    rule: RuleName
    sentence: str
    count: int


def prune(work: Work, actor: audit.Actor, *, dry_run: bool = False) -> list[Pruned]:
    """Delete data past their retention, add an entry to the audit trail, and measure the room that is taken.

    Repeating it deletes nothing.
    """
    pruned = []
    for rule in RULES:
        stored, days = ACTIONS[rule], retention.days_of(rule, work.settings)
        before = work.clock.wall() - timedelta(days=days)
        with work.database.reading() as session:
            outdated = stored.outdated(session, before)
        done, total = 0, sum(outdated.values())
        try:
            for ids in [] if dry_run else _batches(outdated, stored.together):
                with work.database.transaction() as session:
                    still = stored.outdated(session, before, ids)  # it may have changed meanwhile
                    retention.note(session, rule, stored.remove(session, [*still]), work.clock.wall(), days)
                done += sum(still.values())
                work.show(done, total, rule)
        finally:  # what is gone is in the audit trail, though its report ended the rest
            if done:
                with work.database.transaction() as session:
                    audit.record(session, actor, "store pruned", rule, work.clock.wall(), count=done, days=days)
                log.info("prune.done", rule=rule, count=done, days=days)
        pruned.append(Pruned(rule, retention.in_words(rule, days), total if dry_run else done))
    if not dry_run:
        with work.database.transaction() as session:
            storage_sizes.note(session, day(work.clock.wall().date()), storage.bytes_by_kind(session))
    return pruned


def _batches(ids: Collection[Any], together: int) -> Iterator[list[Any]]:
    every = list(ids)
    for first in range(0, len(every), together):
        yield every[first : first + together]
