"""Cells of many members that read as snow wherever there is no reference, and how well where there is one."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SnowBand:
    """How well snow is read in basins that took no part in the choice: the medians over those of a band.

    Attributes:
        frac_snow: the share of snow in the precipitation, from which the band goes to that of the next.
        basins: how many.
        r: Pearson's, with the reference.
        bias_pct: above 0: too much snow.
        bare_mm: what reads as snow on days on which the reference has none.
    """

    frac_snow: float
    basins: int
    r: float
    bias_pct: float
    bare_mm: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionalSnow:
    """A regional mapping.

    Attributes:
        products: the reference snow products that it was chosen by.
        cells: the chosen cells by member label.
        basins: how many basins it was chosen over.
        training: the days of the choice, FIRST..LAST.
        test: the days of the bands, FIRST..LAST; None where the version has fitted every one.
        bands: by falling `frac_snow`; none without `test`.
    """

    products: tuple[str, ...]
    cells: Mapping[str, list[int]]
    basins: int
    training: str
    test: str | None
    bands: tuple[SnowBand, ...]

    def band(self, frac_snow: float) -> SnowBand | None:
        """Return the band of a basin, or None."""
        return next((band for band in self.bands if frac_snow >= band.frac_snow), None)
