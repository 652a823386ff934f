"""Appends stored runs to an archive: issued forecasts and reforecasts, each once, the oldest first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import structlog
from sqlalchemy.orm import Session

from extensions.archive import forecast_archive, layout
from extensions.archive.forecast_archive import STORE, BasinIssue, Contents, Issue
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput, Problem
from hydrology.base.units import mm_per_day_to_m3s
from hydrology.uncertainty.error_model import LEVELS
from records.basins import basins
from records.database.work import Work
from records.runs import run_arrays, run_types, runs
from runtime.clock import Clock

log = structlog.get_logger()

QUANTILES, MEMBERS = "discharge_quantiles", "discharge"


@dataclass(frozen=True, slots=True)
class RunSelection:
    """The runs to archive, by their basins and the days of their T0; None for all."""

    basins: Sequence[str] | None = None
    period: Period | None = None


@dataclass(frozen=True, slots=True)
class Archived:
    """The outcome: the number of runs that were appended, and of those that the archive held before."""

    appended: int
    before: int


def archive_runs(work: Work, folder: Path, chosen: RunSelection, *, members: bool = False) -> Archived:
    """Append the chosen runs that an archive lacks; create it if it is missing.

    Each run is appended as a whole: an interrupted call leaves those that are done, and the next one goes on. `members`
    holds for an archive that is created now; one that exists stays as it is.
    """
    held = forecast_archive.contents(folder)
    new = Contents(chosen=None if chosen.basins is None else sorted(chosen.basins), members=members)
    if held is None:
        held = new
    elif held.chosen != new.chosen:
        raise InvalidInput(
            f"The archive {folder} is of {_in_words(held.chosen)}, and its issues do not change: name another folder "
            f"for {_in_words(new.chosen)}."
        )
    work = replace(work, database=work.database.for_public())
    with work.database.reading() as session:
        wanted = list_runs(session, work.clock, chosen)
    before = set(held.issues)
    due = [run for run in wanted if run.id not in before]
    for done, run in enumerate(due):
        work.show(done, len(due), run.id)
        with work.database.reading() as session:
            issue = _issue(session, run, chosen.basins, members=held.members)
            sites = basins.sites(session, list(issue.basins))
        forecast_archive.append(folder, issue, sites, new)
    log.info("archive.done", folder=str(folder), appended=len(due), before=len(wanted) - len(due))
    return Archived(len(due), len(wanted) - len(due))


def extend(work: Work, folder: Path | None) -> str | None:
    """Append the runs that the service's archive lacks. A failure is returned: the daily forecasts go on."""
    if folder is None:
        return None
    try:
        archive_runs(work, folder / STORE, RunSelection())
    except (Problem, OSError) as error:
        log.error("archive.failed", folder=str(folder), error=str(error))
        return (
            f"The archive {folder} was not extended ({error}). The next daily cycle, or freshet archive, tries again."
        )
    return None


def list_runs(session: Session, clock: Clock, chosen: RunSelection) -> list[run_types.Run]:
    """Return the chosen runs that were issued for a chosen basin, by T0 and issue."""
    first, last = (None, None) if chosen.period is None else (chosen.period.first, chosen.period.last)
    found = [
        run
        for run in runs.list_runs(
            session, purposes=run_types.PUBLISHED, t0_from=first, t0_to=last, available_by=clock.now()
        )
        if run.status != "failed"
    ]
    if chosen.basins is not None:
        pairs = runs.issued_pairs(session, [run.id for run in found])
        with_basin = {run for run, basin in pairs if basin in chosen.basins}
        found = [run for run in found if run.id in with_basin]
    return sorted(found, key=lambda run: (run.t0, run.issued_at, run.id))


def _in_words(chosen: Sequence[str] | None) -> str:
    return "all basins" if chosen is None else f"{len(chosen)} chosen basins ({', '.join(chosen[:5])})"


def _issue(session: Session, run: run_types.Run, only: Sequence[str] | None, *, members: bool) -> Issue:
    found = [basin for basin in runs.basins_of(session, run.id) if only is None or basin.basin_id in only]
    of_basins = dict(flows_of(session, run, found, members=members))
    return Issue(
        issue=run.id,
        t0=run.t0,
        issued_at=run.issued_at,
        version=run.version_id,
        purpose=run.purpose,
        forcing_kind=run.forcing_kind,
        weather="" if run.weather is None else run.weather.name,
        leads=run.horizon_days,
        basins=of_basins,
    )


def flows_of(
    session: Session, run: run_types.Run, of_basins: Sequence[run_types.RunBasin], *, members: bool
) -> Iterator[tuple[str, BasinIssue]]:
    """Yield the discharge of a run in m3/s for some of its basins, or why there is none."""
    names = (run_arrays.CALIBRATED, QUANTILES, *((MEMBERS,) if members else ()))
    keys = [(run.id, basin.basin_id) for basin in of_basins if basin.status == "issued"]
    stored = runs.series_of_many(session, keys, names)
    for basin in of_basins:
        series = stored.get((run.id, basin.basin_id), {})
        area = np.nan if basin.area_m2 is None else basin.area_m2
        flow = dict(_flow(series, basin))
        yield basin.basin_id, BasinIssue(layout.STATUSES.index(_status(basin, flow)), area, flow)


def _status(basin: run_types.RunBasin, flow: dict[str, npt.NDArray[np.float64]]) -> str:
    if basin.status != "issued":
        return layout.WITHHELD if basin.status == "withheld" else layout.FAILED
    if basin.area_m2 is None:
        return layout.WITHOUT_AREA
    if basin.is_spinning_up:
        return layout.SPINNING_UP
    return layout.ISSUED if layout.CALIBRATED in flow else layout.UNCALIBRATED


def _flow(
    series: Mapping[str, run_arrays.RunSeries], basin: run_types.RunBasin
) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
    """Yield arrays of discharge by their name in the archive, (leads, labels) in m3/s."""
    if (area := basin.area) is None:
        return
    for stored, name, levels in (
        (run_arrays.CALIBRATED, layout.CALIBRATED, LEVELS),
        (QUANTILES, layout.DISCHARGE, run_types.QUANTILES),
    ):
        if stored in series:
            labels = list(series[stored].axes["level"])
            rows = series[stored].values[[labels.index(level) for level in levels]]
            yield name, mm_per_day_to_m3s(rows.T, area=area)
    if MEMBERS in series:
        values = series[MEMBERS].values
        yield layout.MEMBERS, mm_per_day_to_m3s(values.reshape(-1, values.shape[-1]).T, area=area)
