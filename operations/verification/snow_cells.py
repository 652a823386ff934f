"""Snow cells: chosen on the training years against a reference, judged on other years."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Days, Period
from hydrology.base.reasons import Reason
from hydrology.snow.snow import SnowProducts, choose_cells, snow_skill
from hydrology.uncertainty.weighted import mean_by_shares
from models.contract import Network
from models.forcing import Array, days_of
from operations.versions.load_networks import LoadedPart, LoadedVersion
from records.series import series
from records.simulations import snow_cells
from records.simulations.snow_cells import REFERENCES
from runtime.clock import Clock

MAX_CELLS = 10


@dataclass(frozen=True, slots=True)
class Reference:
    """Reference snow water equivalent in mm over the days of a basin's record, NaN where missing."""

    basin: str
    record: Period
    product: str
    swe: Array

    def over(self, period: Period) -> "Reference":
        return replace(self, record=period, swe=self.swe[days_of(self.record, period)])

    def judging(self, loaded: Sequence[LoadedVersion], test: Period) -> Array:
        """Return the reference on the days to judge some versions on, (days of the test,): NaN on fitted days."""
        swe = self.over(test).swe.copy()
        swe[fitted_days(loaded, test.days)] = np.nan
        return swe


@dataclass(frozen=True, slots=True)
class SnowSeries:
    """The snow that is read in a basin, (days,) in mm: the mean of members, or of parts; and the reference.

    The cells that read as snow are by member; the reason is why a member has none.
    """

    reference: Reference
    mm: npt.NDArray[np.float64]
    cells: Mapping[str, Sequence[int]]
    reason: Absent | None

    def over(self, period: Period) -> "SnowSeries":
        mm = self.mm[days_of(self.reference.record, period)]
        return replace(self, reference=self.reference.over(period), mm=mm)


@dataclass(frozen=True, slots=True)
class SnowReading:
    cells: snow_cells.SnowCells
    series: SnowSeries


def reference_snow(session: Session, basin: str, record: Period) -> Reference | None:
    for product in REFERENCES:
        found = series.read(session, basin, product, "swe", record)
        if found is not None:
            return Reference(basin, record, product, found.values.astype(np.float32))
    return None


def fitted_days(loaded: Sequence[LoadedVersion], days: Days) -> npt.NDArray[np.bool_]:
    """Return the days that any of some versions was fitted to."""
    fitted: npt.NDArray[np.bool_] = np.zeros(len(days), dtype=bool)
    for one in loaded:
        for period in one.config.train_period.without(one.config.held_out_period):
            fitted |= (days >= period.first) & (days <= period.last)
    return fitted


def read_snow(
    clock: Clock, loaded: LoadedVersion, reference: Reference, storage: npt.NDArray[np.floating], *, test: Period
) -> SnowReading | None:
    """Choose each member's snow cells on the fitted days, and judge their sum on the test period.

    Fitted days of the test period do not count. The storage is (members, days, K) in mm over the record. None where
    that holds no training day.
    """
    if loaded.config.train_period.overlap(reference.record) is None:
        return None
    on = fitted_days([loaded], reference.record.days)
    cells, reason = _choose(loaded, storage[:, on], reference.swe[on])
    sums = [of_member[:, cells[label]].sum(axis=1) for label, of_member in zip(loaded.labels, storage, strict=True)]
    series = SnowSeries(reference, np.mean(sums, axis=0, dtype=np.float64), cells, reason)
    return SnowReading(_judged(clock, loaded.version.id, [loaded], series, test), series)


def combined_snow(
    clock: Clock, combined: LoadedVersion, parts: Sequence[tuple[LoadedPart, SnowReading]], test: Period
) -> snow_cells.SnowCells | None:
    """Judge the weighted mean of the snow that the parts of a combined version read in a basin.

    Fitted days of any part do not count; None where no part was fitted to a day that all have.
    """
    rows = [reading.cells for _, reading in parts]
    records = [reading.series.reference.record for _, reading in parts]
    record = Period(max(one.first for one in records), min(one.last for one in records))
    loaded = [one.loaded for one, _ in parts]
    if not fitted_days(loaded, record.days).any():
        return None
    series = [reading.series.over(record) for _, reading in parts]
    weights = [one.part.in_basin(series[0].reference.basin).weight for one, _ in parts]
    mean = SnowSeries(
        reference=series[0].reference,
        mm=mean_by_shares([of.mm for of in series], weights),
        cells={
            one.part.label(label): of_member
            for (one, _), row in zip(parts, rows, strict=True)
            for label, of_member in row.cells.items()
        },
        reason=next((row.reason for row in rows if not all(row.cells.values())), None),
    )
    return _judged(clock, combined.version.id, loaded, mean, test)


def _judged(
    clock: Clock, version: str, loaded: Sequence[LoadedVersion], series: SnowSeries, test: Period
) -> snow_cells.SnowCells:
    reference, reason = series.reference, series.reason
    training = [fitted for one in loaded if (fitted := one.config.train_period.overlap(reference.record)) is not None]
    on = fitted_days(loaded, reference.record.days)
    fit = snow_skill(series.mm[on], reference.swe[on])
    held_out = snow_skill(series.over(test).mm, reference.judging(loaded, test))
    return snow_cells.SnowCells(
        version_id=version,
        basin_id=reference.basin,
        product=reference.product,
        cells={label: list(cells) for label, cells in series.cells.items()},
        training_first=min(one.first for one in training),
        training_last=max(one.last for one in training),
        training_r=None if reason else fit.r.value,
        test_first=test.first,
        test_last=test.last,
        test_r=None if reason else held_out.r.value,
        bias_pct=None if reason else held_out.bias_percent.value,
        bare_mm=None if reason else held_out.bare_mm.value,
        reason=reason or fit.r.reason or held_out.r.reason or held_out.bias_percent.reason,
        evaluated_at=clock.wall(),
    )


def store_snow(session: Session, version: str, rows: Sequence[snow_cells.SnowCells]) -> None:
    """Store snow cells with their skill; those that could not be judged do not replace judged ones."""
    stored = {row.basin_id for row in snow_cells.own_cells(session, version)}
    snow_cells.replace(session, [row for row in rows if row.test_r is not None or row.basin_id not in stored])


def _choose(
    loaded: LoadedVersion, storage: npt.NDArray[np.floating], reference: Array
) -> tuple[dict[str, list[int]], Absent | None]:
    cells: dict[str, list[int]] = {}
    reason = None
    for label, network, of_member in zip(loaded.labels, loaded.ensemble.networks, storage, strict=True):
        cells[label], why_none = chosen_cells(network, SnowProducts.of(of_member, reference))
        reason = reason or why_none
    return cells, reason


def chosen_cells(network: Network, products: SnowProducts) -> tuple[list[int], Absent | None]:
    """Return the cells of a network that follow the reference, or its snow store; and why there are none."""
    if network.snow_cells:
        return list(network.snow_cells), None
    chosen = choose_cells(products, max_cells=MAX_CELLS, trash_cells=network.trash_cells)
    why_none = None if chosen.cells else chosen.r.reason or absent(Reason.NO_CELL_FOLLOWS_SNOW)
    return [int(cell) for cell in chosen.cells], why_none
