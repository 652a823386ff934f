"""Computes a stored run again from its stored inputs, and compares the results bit by bit.

Inputs: the version's weights, the parent state, the forcing as known when the run was computed, the weather forecast
and the changes of a what-if run. Nothing is stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from extensions.receipts.comparison import BasinReceipt, Stored, compared
from hydrology.base.absent import Absent
from jobspec.changes import Changes
from jobspec.jobs.forecasting import ForecastParams
from models.forcing import days_of
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.plans import ForecastInputs, PartInputs, PartPlan, Plan, possible_plans, read_inputs
from operations.forecasting.results import results_of
from operations.forecasting.weather_choice import Filling, as_stored
from operations.states.advance_states import ONE_DAY, advance
from operations.versions.processes import program
from operations.what_if import changed_plan
from records.database.work import Work
from records.runs import run_types, runs, states
from records.runs.run_weather import FilledWeather
from records.runs.tables import State
from records.series import revisions
from runtime.clock import Clock
from runtime.release import code_version

Parents = dict[str, State | None]


@dataclass(frozen=True, slots=True)
class Receipt:
    """A run computed again, and why other basins had no results."""

    run: run_types.Run
    program: str
    code_version: str
    basins: tuple[BasinReceipt, ...]
    without_results: Mapping[str, Absent]

    @property
    def reproduced(self) -> int:
        """Number of basins with the stored bits."""
        return sum(basin.reproduced for basin in self.basins)


def reproduce(work: Work, run_id: str, basins: Sequence[str] = ()) -> Receipt:
    """Compute a run again and compare it with what is stored; by default in all basins."""
    with work.database.reading() as session:
        run = runs.get(session, run_id)
        rows = [runs.basin_of(session, run_id, name) for name in basins] or runs.basins_of(session, run_id)
        contents = runs.content_of_many(session, [(run_id, row.basin_id) for row in rows])
    stored = {row.basin_id: Stored(run, row, contents[run_id, row.basin_id]) for row in rows}
    results = {name: one for name, one in stored.items() if one.content.series}
    without = {name: one.row.why_missing for name, one in stored.items() if name not in results}
    receipts = _receipts(work, run, results) if results else []
    return Receipt(run, program(), code_version(), tuple(receipts), without)


def _receipts(work: Work, run: run_types.Run, stored: Mapping[str, Stored]) -> list[BasinReceipt]:
    known_by = run.issued_at if run.purpose == "late" else None
    inputs = read_inputs(work.database, run.version_id, list(stored), by=known_by)
    took_part = {(name, part.name) for name, of in stored.items() for part in of.shares}
    of_parts = [one.only([name for name in stored if (name, one.part.name) in took_part]) for one in inputs.parts]
    inputs = replace(inputs, parts=tuple(of_parts))
    again = _computed(work, run, inputs, stored)
    for known_at in (run.created_at, run.issued_at):  # revisions have the time of a service that may replay an archive
        revised = [name for name, one in again.items() if not _consumed_the_same(one, stored[name])]
        if not revised:
            break
        with work.database.reading() as session:
            then = inputs.only(revised)
            parts = [
                replace(one, forcings={name: _as_known_at(session, one, name, known_at) for name in one.forcings})
                for one in then.parts
            ]
            before = replace(then, parts=tuple(parts))
        restored = _computed(work, run, before, stored)
        again |= {
            name: one for name, one in restored.items() if name in revised and _consumed_the_same(one, stored[name])
        }
    same_weights = inputs.loaded.version.weights_hash == run.weights_hash
    return [compared(stored[name], one, same_weights=same_weights) for name, one in sorted(again.items())]


def _consumed_the_same(again: run_types.BasinResult | Absent, stored: Stored) -> bool:
    return isinstance(again, Absent) or again.basin.inputs_hash == stored.row.inputs_hash


def _params(run: run_types.Run, stored: Mapping[str, Stored]) -> ForecastParams:
    return ForecastParams(
        basins=list(stored),
        t0=run.t0,
        horizon=run.days_to_come,
        version=run.version_id,
        weather=run.forcing_kind,
        weather_id=None if run.weather is None else run.weather.id,
        age=any(run_types.AGE in one.content.series for one in stored.values()),
    )


def _computed(
    work: Work, run: run_types.Run, inputs: ForecastInputs, stored: Mapping[str, Stored]
) -> dict[str, run_types.BasinResult | Absent]:
    then = replace(work, clock=Clock(run.issued_at))
    plans, failures = possible_plans(then, inputs, _params(run, stored), run.issued_at, _filling(run, stored))
    done: dict[str, run_types.BasinResult | Absent] = {name: failures[name] for name in stored if name in failures}
    for plan in plans:
        changed = plan if run.what_if is None else changed_plan(plan, Changes.model_validate(run.what_if.changes))
        if changed.forecast is not None and run.weather is not None:
            changed = replace(changed, forecast=run.weather)  # with the skill as it was known
        parents = _parents(then, changed, stored)
        rain_response = any(run_types.PEAKS_BY_RAIN in stored[name].content.series for name in changed.forcings)
        results = results_of(then, changed, store_states=False, rain_response=rain_response, since=parents)
        for result in results:
            if result.basin.basin_id in changed.forcings:
                done[result.basin.basin_id] = result
    return done


def _filling(run: run_types.Run, stored: Mapping[str, Stored]) -> Filling:
    whole = as_stored(run, {name: one.row.summary.filled_weather for name, one in stored.items()})
    of_parts: dict[str, dict[str, Sequence[FilledWeather]]] = {}
    for name, one in stored.items():
        for part in one.shares:
            of_parts.setdefault(part.name, {})[name] = part.filled_weather
    return replace(whole, parts={part: as_stored(run, filled) for part, filled in of_parts.items()})


def _parents(work: Work, plan: Plan, stored: Mapping[str, Stored]) -> dict[str, Parents]:
    """Return the states that the run started from, by basin and version: stored, or computed again."""
    return {
        version: {name: _parent(work, one, name, stored[name]) for name in one.forcings}
        for version, one in plan.by_version.items()
    }


def _parent(work: Work, plan: PartPlan, name: str, stored: Stored) -> State | None:
    loaded = plan.loaded
    share = next(one for one in stored.shares if one.version == loaded.version.id)
    if share.parent_day is None:
        return None
    day = np.datetime64(share.parent_day, "D")
    with work.database.reading() as session:
        there = states.get(session, loaded.version.id, name, day)
        earlier = states.newest_valid(session, loaded.version.id, name, day - ONE_DAY)
    if there is not None and there.sha256 == share.parent_hash:
        return there
    of_basin = {name: plan.forcings[name]}
    return advance(work.quiet, loaded, of_basin, day, store_states=False, since={name: earlier})[name].state


def _as_known_at(session: Session, inputs: PartInputs, basin: str, at: datetime) -> BasinForcing:
    taken, now = inputs.loaded.config.inputs, inputs.forcings[basin]
    mass, auxiliary = now.forcing.mass.copy(), now.forcing.auxiliary.copy()
    columns = [mass[0], *np.moveaxis(auxiliary[0], -1, 0)]
    for variable, column in zip((taken.mass, *taken.auxiliary), columns, strict=True):
        then = revisions.as_known_at(session, basin, taken.product, variable, at)
        shared = None if then is None else then.period.overlap(now.period)
        if then is not None and shared is not None:
            values = then.over(shared).values
            part = column[days_of(now.period, shared)]
            part[:] = np.where(np.isnan(values), part, values)
    return replace(now, forcing=replace(now.forcing, mass=mass, auxiliary=auxiliary))
