"""The commands that maintain the database: `migrate`, `backup`, `restore`, `check`, `prune`."""

from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.context import MayCreateDatabase, opened
from freshet.cli.options import argument, flag, option
from freshet.cli.output import Json, answer, reporting, table
from freshet.commands.doctor import NOT_WELL
from hydrology.base.errors import counted
from operations.upkeep import prune as pruning
from records.access import audit
from records.database.connections import DatabaseProblem
from records.database.engine import HEAD, Database
from records.database.stored import as_values
from records.upkeep.backup import make
from records.upkeep.backup import restore as fill
from records.upkeep.integrity import check as check_records
from runtime.settings import Settings


def migrate(
    to: Annotated[
        str, option("REVISION", "An older revision, for an older Freshet: data that its tables cannot hold is deleted.")
    ] = HEAD,
    as_json: Json = False,
) -> None:
    """Migrate the tables to this code's revision, as every writing command does first, or to an older one.

    Stop the service that uses them, and back up first: an older Freshet does not work on newer tables. To go back to
    it, migrate the tables with the newer one to the older one's revision, which the older one's `freshet doctor`
    reports.
    """
    if to == HEAD:
        with opened(begins=MayCreateDatabase.WHERE_EXPECTED) as context:
            revision = context.database.check().revision
    else:
        revision = _step(to)
    answer({"revision": revision}, as_json, f"The tables are at revision {revision}.")


def _step(to: str) -> str | None:
    with closing(Database(Settings.load().database_url)) as database:
        if missing := database.missing:
            raise DatabaseProblem(missing)
        database.migrate(to)
        return database.check().revision


def backup(
    file: Annotated[Path, argument("FILE", "File to write; it must not exist yet.")],
    after: Annotated[
        Path | None,
        option("FILE", "An earlier backup of this PostgreSQL database: only what has changed since is read."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write all stored data, weights and states included, into one file, while the service runs.

    With `--after`, rows of days that have not changed since an earlier backup are not read again: FILE holds the
    others, and is restored with the earlier one beside it, and with those that this one follows.
    """
    with opened(reads=True) as context, reporting() as reporter:
        show = partial(reporter.show, "rows")
        manifest = make(context.settings, context.database, context.clock, file, show, after)
    payload = {"file": str(file), "bytes": file.stat().st_size, **as_values(manifest, "slices")}
    words = f"{file}: {counted(manifest.row_count, 'row')}."
    if manifest.earlier:
        others = ", ".join(manifest.earlier)
        words += f" {manifest.read_count} of them are in it, the others in {others}: store that beside it."
    answer(payload, as_json, words)


def restore(
    file: Annotated[Path, argument("FILE", "What `freshet backup` wrote, here or elsewhere.")],
    send_alerts: Annotated[
        bool, flag("--send-alerts", "It takes the place of a service that has ended: send alerts as that one did.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Fill an empty database, on SQLite or PostgreSQL, from a backup; start the service afterwards.

    Its subscriptions are paused, so that a copy beside the live service sends nothing: resume each of them, or restore
    with `--send-alerts`.
    """
    with opened(begins=MayCreateDatabase.ANYWHERE) as context, reporting() as reporter:
        show = partial(reporter.show, "rows")
        manifest = fill(context.settings, context.database, file, show, sends_alerts=send_alerts)
    words = (
        f"{context.database.shown}: {counted(manifest.row_count, 'row as it was', 'rows as they were')} at "
        f"{manifest.created_at:%Y-%m-%d %H:%M} UTC."
    )
    if not send_alerts:
        words += " Subscriptions are paused: resume them, or restore with --send-alerts."
    answer({"file": str(file), **as_values(manifest, "slices")}, as_json, words)


def check(
    only_changed: Annotated[
        bool,
        flag("--only-changed", "On PostgreSQL, leave out rows that an earlier check found whole, if unchanged since."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check all database pages, references and row checksums, while the service runs.

    The exit code is 5 if something is damaged; each damage is reported with its remedy. On PostgreSQL a check stores
    which rows it has found whole as it goes, so that the next one can go on from there. `freshet doctor` is quicker
    and checks pages only.
    """
    with opened(reads=True) as context, reporting() as reporter:
        show, now = partial(reporter.show, "rows"), context.clock.wall()
        done = check_records(context.database, now, show, only_changed=only_changed)
    checked = f"{counted(done.row_count, 'row')} checked, {len(done.sentences) or 'no'} faults."
    text = "\n".join([*(one.sentence for one in done.unchanged), *done.sentences, checked])
    payload = {
        "rows": done.row_count,
        "unchanged": [asdict(one) for one in done.unchanged],
        "faults": list(done.faults),
        "damages": [{"table": of.table, "key": of.key, "detail": of.sentence} for of in done.damages],
    }
    answer(payload, as_json, text)
    if done.sentences:
        raise typer.Exit(NOT_WELL)


def prune(
    dry_run: Annotated[bool, flag("--dry-run", "Only count what would be deleted.")] = False,
    as_json: Json = False,
) -> None:
    """Delete data older than its retention period, while the service runs.

    Retention periods are settings: FRESHET_RETAIN_JOBS_DAYS and others. After an interruption, the next start continues
    from there. A schedule does it daily: freshet schedules add prune --kind prune --cron '40 3 * * *'.
    """
    with opened(reads=dry_run) as context, reporting() as reporter:
        work = replace(context, progress=lambda done, total, rule: reporter.show(rule, done, total))
        done = pruning.prune(work, audit.command_line(), dry_run=dry_run)
    rows = [(of_rule.rule, of_rule.count, of_rule.sentence) for of_rule in done]
    title = "Would be deleted:" if dry_run else "Deleted:"
    payload = {"dry_run": dry_run, "pruned": [asdict(of_rule) for of_rule in done]}
    answer(payload, as_json, table(("what", "count", "rule"), rows, title))
