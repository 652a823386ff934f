"""Forecast runs: advance the states to T0, simulate the days ahead, store the run atomically.

The weather after T0 is observed (the run is labelled a hindcast), a weather forecast, that of other years (ESP), or
hypothetical (the run is labelled a what-if).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from importlib import metadata

import structlog
from sqlalchemy.orm import Session

from hydrology.base.staleness import age_days, stale
from hydrology.weather.forcing_kinds import KINDS, ForcingKind
from jobspec.jobs.forecasting import ForecastParams
from operations.alerts.decide_alerts import decide
from operations.basin_data.basins import with_model
from operations.forecasting.changes.since_previous import with_changes
from operations.forecasting.forecast_plan import NothingToForecast, Plan, plans, read_inputs
from operations.forecasting.parts.results import results_of
from operations.versions.hardware import program
from operations.versions.stages import with_progress
from records.basins import basins
from records.database.ids import new_id
from records.database.work import Work
from records.outlooks.outlooks import prepare, store_run
from records.runs import run_types, runs
from records.runs.run_weather import RunWhatIf
from records.versions import promotions, versions
from runtime.clock import Clock

__all__ = ["NothingToForecast", "forecast", "issue"]

log = structlog.get_logger()

StillDue = Callable[[Session, Plan], Collection[str]]


def forecast(
    work: Work,
    params: ForecastParams,
    *,
    purpose: run_types.Purpose = "operational",
    owner: str | None = None,
    key: str | None = None,
) -> list[run_types.Run]:
    """Issue a run for each version and weather forecast of the basins, and decide their alerts.

    Args:
        params: the request. Without a T0 it is the last day before the clock's, or, where the record ends, the last day
            that leaves `horizon` days of forcing (its last day, where the weather after T0 is not the observed).
        purpose: the purpose of the runs; on hypothetical weather it is always a what-if.
        owner: the operator's key that owns the runs; None for the service's.
        key: identifies the request, so that repeating it returns its runs; None for new runs each time.

    Raises:
        InvalidInput: no basin is stored, T0 is in the future, or a version takes another product.
        UnknownVersion, UnknownBasin, UnknownWeather: one does not exist.
        NothingToForecast: no basin of a version can be forecast; nothing of its run is stored.
    """
    if KINDS[params.weather].hypothetical:
        purpose = "what-if"
    with work.database.reading() as session:
        groups = basins_by_version(session, params.basins, params.version)
        issued = _earlier_runs(session, key)
    if not issued:
        inputs = [read_inputs(work.database, params, version, names) for version, names in groups.items()]
        planned = [plan for of_version in inputs for plan in plans(work, of_version, params)]
        issued = issue(work, params, planned, purpose=purpose, owner=owner, key=key)
    if purpose == "operational":
        decide(work, [basin for names in groups.values() for basin in names])
    return issued


def issue(
    work: Work,
    params: ForecastParams,
    planned: Sequence[Plan],
    *,
    purpose: run_types.Purpose,
    owner: str | None = None,
    key: str | None = None,
    t0_named: bool | None = None,
    still_due: StillDue | None = None,
) -> list[run_types.Run]:
    """Compute planned runs, and store all or none.

    The other arguments are those of `forecast`.

    Args:
        t0_named: whether T0 was requested; None: where `params` names it.
        still_due: returns the basins of a plan to store, called while no other call with it can store theirs; None for
            all.
    """
    named = params.t0 is not None if t0_named is None else t0_named
    rain_response = purpose == "operational"
    results = [results_of(work, plan, params, rain_response=rain_response) for plan in planned]
    new = [new_run(plan, work.clock, params.weather, purpose, key=key, owner=owner, t0_named=named) for plan in planned]
    if purpose == "operational":
        of_runs = zip(planned, new, results, strict=True)
        results = [with_changes(work, plan, run, of_plan) for plan, run, of_plan in of_runs]
    with work.database.reading() as session:
        prepared = {run.id: prepare(session, run, of_plan) for run, of_plan in zip(new, results, strict=True)}
    with work.database.transaction() as session:
        if earlier := _earlier_runs(session, key):
            return earlier
        to_store = [*zip(new, results, strict=True)]
        if still_due is not None:
            to_store = [*_still_due(session, planned, to_store, still_due)]
        issued = [
            store_run(session, run, of_plan, prepared[run.id])
            for run, of_plan in with_progress("runs stored", to_store)
        ]
    for run in issued:
        of_run = {"run": run.id, "t0": str(run.t0), "age_days": run.t0_age_days, "stale": run.t0_stale}
        log.info("forecast.run", **of_run, version=run.version_id, status=run.status)
    return issued


def _still_due(
    session: Session,
    planned: Sequence[Plan],
    computed: Sequence[tuple[run_types.NewRun, list[run_types.BasinResult]]],
    still_due: StillDue,
) -> Iterator[tuple[run_types.NewRun, list[run_types.BasinResult]]]:
    """Yield the runs with the basins that are still due, after locking the basins of all."""
    for name in sorted({name for plan in planned for name in plan.forcings}):
        basins.lock(session, name)
    for plan, (run, results) in zip(planned, computed, strict=True):
        if due := {*still_due(session, plan)}:
            yield run, [result for result in results if result.basin.basin_id in due | plan.failures.keys()]


def basins_by_version(session: Session, names: Sequence[str], version: str | None) -> dict[str, list[str]]:
    """Group the requested basins, by default all with a model, by the version that forecasts them.

    Args:
        version: the one to use; None for the current one of each basin.

    Raises:
        UnknownVersion, UnknownBasin: one does not exist.
        NothingToForecast: a basin has no current version.
    """
    wanted = list(names) or with_model(session, version)
    for basin in wanted:
        basins.require(session, basin)
    if version is not None:
        versions.get(session, version)
        return {version: wanted}
    current = promotions.current(session, wanted)
    if missing := [basin for basin in wanted if basin not in current]:
        raise NothingToForecast(
            f"No model version is current for {', '.join(missing[:5])}: train one (freshet train), promote one "
            "(freshet models promote), or name one with --version."
        )
    groups: dict[str, list[str]] = {}
    for basin in wanted:
        groups.setdefault(current[basin], []).append(basin)
    return groups


def _earlier_runs(session: Session, key: str | None) -> list[run_types.Run]:
    """Return the earlier runs of the same request."""
    return [] if key is None else runs.of_key(session, key)


def new_run(
    plan: Plan,
    clock: Clock,
    kind: ForcingKind,
    purpose: run_types.Purpose,
    *,
    key: str | None = None,
    what_if: RunWhatIf | None = None,
    owner: str | None = None,
    t0_named: bool,
) -> run_types.NewRun:
    """Return a planned run as a new stored run.

    Args:
        t0_named: whether T0 was requested; else its age is checked against the clock.
        kind: of its weather after T0.
        what_if: the requested changes; None for a run without changes.
        owner: the operator's key that owns it; None for the service's.
    """
    loaded, created = plan.inputs.loaded, clock.wall()
    age = age_days(plan.days.t0, clock.now())
    return run_types.NewRun(
        id=new_id(created),
        t0_age_days=age,
        t0_stale=stale(age - plan.days.filled) and not t0_named,
        t0=plan.days.t0,
        horizon_days=plan.days.horizon,
        filled_days=plan.days.filled,
        issued_at=clock.now(),
        available_at=clock.now(),
        created_at=created,
        version_id=loaded.version.id,
        weights_hash=loaded.version.weights_hash,
        code_version=metadata.version("freshet"),
        program=program(),
        product=loaded.version.product,
        forcing_kind=kind,
        forcing_cutoff=plan.days.ahead.last if KINDS[kind].of_record else plan.days.t0,
        weather=plan.forecast,
        purpose=purpose,
        what_if=what_if,
        owner=owner,
        members=list(loaded.labels),
        request_key=key,
    )
