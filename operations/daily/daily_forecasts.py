"""Issues the newest forecast of every basin, from its last known day and the newest weather forecast.

Basins whose last days differ, for instance by time zone, get a run for each T0. A forecast that was already issued
from the same state, weather and observed flow is not issued again. Where weather is late or its feed fails, T0 stays
the last day that is observed as a whole, and the days after it are filled from other sources
(`operations.forecasting.weather_choice`). So are those of a product of a combined version that is late by a few days,
while T0 is the last day that all its products hold; what cannot be filled so is left out, and T0 is the last day of the
others.

A late issue stands at the end of its day: it takes the observed weather that had arrived by then, and the weather
forecasts that were available.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import (
    MAX_GAP_DAYS,
    STALE_AFTER_DAYS,
    Day,
    Period,
    age_days,
    as_date,
    days_between,
    stale,
)
from hydrology.base.errors import Problem
from hydrology.base.reasons import Reason
from hydrology.weather.forcing_kinds import KINDS, ForcingKind
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.basins import last_ended
from operations.daily.arrived_flow import with_arrived_flow
from operations.forecasting.forecast import issue
from operations.forecasting.plans import ForecastInputs, Plan, possible_plans, read_inputs
from operations.forecasting.weather_ahead import with_stop
from operations.forecasting.weather_choice import Filling
from records.basins import basins
from records.database.stored import grouped
from records.database.work import Work
from records.forecasts import latest
from records.runs import run_types, runs, states
from records.runs.run_weather import hash_of_parts, sources_only
from records.runs.runs import RunRequest
from records.versions import promotions
from runtime.clock import Clock

Reasons = dict[str, Absent]


@dataclass(frozen=True, slots=True)
class DailyRequest:
    """Settings of the newest forecasts.

    Attributes:
        horizon: days after the last known one, which T0 is where nothing is missing.
        latency_days: days between the end of a day and its data; more recent days of an archive are not read.
        weather_id: the weather forecast to use; None: the newest known one of each basin.
        job: the job of the cycle, recorded with its issue; None for a command.
        day: the past day of a late issue; None: today.
        available_at: when the forecasts of a late issue become readable.
        version: that forecasts; None: the current one of each basin.
    """

    horizon: int
    purpose: run_types.Purpose = "operational"
    latency_days: int = 0
    weather_id: str | None = None
    owner: str | None = None
    climatology: bool = False
    job: str | None = None
    day: Day | None = None
    available_at: datetime | None = None
    version: str | None = None

    @property
    def known_by(self) -> datetime | None:
        """The end of the day of a late issue: what is known later is not used."""
        return None if self.day is None else datetime.combine(as_date(self.day), time.max, UTC)

    def params(self, t0: Day, names: Sequence[str], weather: ForcingKind) -> ForecastParams:
        weather_id = self.weather_id if KINDS[weather].of_forecast else None
        return ForecastParams(basins=list(names), t0=t0, horizon=self.horizon, weather=weather, weather_id=weather_id)


@dataclass(slots=True)
class Newest:
    """The newest forecasts; `failed`: why a possible one is lacking; `late`: why the newest day is too old."""

    issued: list[run_types.Run] = field(default_factory=list)
    failed: Reasons = field(default_factory=dict)
    late: Reasons = field(default_factory=dict)


def issue_newest(work: Work, names: Sequence[str], asked: DailyRequest) -> Newest:
    """Issue the newest forecasts of basins; without a weather forecast, with the weather of other years (ESP)."""
    if asked.known_by is None:
        return _issue_newest(work, names, asked)
    then = replace(work, clock=Clock(asked.known_by))
    done = _issue_newest(then, names, replace(asked, available_at=work.clock.now()))
    with work.database.reading() as session:  # those of an attempt before this one, too
        late = runs.late_runs(session, names, asked.known_by)
        done.issued = [*runs.get_many(session, {*late.values()}).values()]
    return done


def _issue_newest(work: Work, names: Sequence[str], asked: DailyRequest) -> Newest:
    with work.database.reading() as session:
        current = dict.fromkeys(names, asked.version) if asked.version else promotions.current(session, names)
        stored, latency = basins.get_many(session, [*current]), np.timedelta64(asked.latency_days, "D")
        known = {name: last_ended(basin, work.clock.now()) - latency for name, basin in stored.items()}
    done = Newest(failed={name: absent(Reason.NO_CURRENT_VERSION, basin=name) for name in names if name not in current})
    for version, of_version in grouped((version, name) for name, version in current.items()).items():
        try:
            inputs = read_inputs(work.database, version, of_version, known, by=asked.known_by)
        except Problem as problem:
            done.failed |= dict.fromkeys(of_version, absent(Reason.FAILED, message=str(problem)))
            continue
        done.failed |= inputs.failures
        for (t0, last), of_day in _by_days(inputs, known, work.clock.now(), done).items():
            _issue(work, inputs.only(of_day), Period(t0, last), asked, done=done)
    return done


def _by_days(
    inputs: ForecastInputs, known: Mapping[str, Day], now: datetime, done: Newest
) -> dict[tuple[Day, Day], list[str]]:
    """Group basins by the last day that is observed as a whole and the last known day, oldest first.

    Record basins between whose last days too many are missing.
    """
    by_days: dict[tuple[Day, Day], list[str]] = {}
    for name, forcing in inputs.forcings.items():
        t0, last = forcing.period.last, max(known[name], forcing.period.last)
        if stale(age_days(t0, now)) and days_between(t0, last) > MAX_GAP_DAYS:
            product = inputs.loaded.version.product
            ended = absent(Reason.RECORD_STALE, basin=name, product=product, last=str(t0), days=STALE_AFTER_DAYS)
            done.late[name] = with_stop(forcing, ended)
        else:
            by_days.setdefault((t0, last), []).append(name)
    return dict(sorted(by_days.items()))


def _issue(work: Work, inputs: ForecastInputs, past: Period, asked: DailyRequest, *, done: Newest) -> None:
    """Issue the runs of one T0; with weather forecasts where available, else with ESP."""
    failed, left = Reasons(), [*inputs.forcings]

    def issue_from(t0: Day, names: Collection[str], weather: ForcingKind, *, whole: bool) -> set[str]:
        """Issue what is not issued yet; return the basins with a forecast, and record why others have none."""
        of_names, params = inputs.only(names), asked.params(t0, [*names], weather)
        is_stale, count = stale(age_days(t0, work.clock.now())), days_between(t0, past.last)
        filling = Filling(days=count, climatology=asked.climatology, t0_is_stale=is_stale)
        possible, reasons = possible_plans(work, of_names, params, work.clock.now(), filling)
        if whole:
            possible = [plan.only(chosen) for plan in possible if (chosen := _with_all_parts(plan, t0))]
        else:
            failed.update(reasons)
        with work.database.reading() as session:
            new = [plan.only(due) for plan in possible if (due := _new(session, work.clock, plan, asked))]
        if new:
            unnamed = params.model_copy(update={"t0": None})
            request = RunRequest(unnamed, asked.purpose, asked.owner, available_at=asked.available_at)
            # Another cycle may have issued some meanwhile.
            done.issued += issue(work, request, new, lambda session, plan: _new(session, work.clock, plan, asked))
        return {name for plan in possible for name in plan.forcings}

    kinds: tuple[ForcingKind, ...] = ("supplied", "climatology")
    for weather in kinds:
        for t0, late in _with_late_parts(work, inputs, left).items():
            have = issue_from(t0, late, weather, whole=True)
            left = [name for name in left if name not in have]
        failed = Reasons()
        if left:
            have = issue_from(past.first, left, weather, whole=False)
            left = [name for name in left if name not in have]
    (done.late if stale(age_days(past.first, work.clock.now())) else done.failed).update(failed)


def _with_late_parts(work: Work, inputs: ForecastInputs, names: Sequence[str]) -> dict[Day, list[str]]:
    """Return the basins where a product of the version is late by a few days, by the last day that all hold.

    T0 never goes back: where the newest run of a basin is of a later day, on the products that held it, a product that
    catches up waits until it holds that day too.
    """
    ends = {name: _ends(inputs, name) for name in names}
    lacking = {name: min(of_basin) for name, of_basin in ends.items() if min(of_basin) < max(of_basin)}
    late: dict[Day, list[str]] = {}
    if lacking:
        with work.database.reading() as session:
            newest = latest.newest_tried(session, [*lacking], work.clock.now())
        for name, end in lacking.items():
            if name not in newest or end >= newest[name][0].t0:
                late.setdefault(end, []).append(name)
    return dict(sorted(late.items()))


def _ends(inputs: ForecastInputs, name: str) -> list[Day]:
    ends = [one.forcings[name].period.last for one in inputs.parts if name in one.forcings]
    return [end for end in ends if days_between(end, max(ends)) <= STALE_AFTER_DAYS]


def _with_all_parts(plan: Plan, t0: Day) -> list[str]:
    return [
        name
        for name in plan.forcings
        if len(plan.parts_in(name))
        == sum(name in one.forcings and one.forcings[name].period.last >= t0 for one in plan.inputs.parts)
    ]


def _new(session: Session, clock: Clock, plan: Plan, asked: DailyRequest) -> list[str]:
    names = [*plan.forcings]
    if asked.known_by is not None:
        late = runs.late_runs(session, names, asked.known_by)
        names = [name for name in names if name not in late]
    newest = latest.newest_tried(session, names, clock.now(), asked.version)
    hashes = _state_hashes(session, plan)
    issued = {name: newest[name] for name in names if name in newest and _is_of(plan, *newest[name], hashes.get(name))}
    arrived = with_arrived_flow(session, plan, issued)
    return [name for name in names if name not in issued or name in arrived]


def _state_hashes(session: Session, plan: Plan) -> dict[str, str]:
    of_parts = {
        one.part.name: states.valid_hashes(session, one.part.version, plan.days.t0, [*one.forcings])
        for one in plan.parts
    }
    hashes = {}
    for basin in plan.forcings:
        named = [(one.part.name, of_parts[one.part.name].get(basin)) for one in plan.parts_in(basin)]
        known = [(name, sha256) for name, sha256 in named if sha256 is not None]
        if len(known) == len(named):
            hashes[basin] = hash_of_parts(known)
    return hashes


def _is_of(plan: Plan, run: run_types.Run, basin: run_types.RunBasin, state_hash: str | None) -> bool:
    used, weather = run.weather and run.weather.id, plan.forecast and plan.forecast.id
    used_bridges = [one.used for part in plan.parts_in(basin.basin_id) for one in part.bridges[basin.basin_id]]
    over = tuple({one.sha256: one for one in used_bridges}.values())
    created = (run.t0, run.horizon_days, run.filled_days, run.forcing_kind, used, basin.status, basin.state_hash)
    kind, days = "climatology" if weather is None else "supplied", plan.days
    if created != (days.t0, days.horizon, days.filled, kind, weather, "issued", state_hash):
        return False
    of_plan = {version: one.weather.get(basin.basin_id) for version, one in plan.by_version.items()}
    filled = {version: sources_only(ahead.filled) for version, ahead in of_plan.items() if ahead is not None}
    stored = {share.version: sources_only(share.filled_weather) for share in run_types.shares_of(run, basin)}
    return (basin.summary.bridges, stored) == (over, filled)
