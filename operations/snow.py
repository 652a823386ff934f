"""Which cells read as snow: chosen on the training years against a reference, judged on other years."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.calendar import Days, Period
from hydrology.snow import choose_cells, snow_skill
from models.arrays import Array, days_of
from operations.loading import LoadedVersion
from records import series, skill
from records.clock import Clock

REFERENCES = ("uaz", "synthetic_snow", "snodas")  # the first that a basin has is its reference
MOST_CELLS = 10


@dataclass(frozen=True, slots=True)
class Reference:
    """Reference snow water equivalent in mm over the days of a basin's record, NaN where missing."""

    product: str
    swe: Array


def reference_snow(session: Session, basin: str, record: Period) -> Reference | None:
    """Return the reference snow of a basin, or None where none is kept."""
    for product in REFERENCES:
        found = series.read(session, basin, product, "swe", record)
        if found is not None:
            return Reference(product, found.values.astype(np.float32))
    return None


def read_snow(
    clock: Clock,
    loaded: LoadedVersion,
    basin: str,
    record: Period,
    reference: Reference,
    storage: npt.NDArray[np.floating],
    test: Period,
) -> skill.SnowCells | None:
    """Choose each member's snow cells on the days that were fitted, and judge their sum on the test period.

    Args:
        record: the days of `reference` and `storage`.
        storage: (members, days, K) in mm.
        test: the days to judge on; those that the training has fitted are left out.

    Returns:
        the cells by member and the skill of the members' mean, or None where the record holds no training day.
    """
    training = loaded.config.train_period
    fitted = training.overlap(record)
    if fitted is None:
        return None
    parts = training.without(loaded.config.held_out_period)
    on = _within(record.days, parts)
    cells, reason = _choose(loaded.labels, storage[:, on], reference.swe[on])
    judged_on = reference.swe[days_of(record, test)].copy()
    judged_on[_within(test.days, parts)] = np.nan
    snow = _snow(storage, loaded.labels, cells)
    fit = snow_skill(snow[on], reference.swe[on], cells=[0])
    held_out = snow_skill(snow[days_of(record, test)], judged_on, cells=[0])
    return skill.SnowCells(
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
        reason=reason or fit.r.reason or held_out.r.reason or held_out.bias_percent.reason,
        evaluated_at=clock.wall(),
    )


def _within(days: Days, periods: Sequence[Period]) -> npt.NDArray[np.bool_]:
    """Return which days lie in one of some periods."""
    within: npt.NDArray[np.bool_] = np.zeros(len(days), dtype=bool)
    for period in periods:
        within |= (days >= period.first) & (days <= period.last)
    return within


def keep_snow(session: Session, version: str, rows: Sequence[skill.SnowCells]) -> None:
    """Keep snow cells with their skill; those that could not be judged take no place of some that were."""
    kept = {row.basin_id for row in skill.snow_cells(session, version)}
    skill.replace_snow_cells(session, [row for row in rows if row.test_r is not None or row.basin_id not in kept])


def readable_snow(session: Session, version: str) -> dict[str, skill.SnowCells]:
    """Return the cells that read as snow of each basin in which a version has some."""
    chosen = {cells.basin_id: cells for cells in skill.snow_cells(session, version)}
    return {basin: cells for basin, cells in chosen.items() if why_no_snow(cells) is None}


def why_no_snow(chosen: skill.SnowCells | None) -> str | None:
    """Say why a version's cells cannot be read as snow in a basin, or None where they can."""
    if chosen is None:
        return "No snow cells have been chosen for this basin: evaluate the version."
    if not all(chosen.cells.values()):
        return chosen.reason or "No cell follows the reference."
    return None


def _choose(
    labels: list[str], storage: npt.NDArray[np.floating], reference: Array
) -> tuple[dict[str, list[int]], str | None]:
    """Return the cells of each member, and why a member has none."""
    cells: dict[str, list[int]] = {}
    reason = None
    for label, of_member in zip(labels, storage, strict=True):
        chosen = choose_cells(of_member, reference, max_cells=MOST_CELLS)
        cells[label] = [int(cell) for cell in chosen.cells]
        if not chosen.cells:
            reason = reason or chosen.r.reason or "No cell follows the reference."
    return cells, reason


def _snow(storage: npt.NDArray[np.floating], labels: list[str], cells: dict[str, list[int]]) -> npt.NDArray[np.float64]:
    """Return the members' mean of the sum of their snow cells, (days, 1) in mm."""
    sums = [of_member[:, cells[label]].sum(axis=1) for label, of_member in zip(labels, storage, strict=True)]
    mean: npt.NDArray[np.float64] = np.mean(sums, axis=0, dtype=np.float64)
    return mean[:, None]
