"""Identifies snow in the cells of a network that was never trained on snow, and measures its skill.

Source: Hoedt et al. 2021, figure 4: the sum over a few memory cells follows the snow water equivalent.

Choosing and judging need only sums of products over the days, which add up over basins: cells can be chosen for one
basin or for many together (for basins without a reference, too), and a sum of cells can be judged after the daily
storage has left memory.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array, Mask
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from hydrology.scores.score_types import Score

MIN_R = 0.1  # minimum correlation of a single snow cell
MIN_KNOWN_DAYS = 3  # days with a known reference, for a correlation
BARE_MM = 1.0
"""The ground counts as bare on days with less reference snow than this."""
BARE_WEIGHT = 2.0
"""Weight of a day with bare ground in a choice: water that stays in a cell all summer is not snow."""
_REFERENCE, _ONE = -2, -1  # rows of the products after those of the cells
_ROUNDING = 1e-12  # a variance below this share of the mean square counts as 0


@dataclass(frozen=True, slots=True)
class SnowCells:
    """The chosen cells, in the order of choice, and the correlation of their sum on the days of the choice."""

    cells: tuple[int, ...]
    r: Score


@dataclass(frozen=True, slots=True)
class SnowSkill:
    """Skill of chosen cells' sum: Pearson's r, bias (above 0: too much snow), and mean snow on bare ground in mm."""

    r: Score
    bias_percent: Score
    bare_mm: Score


@dataclass(frozen=True, slots=True, eq=False)
class SnowProducts:
    """Sums of products of K cells and a reference over the days with a known reference.

    Attributes:
        known: (K + 2, K + 2), mm2: of each pair of the cells, the reference and 1, summed over the days.
        bare: the same over the days with bare ground.
        varies: whether the reference has more than one value.
    """

    known: npt.NDArray[np.floating]
    bare: Array
    days: int
    varies: bool

    @classmethod
    def of(cls, storage: npt.ArrayLike, reference_swe: npt.ArrayLike) -> Self:
        """Compute a basin's sums from cells (days, K) and the reference (days,), NaN where missing, both in mm."""
        cells, reference = np.asarray(storage, dtype=np.float64), np.asarray(reference_swe, dtype=np.float64)
        if cells.ndim != 2 or reference.shape != cells.shape[:1]:
            raise InvalidInput(
                "Cell states must have shape (days, cells) and the reference (days,); "
                f"they have {cells.shape} and {reference.shape}."
            )
        if not np.isfinite(cells).all():
            raise InvalidInput("A cell state is not finite: the network's run is broken; run it again.")
        columns = np.column_stack([cells, reference, np.ones_like(reference)])
        columns = columns[~np.isnan(reference)]
        bare = columns[columns[:, _REFERENCE] < BARE_MM]
        known, days = columns[:, _REFERENCE], len(columns)
        return cls(columns.T @ columns, bare.T @ bare, days, days > 0 and bool(known.max() > known.min()))

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.known + other.known, self.bare + other.bare, self.days + other.days, self.varies or other.varies
        )

    def for_scores(self) -> Self:
        """Return only the part that `skill` needs: a quarter of the memory, and five digits of the scores."""
        return replace(self, known=self.known.astype(np.float32), bare=self.bare[:, [_ONE]])

    @property
    def cells(self) -> int:
        return len(self.known) - 2

    @property
    def unusable(self) -> Absent | None:
        """Why snow cannot be judged by the reference, or None."""
        if self.days < MIN_KNOWN_DAYS:
            return absent(Reason.TOO_FEW_SNOW_DAYS, days=self.days, minimum=MIN_KNOWN_DAYS)
        if not self.varies:
            return absent(Reason.REFERENCE_SNOW_IS_CONSTANT)
        return None

    def correlations(self) -> Array:
        """Return Pearson's r of each cell with the reference, (K,); 0 where either is constant."""
        covariances, tiny = self._covariances()
        variances = np.where(tiny, 0, np.diag(covariances))
        scale = np.sqrt(variances * variances[_REFERENCE])
        r: Array = np.divide(covariances[_REFERENCE], scale, out=np.zeros_like(scale), where=scale > 0)
        return r[:_REFERENCE]

    def skill(self, shares: npt.ArrayLike) -> SnowSkill:
        """Return the skill of cells weighted by shares (K,): 1 where the snow is a sum, 1 / M where a mean of M."""
        snow, days = np.append(np.asarray(shares, dtype=np.float64), [0, 0]), self.days
        reason = self.unusable or (None if snow.any() else absent(Reason.NO_CELLS_AS_SNOW))
        if reason is not None:
            nothing = Score(None, days, reason)
            return SnowSkill(nothing, nothing, nothing)
        covariances, _ = self._covariances()
        variance = float(snow @ covariances @ snow)
        if variance <= _ROUNDING * float(snow @ self.known @ snow):
            r = Score(None, days, absent(Reason.SNOW_IS_CONSTANT))
        else:
            scale = np.sqrt(variance * covariances[_REFERENCE, _REFERENCE])
            r = Score(float(snow @ covariances[:, _REFERENCE] / scale), days)
        ratio = float(snow @ self.known[:, _ONE]) / float(self.known[_REFERENCE, _ONE])
        bare_days = float(self.bare[_ONE, _ONE])
        bare = Score(None, 0, absent(Reason.NO_BARE_DAY))
        if bare_days:
            bare = Score(float(snow @ self.bare[:, _ONE]) / bare_days, round(bare_days))
        return SnowSkill(r, Score(100 * (ratio - 1), days), bare)

    def _covariances(self) -> tuple[Array, Mask]:
        """Return the sums of products of deviations from the means, and where they are only rounding errors."""
        sums = self.known[_ONE].astype(np.float64)
        covariances: Array = self.known - np.outer(sums, sums) / sums[_ONE]
        return covariances, np.diag(covariances) <= _ROUNDING * np.diag(self.known)


