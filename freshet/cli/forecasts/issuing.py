"""What the commands share that issue runs: options, the basins that are named, and the audit trail."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.context import Context
from freshet.cli.text_files import listed
from hydrology.weather.forcing_kinds import ForcingKind
from jobspec.jobs.forecasting import AheadParams
from operations.basin_data.basins import chosen
from records.runs.runs import Run

_FIELDS = AheadParams.model_fields
HORIZON: int = _FIELDS["horizon"].default
"""Days after T0 by default."""

T0 = Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="Last day that the states consume.")]
Horizon = Annotated[int, typer.Option(metavar="DAYS", help=_FIELDS["horizon"].description)]
Version = Annotated[
    str | None, typer.Option(metavar="VERSION", help="A model version. Default: the current one of each basin.")
]
Weather = Annotated[ForcingKind, typer.Option(metavar="KIND", help=_FIELDS["weather"].description)]
WeatherId = Annotated[str | None, typer.Option(metavar="ID", help=_FIELDS["weather_id"].description)]


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
