"""What a run says of a basin: its arrays, its summary, and the ledger that decides whether it is issued."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.calendar import Period
from hydrology.ledger import close
from models.arrays import Array
from models.inference import GROUP, ArrayMap
from operations.advance import ONE_DAY, Advanced, member_states
from operations.dataset import BasinForcing, content_hash, stacked
from operations.learnt import learnt
from operations.loading import LoadedVersion
from operations.snow import why_no_snow
from records import runs, skill
from records.basins import Basin
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
        snow: the snow cells of those that have some.
        ahead: the days after T0.
    """
    results = []
    going = []
    for basin, one in advanced.items():
        if one.problem is None:
            going.append(basin)
        else:
            results.append(_without_forecast(basin, "withheld", one.problem))
    keep = ("discharge", "loss", "storage") if loaded.ensemble.conserving else ("discharge",)
    for first in range(0, len(going), GROUP):
        names = going[first : first + GROUP]
        forcing = stacked([forcings[basin].forcing.over(ahead) for basin in names])
        start = member_states([advanced[basin].state for basin in names], len(loaded.labels))
        outputs, _ = loaded.ensemble.simulate(forcing, start, keep)
        for at, basin in enumerate(names):
            arrays = {name: values[:, at] for name, values in outputs.items()}
            outlook = _Outlook(loaded, basins[basin], forcings[basin], advanced[basin], snow.get(basin), ahead)
            results.append(outlook.result(arrays))
    return results


def _without_forecast(basin: str, status: runs.BasinStatus, reason: str) -> runs.BasinResult:
    return runs.BasinResult(basin=runs.RunBasin(basin_id=basin, status=status, reason=reason))


@dataclass(frozen=True, slots=True)
class _Outlook:
    """One basin of a run."""

    loaded: LoadedVersion
    basin: Basin
    forcing: BasinForcing
    advanced: Advanced
    snow: skill.SnowCells | None
    ahead: Period

    def result(self, arrays: ArrayMap) -> runs.BasinResult:
        """Return what the run says of the basin; `arrays` are (members, days, ...) after T0."""
        if not all(np.isfinite(values).all() for values in arrays.values()):
            return _without_forecast(self.basin.id, "failed", "The network gave values that are no numbers.")
        state, labels = self.advanced.state, self.loaded.labels
        assert state is not None
        mass: Array = self.forcing.forcing.over(self.ahead).mass[0]
        series, ledgers = _discharge_series(labels, mass, arrays), list[runs.Ledger]()
        snow_reason: str | None = "The network's cells hold no water."
        if self.loaded.ensemble.conserving:
            cells = np.asarray(state.arrays["c"])
            ledgers = _ledgers(labels, mass, arrays, cells)
            series += _water_series(labels, arrays, cells)
            snow_reason = why_no_snow(self.snow)
            if self.snow is not None and snow_reason is None:
                series.append(_snow_series(labels, arrays, self.snow))
        open_members = [ledger.member for ledger in ledgers if not ledger.closes]
        reason = f"The ledger does not close for member {', '.join(open_members)}." if open_members else None
        summary = _summary(arrays["discharge"]) | {
            "snow_reason": snow_reason,
            "filled_forcing": self.forcing.filled_until(self.ahead.last),
            "skipped_days": self.forcing.skipped_until(self.ahead.last),
            **self._learnt(),
        }
        return runs.BasinResult(basin=self._row(state, reason, summary), series=series, ledgers=ledgers)

    def _learnt(self) -> dict[str, Any]:
        names, static = self.loaded.config.inputs.static, self.forcing.forcing.static[0]
        return learnt(self.loaded.version, self.basin.id, names, static)

    def _row(self, state: State, reason: str | None, summary: dict[str, Any]) -> runs.RunBasin:
        parent, area = self.advanced.parent, self.loaded.version.product
        record = self.forcing.period
        consumed = self.forcing.forcing.over(Period(parent.day + ONE_DAY if parent else record.first, self.ahead.last))
        return runs.RunBasin(
            basin_id=self.basin.id,
            status="withheld" if reason else "issued",
            reason=reason,
            parent_day=parent.day if parent else None,
            parent_hash=parent.sha256 if parent else None,
            state_hash=state.sha256,
            inputs_hash=content_hash(consumed.mass, consumed.auxiliary, consumed.static),
            area_m2=self.basin.areas.get(area),
            area_name=area if area in self.basin.areas else None,
            summary=summary,
        )


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
