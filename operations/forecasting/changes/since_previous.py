"""Computes why a forecast differs from the previous one of its basin, when it is issued.

Only then are the networks, the weather and both states at hand, and readers never wait for a computation. The flow of a
combined version is split by the weighted mean of its parts; those that only one run used are left out of the reruns.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import structlog

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.errors import Problem
from hydrology.base.reasons import Reason
from operations.forecasting.changes.reruns import Pair, Reruns, flow_of, sides_of
from operations.forecasting.plan.plans import Plan
from operations.forecasting.reruns import flow_series, mean_flows, state_as_issued
from operations.states.advance_states import ONE_DAY
from records.database.work import Work
from records.runs import run_types, runs
from records.runs.run_arrays import RunSeries
from records.runs.run_summary import RunChange
from records.runs.run_types import BasinResult, NewRun
from records.runs.runs import MAX_DAYS_BEFORE

log = structlog.get_logger()

Outcome = Absent | tuple[RunChange, RunSeries]
"""The change of a basin and its parts, or why they are unknown."""


def with_changes(work: Work, plan: Plan, run: NewRun, results: Sequence[BasinResult]) -> list[BasinResult]:
    """Return a run's results; each with its change since the previous run, or why it has none."""
    issued = {result.basin.basin_id: result for result in results if result.basin.status == "issued"}
    t0 = plan.days.t0
    earlier = Period(t0 - np.timedelta64(MAX_DAYS_BEFORE, "D"), t0 - ONE_DAY)
    with work.database.reading() as session:
        found = runs.issued_before(session, [*issued], earlier, run.version_id)
    changed = dict.fromkeys(issued, absent(Reason.NO_PREVIOUS_RUN, days=MAX_DAYS_BEFORE, t0=str(t0)))
    outcomes: dict[str, Outcome] = {**changed}
    pairs: dict[str, list[Pair]] = defaultdict(list)
    for name, (previous, before) in found.items():
        last = min(previous.t0 + np.timedelta64(previous.horizon_days, "D"), plan.days.ahead.last)
        if last <= t0:
            outcomes[name] = absent(Reason.NO_COMMON_DAYS, run=previous.id)
        else:
            pairs[previous.id].append(Pair(run, issued[name], previous, before, Period(t0 + ONE_DAY, last)))
    for of_run in pairs.values():
        outcomes |= _of_run(work, plan, of_run)
    return [_with(result, outcomes.get(result.basin.basin_id)) for result in results]


def _with(result: BasinResult, outcome: Outcome | None) -> BasinResult:
    if outcome is None:
        return result
    change, series = (outcome, []) if isinstance(outcome, Absent) else (outcome[0], [outcome[1]])
    basin = replace(result.basin, summary=replace(result.basin.summary, change=change))
    return replace(result, basin=basin, series=[*result.series, *series])


def _of_run(work: Work, plan: Plan, pairs: Sequence[Pair]) -> dict[str, Outcome]:
    previous = pairs[0].previous
    try:
        return dict(_split(work, plan, pairs))
    except Problem as problem:
        log.warning("forecast.change_not_split", run=previous.id, error=str(problem))
        return {pair.basin: absent(Reason.CHANGE_NOT_SPLIT, run=previous.id, why=str(problem)) for pair in pairs}


def _split(work: Work, plan: Plan, pairs: Sequence[Pair]) -> Iterator[tuple[str, Outcome]]:
    previous, names = pairs[0].previous, [pair.basin for pair in pairs]
    with work.database.reading() as session:
        earlier = flow_series(session, previous.id, names)
    sides = sides_of(work, plan, pairs, earlier)
    reruns = list[Reruns]()
    with work.database.reading() as session:
        for pair in pairs:
            before, after = pair.shares
            reason = None if before and after else absent(Reason.NO_COMMON_PRODUCT)
            if not all(pair.basin in sides[share.version] for share in (*before, *after)):
                reason = absent(Reason.RERUN_INPUTS_LOST)
            flow = flow_of(earlier[pair.basin], run_types.shares_of(previous, pair.before), before)
            if reason is not None or flow is None:
                why = reason or absent(Reason.RERUN_INPUTS_LOST)
                yield pair.basin, absent(Reason.CHANGE_NOT_SPLIT, run=previous.id, why=why)
                continue
            states = [state_as_issued(session, share, pair.basin, previous.t0) for share in before]
            starts = {share.version: state for share, state in zip(before, states, strict=True) if state is not None}
            of_basin = {share.version: sides[share.version][pair.basin] for share in (*before, *after)}
            reruns.append(Reruns(pair, before, after, of_basin, starts, flow))
    flows = mean_flows({key: shares for one in reruns for key, shares in one.of_both()})
    for one in reruns:
        yield one.pair.basin, one.result(flows, earlier[one.pair.basin])
