"""The change of every forecast by cause, and the error of every verified one, over 30 replayed issue days.

Real basins of CAMELS-US and the shipped ensemble, in days of its test years; the weather forecasts are perturbed
observations of 10 traces. On the 15th issue day the precipitation of ten earlier days is revised in every third basin;
on the 25th another version is promoted in every fifth. The residual of a change is what its parts, as stored, leave of
the difference between the two stored runs, relative to the largest difference of its days; the interaction is by how
much the parts depend on the order of their reruns, relative to the size of all parts.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from benchmarks.regional import data
from benchmarks.replays.alerts import ENSEMBLE, OTHER
from hydrology.attribution import CAUSES, PARTS, interaction
from hydrology.base.absent import absent
from hydrology.base.calendar import Day, Period, as_date, day
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries
from jobspec.jobs.forecasting import ISSUE_TIME, ReplayParams
from operations.basin_data.ingest import ingest
from operations.daily.replay import replay
from operations.forecasting.forecast_changes import with_changes
from operations.training.pretrained import install, read_shipped
from operations.verification.verify_issued import verify
from records.database.engine import Database
from records.runs import run_arrays, run_types, runs, states
from records.runs.run_summary import RunChange
from records.runs.runs import RunRequest
from records.series import revisions, series, series_writer
from records.verification import error_splits
from records.verification.error_splits import ErrorFilter, ForecastError, MeanError
from records.versions import promotions
from runtime.clock import Clock
from testing.work import work_of

Array = npt.NDArray[np.float64]
FIRST, ISSUE_DAYS, HORIZON, TRACES = day("1997-03-10"), 30, 7, 10
REVISED_ON, REVISED_EVERY, REVISED_DAYS, FACTOR = 15, 3, 10, 1.3
PROMOTED_ON, PROMOTED_EVERY = 25, 5
SETTLED = timedelta(days=45)


def measure(basins: int = 40) -> dict[str, Any]:
    """Return the residuals, the interaction and the mean size of each part, of changes and of errors."""
    names = data.basins()[:: len(data.basins()) // basins][:basins]
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'freshet.sqlite'}")
        database.migrate()
        cost = _Cost()
        began = time.process_time()
        issued = _lived(database, names, cost)
        replayed = time.process_time() - began
        last = datetime.combine(as_date(FIRST + ISSUE_DAYS + HORIZON), ISSUE_TIME)
        began = time.process_time()
        for version in {run.version_id for run in issued}:
            verify(work_of(database, Clock(last + SETTLED)), version)
        verified = time.process_time() - began
        report = {**_changes(database, issued), **_errors(database)}
        database.close()
    return {
        "shape": f"{basins} basins x {ISSUE_DAYS} issue days, {HORIZON} days ahead, {TRACES} traces",
        **report,
        "cpu_seconds": {"replay": round(replayed), "of it changes": round(cost.seconds), "verify": round(verified)},
    }


@dataclass(slots=True)
class _Cost:
    """CPU seconds spent on changes."""

    seconds: float = 0.0

    def timed(self, compute: Any) -> Any:
        """Return the function that computes changes, timed."""

        def timed(*arguments: Any) -> Any:
            began = time.process_time()
            try:
                return compute(*arguments)
            finally:
                self.seconds += time.process_time() - began

        return timed


def _at(issue_day: Day) -> datetime:
    return datetime.combine(as_date(issue_day), ISSUE_TIME)


def _lived(database: Database, names: Sequence[str], cost: _Cost) -> list[run_types.Run]:
    """Replay the issue days, with a revision and a promotion on the way."""
    clock = Clock(_at(FIRST))
    outcomes = ingest(work_of(database, clock), data.source(), names)
    data.require_all({outcome.basin: outcome.error for outcome in outcomes if outcome.error})
    version, other = (install(work_of(database, clock), read_shipped(name)).version_id for name in (ENSEMBLE, OTHER))
    _promote(database, version, names)
    issued: list[run_types.Run] = []
    with patch("operations.forecasting.forecast.with_changes", cost.timed(with_changes)):
        for number in range(ISSUE_DAYS):
            issue_day = FIRST + number
            if number == REVISED_ON:
                _revise(database, names[::REVISED_EVERY], issue_day - 2 * REVISED_DAYS)
            if number == PROMOTED_ON:
                _promote(database, other, names[::PROMOTED_EVERY])
            params = ReplayParams(period=Period(issue_day, issue_day), horizon=HORIZON, traces=TRACES)
            issued += replay(work_of(database, Clock()), RunRequest(params)).runs
    return issued


def _promote(database: Database, version: str, names: Sequence[str]) -> None:
    with database.transaction() as session:
        promotions.promote(session, version, names, reason="measured", by="a benchmark", at=datetime.now(UTC))


def _revise(database: Database, names: Sequence[str], first: Day) -> None:
    """Store more precipitation on some days before the newest states."""
    days, now = Period(first, first + REVISED_DAYS - 1), datetime.now(UTC)
    reason = absent(Reason.SERIES_REVISED, product=data.PRODUCT, variable="precipitation")
    with database.transaction() as session:
        source = revisions.register_source(session, "a revision by the benchmark", "0" * 64, 1, now)
        for name in names:
            stored = series.read(session, name, data.PRODUCT, "precipitation", days)
            assert stored is not None
            revised = DailySeries(first, (FACTOR * stored.values).astype(np.float32), stored.flags, stored.unit)
            series_writer.write(session, name, data.PRODUCT, "precipitation", revised, source_id=source, at=now)
            states.invalidate(session, name, data.PRODUCT, first, reason, now)


@dataclass(slots=True)
class _Ledger:
    """The accounts of all changes."""

    residuals: list[float] = field(default_factory=list)
    sizes: list[Array] = field(default_factory=list)
    interactions: list[float] = field(default_factory=list)
    without: list[str] = field(default_factory=list)


def _changes(database: Database, issued: Sequence[run_types.Run]) -> dict[str, Any]:
    ledger = _Ledger()
    with database.reading() as session:
        for run in issued:
            for basin in runs.basins_of(session, run.id):
                found = basin.summary.change
                if not isinstance(found, RunChange):
                    ledger.without.append(basin.why(found).code)
                    continue
                arrays = runs.series_of(session, run.id, basin.basin_id)
                before = runs.series_of(session, found.run, basin.basin_id)
                parts = arrays[run_arrays.CHANGES].values
                lag = int((run.t0 - day(found.t0)).astype(int))
                flows = (_flow(one, calibrated=found.without_flow is None) for one in (arrays, before))
                later, earlier = next(flows)[: parts.shape[-1]], next(flows)[lag:][: parts.shape[-1]]
                ledger.residuals += _residuals(parts, later - earlier)
                ledger.sizes.append(np.abs(parts[0]).sum(axis=1))
                if found.without_reverse is None:
                    crossed = np.nansum(np.abs(interaction(parts))) / 2
                    ledger.interactions.append(float(crossed / max(np.nansum(np.abs(parts[0])), 1e-12)))
    reasons = {code: ledger.without.count(code) for code in sorted(set(ledger.without))}
    of_parts = zip(PARTS, np.array(ledger.sizes).T, strict=True)
    sizes = {name: of_part[np.isfinite(of_part)] for name, of_part in of_parts}
    return {
        "changes": len(ledger.sizes),
        "without": reasons,
        "largest_residual": max(ledger.residuals),
        "mean_size_mm": {
            name: round(float(np.mean(known)), 4) if len(known) else None for name, known in sizes.items()
        },
        "in_both_orders": len(ledger.interactions),
        "interaction_share": _quantiles(ledger.interactions),
    }


def _flow(arrays: Any, *, calibrated: bool) -> Array:
    if not calibrated:
        return run_arrays.mean_of_members(arrays)
    quantiles = arrays[run_arrays.CALIBRATED]
    return np.asarray(quantiles.values[list(quantiles.axes["level"]).index(0.5)], dtype=np.float64)


def _residuals(parts: Array, change: Array) -> Iterator[float]:
    """Yield the relative residual of each order that is known."""
    for order in parts:
        if np.isfinite(order[0]).all():
            yield float(np.abs(np.nansum(order, axis=0) - change).max() / max(np.abs(change).max(), 1e-12))


def _errors(database: Database) -> dict[str, Any]:
    """Return the residual of the error splits, and the mean size of each part."""
    with database.reading() as session:
        means, count = error_splits.means(session, ErrorFilter()), error_splits.count(session, ErrorFilter())
        every = error_splits.every(session, ErrorFilter())
    assert means is not None
    residuals = [_residual(one) for one in every]
    return {
        "errors_split": count,
        "largest_residual_of_errors": max(residuals),
        "mean_size_of_errors": {name: _sizes(mean) for name, mean in means.items()},
    }


def _sizes(mean: MeanError) -> dict[str, float]:
    return {name: round(getattr(mean, name), 4) for name in ("error", *CAUSES)}


def _residual(error: ForecastError) -> float:
    splits = (error.volume, error.peak)
    return max(
        abs(split.weather + split.initial_state + split.network - split.error) / max(abs(split.error), 1e-12)
        for split in splits
    )


def _quantiles(values: Sequence[float]) -> dict[str, float]:
    low, high = np.quantile(values, (0.5, 0.95))
    return {"mean": round(float(np.mean(values)), 4), "median": round(float(low), 4), "p95": round(float(high), 4)}
