"""`freshet verify`: verify issued forecasts against observations."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshet.cli.context import opened
from freshet.cli.output import PARTLY_DONE, Json, answer, inform, inform_left_out, table
from freshet.cli.progress import reporting
from freshet.cli.versions import verified
from jobspec.jobs.judging import VerificationParams
from records.verification import lead_scores
from records.verification.lead_scores import PooledVerification

if TYPE_CHECKING:
    from operations.verification.verify_issued import Verified


def verify(
    version: Annotated[
        str | None,
        typer.Option(metavar="VERSION", help=VerificationParams.model_fields["version"].description),
    ] = None,
    as_json: Json = False,
) -> None:
    """Verify issued forecasts against later observations, and report forecast skill by lead time.

    Flow is used once it is 30 days old, because first reports are revised. Each kind of weather after T0 is reported
    separately. Run again on the same data, it changes nothing.
    """
    with opened() as context:
        from operations.verification.verify_issued import verify as run

        with reporting() as reporter:
            done = run(context.database, context.clock, version, partial(reporter.show, "basins"))
        for of in done:
            context.record("forecasts verified", of.version_id, basins=len(of.basins), changed=len(of.changed))
        with context.database.reading() as session:
            figures = [row for of in done for row in lead_scores.pooled(session, of.version_id, origin="issued")]
    left_out = [reason for of in done for reason in of.left_out.values()]
    inform_left_out(left_out)
    for note in verified.notes(figures):
        inform(note)
    answer({"versions": [_payload(of, figures) for of in done]}, as_json, _table(figures))
    if left_out:
        raise typer.Exit(PARTLY_DONE)


def _payload(done: "Verified", figures: Sequence[PooledVerification]) -> dict[str, Any]:
    return {
        "version": done.version_id,
        "basins": list(done.basins),
        "changed": list(done.changed),
        "left_out": done.left_out,
        "verification": [
            {"weather": of_lead.weather, "period": str(of_lead.period), **verified.payload(of_lead)}
            for of_lead in figures
            if of_lead.version_id == done.version_id
        ],
    }


def _table(figures: Sequence[PooledVerification]) -> Any:
    rows = [
        (of_lead.version_id, of_lead.weather, of_lead.period.first, of_lead.period.last, *verified.row(of_lead))
        for of_lead in figures
    ]
    return table(
        ("version", "weather", "first day", "last day", *verified.COLUMNS),
        rows,
        "Forecasts that were issued. Medians over basins:",
    )
