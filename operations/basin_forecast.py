"""The forecast of one basin in a run: arrays, summary, and the ledger that decides whether it is issued."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.calendar import Period
from hydrology.ledger import Sums, close, close_since_empty, negative_water
from models.arrays import Array
from models.inference import GROUP, ArrayMap
from operations.advance import ONE_DAY, Advanced, member_states
from operations.dataset import BasinForcing, content_hash, stacked
from operations.learnt import learnt_from
from operations.loading import LoadedVersion
from operations.snow import why_no_snow
from records import runs, skill
from records.basins import Basin
from records.run_summary import RunSummary
from records.since_empty import SinceEmpty
from records.states import State

QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


def look_ahead(
    loaded: LoadedVersion,
    basins: Mapping[str, Basin],
    forcings: Mapping[str, BasinForcing],
    advanced: Mapping[str, Advanced],
    snow: Mapping[str, skill.SnowCells],
    ahead: Period,
) -> list[runs.BasinResult]:
    """Run the version over the days after T0 from the states of T0.

    A basin whose ledger does not close for every member, on the way to T0 or after it, is withheld.

    Args:
        basins, forcings, advanced: of the basins to forecast.
        snow: the snow cells, for basins where cells were chosen.
        ahead: the days after T0.
    """
    withheld = {basin: at_t0.problem for basin, at_t0 in advanced.items() if at_t0.problem is not None}
    results = [without_forecast(basin, "withheld", problem) for basin, problem in withheld.items()]
    ready = [basin for basin in advanced if basin not in withheld]
    outputs = ("discharge", "loss", "storage") if loaded.ensemble.conserving else ("discharge",)
    for first in range(0, len(ready), GROUP):
        names = ready[first : first + GROUP]
        forcing = stacked([forcings[basin].forcing.over(ahead) for basin in names])
        start = member_states([advanced[basin].state for basin in names], len(loaded.labels))
        arrays, _ = loaded.ensemble.simulate(forcing, start, outputs)
        for at, basin in enumerate(names):
            of_basin = {name: values[:, at] for name, values in arrays.items()}
            start_of_basin = _Start(loaded, basins[basin], forcings[basin], advanced[basin], snow.get(basin), ahead)
            results.append(_result(start_of_basin, of_basin))
    return results


def without_forecast(basin: str, status: runs.BasinStatus, reason: str) -> runs.BasinResult:
    """Return the result of a basin without a forecast, with the reason."""
    return runs.BasinResult(basin=runs.RunBasin(basin_id=basin, status=status, reason=reason))


@dataclass(frozen=True, slots=True)
class _Start:
    """What the forecast of one basin is computed from."""

    loaded: LoadedVersion
    basin: Basin
    forcing: BasinForcing
    advanced: Advanced
    snow: skill.SnowCells | None
    ahead: Period


def _result(start: _Start, arrays: ArrayMap) -> runs.BasinResult:
    """Return the result of a basin; `arrays` are (members, days, ...) after T0."""
    if not all(np.isfinite(values).all() for values in arrays.values()):
        return without_forecast(start.basin.id, "failed", "The network computed values that are not finite.")
    state, labels = start.advanced.state, start.loaded.labels
    assert state is not None
    mass: Array = start.forcing.forcing.over(start.ahead).mass[0]
    series, ledgers = _discharge_series(labels, mass, arrays), list[runs.Ledger]()
    snow_reason: str | None = "The network's cells do not hold water."
    if start.loaded.ensemble.conserving:
        cells = np.asarray(state.arrays["c"])
        ledgers = _ledgers(labels, mass, arrays, state)
        series += _water_series(labels, arrays, cells)
        snow_reason = why_no_snow(start.snow)
        if start.snow is not None and snow_reason is None:
            series.append(_snow_series(labels, arrays, start.snow))
    open_members = [ledger.member for ledger in ledgers if not ledger.closes]
    reason = f"The ledger does not close for member {', '.join(open_members)}." if open_members else None
    if reason is None and start.loaded.ensemble.conserving:
        reason = _why_negative(labels, arrays)
    summary = _summary(start, arrays["discharge"], snow_reason)
    return runs.BasinResult(basin=_run_basin(start, state, reason, summary), series=series, ledgers=ledgers)


def _why_negative(labels: list[str], arrays: ArrayMap) -> str | None:
    """Say which member has negative water; None where none has."""
    faults = negative_water(arrays["discharge"], arrays["loss"], arrays["storage"])
    for member, fault in faults.items():
        return f"The ledger of member {labels[member]} cannot be right: {fault}."
    return None


def _summary(start: _Start, discharge: npt.NDArray[Any], snow_reason: str | None) -> RunSummary:
    median = np.median(discharge, axis=0)
    names, static = start.loaded.config.inputs.static, start.forcing.forcing.static[0]
    learnt = learnt_from(start.loaded.version, start.basin.id, names, static)
    return RunSummary(
        discharge_mm=float(median.sum()),
        peak_mm_per_day=float(median.max()),
        peak_lead=int(median.argmax()) + 1,
        snow_reason=snow_reason,
        filled_forcing=start.forcing.filled_until(start.ahead.last),
        skipped_days=start.forcing.skipped_until(start.ahead.last),
        seen_in_training=learnt.seen_in_training,
        outside_training=learnt.outside_training,
        trained_on=learnt.trained_on,
        training_note=learnt.training_note,
    )


def _run_basin(start: _Start, state: State, reason: str | None, summary: RunSummary) -> runs.RunBasin:
    parent, area_name = start.advanced.parent, start.loaded.version.product
    first = parent.day + ONE_DAY if parent else start.forcing.period.first
    consumed = start.forcing.forcing.over(Period(first, start.ahead.last))
    return runs.RunBasin(
        basin_id=start.basin.id,
        status="withheld" if reason else "issued",
        reason=reason,
        parent_day=parent.day if parent else None,
        parent_hash=parent.sha256 if parent else None,
        state_hash=state.sha256,
        inputs_hash=content_hash(consumed.mass, consumed.auxiliary, consumed.static),
        area_m2=start.basin.areas.get(area_name),
        area_name=area_name if area_name in start.basin.areas else None,
        summary=summary,
        spin_up_days=state.spin_up_days or len(Period(start.forcing.period.first, state.day)),
    )


def _discharge_series(labels: list[str], mass: Array, arrays: ArrayMap) -> list[runs.RunSeries]:
    leads = list(range(1, len(mass) + 1))
    quantiles = np.quantile(arrays["discharge"], QUANTILES, axis=0).astype(np.float32)
    return [
        runs.RunSeries("discharge", "mm/day", {"member": labels, "lead": leads}, arrays["discharge"]),
        runs.RunSeries("discharge_quantiles", "mm/day", {"level": QUANTILES, "lead": leads}, quantiles),
        runs.RunSeries("precipitation", "mm/day", {"lead": leads}, mass),
    ]


def _water_series(labels: list[str], arrays: ArrayMap, cells: npt.NDArray[Any]) -> list[runs.RunSeries]:
    axes: dict[str, list[Any]] = {"member": labels, "lead": list(range(1, arrays["loss"].shape[1] + 1))}
    return [
        runs.RunSeries("loss", "mm/day", axes, arrays["loss"]),
        runs.RunSeries("storage", "mm", axes, arrays["storage"].sum(axis=-1)),
        runs.RunSeries("cells_at_t0", "mm", {"member": labels, "cell": list(range(cells.shape[-1]))}, cells),
    ]


def _snow_series(labels: list[str], arrays: ArrayMap, snow: skill.SnowCells) -> runs.RunSeries:
    storages = zip(labels, arrays["storage"], strict=True)
    values = np.stack([storage[:, snow.cells[label]].sum(axis=-1) for label, storage in storages])
    return runs.RunSeries("snow", "mm", {"member": labels, "lead": list(range(1, values.shape[1] + 1))}, values)


def _ledgers(labels: list[str], mass: Array, arrays: ArrayMap, state: State) -> list[runs.Ledger]:
    """Return each member's ledger of the days ahead, with its residual since the empty store."""
    at_t0 = np.asarray(state.arrays["c"]).sum(axis=-1, dtype=np.float64)
    closed = close(
        np.broadcast_to(mass, arrays["discharge"].shape),
        arrays["discharge"],
        arrays["loss"],
        at_t0,
        arrays["storage"][:, -1].sum(axis=-1, dtype=np.float64),
        dtype=np.float32,
    )
    since_empty = [None] * len(labels) if state.sums is None else _since_empty(state.sums, at_t0)
    return [
        runs.Ledger(
            member=label,
            terms={term.name: term.amount_mm for term in ledger.terms},
            residual_mm=ledger.residual_mm,
            tolerance_mm=ledger.tolerance * ledger.scale_mm,
            since_empty=since,
        )
        for label, ledger, since in zip(labels, closed, since_empty, strict=True)
    ]


def _since_empty(sums: Sums, storage: npt.NDArray[np.float64]) -> list[SinceEmpty]:
    return [
        SinceEmpty(residual_mm=ledger.residual_mm, precipitation_mm=ledger.scale_mm)
        for ledger in close_since_empty(sums, storage)
    ]
