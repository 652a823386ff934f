"""What a run says of a basin: its arrays, its summary, and the ledger that decides whether it is issued."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.calendar import Period
from hydrology.ledger import close
from models.arrays import Array, Forcing
from models.inference import ArrayMap
from operations.advance import Advanced, member_states
from operations.dataset import BasinForcing, content_hash, stacked
from operations.loading import LoadedVersion
from records import runs, skill
from records.basins import Basin

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
        snow: the snow cells of those that have some.
        ahead: the days after T0.
    """
    going = {}
    results = []
    for basin, one in advanced.items():
        if one.problem is None:
            going[basin] = one
        else:
            results.append(_without_forecast(basin, "withheld", one.problem))
    if not going:
        return results
    forcing = stacked([forcings[basin].forcing.over(ahead) for basin in going])
    start = member_states([one.state for one in going.values()], len(loaded.labels))
    keep = ("discharge", "loss", "storage") if loaded.ensemble.conserving else ("discharge",)
    outputs, _ = loaded.ensemble.simulate(forcing, start, keep)
    for at, (basin, one) in enumerate(going.items()):
        arrays = {name: values[:, at] for name, values in outputs.items()}
        if not all(np.isfinite(values).all() for values in arrays.values()):
            results.append(_without_forecast(basin, "failed", "The network gave values that are no numbers."))
            continue
        own = forcing.basins(slice(at, at + 1))
        results.append(_result(loaded, basins[basin], one, own, arrays, snow.get(basin), forcings[basin].filled))
    return results


def _without_forecast(basin: str, status: runs.BasinStatus, reason: str) -> runs.BasinResult:
    return runs.BasinResult(basin=runs.RunBasin(basin_id=basin, status=status, reason=reason))


def _result(
    loaded: LoadedVersion,
    basin: Basin,
    advanced: Advanced,
    forcing: Forcing,
    arrays: ArrayMap,
    snow: skill.SnowCells | None,
    filled: dict[str, int],
) -> runs.BasinResult:
    """Return what the run says of one basin; `arrays` are (members, days, ...), `forcing` is its own."""
    state, parent = advanced.state, advanced.parent
    assert state is not None
    mass: Array = forcing.mass[0]
    series, snow_reason = _discharge_series(loaded.labels, mass, arrays), "The network's cells hold no water."
    ledgers: list[runs.Ledger] = []
    if loaded.ensemble.conserving:
        cells = np.asarray(state.arrays["c"])
        ledgers = _ledgers(loaded.labels, mass, arrays, cells)
        series += _water_series(loaded.labels, arrays, cells)
        snow_reason = _no_snow(snow)
        if snow is not None and not snow_reason:
            series.append(_snow_series(loaded.labels, arrays, snow))
    open_members = [ledger.member for ledger in ledgers if not ledger.closes]
    area_name = loaded.version.product
    row = runs.RunBasin(
        basin_id=basin.id,
        status="withheld" if open_members else "issued",
        reason=f"The ledger does not close for member {', '.join(open_members)}." if open_members else None,
        parent_day=parent.day if parent else None,
        parent_hash=parent.sha256 if parent else None,
        state_hash=state.sha256,
        inputs_hash=content_hash(forcing.mass, forcing.auxiliary, forcing.static),
        area_m2=basin.areas.get(area_name),
        area_name=area_name if area_name in basin.areas else None,
        summary=_summary(arrays["discharge"]) | {"snow_reason": snow_reason or None, "filled_forcing": filled},
    )
    return runs.BasinResult(basin=row, series=series, ledgers=ledgers)


def _summary(discharge: npt.NDArray[Any]) -> dict[str, Any]:
    median = np.median(discharge, axis=0)
    return {
        "discharge_mm": float(median.sum()),
        "peak_mm_per_day": float(median.max()),
        "peak_lead": int(median.argmax()) + 1,
    }


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


def _no_snow(snow: skill.SnowCells | None) -> str:
    if snow is None:
        return "No snow cells have been chosen for this basin: evaluate the version."
    return snow.reason or ""


def _snow_series(labels: list[str], arrays: ArrayMap, snow: skill.SnowCells) -> runs.RunSeries:
    held = zip(labels, arrays["storage"], strict=True)
    values = np.stack([storage[:, snow.cells[label]].sum(axis=-1) for label, storage in held])
    return runs.RunSeries("snow", "mm", {"member": labels, "lead": list(range(1, values.shape[1] + 1))}, values)


def _ledgers(labels: list[str], mass: Array, arrays: ArrayMap, cells: npt.NDArray[Any]) -> list[runs.Ledger]:
    closed = close(
        np.broadcast_to(mass, arrays["discharge"].shape),
        arrays["discharge"],
        arrays["loss"],
        cells.sum(axis=-1, dtype=np.float64),
        arrays["storage"][:, -1].sum(axis=-1, dtype=np.float64),
        dtype=np.float32,
    )
    return [
        runs.Ledger(
            label,
            {term.name: term.amount_mm for term in ledger.terms},
            ledger.residual_mm,
            ledger.tolerance * ledger.scale_mm,
        )
        for label, ledger in zip(labels, closed, strict=True)
    ]
