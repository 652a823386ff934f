"""`freshet prune`: delete data older than its retention period."""

from dataclasses import asdict, replace
from typing import Annotated

import typer

from freshet.cli.context import opened
from freshet.cli.output import Json, answer, table
from freshet.cli.progress import reporting
from records.access import audit


def prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be deleted.")] = False,
    as_json: Json = False,
) -> None:
    """Delete data older than its retention period, while the service runs.

    Retention periods are settings: FRESHET_RETAIN_JOBS_DAYS and others. After an interruption, the next start continues
    from there. A schedule does it daily: freshet schedules add prune --kind prune --cron '40 3 * * *'.
    """
    with opened(reads=dry_run) as context:
        from operations.upkeep.prune import prune as run

        with reporting() as reporter:
            work = replace(context, progress=lambda done, total, rule: reporter.show(rule, done, total))
            done = run(work, audit.command_line(), dry_run=dry_run)
    rows = [(of_rule.rule, of_rule.count, of_rule.sentence) for of_rule in done]
    title = "Would be deleted:" if dry_run else "Deleted:"
    payload = {"dry_run": dry_run, "pruned": [asdict(of_rule) for of_rule in done]}
    answer(payload, as_json, table(("what", "count", "rule"), rows, title))
