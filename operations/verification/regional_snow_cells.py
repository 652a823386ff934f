"""The cells of a version that read as snow in basins without a reference: chosen over basins that have one.

Each basin judges cells that it took no part in choosing: the basins are dealt into folds, and the cells that a fold
judges are chosen by the others. Those that are kept are chosen by all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from hydrology.snow.regional_snow import RegionalSnow, SnowBand
from hydrology.snow.snow import SnowProducts, SnowSkill, choose_cells
from models.arrays import days_of
from operations.verification.snow_cells import MAX_CELLS, Reference, fitted_days, judging
from operations.versions.load_networks import LoadedVersion
from operations.versions.stages import stage
from records.simulations import regional_snow_cells
from runtime.clock import Clock

FOLDS = 5
MIN_BASINS = 2 * FOLDS
"""With snow: of fewer, no regional mapping is chosen."""
BANDS = (0.5, 0.1, 0.0)
"""By the share of snow in the precipitation, from each to the one before it."""


@dataclass(frozen=True, slots=True)
class SnowyBasin:
    """What a basin with snow gives.

    Attributes:
        share: of snow in its precipitation; NaN where that is not known.
        of_members: of the fitted days, by member.
        judged: of the days to judge on, the cells of all members side by side; None where there are none.
    """

    share: float
    product: str
    of_members: Sequence[SnowProducts]
    judged: SnowProducts | None


@dataclass(slots=True)
class RegionalChoice:
    """Takes in basin after basin, and chooses when all are there.

    Attributes:
        test: the days to judge on.
    """

    loaded: LoadedVersion
    test: Period
    basins: dict[str, SnowyBasin] = field(default_factory=dict)

    def add(
        self, basin: str, share: float, record: Period, reference: Reference, storage: npt.NDArray[np.floating]
    ) -> None:
        """Take in a basin; one without snow, or without a day that was fitted, is none.

        Args:
            share: of snow in its precipitation.
            record: the days of `reference` and `storage`.
            storage: (members, days, K) in mm.
        """
        on = fitted_days(self.loaded, record.days)
        of_members = [SnowProducts.of(of_member[on], reference.swe[on]) for of_member in storage]
        if of_members[0].unusable:
            return
        days = days_of(record, self.test)
        swe = judging(self.loaded, record, reference, self.test)
        judged = SnowProducts.of(np.concatenate([*storage[:, days]], axis=1), swe)
        scored = None if judged.unusable else judged.for_scores()
        self.basins[basin] = SnowyBasin(share, reference.product, of_members, scored)

    def mapping(self) -> RegionalSnow | None:
        """Return what is chosen, and how well it does; None where too few basins have snow, or no cell follows it."""
        cells = self._choose(list(self.basins.values())) if len(self.basins) >= MIN_BASINS else None
        if cells is None:
            return None
        bands = _bands([self.basins[name].share for name in self.basins], self._judged())
        learnt = self.loaded.config.train_period
        return RegionalSnow(
            products=tuple(sorted({basin.product for basin in self.basins.values()})),
            cells=cells,
            basins=len(self.basins),
            training=str(learnt),
            test=str(self.test) if bands else None,
            bands=bands,
        )

    def _choose(self, basins: Sequence[SnowyBasin]) -> dict[str, list[int]] | None:
        """Return the cells of each member by many basins; None where a member has none."""
        cells = {}
        for at, label in enumerate(self.loaded.labels):
            together = reduce(add, (basin.of_members[at] for basin in basins))
            cells[label] = [int(cell) for cell in choose_cells(together, max_cells=MAX_CELLS).cells]
        return cells if all(cells.values()) else None

    def _judged(self) -> list[SnowSkill | None]:
        """Return how well each basin's snow is read by cells that it took no part in choosing."""
        names = list(self.basins)
        skills: dict[str, SnowSkill | None] = dict.fromkeys(names)
        for at in stage("regional snow cells", range(FOLDS)):
            fold = names[at::FOLDS]
            cells = self._choose([basin for name, basin in self.basins.items() if name not in fold])
            for name in fold:
                judged = self.basins[name].judged
                if cells is not None and judged is not None:
                    skills[name] = judged.skill(self._shares(cells, judged))
        return list(skills.values())

    def _shares(self, cells: dict[str, list[int]], judged: SnowProducts) -> npt.NDArray[np.float64]:
        """Return what each cell of all members, side by side, is in the mean of the members' snow."""
        members = len(cells)
        shares = np.zeros((members, judged.cells // members))
        for of_member, label in zip(shares, self.loaded.labels, strict=True):
            of_member[cells[label]] = 1 / members
        return shares.ravel()


def store_regional_snow(session: Session, clock: Clock, choice: RegionalChoice) -> None:
    """Keep a regional mapping, unless one is kept that more basins have chosen."""
    mapping, version = choice.mapping(), choice.loaded.version.id
    if mapping is None:
        return
    before = regional_snow_cells.get(session, version)
    if before is None or before.basins <= mapping.basins:
        regional_snow_cells.replace(session, version, mapping, clock.wall())


def _bands(shares: Sequence[float], skills: Sequence[SnowSkill | None]) -> tuple[SnowBand, ...]:
    """Return the medians over the basins of each band that were judged; a band without any is left out."""
    bands = []
    above = np.inf
    for minimum in BANDS:
        of_band = [
            [skill.r.value, skill.bias_percent.value, skill.bare_mm.value]
            for share, skill in zip(shares, skills, strict=True)
            if skill is not None and minimum <= share < above
        ]
        known = np.array([values for values in of_band if None not in values], float)
        if len(known):
            r, bias, bare = np.median(known, axis=0).tolist()
            bands.append(SnowBand(frac_snow=minimum, basins=len(known), r=r, bias_pct=bias, bare_mm=bare))
        above = minimum
    return tuple(bands)
