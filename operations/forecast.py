"""Forecast runs: advance the states to T0, look ahead, keep the run whole.

Forcing after T0 is `observed` here: the run is a hindcast, and says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

import numpy as np
import structlog
from sqlalchemy.orm import Session

from hydrology.calendar import Day, Period, day
from hydrology.errors import DataProblem, InvalidInput
from operations.advance import ONE_DAY, advance
from operations.basin_forecast import look_ahead
from operations.dataset import BasinForcing, load_forcing
from operations.loading import load_version
from records import basins, issuing, promotions, runs, skill, versions
from records.clock import Clock
from records.engine import Database
from records.ids import new_id

log = structlog.get_logger()

LONGEST_HORIZON = 366  # days

OnDays = Callable[[int, int], None]


class NothingToForecast(DataProblem):
    """No basin of the request can be forecast."""

    kind = "nothing-to-forecast"


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be forecast.

    Attributes:
        basins: full identifiers.
        horizon: days after T0.
        t0: the last day that the states have consumed; None for the last day before the clock's, or, where the
            record ends, the last day that leaves `horizon` days of forcing.
        version_id: None for the version that is current for each basin.
        product: the forcing product expected; None for the version's.
        purpose: why the runs are made.
        key: names the request, so that the same one again returns its runs; None for a new one each time.
    """

    basins: tuple[str, ...]
    horizon: int = 10
    t0: Day | None = None
    version_id: str | None = None
    product: str | None = None
    purpose: runs.Purpose = "operational"
    key: str | None = None


def forecast(
    database: Database,
    clock: Clock,
    request: Request,
    on_days: OnDays = lambda _done, _total: None,
) -> list[runs.Run]:
    """Issue a run for each version that the basins of the request use.

    Args:
        on_days: gets how many basin-days are advanced, of how many.

    Raises:
        InvalidInput: the horizon is not possible, or a version takes another product.
        UnknownVersion, UnknownBasin: one is not kept.
        NothingToForecast: no basin of a version can be forecast; nothing is kept of its run.
    """
    if not 1 <= request.horizon <= LONGEST_HORIZON:
        raise InvalidInput(f"A horizon of {request.horizon} days is not possible: choose 1 to {LONGEST_HORIZON}.")
    groups = _by_version(database, request)
    if kept := _kept(database, request):
        return kept
    prepared = [_Run(database, clock, request, version, names) for version, names in groups.items()]
    computed = [run.compute(on_days) for run in prepared]
    with database.transaction() as session:
        if again := _kept_in(session, request):
            return again
        issued = [issuing.store(session, new, results) for new, results in computed]
    for run in issued:
        log.info("forecast.run", run=run.id, version=run.version_id, t0=str(run.t0), status=run.status)
    return issued


def _kept(database: Database, request: Request) -> list[runs.Run]:
    with database.reading() as session:
        return _kept_in(session, request)


def _kept_in(session: Session, request: Request) -> list[runs.Run]:
    """Return the runs that the same request led to before."""
    return [] if request.key is None else runs.of_key(session, request.key)


def _by_version(database: Database, request: Request) -> dict[str, list[str]]:
    with database.reading() as session:
        for basin in request.basins:
            basins.require(session, basin)
        if request.version_id is not None:
            versions.get(session, request.version_id)
            return {request.version_id: list(request.basins)}
        current = promotions.current(session, request.basins)
    if missing := [basin for basin in request.basins if basin not in current]:
        raise NothingToForecast(
            f"No model version is current for {', '.join(missing[:5])}: train one (freshet train), promote one "
            "(freshet models promote), or name one with --version."
        )
    groups: dict[str, list[str]] = {}
    for basin in request.basins:
        groups.setdefault(current[basin], []).append(basin)
    return groups