def choose_cells(products: SnowProducts, *, max_cells: int, trash_cells: Collection[int] = ()) -> SnowCells:
    """Choose cells of one member by greedy forward selection.

    Each brings their sum nearest to the reference, in mm. Only cells that correlate with the reference themselves
    (Pearson r above MIN_R) can be chosen: a constantly full cell would bring the sum nearer without being snow. The
    criterion is the mean squared difference, so that the amount counts, and days with bare ground count BARE_WEIGHT
    times. Give the training years alone, of one basin or summed over many. The choice stops when no cell brings the sum
    nearer, or at `max_cells`; it is empty, with the reason, where the reference is constant (no snow) or no cell is
    suitable. Cells whose water is lost (`trash_cells`) are never chosen.
    """
    if max_cells < 1:
        raise InvalidInput(f"max_cells is {max_cells}: choose at least 1.")
    if reason := products.unusable:
        return SnowCells((), Score(None, products.days, reason))
    weighed = products.known + (BARE_WEIGHT - 1) * products.bare
    rising = products.correlations() > MIN_R
    candidates = [int(cell) for cell in np.flatnonzero(rising) if cell not in trash_cells]
    difference = np.zeros(len(weighed))  # of the sum of the chosen and the reference, by cell
    difference[_REFERENCE] = -1
    chosen: list[int] = []
    while len(chosen) < max_cells and candidates:
        change = 2 * (weighed @ difference)[candidates] + np.diag(weighed)[candidates]
        if not change.min() < 0:
            break
        chosen.append(candidates.pop(int(change.argmin())))
        difference[chosen[-1]] = 1
    if not chosen:
        return SnowCells((), Score(None, products.days, absent(Reason.NO_CELL_FITS_SNOW)))
    return SnowCells(tuple(chosen), products.skill(difference[:_REFERENCE]).r)


def snow_skill(snow: npt.ArrayLike, reference_swe: npt.ArrayLike) -> SnowSkill:
    """Score simulated snow on years outside the choice, both in mm and of shape (days,)."""
    return SnowProducts.of(np.asarray(snow, dtype=np.float64)[:, np.newaxis], reference_swe).skill([1])


@dataclass(frozen=True, slots=True, kw_only=True)
class SnowBand:
    """Skill of snow in basins that took no part in the choice: medians over the basins of a band.

    Attributes:
        frac_snow: lowest snow fraction of precipitation in the band, which extends to that of the next.
        r: Pearson's, with the reference.
        bias_pct: above 0: too much snow.
        bare_mm: simulated snow on days on which the reference has none.
    """

    frac_snow: float
    basins: int
    r: float
    bias_pct: float
    bare_mm: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionalSnow:
    """A regional mapping from cells to snow.

    Attributes:
        products: the reference snow products it was chosen with.
        cells: the chosen cells by member label.
        training, test: days of the choice and of the bands, FIRST..LAST; no `test` where all were fitted to.
        bands: by falling `frac_snow`; none without `test`.
    """

    products: tuple[str, ...]
    cells: Mapping[str, list[int]]
    basins: int
    training: str
    test: str | None
    bands: tuple[SnowBand, ...]

    def band(self, frac_snow: float) -> SnowBand | None:
        """Return the band for a snow fraction, or None."""
        return next((band for band in self.bands if frac_snow >= band.frac_snow), None)
