"""`freshet ingest`: data into the records."""

from collections import Counter
from dataclasses import asdict
from typing import Annotated

import typer

from freshet.cli.context import opened
from freshet.cli.output import PARTLY_DONE, Json, answer, say, table
from freshet.cli.progress import reporting
from hydrology.basins import basin_id
from hydrology.errors import DataProblem
from ingestion.sources.camels import CamelsSource
from operations.download import local
from operations.ingest import Outcome
from operations.ingest import ingest as run

MOST_ROWS = 40

app = typer.Typer(help="Bring data into the records.", no_args_is_help=True)

From = Annotated[
    list[str],
    typer.Option(
        "--from",
        metavar="SOURCE",
        help="A folder, a published zip, or the URL of one (#sha256=... checks what comes). Repeat it for more.",
    ),
]


@app.callback()
def ingest() -> None:
    """Bring data into the records."""


@app.command("camels")
def camels(
    source: From,
    basin: Annotated[
        list[str] | None, typer.Option("--basin", metavar="BASIN", help="Only this basin; repeat it for more.")
    ] = None,
    product: Annotated[
        str | None, typer.Option(metavar="PRODUCT", help="Forcing product of files whose folder does not name one.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Ingest CAMELS-US text: forcing, streamflow, attributes, reference snow, model output.

    The same again stores nothing. A basin whose files are broken is left as it was, and the others go on.
    """
    with opened() as context, reporting() as reporter:
        folder = context.settings.data / "downloads"
        paths = [
            local(text, folder, lambda got, size: reporter.show("download", got, size or got, "bytes"))
            for text in source
        ]
        held = CamelsSource(paths, product)

        def show(outcome: Outcome, done: int, total: int) -> None:
            reporter.show("basins", done, total, f"{outcome.basin} {outcome.status}")

        outcomes = run(context.database, held, context.clock, [basin_id(text) for text in basin or []], show)
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    for outcome in failed:
        say(f"Failed: {outcome.basin}: {outcome.error}")
    counts = Counter(outcome.status for outcome in outcomes)
    columns = ("basin", "status", "new days", "changed days", "warnings")
    rows = [(o.basin, o.status, o.new_days, o.changed_days, len(o.warnings)) for o in outcomes]
    title = f"{len(outcomes)} basins: " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    payload = {"counts": dict(counts), "basins": [asdict(outcome) for outcome in outcomes]}
    if len(rows) > MOST_ROWS:
        title += f"; the first {MOST_ROWS} of them (--json tells all)"
    answer(payload, as_json, table(columns, rows[:MOST_ROWS], title))
    if failed:
        raise typer.Exit(PARTLY_DONE if len(failed) < len(outcomes) else DataProblem.exit_code)
