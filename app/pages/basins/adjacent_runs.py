"""Finds the previous and next run of a basin."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy.orm import Session

from hydrology.base.calendar import as_date
from records.forecasts.latest import Latest
from records.runs import run_types, runs
from records.runs.run_types import Run

MAX_RUNS = 200
"""Maximum number of runs to step through, newest first."""


@dataclass(frozen=True, slots=True)
class Step:
    """A run that the page links to."""

    run: str
    t0: date


@dataclass(frozen=True, slots=True)
class RunsAround:
    """The previous and next run, and the newest of an earlier T0; None where there is none."""

    earlier: Step | None
    later: Step | None
    before: Step | None


def runs_around(session: Session, shown: Latest, at: datetime) -> RunsAround:
    """Return the runs of the same version and horizon beside a run, by T0 and issue."""
    filters = {"basin": shown.basin.basin_id, "version": shown.run.version_id, "purpose": shown.run.purpose}
    listed = runs.list_runs(session, **filters, available_by=at, limit=MAX_RUNS)  # type: ignore[arg-type]
    alike = sorted((run for run in listed if _days_to_come(run) == _days_to_come(shown.run)), key=_order)
    before = [run for run in alike if _order(run) < _order(shown.run)]
    after = [run for run in alike if _order(run) > _order(shown.run)]
    older = [run for run in before if run.t0 < shown.run.t0]
    return RunsAround(
        *(_step(one) if one else None for one in (_last(before), after[0] if after else None, _last(older)))
    )


def _last(listed: Sequence[Run]) -> Run | None:
    return listed[-1] if listed else None


def _order(run: Run) -> tuple[object, ...]:
    return run.t0, run.issued_at, run.id


def _step(run: Run) -> Step:
    return Step(run.id, as_date(run.t0))


def _days_to_come(run: run_types.Run) -> int:
    return run.horizon_days - run.filled_days
