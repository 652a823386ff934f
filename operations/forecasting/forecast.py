"""Forecast runs: advance the states to T0, simulate the days ahead, store the run atomically.

The weather after T0 is observed (the run is labelled a hindcast), a weather forecast, that of other years (ESP), or
hypothetical (the run is labelled a what-if). Volumes are ESP runs with a horizon to the end of a season; they are
always stored as runs on request, so that a basin's latest forecast stays the operational one.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import structlog
from sqlalchemy.orm import Session

from hydrology.base.calendar import age_days, stale
from hydrology.weather.forcing_kinds import KINDS
from jobspec.extensions import extensions
from jobspec.jobs.forecasting import ForecastParams, VolumesParams
from operations.alerts.decide_alerts import decide
from operations.basin_data.basins import last_ended, with_model
from operations.forecasting.forecast_changes import with_changes
from operations.forecasting.plans import ForecastInputs, NothingToForecast, Plan, plans, read_inputs
from operations.forecasting.results import results_of
from operations.forecasting.weather_ahead import choose_days
from operations.versions.processes import program
from records.basins import basins
from records.database.checksums import new_id
from records.database.stored import grouped
from records.database.visibility import SHADOW
from records.database.work import Work
from records.forecasts import volumes_and_recessions
from records.outlooks.outlooks import prepare, store_run
from records.runs import run_types
from records.runs.run_weather import RunWhatIf
from records.runs.runs import RunRequest
from records.versions import promotions, versions
from runtime.release import code_version

log = structlog.get_logger()

StillDue = Callable[[Session, Plan], Collection[str]]
Computed = Sequence[tuple[run_types.NewRun, list[run_types.BasinResult]]]
"""Runs with the results of their basins."""


def forecast(work: Work, request: RunRequest[ForecastParams]) -> list[run_types.Run]:
    """Issue a run for each version and weather forecast of the basins, and decide their alerts.

    Without a requested T0 it is the last day before the clock's, or, where the record ends, the last day that leaves
    `horizon` days of forcing (its last day, where the weather after T0 is not the observed). Where no basin of a
    version can be forecast, nothing of its run is stored.
    """
    params = request.params
    if KINDS[params.weather].hypothetical:
        request = replace(request, purpose="what-if")
    with work.database.reading() as session:
        groups = basins_by_version(session, params.basins, params.version)
        issued = request.earlier_runs(session)
    if not issued:
        issued = issue(work, request, plans_of(work, groups, params))
    if request.purpose == "operational":
        decide(work, [basin for names in groups.values() for basin in names])
    return issued


def plans_of(work: Work, groups: Mapping[str, Sequence[str]], params: ForecastParams) -> list[Plan]:
    """Return the runs of basins by version, with the errors of `forecast`."""
    inputs = [read_inputs(work.database, version, names, product=params.product) for version, names in groups.items()]
    return [plan for of_version in inputs for plan in plans(work, of_version, params)]


def issue(
    work: Work,
    request: RunRequest[Any],
    planned: Sequence[Plan],
    still_due: StillDue | None = None,
) -> list[run_types.Run]:
    """Compute planned runs, and store all or none.

    `still_due` returns the basins of a plan to store, called while no other call with it can store theirs; None for
    all.
    """
    planned, operational = _apart(work, planned), request.purpose == "operational"
    results = [results_of(work, plan, rain_response=operational) for plan in planned]
    for mix in [one.load(one.mix) for one in extensions() if one.mix is not None]:
        results = [mix(work, plan, of_plan) for plan, of_plan in zip(planned, results, strict=True)]
    new = [new_run(work, plan, request) for plan in planned]
    if operational:
        of_runs = zip(planned, new, results, strict=True)
        results = [with_changes(work, plan, run, of_plan) for plan, run, of_plan in of_runs]

    def select(session: Session, computed: Computed) -> Computed:
        if still_due is None:
            return computed
        basins.lock(session, *(name for plan in planned for name in plan.forcings))
        return [
            (run, [result for result in of_run if result.basin.basin_id in due | plan.failures.keys()])
            for plan, (run, of_run) in zip(planned, computed, strict=True)
            if (due := {*still_due(session, plan)})
        ]

    issued = store_all(work, request, [*zip(new, results, strict=True)], select)
    for run in issued:
        of_run = {"run": run.id, "t0": str(run.t0), "age_days": run.t0_age_days, "stale": run.t0_stale}
        log.info("forecast.run", **of_run, version=run.version_id, status=run.status)
    return issued


def _apart(work: Work, planned: Sequence[Plan]) -> list[Plan]:
    """Return plans whose basins are public, and others whose basins are in the shadow: a run is of one kind."""
    with work.database.reading() as session:
        hidden = {*basins.registered_with(session, SHADOW)}
    parts = [
        replace(plan.only(names), failures={name: why for name, why in plan.failures.items() if name not in others})
        for plan in planned
        for others in ({*hidden}, {*plan.forcings, *plan.failures} - hidden)
        if (names := [name for name in plan.forcings if name not in others])
    ]
    return parts if hidden else [*planned]


def store_all(
    work: Work,
    request: RunRequest[Any],
    computed: Computed,
    select: Callable[[Session, Computed], Computed] | None = None,
) -> list[run_types.Run]:
    """Store computed runs, all or none; return those that the same request has stored meanwhile, if any.

    What to store is selected in the transaction that stores it.
    """
    with work.database.reading() as session:
        prepared = {run.id: prepare(session, run, of_run) for run, of_run in computed}
    with work.database.transaction() as session:
        if earlier := request.earlier_runs(session):
            return earlier
        to_store = computed if select is None else select(session, computed)
        return [store_run(session, run, of_run, prepared[run.id]) for run, of_run in to_store]


def basins_by_version(session: Session, names: Sequence[str], version: str | None) -> dict[str, list[str]]:
    """Group the requested basins by version; by the given one, or the current one of each."""
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
    return grouped((current[basin], basin) for basin in wanted)


def new_run(work: Work, plan: Plan, request: RunRequest[Any], what_if: RunWhatIf | None = None) -> run_types.NewRun:
    """Return a planned run as a new stored run; unless T0 was requested, check its age by the clock."""
    clock, kind = work.clock, plan.params.weather
    loaded, created = plan.inputs.loaded, clock.wall()
    age = age_days(plan.days.t0, clock.now())
    return run_types.NewRun(
        id=new_id(created),
        t0_age_days=age,
        t0_stale=stale(age - plan.days.filled) and request.params.t0 is None,
        t0=plan.days.t0,
        horizon_days=plan.days.horizon,
        filled_days=plan.days.filled,
        issued_at=clock.now(),
        available_at=request.available_at or clock.now(),
        created_at=created,
        version_id=loaded.version.id,
        weights_hash=loaded.version.weights_hash,
        code_version=code_version(),
        program=program(),
        product=loaded.version.product,
        forcing_kind=kind,
        forcing_cutoff=plan.days.ahead.last if KINDS[kind].of_record else plan.days.t0,
        weather=plan.forecast,
        purpose=request.purpose,
        what_if=what_if,
        owner=request.owner,
        members=list(loaded.labels),
        request_key=request.key,
    )


def forecast_volumes(work: Work, request: RunRequest[VolumesParams]) -> list[run_types.Run]:
    """Issue the runs for the volume of the requested season, or of each basin's own."""
    params = request.params
    with work.database.reading() as session:
        groups = basins_by_version(session, params.basins, params.version)
        if earlier := request.earlier_runs(session):
            return earlier
    planned = [
        plan
        for version, names in groups.items()
        for plan in _plans(work, read_inputs(work.database, version, names), params)
    ]
    return issue(work, replace(request, purpose="on-request"), planned)


def _plans(work: Work, inputs: ForecastInputs, params: VolumesParams) -> list[Plan]:
    """Return the runs of a version. One for each number of days to the end of a season."""
    if not inputs.forcings:
        raise NothingToForecast(" ".join(map(str, inputs.failures.values())))
    ended = max(last_ended(inputs.basins[name], work.clock.now()) for name in inputs.forcings)
    last = max(forcing.period.last for forcing in inputs.forcings.values())
    t0 = choose_days(work.clock, params.t0, 1, last, ended).t0
    with work.database.reading() as session:
        seasons = {
            name: params.season or volumes_and_recessions.season_of(session, name, t0) for name in inputs.forcings
        }
    planned: list[Plan] = []
    by_horizon = grouped((int((season.after(t0).last - t0).astype(int)), name) for name, season in seasons.items())
    for horizon, names in by_horizon.items():
        part = replace(inputs.only(names), failures={} if planned else inputs.failures)
        asked = ForecastParams(basins=names, t0=t0, horizon=horizon, weather="climatology")
        planned += plans(work, part, asked)
    return planned
