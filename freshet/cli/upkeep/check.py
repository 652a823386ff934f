"""`freshet check`: verify the integrity of the stored data."""

from functools import partial
from typing import Any

import typer

from freshet.cli.context import opened
from freshet.cli.output import Json, answer
from freshet.cli.progress import reporting
from freshet.cli.upkeep.doctor import NOT_WELL
from hydrology.base.errors import counted
from records.upkeep.integrity import Soundness
from records.upkeep.integrity import check as run


def check(as_json: Json = False) -> None:
    """Check all database pages, references and row checksums, while the service runs.

    The exit code is 5 if something is damaged; each damage is reported with its remedy. `freshet doctor` is quicker and
    checks pages only.
    """
    with opened(reads=True) as context, reporting() as reporter:
        done = run(context.database, partial(reporter.show, "rows"))
    text = "\n".join(
        [*done.sentences, f"{counted(done.row_count, 'row')} checked, {len(done.sentences) or 'no'} faults."]
    )
    answer(_payload(done), as_json, text)
    if done.sentences:
        raise typer.Exit(NOT_WELL)


def _payload(done: Soundness) -> dict[str, Any]:
    damages = [{"table": damage.table, "key": damage.key, "detail": damage.sentence} for damage in done.damages]
    return {"rows": done.row_count, "faults": list(done.faults), "damages": damages}
