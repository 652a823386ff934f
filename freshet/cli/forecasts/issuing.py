"""What the commands share that issue runs: the basins that are named, and the audit trail."""

from collections.abc import Iterable
from pathlib import Path

from freshet.cli.basin_options import listed
from freshet.cli.context import Context
from operations.data.basins import chosen
from records.runs.runs import Run


def named_basins(context: Context, basin: list[str] | None, basins_file: Path | None) -> list[str]:
    """Return the basins named by options; empty for all that have a model."""
    names = [*(basin or []), *listed(basins_file)]
    with context.database.reading() as session:
        return chosen(session, names) if names else []


def record_issued(context: Context, issued: Iterable[Run]) -> None:
    """Write issued runs to the audit trail."""
    for run in issued:
        facts = {"version": run.version_id, "t0": str(run.t0), "status": run.status}
        context.record("forecast issued", run.id, **facts)
