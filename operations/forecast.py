"""Forecast runs: advance the states to T0, look ahead, keep the run whole.

Forcing after T0 is `observed` here: the run is a hindcast, and says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

import structlog
from sqlalchemy.orm import Session

from hydrology.errors import DataProblem, InvalidInput
from jobspec.kinds import ForecastParams
from operations.advance import advance
from operations.basin_forecast import look_ahead, without_forecast
from operations.basins import with_model
from operations.dataset import BasinForcing, load_forcing
from operations.forecast_days import RunDays, choose_days, why_not_covered
from operations.loading import LoadedVersion, load_version
from operations.machine import program
from records import basins, issuing, promotions, runs, skill, versions
from records.clock import Clock
from records.engine import Database
from records.ids import new_id

log = structlog.get_logger()

OnDays = Callable[[int, int], None]


class NothingToForecast(DataProblem):
    """No basin of the request can be forecast."""

    kind = "nothing-to-forecast"


def forecast(
    database: Database,
    clock: Clock,
    params: ForecastParams,
    *,
    purpose: runs.Purpose = "operational",
    key: str | None = None,
    on_days: OnDays = lambda _done, _total: None,
) -> list[runs.Run]:
    """Issue a run for each version that the basins use.

    Args:
        params: what is to be forecast. Without a T0 it is the last day before the clock's, or, where the record ends,
            the last day that leaves `horizon` days of forcing.
        purpose: why the runs are made.
        key: names the request, so that the same one again returns its runs; None for new ones each time.
        on_days: gets how many basin-days are advanced, of how many.

    Raises:
        InvalidInput: no basin is kept, T0 is in the future, or a version takes another product.
        UnknownVersion, UnknownBasin: one is not kept.
        NothingToForecast: no basin of a version can be forecast; nothing is kept of its run.
    """
    with database.reading() as session:
        groups = _basins_by_version(session, params)
        if earlier := _earlier_runs(session, key):
            return earlier
    inputs = [_read_inputs(database, params, version, names) for version, names in groups.items()]
    plans = [_plan(of_version, clock, params) for of_version in inputs]
    results = [_results(plan, database, clock, on_days) for plan in plans]
    with database.transaction() as session:
        if earlier := _earlier_runs(session, key):
            return earlier
        issued = [
            issuing.store(session, _new_run(plan, clock, purpose, key), of_plan)
            for plan, of_plan in zip(plans, results, strict=True)
        ]
    for run in issued:
        log.info("forecast.run", run=run.id, version=run.version_id, t0=str(run.t0), status=run.status)
    return issued


def _basins_by_version(session: Session, params: ForecastParams) -> dict[str, list[str]]:
    wanted = params.basins or with_model(session, params.version)
    for basin in wanted:
        basins.require(session, basin)
    if params.version is not None:
        versions.get(session, params.version)
        return {params.version: wanted}
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


def _earlier_runs(session: Session, key: str | None) -> list[runs.Run]:
    """Return the runs that the same request led to before."""
    return [] if key is None else runs.of_key(session, key)


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What is read for a run of one version.

    Attributes:
        basins: all that the run is of.
        forcings: of those that have some.
        snow: the snow cells of those that have some.
        failures: why the others have no forcing.
    """

    loaded: LoadedVersion
    basins: Mapping[str, basins.Basin]
    forcings: Mapping[str, BasinForcing]
    snow: Mapping[str, skill.SnowCells]
    failures: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Plan:
    """A run that can be computed: its days, the forcings that hold them, and why the other basins fail."""

    inputs: _Inputs
    days: RunDays
    forcings: Mapping[str, BasinForcing]
    failures: Mapping[str, str]


def _read_inputs(database: Database, params: ForecastParams, version: str, names: Sequence[str]) -> _Inputs:
    with database.reading() as session:
        loaded = load_version(session, version)
        _check_product(params, loaded.version)
        loadings = {name: load_forcing(session, name, loaded.config) for name in names}
        return _Inputs(
            loaded=loaded,
            basins={name: basins.get(session, name) for name in names},
            forcings={name: forcing for name, forcing in loadings.items() if isinstance(forcing, BasinForcing)},
            snow={cells.basin_id: cells for cells in skill.snow_cells(session, version)},
            failures={name: reason for name, reason in loadings.items() if isinstance(reason, str)},
        )


def _check_product(params: ForecastParams, version: versions.Version) -> None:
    if params.product not in (None, version.product):
        raise InvalidInput(
            f"Version {version.id} takes {version.product}, not {params.product}, and products are never mixed: "
            f"forecast with {version.product}, or train a version on {params.product}."
        )


def _plan(inputs: _Inputs, clock: Clock, params: ForecastParams) -> _Plan:
    """Choose the days of a run, and leave out the basins whose records do not hold them."""
    _require(inputs.forcings, inputs.failures)
    record_end = max(forcing.period.last for forcing in inputs.forcings.values())
    days, product = choose_days(clock, params.t0, params.horizon, record_end), inputs.loaded.version.product
    reasons = {name: why_not_covered(name, forcing, product, days) for name, forcing in inputs.forcings.items()}
    covering = {name: forcing for name, forcing in inputs.forcings.items() if reasons[name] is None}
    failures = {**inputs.failures, **{name: reason for name, reason in reasons.items() if reason is not None}}
    _require(covering, failures)
    return _Plan(inputs, days, covering, failures)


def _require(forcings: Mapping[str, BasinForcing], failures: Mapping[str, str]) -> None:
    if not forcings:
        reasons = list(failures.values())
        more = f" And {len(reasons) - 3} more." if len(reasons) > 3 else ""
        raise NothingToForecast(" ".join(reasons[:3]) + more)


def _results(plan: _Plan, database: Database, clock: Clock, on_days: OnDays) -> list[runs.BasinResult]:
    """Advance the states to T0 and look ahead; return what the run says of each basin, in their order."""
    inputs = plan.inputs
    advanced = advance(database, clock, inputs.loaded, plan.forcings, plan.days.t0, on_days)
    results = look_ahead(inputs.loaded, inputs.basins, plan.forcings, advanced, inputs.snow, plan.days.ahead)
    results += [without_forecast(basin, "failed", reason) for basin, reason in plan.failures.items()]
    return sorted(results, key=lambda result: result.basin.basin_id)


def _new_run(plan: _Plan, clock: Clock, purpose: runs.Purpose, key: str | None) -> runs.NewRun:
    loaded, created = plan.inputs.loaded, clock.wall()
    return runs.NewRun(
        id=new_id(created),
        t0=plan.days.t0,
        horizon_days=plan.days.horizon,
        issued_at=clock.now(),
        available_at=clock.now(),
        created_at=created,
        version_id=loaded.version.id,
        weights_hash=loaded.version.weights_hash,
        code_version=metadata.version("freshet"),
        program=program(),
        product=loaded.version.product,
        forcing_kind="observed",
        forcing_cutoff=plan.days.ahead.last,
        purpose=purpose,
        members=list(loaded.labels),
        request_key=key,
    )
