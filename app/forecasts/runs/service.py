"""Builds the answers about runs."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from app.basins.schemas import named_kind
from app.forecasts.header import weather_used
from app.forecasts.runs.schemas import BasinOfRun, RunDetail, RunSummary
from app.forecasts.what_if import what_if
from hydrology.base.absent import text
from hydrology.base.calendar import as_date
from records.basins import ownership
from records.runs import run_types, runs
from records.versions import versions


def summaries(stored: Sequence[run_types.Run]) -> list[RunSummary]:
    """Return runs as in a list."""
    return [RunSummary(**_common_fields(run)) for run in stored]


def detail(session: Session, run: str) -> RunDetail:
    """Return a run with its outcome in each basin.

    Raises:
        UnknownRun: there is none of that id.
    """
    stored, of_basins = runs.get(session, run), runs.basins_of(session, run)
    owners = ownership.owners(session, [outcome.basin_id for outcome in of_basins])
    return RunDetail(
        **_common_fields(stored),
        forcing_cutoff=None if stored.forcing_cutoff is None else as_date(stored.forcing_cutoff),
        weights_hash=stored.weights_hash,
        code_version=stored.code_version,
        program=stored.program,
        trained_on=versions.get(session, stored.version_id).trained_on,
        basins=[
            BasinOfRun(
                basin=outcome.basin_id,
                basin_kind=named_kind(outcome.basin_id, official=outcome.basin_id not in owners),
                status=outcome.status,
                reason=text(outcome.reason),
                seen_in_training=outcome.summary.seen_in_training,
                attributes_assumed=_listed(outcome.summary.attributes_assumed),
            )
            for outcome in of_basins
        ],
    )


def _listed(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)


def _common_fields(run: run_types.Run) -> dict[str, Any]:
    times = ("t0_age_days", "t0_note", "issued_at", "available_at", "created_at")
    names = ("id", "purpose", "status", "horizon_days", "product", "forcing_kind")
    return {name: getattr(run, name) for name in (*names, *times)} | {
        "reason": text(run.reason),
        "version": run.version_id,
        "official": run.owner is None,
        "what_if": what_if(run),
        "t0": as_date(run.t0),
        "weather": weather_used(run),
        "members": len(run.members),
    }
