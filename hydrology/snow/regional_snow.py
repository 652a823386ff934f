"""Snow cells of an ensemble for basins without a reference, with their skill where there is one."""

from collections.abc import Mapping
from dataclasses import dataclass


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
