"""The daily cycle: fetch feeds, apply bridges, forecast from the newest day, decide alerts.

Data are fetched in groups of basins of a feed, and forecasts issued in parts, the basins of a version, each with
transactions of its own, which jobs or processes may do side by side. What is done twice stores nothing new. A feed, a
bridge, a part or a basin that fails is reported, and the others continue.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, Self, get_args

import structlog

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import age_days, stale
from hydrology.base.errors import Problem
from hydrology.base.reasons import Reason
from jobspec.extensions import extensions
from jobspec.fields import DayField
from jobspec.jobs.forecasting import DailyPartJob
from operations.alerts.decide_alerts import decide
from operations.basin_data.basins import chosen
from operations.basin_data.sources import Intake
from operations.daily import issue_record
from operations.daily.daily_forecasts import DailyRequest, Newest, Reasons, issue_newest
from operations.feeds.fetch import SILENT, FetchCallbacks, FetchedPart, basins_to_divide, conclude, fetch_part
from operations.weather.fit_bridges import apply
from records.database.stored import grouped
from records.database.work import Work
from records.feeds import feeds
from records.forecasts import issues, latest
from records.forecasts.issues import Settled
from records.forecasts.latest import Latest
from records.runs import run_types, runs
from records.runs.run_types import ISSUED
from records.versions import promotions
from records.weather import bridges

log = structlog.get_logger()

Status = Literal["issued", "unchanged", "stale", "failed"]
"""Outcome of a basin. `issued`: a new forecast. `unchanged`: its latest forecast already uses all known data. `stale`:
its data stopped, and its latest forecast is too old. `failed`: a forecast was possible, but was not issued."""

OnFetch = Callable[[str, FetchedPart], None]
"""Receives the name of each feed that was asked, and the outcome."""


@dataclass(frozen=True, slots=True)
class BasinOutcome:
    """The daily cycle's outcome for one basin: its latest forecast, and why none was issued now.

    `withheld`: one was computed, but something forbids to issue it.
    """

    basin: str
    status: Status
    run: str | None = None
    t0: DayField | None = None
    reason: Absent | None = None
    withheld: bool = False

    @property
    def settled(self) -> tuple[str, Settled]:
        return self.basin, Settled("withheld" if self.withheld else self.status, self.run, self.reason)


@dataclass(frozen=True, slots=True)
class IssuedPart:
    """The outcome of a part of a cycle, or of a forecast of many basins, which names those of failed parts alone.

    Attributes:
        runs: their ids.
        without: why basins have no forecast at all.
        alert_changes: their number; None where the alerts are not decided, since the part failed.
    """

    basins: list[BasinOutcome]
    runs: list[str] = field(default_factory=list)
    without: Reasons = field(default_factory=dict)
    alert_changes: int | None = None

    @classmethod
    def failed(cls, names: Sequence[str], reason: Absent) -> Self:
        return cls([BasinOutcome(name, "failed", reason=reason) for name in names])


@dataclass(frozen=True, slots=True)
class CyclePlan:
    """The parts of a cycle.

    Attributes:
        fetches: a feed and some of its basins; without basins all of them.
        parts: basins of a version; None until the data have been fetched.
        problems: by feed or bridge.
        lacking: why basins may lack data.
    """

    fetches: list[tuple[str, list[str]]]
    parts: list[list[str]] | None = None
    problems: Reasons = field(default_factory=dict)
    lacking: Reasons = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cycle:
    """The outcome of a daily cycle; the problems are by feed or bridge."""

    basins: list[BasinOutcome]
    runs: list[run_types.Run]
    problems: Reasons
    alert_changes: int

    @property
    def counts(self) -> dict[str, int]:
        """Number of basins by status."""
        found = Counter(basin.status for basin in self.basins)
        return {status: found[status] for status in get_args(Status) if found[status]}


def daily(
    work: Work,
    intake: Intake,
    asked: DailyRequest,
    *,
    names: Sequence[str] = (),
    listener: FetchCallbacks = SILENT,
    on_fetch: OnFetch = lambda _feed, _done: None,
) -> Cycle:
    """Run the daily cycle once, part after part, with the named feeds or all. `intake`: what file feeds may read."""
    plan = start(work, asked, names)
    fetched = [fetch_group(work, intake, *of, listener.pause) for of in plan.fetches]
    for sentence in (sentence for part in fetched for sentence in part.notes):
        listener.notify(sentence)
    if plan.parts is None:
        plan = prepare(work, plan, fetched, on_fetch)
    return close(work, plan, [issue_part(work, basins, asked) for basins in plan.parts or ()], asked)


def start(work: Work, asked: DailyRequest, names: Sequence[str] = ()) -> CyclePlan:
    """Start the issue, and plan which basins of the named feeds, or all, are fetched together.

    A late issue takes what is stored, for the basins that its day lacks.
    """
    if asked.purpose in ISSUED:
        issue_record.start(work, asked.job, asked.day)
    if asked.day is not None:
        with work.database.reading() as session:
            missing = [one.basin_id for one in issues.basins_of(session, asked.day, issues.MISSING)]
        return _planned(work, missing, [], {}, {})
    plan = CyclePlan([])
    with work.database.reading() as session:
        for feed in [feeds.get(session, name) for name in dict.fromkeys(names)] or feeds.list_feeds(session):
            try:
                basins = basins_to_divide(session, feed)
            except Problem as problem:
                plan.problems[feed.name] = _failure(problem)
                continue
            plan.fetches.extend((feed.name, group) for group in work.parts(basins, DailyPartJob.part_basins))
    return plan


def fetch_group(
    work: Work, intake: Intake, feed: str, names: Sequence[str], pause: Callable[[float], None]
) -> FetchedPart:
    """Fetch a group of basins of a feed; a failure is part of the outcome, and costs no other group."""
    try:
        return fetch_part(work.stage(feed), intake, feed, names, pause=pause)
    except Problem as problem:
        return FetchedPart(problem=_failure(problem))


def prepare(
    work: Work, plan: CyclePlan, fetched: Sequence[FetchedPart], on_fetch: OnFetch = lambda _feed, _done: None
) -> CyclePlan:
    """Record what was fetched, apply the bridges, and plan the parts whose forecasts are issued."""
    problems, lacking = dict(plan.problems), dict(plan.lacking)
    of_feeds = grouped((group[0], (group, part)) for group, part in zip(plan.fetches, fetched, strict=True))
    for name, groups in of_feeds.items():
        with _noting(name, problems, lacking) as failed:
            done = conclude(work, name, [part for _, part in groups])
            if not done.basins and done.problem is not None:
                problems[name] = done.problem
                continue
            on_fetch(name, done)
            failed |= {one.basin_id: _failure(one.reason) for one in done.basins if one.status == "failed"}
            failed |= {basin: part.problem for (_, names), part in groups if part.problem for basin in names}
    with work.database.reading() as session:
        products = {feed.product for feed in feeds.list_feeds(session) if feed.name in of_feeds}
        stored = [one for one in bridges.list_bridges(session) if one.model is None and one.from_product in products]
    for bridge in [one.name for one in stored]:
        with _noting(bridge, problems, lacking) as failed:
            outcomes = apply(work.stage(bridge), bridge)
            failed |= {one.basin: _failure(one.error) for one in outcomes if one.status == "failed"}
    with work.database.reading() as session:
        names = chosen(session, [])
    return _planned(work, names, plan.fetches, problems, lacking)


def _planned(
    work: Work, names: Sequence[str], fetches: list[tuple[str, list[str]]], problems: Reasons, lacking: Reasons
) -> CyclePlan:
    with work.database.reading() as session:
        current = promotions.current(session, names)
    of_versions = grouped((version, name) for name, version in current.items())
    parts = [part for of_version in of_versions.values() for part in work.parts(of_version, DailyPartJob.part_basins)]
    return CyclePlan(fetches, parts, problems, lacking)


def issue_part(work: Work, names: Sequence[str], asked: DailyRequest) -> IssuedPart:
    """Issue the newest forecasts of a part of the basins, and decide their alerts. A late issue decides none."""
    filling = replace(asked, climatology=work.settings.fill_with_climatology)
    part = _outcomes(work, names, issue_newest(work, names, filling), asked.known_by or work.clock.now())
    if asked.purpose in ISSUED:
        issue_record.settle(work, [one.settled for one in part.basins], asked.day)
    return replace(part, alert_changes=_decided(work, names, asked))


def _decided(work: Work, names: Sequence[str], asked: DailyRequest) -> int:
    return len(decide(work, names)) if asked.purpose == "operational" else 0


def close(work: Work, plan: CyclePlan, parts: Sequence[IssuedPart], asked: DailyRequest) -> Cycle:
    """Close the issue of a cycle whose parts are done, and return its outcome."""
    basins = [
        replace(one, reason=one.reason or plan.lacking.get(one.basin) or part.without.get(one.basin))
        for part in parts
        for one in part.basins
    ]
    if asked.purpose in ISSUED:
        lacking = [one.settled for one in basins if one.status != "issued"]  # the others are settled with their part
        issue_record.settle(work, lacking, asked.day, closes=True)
    undecided = [one.basin for part in parts if part.alert_changes is None for one in part.basins]
    changes = sum(part.alert_changes or 0 for part in parts) + _decided(work, undecided, asked)
    with work.database.reading() as session:
        issued = [*runs.get_many(session, [run for part in parts for run in part.runs]).values()]
    cycle = Cycle(sorted(basins, key=lambda one: one.basin), issued, plan.problems, changes)
    log.info("daily.done", runs=len(issued), changes=changes, **cycle.counts)
    return cycle


@contextmanager
def _noting(name: str, problems: Reasons, lacking: Reasons) -> Iterator[Reasons]:
    failed: Reasons = {}
    try:
        yield failed
    except Problem as problem:
        problems[name] = absent(Reason.FAILED, message=str(problem))
    if failed:
        problems[name] = absent(Reason.BASINS_FAILED, count=len(failed), first=next(iter(failed.values())))
    for basin, reason in failed.items():
        lacking.setdefault(basin, absent(Reason.SOURCE_FAILED, source=name, why=reason))


def _failure(error: object) -> Absent:
    return absent(Reason.FAILED, message=str(error))


def _outcomes(work: Work, names: Sequence[str], done: Newest, now: datetime) -> IssuedPart:
    with work.database.reading() as session:
        issued = {row.basin_id: (run, row) for run in done.issued for row in runs.basins_of(session, run.id)}
        newest = latest.latest_many(session, names, now)
    part = IssuedPart([], [run.id for run in done.issued])
    for name in names:
        run, row = issued.get(name, (None, None))
        if run is not None and row is not None and row.status == "issued":
            spinning_up = row.spin_up_note and absent(Reason.SPINNING_UP, note=row.spin_up_note)
            part.basins.append(BasinOutcome(name, "issued", run.id, run.t0, spinning_up or None))
            continue
        reason = done.failed.get(name) or (row and row.reason) or done.late.get(name)
        withheld = row is not None and row.status == "withheld"
        if not isinstance(one := newest[name], Latest):
            part.basins.append(BasinOutcome(name, "failed", reason=reason, withheld=withheld))
            part.without[name] = _failure(one)
            continue
        status: Status = "failed" if name in done.failed or row is not None else "unchanged"
        if stale(age_days(one.run.weather_until, now)):
            status = "stale"
        part.basins.append(BasinOutcome(name, status, one.run.id, one.run.t0, reason, withheld))
    return part


def after_daily(work: Work) -> Iterator[str]:
    """Run the parts of extensions, and yield a sentence for each that has failed."""
    for extension in extensions():
        if extension.after_daily is not None:
            sentence = extension.load(extension.after_daily)(work.stage(extension.name))
            if sentence is not None:
                yield sentence
