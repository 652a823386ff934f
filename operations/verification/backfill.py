"""Backfills what forecasts are recalibrated by: past weather forecasts, reforecasts with them, and the fit to these."""

from collections.abc import Iterator
from dataclasses import dataclass

import structlog

from hydrology.base.errors import DataProblem, counted
from jobspec.jobs.forecasting import BackfillParams
from operations.feeds.fetch import FetchCallbacks
from operations.verification.past_reforecasts import PastReforecasts, reforecast_past
from operations.verification.recalibrate import Recalibrated, recalibrate
from operations.weather.import_forecasts import PastIssues, fetch_past_issues
from records.database.work import Work
from records.runs.run_weather import name_of_weather

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Backfilled:
    """The outcome of a backfill; `issues` is None where nothing was to be fetched."""

    weather: str
    issues: PastIssues | None
    reforecasts: PastReforecasts
    fitted: list[Recalibrated]
    problems: dict[str, str]

    @property
    def counts(self) -> dict[str, int]:
        issues, reforecasts = self.issues, self.reforecasts
        return {
            "issues": 0 if issues is None else issues.stored,
            "issues_before": 0 if issues is None else issues.before,
            "issues_missing": 0 if issues is None else len(issues.missing),
            "reforecasts": reforecasts.forecasts,
            "reforecasts_before": reforecasts.before,
            "recalibrations": len(self.fitted),
        }

    @property
    def remarks(self) -> list[str]:
        """What is missing and why, in sentences."""
        return [*self._of_issues(), *self._of_reforecasts(), *self.problems.values()]

    def _of_issues(self) -> Iterator[str]:
        issues = self.issues
        if issues is None:
            return
        if issues.missing:
            first = ", ".join(f"{began:%Y-%m-%d}" for began in sorted(issues.missing)[:5])
            more = f" and {len(issues.missing) - 5} more" if len(issues.missing) > 5 else ""
            yield f"The service does not have the runs of {issues.model} of {first}{more}."
        if issues.stopped is not None:
            yield f"The fetch stopped, because nothing of several runs could be stored. {issues.stopped}"
            return
        yield from (f"{basin} lacks past weather forecasts. {reason}" for basin, reason in issues.failed.items())

    def _of_reforecasts(self) -> Iterator[str]:
        reforecasts = self.reforecasts
        if reforecasts.learnt:
            yield (
                f"{counted(reforecasts.learnt, 'forecast was', 'forecasts were')} left out: their versions "
                "have learnt from these days."
            )
        yield from (f"{basin} lacks reforecasts. {reason}" for basin, reason in reforecasts.left_out.items())


def backfill(work: Work, params: BackfillParams, listener: FetchCallbacks) -> Backfilled:
    """Fetch past issues, reforecast with them, and recalibrate forecasts by what came. Each step stores as it goes.

    A fetch that costs more than the service allows is refused before anything is done.
    """
    issues = None
    if params.feed is not None:
        issues = fetch_past_issues(work.stage("past weather forecasts"), params.feed, params.days, listener=listener)
    weather = params.weather if issues is None else name_of_weather(issues.source, issues.model)
    assert weather is not None  # one of both is given
    reforecasts = reforecast_past(work.stage("reforecasts"), weather, days=params.days, horizon=params.horizon)
    fitted: list[Recalibrated] = []
    problems: dict[str, str] = {}
    for at, version in enumerate(reforecasts.versions):
        work.stage("recalibrations").show(at, len(reforecasts.versions), version)
        try:
            fitted += recalibrate(work, version, weather)
        except DataProblem as problem:
            problems[version] = str(problem)
    done = Backfilled(weather, issues, reforecasts, fitted, problems)
    log.info("backfill.done", weather=weather, **done.counts)
    if not any(done.counts[name] for name in ("issues", "reforecasts", "recalibrations")) and done.remarks:
        raise DataProblem(" ".join(done.remarks[:3]))
    return done
