"""Backfills what forecasts are recalibrated by: past weather forecasts, reforecasts with them, and the fit to these.

A reforecast is the forecast of a past T0 as it would have been issued, computed now. The weather until T0 and the
observed flow are as stored now, so late and revised values count as known. A T0 that a version has learnt from is left
out, because its forecast would be better than those to come.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period, day
from hydrology.base.errors import DataProblem, Problem, counted
from hydrology.base.reasons import Reason
from jobspec.jobs.forecasting import BackfillParams, ForecastParams
from operations.basin_data.basins import chosen
from operations.feeds.fetch import FetchCallbacks
from operations.forecasting.forecast import issue
from operations.forecasting.plans import ForecastInputs, possible_plans, read_inputs
from operations.states.advance_states import ONE_DAY
from operations.verification.recalibrate import Recalibrated, recalibrate
from operations.weather.import_forecasts import PastIssues, fetch_past_issues
from records.database.stored import grouped
from records.database.work import Work
from records.runs import run_types, runs
from records.runs.run_weather import name_of_weather
from records.runs.runs import RunRequest
from records.versions import promotions, versions
from records.weather import weather_issues
from runtime.clock import Clock

log = structlog.get_logger()


@dataclass(slots=True)
class PastReforecasts:
    """The outcome of reforecasting, in numbers of forecasts: one for each basin and run.

    `before` counts those of the same weather model that were stored already, issued or reforecast; `learnt` those of
    days that their version has learnt from.
    """

    versions: tuple[str, ...] = ()
    runs: list[str] = field(default_factory=list)
    forecasts: int = 0
    before: int = 0
    learnt: int = 0
    left_out: dict[str, Absent] = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True)
class _Due:
    t0: Day
    weather_id: str
    basins: Sequence[str]


def reforecast_past(work: Work, weather: str, *, days: int, horizon: int) -> PastReforecasts:
    """Reforecast every basin with the stored past issues of a weather model, by its current version.

    Of each T0 once: one with an issued forecast or a reforecast of the same weather model is not computed again. Each
    run is stored in one transaction; after an interruption it goes on. The weather is `SOURCE/MODEL`; issues of the
    last `days` days before today count.
    """
    done = PastReforecasts()
    with work.database.reading() as session:
        current = promotions.current(session, chosen(session, []))
        by_version = grouped((version, basin) for basin, version in current.items())
        issues = _issues(session, work.clock, weather, days)
        due: dict[str, list[_Due]] = {}
        for version, names in sorted(by_version.items()):
            learnt = [Period.parse(used) for used in versions.get(session, version).used_periods]
            due[version] = _due(issues, names, _before(session, version, weather), learnt, horizon, done)
    done.versions = tuple(due)
    total, at = sum(map(len, due.values())), 0
    for version, of_version in due.items():
        if not of_version:
            continue
        names = sorted({basin for one in of_version for basin in one.basins})
        inputs = read_inputs(work.database, version, names)
        done.left_out |= inputs.failures
        for one in of_version:
            _reforecast(work.piece(at, total, str(one.t0)), inputs, one, horizon, done=done)
            at += 1
    counts = {"forecasts": done.forecasts, "before": done.before, "learnt": done.learnt}
    log.info("past_reforecasts.done", weather=weather, runs=len(done.runs), left_out=len(done.left_out), **counts)
    return done


def _issues(session: Session, clock: Clock, weather: str, days: int) -> list[tuple[str, Mapping[str, Day]]]:
    """Return the past issues of a weather model with the T0 of each basin: the day before its first, oldest first.

    The days before the reference time with which a feed's own forecasts begin are not forecast: T0 lies behind them.
    """
    now, (source, _, model) = clock.now(), weather.partition("/")
    last = day(now.date())
    stored = weather_issues.list_issues(session, now, source=source, model=model)
    found = {
        issue.id: reference
        for issue in sorted(stored, key=lambda issue: (issue.reference_time, issue.id))
        if issue.operational and (reference := day(issue.reference_time.date())) >= last - np.timedelta64(days, "D")
    }
    return [
        (
            weather_id,
            {
                part.basin_id: max(part.first, reference) - ONE_DAY
                for part in weather_issues.parts_of(session, weather_id, now)
            },
        )
        for weather_id, reference in found.items()
    ]


def _due(
    issues: Iterable[tuple[str, Mapping[str, Day]]],
    names: Sequence[str],
    before: set[tuple[Day, str]],
    learnt: Sequence[Period],
    horizon: int,
    done: PastReforecasts,
) -> list[_Due]:
    by_issue: dict[tuple[Day, str], list[str]] = defaultdict(list)
    for weather_id, t0s in issues:
        for name, t0 in ((name, t0s[name]) for name in names if name in t0s):
            ahead = Period(t0, t0 + np.timedelta64(horizon, "D"))
            if (t0, name) in before:
                done.before += 1
            elif any(ahead.overlap(days) for days in learnt):
                done.learnt += 1
            else:
                by_issue[t0, weather_id].append(name)
                before.add((t0, name))
    return [_Due(t0, weather_id, of_issue) for (t0, weather_id), of_issue in sorted(by_issue.items())]


def _before(session: Session, version: str, weather: str) -> set[tuple[Day, str]]:
    t0s = {
        run.id: run.t0
        for run in runs.list_runs(session, version=version, purposes=run_types.PUBLISHED)
        if run.weather is not None and run.weather.name == weather
    }
    return {(t0s[run], basin) for run, basin in runs.issued_pairs(session, [*t0s])}


def _reforecast(work: Work, inputs: ForecastInputs, due: _Due, horizon: int, *, done: PastReforecasts) -> None:
    names = [name for name in due.basins if name in inputs.forcings]
    if not names:
        return
    params = ForecastParams(t0=due.t0, horizon=horizon, weather="supplied", weather_id=due.weather_id)
    part = inputs.only(names)
    try:
        possible, failures = possible_plans(work, part, params)
    except Problem as problem:
        possible, failures = [], dict.fromkeys(names, absent(Reason.FAILED, message=str(problem)))
    done.left_out |= failures
    if not possible:
        return
    stored = [run.id for run in issue(work, RunRequest(params, "reforecast"), possible)]
    with work.database.reading() as session:
        issued = runs.issued_pairs(session, stored)
        for run in stored:
            for of_basin in runs.basins_of(session, run):
                if of_basin.reason is not None:
                    done.left_out[of_basin.basin_id] = of_basin.reason
    done.runs += stored
    done.forecasts += len(issued)
