"""Which cells read as snow: chosen on the training years against a reference, judged on other years."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.calendar import Period
from hydrology.pairs import Score
from hydrology.scores import beta_kge, pearson_r
from hydrology.snow import choose_cells
from models.arrays import Array, days_of
from operations.loading import LoadedVersion
from records import series, skill
from records.clock import Clock

REFERENCES = ("uaz", "synthetic_snow", "snodas")  # the first that a basin has is its reference
MOST_CELLS = 6


@dataclass(frozen=True, slots=True)
class _Choice:
    cells: dict[str, list[int]]
    reason: str | None


def read_snow(
    session: Session,
    clock: Clock,
    loaded: LoadedVersion,
    basin: str,
    record: Period,
    storage: npt.NDArray[np.floating],
    test: Period,
) -> skill.SnowCells | None:
    """Choose each member's snow cells on the training period, and judge their sum on the test period.

    Args:
        record: the days of `storage`.
        storage: (members, days, K) in mm.
        test: the days to judge on; those of the training period among them are left out.

    Returns:
        the cells by member and the skill of the members' mean, or None where no reference is kept.
    """
    found = _reference(session, basin, record)
    if found is None:
        return None
    product, reference = found
    training = Period.parse(loaded.config.train_period)
    fitted = training.overlap(record)
    if fitted is None:
        return None
    choice = _choose(loaded.labels, storage[:, days_of(record, fitted)], reference[days_of(record, fitted)])
    judged_on = reference[days_of(record, test)].copy()
    judged_on[(test.days >= training.first) & (test.days <= training.last)] = np.nan
    snow = _snow(storage, loaded.labels, choice.cells)
    fit = pearson_r(snow[days_of(record, fitted)], reference[days_of(record, fitted)])
    held_out = snow[days_of(record, test)]
    return _row(
        (loaded.version.id, basin, product),
        choice,
        (fitted, fit),
        (test, pearson_r(held_out, judged_on), beta_kge(held_out, judged_on)),
        clock.wall(),
    )


def _reference(session: Session, basin: str, record: Period) -> tuple[str, Array] | None:
    for product in REFERENCES:
        found = series.read(session, basin, product, "swe", record)
        if found is not None:
            return product, found.values.astype(np.float32)
    return None


def _choose(labels: list[str], storage: npt.NDArray[np.floating], reference: Array) -> _Choice:
    cells: dict[str, list[int]] = {}
    reason = None
    for label, of_member in zip(labels, storage, strict=True):
        chosen = choose_cells(of_member, reference, max_cells=MOST_CELLS)
        cells[label] = [int(cell) for cell in chosen.cells]
        reason = reason or (None if chosen.cells else chosen.r.reason or "No cell follows the reference.")
    return _Choice(cells, reason)


def _snow(storage: npt.NDArray[np.floating], labels: list[str], cells: dict[str, list[int]]) -> npt.NDArray[np.float64]:
    """Return the members' mean of the sum of their snow cells, (days,) in mm."""
    sums = [of_member[:, cells[label]].sum(axis=1) for label, of_member in zip(labels, storage, strict=True)]
    mean: npt.NDArray[np.float64] = np.mean(sums, axis=0, dtype=np.float64)
    return mean


def _row(
    key: tuple[str, str, str],
    choice: _Choice,
    training: tuple[Period, Score],
    test: tuple[Period, Score, Score],
    at: datetime,
) -> skill.SnowCells:
    version, basin, product = key
    (fitted, fit), (judged, r, ratio) = training, test
    return skill.SnowCells(
        version_id=version,
        basin_id=basin,
        product=product,
        cells=choice.cells,
        training_first=fitted.first,
        training_last=fitted.last,
        training_r=fit.value,
        test_first=judged.first,
        test_last=judged.last,
        test_r=r.value,
        bias_pct=None if ratio.value is None else 100 * (ratio.value - 1),
        reason=choice.reason or fit.reason or r.reason or ratio.reason,
        evaluated_at=at,
    )
