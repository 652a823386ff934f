"""Snow read from the cells of a network that was never trained on snow: which cells, and how well.

Source: Hoedt et al. 2021, figure 4: the sum over a few memory cells follows the snow water equivalent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hydrology.errors import InvalidInput
from hydrology.pairs import Array, Score
from hydrology.scores import beta_kge, pearson_r

TRASH_CELL = 0
LEAST_R = 0.1  # of a cell alone: below it, what it holds is no snow


@dataclass(frozen=True, slots=True)
class SnowCells:
    """The cells chosen, in the order of choice, and the correlation of their sum on the days of the choice."""

    cells: tuple[int, ...]
    r: Score


@dataclass(frozen=True, slots=True)
class SnowSkill:
    """How the sum of chosen cells follows a reference: Pearson r, and bias in % (above 0: too much snow)."""

    r: Score
    bias_percent: Score


def choose_cells(
    storage: npt.ArrayLike,
    reference_swe: npt.ArrayLike,
    *,
    max_cells: int,
    excluded: Sequence[int] = (TRASH_CELL,),
) -> SnowCells:
    """Choose cells by greedy forward selection: each brings their sum nearest to the reference, in mm.

    Only cells that rise and fall with the reference themselves (Pearson r above LEAST_R) can be chosen: one that is
    always as full would bring the sum nearer without being snow. Nearness is the mean squared difference, so that the
    amount counts. Give the training years alone. The choice stops when no cell brings the sum nearer, or at
    `max_cells`; it is empty, with the reason, where the reference is constant (no snow) or none does at first.

    Args:
        storage: cell states in mm, shape (days, K).
        reference_swe: snow water equivalent in mm, shape (days,), NaN where missing.
        max_cells: the most cells to choose.
        excluded: cells never chosen: the trash cell, whose water is lost.

    Raises:
        InvalidInput: the shapes do not fit, a cell state is not finite, or `max_cells` is below 1.
    """
    cells_mm, reference = _checked(storage, reference_swe)
    if max_cells < 1:
        raise InvalidInput(f"max_cells is {max_cells}: choose at least 1.")
    known = ~np.isnan(reference)
    if reason := _unusable(reference[known]):
        return SnowCells((), Score(None, int(known.sum()), reason))
    rising = _correlations(cells_mm[known], reference[known]) > LEAST_R
    candidates = [k for k in range(cells_mm.shape[1]) if rising[k] and k not in excluded]
    chosen: list[int] = []
    total = np.zeros(int(known.sum()))
    error = float(np.square(reference[known]).mean())
    while len(chosen) < max_cells and candidates:
        sums = total[:, np.newaxis] + cells_mm[known][:, candidates]
        errors = np.square(sums - reference[known, np.newaxis]).mean(axis=0)
        if not errors.min() < error:
            break
        nearest = int(errors.argmin())
        error = float(errors[nearest])
        chosen.append(candidates.pop(nearest))
        total += cells_mm[known, chosen[-1]]
    if not chosen:
        reason = "No cell rises and falls with the reference snow at its size."
        return SnowCells((), Score(None, int(known.sum()), reason))
    return SnowCells(tuple(chosen), pearson_r(_sum(cells_mm, chosen), reference))


def snow_skill(storage: npt.ArrayLike, reference_swe: npt.ArrayLike, *, cells: Sequence[int]) -> SnowSkill:
    """Score the sum of chosen cells on years that took no part in the choice; shapes as in `choose_cells`.

    Raises:
        InvalidInput: the shapes do not fit, or a cell state is not finite.
    """
    cells_mm, reference = _checked(storage, reference_swe)
    known = reference[~np.isnan(reference)]
    if reason := _unusable(known) or (None if cells else "No cells are chosen as snow."):
        nothing = Score(None, len(known), reason)
        return SnowSkill(nothing, nothing)
    snow = _sum(cells_mm, cells)
    ratio = beta_kge(snow, reference)
    bias = ratio if ratio.value is None else Score(100 * (ratio.value - 1), ratio.n)
    return SnowSkill(pearson_r(snow, reference), bias)


def _unusable(known: Array) -> str | None:
    """Say why the known days of a reference cannot judge snow, or None."""
    if len(known) < 3:
        return f"The reference snow water equivalent is known on {len(known)} days; at least 3 are needed."
    if known.max() == known.min():
        return "The reference snow water equivalent is constant: there is no snow to follow."
    return None


def _sum(cells_mm: Array, cells: Sequence[int]) -> Array:
    total: Array = cells_mm[:, list(cells)].sum(axis=1)
    return total


def _correlations(columns: Array, reference: Array) -> Array:
    """Pearson r of each column with the reference; 0 where either is constant."""
    centred, target = columns - columns.mean(axis=0), reference - reference.mean()
    scale = np.sqrt((centred**2).sum(axis=0) * (target**2).sum())
    result: Array = np.divide(target @ centred, scale, out=np.zeros(columns.shape[1]), where=scale > 0)
    return result


def _checked(storage: npt.ArrayLike, reference_swe: npt.ArrayLike) -> tuple[Array, Array]:
    cells_mm, reference = np.asarray(storage, dtype=np.float64), np.asarray(reference_swe, dtype=np.float64)
    if cells_mm.ndim != 2 or reference.shape != cells_mm.shape[:1]:
        raise InvalidInput(
            "Cell states must have shape (days, cells) and the reference (days,); "
            f"they have {cells_mm.shape} and {reference.shape}."
        )
    if not np.isfinite(cells_mm).all():
        raise InvalidInput("A cell state is not finite: the network's run is broken; run it again.")
    return cells_mm, reference
