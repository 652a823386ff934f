"""Runs from the records to their answers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.runs.schemas import BasinOfRun, RunDetail, RunSummary
from hydrology.calendar import Day, as_date
from records import basins, runs, versions


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which runs are asked for; None leaves it open."""

    basin: str | None
    version: str | None
    purpose: runs.Purpose | None
    t0_from: Day | None
    t0_to: Day | None
    issued_after: datetime | None


def page(
    session: Session, wanted: Wanted, *, at: datetime, after: str | None, limit: int
) -> tuple[list[RunSummary], bool]:
    """Return a page of the runs that are available at an instant, and whether there are more after it.

    Raises:
        UnknownBasin, UnknownVersion: one that is named is not kept.
    """
    if wanted.basin is not None:
        basins.require(session, wanted.basin)
    if wanted.version is not None:
        versions.get(session, wanted.version)
    found = runs.list_runs(
        session,
        basin=wanted.basin,
        version=wanted.version,
        purpose=wanted.purpose,
        t0_from=wanted.t0_from,
        t0_to=wanted.t0_to,
        issued_after=wanted.issued_after,
        available_by=at,
        after=after,
        limit=limit + 1,
    )
    return [RunSummary(**_said(run)) for run in found[:limit]], len(found) > limit


def detail(session: Session, run: str) -> RunDetail:
    """Return a run with what came of it in each basin.

    Raises:
        UnknownRun: there is none of that id.
    """
    kept = runs.get(session, run)
    return RunDetail(
        **_said(kept),
        forcing_cutoff=None if kept.forcing_cutoff is None else as_date(kept.forcing_cutoff),
        weights_hash=kept.weights_hash,
        code_version=kept.code_version,
        program=kept.program,
        trained_on=versions.get(session, kept.version_id).trained_on,
        basins=[
            BasinOfRun(
                basin=one.basin_id,
                basin_kind=kind_of(one.basin_id),
                status=one.status,
                reason=one.reason,
                seen_in_training=one.summary.seen_in_training,
            )
            for one in runs.basins_of(session, run)
        ],
    )


def _said(run: runs.Run) -> dict[str, Any]:
    same = ("id", "purpose", "status", "reason", "horizon_days", "issued_at", "available_at", "created_at", "product")
    return {name: getattr(run, name) for name in (*same, "forcing_kind")} | {
        "version": run.version_id,
        "t0": as_date(run.t0),
        "members": len(run.members),
    }
