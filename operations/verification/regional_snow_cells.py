"""Snow cells of a version for basins without a reference, chosen over the basins that have one.

The choice is cross-validated: the basins are divided into folds, and each fold judges cells that the other folds have
chosen. The stored cells are chosen by all basins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from hydrology.snow.snow import RegionalSnow, SnowBand, SnowProducts, SnowSkill
from models.forcing import days_of
from operations.verification.snow_cells import Reference, chosen_cells, fitted_days
from operations.versions.load_networks import LoadedVersion
from records.simulations import snow_cells
from runtime.clock import Clock

FOLDS = 5
MIN_BASINS = 2 * FOLDS
"""Minimum number of basins with snow for a regional mapping."""
BANDS = (0.5, 0.1, 0.0)
"""Bands of the snow fraction of precipitation, each from this value to the one before it."""


@dataclass(frozen=True, slots=True)
class SnowyBasin:
    """The data of one basin with snow: products of the fitted days by member.

    `judged` are those of the days to judge on, the cells of all members side by side; None where there are none.
    """

    share: float
    product: str
    of_members: Sequence[SnowProducts]
    judged: SnowProducts | None


@dataclass(slots=True)
class RegionalChoice:
    """Collects basins, and chooses the regional snow cells."""

    loaded: LoadedVersion
    test: Period
    basins: dict[str, SnowyBasin] = field(default_factory=dict)

    def add(self, share: float, reference: Reference, storage: npt.NDArray[np.floating]) -> None:
        """Add a basin; one without snow or without a fitted day is ignored.

        The share is the snow fraction of its precipitation; the storage is (members, days, K) in mm over the record.
        """
        on = fitted_days([self.loaded], reference.record.days)
        of_members = [SnowProducts.of(of_member[on], reference.swe[on]) for of_member in storage]
        if of_members[0].unusable:
            return
        days = days_of(reference.record, self.test)
        swe = reference.judging([self.loaded], self.test)
        judged = SnowProducts.of(np.concatenate([*storage[:, days]], axis=1), swe)
        scored = None if judged.unusable else judged.for_scores()
        self.basins[reference.basin] = SnowyBasin(share, reference.product, of_members, scored)

    def mapping(self) -> RegionalSnow | None:
        """Return the chosen cells and their skill; None where too few basins have snow, or no cell follows it."""
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
        """Choose each member's cells by many basins, no snow store; None where a member has none."""
        cells = {}
        for at, (label, network) in enumerate(zip(self.loaded.labels, self.loaded.ensemble.networks, strict=True)):
            together = reduce(add, (basin.of_members[at] for basin in basins))
            cells[label] = chosen_cells(network, together)[0]
        return cells if all(cells.values()) else None

    def _judged(self) -> list[SnowSkill | None]:
        names = list(self.basins)
        skills: dict[str, SnowSkill | None] = dict.fromkeys(names)
        for at in range(FOLDS):
            fold = names[at::FOLDS]
            cells = self._choose([basin for name, basin in self.basins.items() if name not in fold])
            for name in fold:
                judged = self.basins[name].judged
                if cells is not None and judged is not None:
                    skills[name] = judged.skill(self._shares(cells, judged))
        return list(skills.values())

    def _shares(self, cells: dict[str, list[int]], judged: SnowProducts) -> npt.NDArray[np.float64]:
        members = len(cells)
        shares = np.zeros((members, judged.cells // members))
        for of_member, label in zip(shares, self.loaded.labels, strict=True):
            of_member[cells[label]] = 1 / members
        return shares.ravel()


def store_regional_snow(session: Session, clock: Clock, choice: RegionalChoice) -> None:
    """Store a regional mapping, unless the stored one was chosen by more basins."""
    mapping, version = choice.mapping(), choice.loaded.version.id
    if mapping is None:
        return
    before = snow_cells.regional_cells(session, version)
    if before is None or before.basins <= mapping.basins:
        snow_cells.replace_regional(session, version, mapping, clock.wall())


def _bands(shares: Sequence[float], skills: Sequence[SnowSkill | None]) -> tuple[SnowBand, ...]:
    """Return the medians over the judged basins of each band; a band without any is left out."""
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
