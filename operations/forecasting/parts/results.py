"""Forecasts basins with a version: each part by itself, then all together.

A part advances its own states, by the weather of its own product alone. So a part that was absent for some days catches
up when its product returns, and its states are the same as if it had never been absent.
"""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.products import JOINT
from hydrology.base.products import subsets as product_subsets
from hydrology.base.reasons import Reason
from hydrology.verification.held_out_years import HELD_OUT
from operations.forecasting.basin.forecast import prepare_basins, result_of, simulate_part, start_part, without_forecast
from operations.forecasting.basin.inputs import SimulatedPart, StartedPart
from operations.forecasting.parts.calibration import OfBasins, calibrate_basins
from operations.forecasting.parts.combine import combine_parts
from operations.forecasting.plan.types import Plan
from operations.versions.stages import with_progress
from records.database.engine import Database
from records.database.work import Work
from records.runs import run_types
from records.runs.run_weather import RunSubset
from records.runs.states import State
from records.verification import scores
from records.versions.version_properties import VersionPart

Since = Mapping[str, Mapping[str, State | None]]
"""The state to start from in each basin, by version; None for the empty store."""


def results_of(
    work: Work, plan: Plan, *, store_states: bool = True, rain_response: bool = False, since: Since | None = None
) -> list[run_types.BasinResult]:
    """Advance the states to T0 and simulate the days ahead. Return each basin's result, in their order.

    A basin has no forecast where a part that takes part fails, for instance because its ledger does not close. States
    and `since` (by the versions of the parts) are as in `advance`.
    """
    started: dict[str, list[StartedPart]] = {name: [] for name in plan.forcings}
    results = {name: without_forecast(name, "failed", reason) for name, reason in plan.failures.items()}
    for one in plan.parts:
        own = None if since is None else since[one.part.version]
        starts = prepare_basins(work, one, plan.params, changes=plan.changes, store_states=store_states, since=own)
        for name, inputs in starts.items():
            start = start_part(one.part, one.loaded, inputs)
            if isinstance(start, StartedPart):
                started[name].append(start)
            else:
                results.setdefault(name, start)
    whole = {name: parts for name, parts in started.items() if name not in results}
    for result in with_progress(
        "forecasts", _results(plan, work.database, whole, rain_response=rain_response), len(whole)
    ):
        results[result.basin.basin_id] = result
    return [results[name] for name in sorted(results)]


def _results(
    plan: Plan, database: Database, started: OfBasins, *, rain_response: bool
) -> Iterator[run_types.BasinResult]:
    inputs = plan.inputs
    with database.reading() as session:
        subsets = _subsets(session, plan, started)
    calibrated = calibrate_basins(database, plan, started)
    for name, parts in zip(started, _simulated(plan, started, rain_response=rain_response), strict=True):
        basin = combine_parts(
            inputs.loaded,
            parts,
            plan.days,
            calibration=calibrated[name],
            subset=subsets.get(name),
            snow=inputs.snow[name],
        )
        yield without_forecast(name, "failed", basin) if isinstance(basin, Absent) else result_of(basin)


def _simulated(plan: Plan, started: OfBasins, *, rain_response: bool) -> Iterator[list[SimulatedPart]]:
    """Yield what the parts of each basin simulate. Of each part, only a group of basins is in memory at a time."""
    of_parts = {}
    for one in plan.parts:
        own = [start for parts in started.values() for start in parts if start.part.version == one.part.version]
        of_parts[one.part.version] = simulate_part(one.loaded, own, plan.days, rain_response=rain_response)
    for parts in started.values():
        yield [next(of_parts[start.part.version]) for start in parts]


def _subsets(session: Session, plan: Plan, started: OfBasins) -> dict[str, RunSubset]:
    """Return what is missing in each basin without some parts, with the skill expected of the products that are not."""
    version = plan.inputs.loaded.version
    without = [name for name, parts in started.items() if len(parts) < len(version.parts)]
    if not without:
        return {}
    members = [*map(JOINT.join, product_subsets(version.products)), "mean"]
    found = scores.scores(
        session, versions=version.evaluated_as, basins=without, metrics=["nse"], members=members, uses=[HELD_OUT]
    )
    nse: dict[tuple[str, ...], float | None] = {
        (one.basin_id, one.member, str(one.first_day), str(one.last_day)): one.value for one in found
    }
    periods = {name: max((key[2:] for key in nse if key[0] == name), default=None) for name in without}
    subsets = {}
    for name in without:
        days, reasons = periods[name], plan.absent_parts.get(name, {})
        missing = {part.name: reasons[part.name] for part in version.parts if part.name in reasons}
        products, in_part = products_there(version.parts, [one.part for one in started[name]])
        subsets[name] = RunSubset(
            products=products,
            missing=missing,
            nse=None if days is None else nse.get((name, JOINT.join(products), *days)),
            nse_of_all=nse.get((name, "mean", *days))
            if days and _all_judged(nse, name, version.products, days)
            else None,
            period=None if days is None else "..".join(days),
            without_nse=absent(Reason.NOT_SCORED_WITHOUT_PART, products=" and ".join(in_part)) if in_part else None,
        )
    return subsets


def products_there(
    parts: Sequence[VersionPart], there: Sequence[VersionPart]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the products of the parts that took part, and those of them that other parts lack.

    Of the latter, the names of the parts stand in place of the product.
    """
    names = {part.name for part in there}
    lacking = {part.product for part in parts if part.name not in names}
    in_part = dict.fromkeys(part.product for part in there if part.product in lacking)
    return tuple(dict.fromkeys(part.name if part.product in in_part else part.product for part in there)), (*in_part,)


def _all_judged(
    nse: Mapping[tuple[str, ...], float | None], basin: str, products: Sequence[str], days: Sequence[str]
) -> bool:
    return all((basin, JOINT.join(chosen), *days) in nse for chosen in product_subsets(products))
