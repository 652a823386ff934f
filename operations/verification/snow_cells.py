"""Snow cells: chosen on the training years against a reference, judged on other years."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Days, Period
from hydrology.base.reasons import Reason
from hydrology.snow.snow import SnowProducts, choose_cells, snow_skill
from models.arrays import Array, days_of
from operations.versions.load_networks import LoadedVersion
from records.series import series
from records.simulations.snow_cells import REFERENCES, SnowMapping, mappings
from records.verification import scores
from runtime.clock import Clock

MAX_CELLS = 10


@dataclass(frozen=True, slots=True)
class Reference:
    """Reference snow water equivalent in mm over the days of a basin's record, NaN where missing."""

    product: str
    swe: Array


def reference_snow(session: Session, basin: str, record: Period) -> Reference | None:
    """Return the reference snow of a basin, or None where none is stored."""
    for product in REFERENCES:
        found = series.read(session, basin, product, "swe", record)
        if found is not None:
            return Reference(product, found.values.astype(np.float32))
    return None


def fitted_days(loaded: LoadedVersion, days: Days) -> npt.NDArray[np.bool_]:
    """Return the days that a version was fitted to."""
    fitted: npt.NDArray[np.bool_] = np.zeros(len(days), dtype=bool)
    for period in loaded.config.train_period.without(loaded.config.held_out_period):
        fitted |= (days >= period.first) & (days <= period.last)
    return fitted


def judging(loaded: LoadedVersion, record: Period, reference: Reference, test: Period) -> Array:
    """Return the reference on the days to judge on, (days of the test,): NaN on fitted days."""
    swe: Array = reference.swe[days_of(record, test)].copy()
    swe[fitted_days(loaded, test.days)] = np.nan
    return swe


def read_snow(
    clock: Clock,
    loaded: LoadedVersion,
    basin: str,
    record: Period,
    reference: Reference,
    storage: npt.NDArray[np.floating],
    *,
    test: Period,
) -> scores.SnowCells | None:
    """Choose each member's snow cells on the fitted days, and judge their sum on the test period.

    Args:
        record: the days of `reference` and `storage`.
        storage: (members, days, K) in mm.
        test: the days to judge on, without those of the training.

    Returns:
        the cells by member and the skill of the members' mean, or None where the record holds no training day.
    """
    fitted = loaded.config.train_period.overlap(record)
    if fitted is None:
        return None
    on = fitted_days(loaded, record.days)
    cells, reason = _choose(loaded, storage[:, on], reference.swe[on])
    snow = _snow(storage, loaded.labels, cells)
    fit = snow_skill(snow[on], reference.swe[on])
    held_out = snow_skill(snow[days_of(record, test)], judging(loaded, record, reference, test))
    return scores.SnowCells(
        version_id=loaded.version.id,
        basin_id=basin,
        product=reference.product,
        cells=cells,
        training_first=fitted.first,
        training_last=fitted.last,
        training_r=None if reason else fit.r.value,
        test_first=test.first,
        test_last=test.last,
        test_r=None if reason else held_out.r.value,
        bias_pct=None if reason else held_out.bias_percent.value,
        bare_mm=None if reason else held_out.bare_mm.value,
        reason=reason or fit.r.reason or held_out.r.reason or held_out.bias_percent.reason,
        evaluated_at=clock.wall(),
    )


def store_snow(session: Session, version: str, rows: Sequence[scores.SnowCells]) -> None:
    """Store snow cells with their skill.

    Cells that could not be judged do not replace judged ones."""
    stored = {row.basin_id for row in scores.snow_cells(session, version)}
    scores.replace_snow_cells(session, [row for row in rows if row.test_r is not None or row.basin_id not in stored])


def readable_snow(session: Session, version: str, basins: Sequence[str]) -> dict[str, SnowMapping]:
    """Return a version's snow cells by basin, for the given basins that have some."""
    chosen = mappings(session, version, basins)
    return {basin: mapping for basin, mapping in chosen.items() if not isinstance(mapping, Absent)}


def _choose(
    loaded: LoadedVersion, storage: npt.NDArray[np.floating], reference: Array
) -> tuple[dict[str, list[int]], Absent | None]:
    """Return each member's cells, and why a member has none. A snow store is not chosen."""
    cells: dict[str, list[int]] = {}
    reason = None
    for label, network, of_member in zip(loaded.labels, loaded.ensemble.networks, storage, strict=True):
        if network.snow_cells:
            cells[label] = list(network.snow_cells)
            continue
        chosen = choose_cells(SnowProducts.of(of_member, reference), max_cells=MAX_CELLS)
        cells[label] = [int(cell) for cell in chosen.cells]
        if not chosen.cells:
            reason = reason or chosen.r.reason or absent(Reason.NO_CELL_FOLLOWS_SNOW)
    return cells, reason


def _snow(storage: npt.NDArray[np.floating], labels: list[str], cells: dict[str, list[int]]) -> npt.NDArray[np.float64]:
    """Return the members' mean of the sum of their snow cells, (days,) in mm."""
    sums = [of_member[:, cells[label]].sum(axis=1) for label, of_member in zip(labels, storage, strict=True)]
    mean: npt.NDArray[np.float64] = np.mean(sums, axis=0, dtype=np.float64)
    return mean
