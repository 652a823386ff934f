"""Records what became of the basins of an issue: by the daily cycle, and by forecasts of single basins after it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hydrology.base.calendar import Day, day
from hydrology.base.errors import InvalidInput
from operations.basin_data.basins import chosen
from records.database.work import Work
from records.forecasts import issues
from records.forecasts.issues import Issue, Settled
from records.runs import runs
from records.runs.run_types import Run
from records.versions import promotions


def start(work: Work, job: str | None, late: Day | None = None) -> None:
    """Record the issue of today, or of a past day, with its expected basins: those with a current version."""
    now = work.clock.now()
    if late is not None and late >= day(now.date()):
        raise InvalidInput(f"{late} has not ended by the clock: name a past day, or leave out `day` for today.")
    with work.database.transaction() as session:
        issue = Issue(day=late or day(now.date()), opened_at=now, late=late is not None, job_id=job)
        issues.start(session, issue, promotions.current(session, chosen(session, [])))


def settle(
    work: Work, outcomes: Iterable[tuple[str, Settled]], late: Day | None = None, *, closes: bool = False
) -> None:
    """Record the outcomes of basins in the issue of a past day, or that forecasts of now belong to, if there is one."""
    now, by_basin = work.clock.now(), dict(outcomes)
    with work.database.transaction() as session:
        issue = issues.newest(session, now) if late is None else issues.get(session, late)
        if issue is None:
            return
        used = runs.get_many(session, {one.run for one in by_basin.values() if one.run is not None})
        settled = {name: _by_run(one, issue, used) for name, one in by_basin.items()}
        issues.settle(session, issue.day, settled, now if closes else None)


def settle_runs(work: Work, issued: Sequence[Run]) -> None:
    """Record operational forecasts that were issued for some basins, such as for those missing."""
    official = [run.id for run in issued if run.purpose == "operational"]
    with work.database.reading() as session:
        rows = [(run, row) for run in official for row in runs.basins_of(session, run)]
    if rows:
        settle(work, [(row.basin_id, Settled(row.status, run, row.reason)) for run, row in rows])


def _by_run(settled: Settled, issue: Issue, used: Mapping[str, Run]) -> Settled:
    """Return an outcome as its run decides it: an unchanged forecast may be of this issue, an issued one filled."""
    run = None if settled.run is None else used.get(settled.run)
    of_issue = run is not None and day(run.issued_at.date()) >= issue.day
    if run is None or not (settled.outcome == "issued" or (settled.outcome == "unchanged" and of_issue)):
        return settled
    return replace(settled, outcome="filled" if run.filled_days else "issued")
