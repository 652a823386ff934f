"""Builds the answers about runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.forecasts.header import weather_used
from app.forecasts.runs.schemas import BasinOfRun, RunDetail, RunSummary
from app.forecasts.what_if import what_if
from hydrology.base.absent import text
from hydrology.base.calendar import Day, as_date
from records.basins import basins
from records.runs import runs
from records.versions import versions


@dataclass(frozen=True, slots=True)
class RunFilters:
    """Filters of the list of runs; None: no filter."""

    basin: str | None
    version: str | None
    purpose: runs.Purpose | None
    t0_from: Day | None
    t0_to: Day | None
    issued_after: datetime | None


def page(
    session: Session, filters: RunFilters, *, at: datetime, after: str | None, limit: int
) -> tuple[list[RunSummary], bool]:
    """Return a page of runs available at an instant, and whether more follow.

    Raises:
        UnknownBasin, UnknownVersion: a named basin or version is not stored.
    """
    if filters.basin is not None:
        basins.require(session, filters.basin)
    if filters.version is not None:
        versions.get(session, filters.version)
    page_and_next = runs.list_runs(
        session,
        basin=filters.basin,
        version=filters.version,
        purpose=filters.purpose,
        t0_from=filters.t0_from,
        t0_to=filters.t0_to,
        issued_after=filters.issued_after,
        available_by=at,
        after=after,
        limit=limit + 1,
    )
    return [RunSummary(**_common_fields(run)) for run in page_and_next[:limit]], len(page_and_next) > limit


def detail(session: Session, run: str) -> RunDetail:
    """Return a run with its outcome in each basin.

    Raises:
        UnknownRun: there is none of that id.
    """
    stored = runs.get(session, run)
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
                basin_kind=kind_of(outcome.basin_id),
                status=outcome.status,
                reason=text(outcome.reason),
                seen_in_training=outcome.summary.seen_in_training,
                attributes_assumed=_listed(outcome.summary.attributes_assumed),
            )
            for outcome in runs.basins_of(session, run)
        ],
    )


def _listed(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)


def _common_fields(run: runs.Run) -> dict[str, Any]:
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
