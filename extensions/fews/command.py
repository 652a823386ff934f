"""`freshet fews`: run as a model of Delft-FEWS."""

from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.context import opened
from freshet.cli.output import PARTLY_DONE, Json, answer, inform


def fews(
    run_file: Annotated[Path, typer.Argument(metavar="RUNFILE", help="The run file that Delft-FEWS has written.")],
    as_json: Json = False,
) -> None:
    """Compute a run of the General Adapter of Delft-FEWS: forcing and state in, flow, state and diagnostics out."""
    from extensions.fews.adapter import prepared, run

    with prepared(run_file) as (asked, diagnostics), opened() as context:
        done = run(context.database, asked, diagnostics)
    for location, reason in done.failures.items():
        inform(f"Left out: {location}: {reason}")
    payload = {
        "version": done.version,
        "period": str(done.days.period),
        "t0": str(done.days.t0),
        "members": done.members,
        "locations": done.locations,
        "failures": done.failures,
        "written": [str(path) for path in done.written],
        "diagnostics": str(asked.diagnostics),
    }
    answer(
        payload, as_json, f"{len(done.locations)} locations from {done.days.period.first} to {done.days.period.last}."
    )
    if done.failures:
        raise typer.Exit(PARTLY_DONE)