class _Run:
    """One run of one version, from reading the forcing to the kept rows."""

    def __init__(self, database: Database, clock: Clock, request: Request, version: str, names: Sequence[str]) -> None:
        self.database, self.clock, self.request = database, clock, request
        self.failed: dict[str, str] = {}
        with database.reading() as session:
            self.loaded = load_version(session, version)
            self._check_product()
            self.snow = {one.basin_id: one for one in skill.snow_cells(session, version)}
            self.basins = {name: basins.get(session, name) for name in names}
            self.forcings: dict[str, BasinForcing] = {}
            for name in names:
                found = load_forcing(session, name, self.loaded.config)
                if isinstance(found, str):
                    self.failed[name] = found
                else:
                    self.forcings[name] = found
        self._require(self.forcings)
        self.t0 = self._t0()
        self.ahead = Period(self.t0 + ONE_DAY, self.t0 + np.timedelta64(request.horizon, "D"))
        self.usable = self._covering()

    def compute(self, on_days: OnDays) -> tuple[runs.NewRun, list[runs.BasinResult]]:
        """Advance the states, look ahead, and return what is to be kept."""
        advanced = advance(self.database, self.clock, self.loaded, self.usable, self.t0, on_days)
        results = look_ahead(self.loaded, self.basins, self.usable, advanced, self.snow, self.ahead)
        results += [
            runs.BasinResult(basin=runs.RunBasin(basin_id=basin, status="failed", reason=reason))
            for basin, reason in self.failed.items()
        ]
        return self._new_run(), sorted(results, key=lambda result: result.basin.basin_id)

    def _check_product(self) -> None:
        wanted, own = self.request.product, self.loaded.version.product
        if wanted is not None and wanted != own:
            raise InvalidInput(
                f"Version {self.loaded.version.id} takes {own}, not {wanted}, and products are never mixed: forecast "
                f"with {own}, or train a version on {wanted}."
            )

    def _t0(self) -> Day:
        yesterday = day(self.clock.now().date()) - ONE_DAY
        if self.request.t0 is not None:
            if self.request.t0 > yesterday:
                raise InvalidInput(
                    f"T0 {self.request.t0} has not ended at {self.clock.now():%Y-%m-%d %H:%M} UTC, the time of the "
                    f"clock: choose {yesterday} or an earlier day."
                )
            return self.request.t0
        record_end = max(one.period.last for one in self.forcings.values())
        return min(yesterday, record_end - np.timedelta64(self.request.horizon, "D"))

    def _covering(self) -> dict[str, BasinForcing]:
        """Return the basins whose record holds T0 and the days ahead; note why the others cannot serve."""
        usable = {}
        t0, ahead = self.t0, self.ahead
        for basin, one in self.forcings.items():
            record = one.period
            if not record.first <= t0 <= record.last:
                why = f"{basin}: T0 {t0} is outside the {self.loaded.version.product} record {record}."
            elif ahead.last > record.last:
                why = (
                    f"{basin}: {self.request.horizon} days after T0 {t0} need forcing until {ahead.last}, and the "
                    f"record ends on {record.last}: shorten the horizon or choose an earlier T0."
                )
            elif (gap := one.first_gap(ahead)) is not None:
                why = (
                    f"{basin}: the forcing of {gap}, one of the {self.request.horizon} days after T0 {t0}, is missing."
                )
            else:
                usable[basin] = one
                continue
            self.failed[basin] = f"{why} {one.stop}" if one.stop else why
        self._require(usable)
        return usable

    def _require(self, left: Mapping[str, object]) -> None:
        if not left:
            reasons = list(self.failed.values())
            more = f" And {len(reasons) - 3} more." if len(reasons) > 3 else ""
            raise NothingToForecast(" ".join(reasons[:3]) + more)

    def _new_run(self) -> runs.NewRun:
        version, created = self.loaded.version, self.clock.wall()
        return runs.NewRun(
            id=new_id(created),
            t0=self.t0,
            horizon_days=self.request.horizon,
            issued_at=self.clock.now(),
            available_at=self.clock.now(),
            created_at=created,
            version_id=version.id,
            weights_hash=version.weights_hash,
            code_version=metadata.version("freshet"),
            product=version.product,
            forcing_kind="observed",
            forcing_cutoff=self.ahead.last,
            purpose=self.request.purpose,
            members=list(self.loaded.labels),
            request_key=self.request.key,
        )
