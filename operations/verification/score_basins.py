"""Scores a version in basins, each simulated from an empty store on the first day of its record.

The state is carried through, as that of the forecasts is. A version that has fitted days of the period itself, and has
a twin that has not, is scored by its twin; its closure and its snow cells are its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Days, Period
from hydrology.scores.bootstrap import YearlyErrors
from hydrology.scores.score import Score
from hydrology.scores.scores import all_scores
from hydrology.water.ledger import worst_relative_residual
from models.arrays import Array, days_of
from models.inference import ArrayMap
from operations.basin_data.dataset import BasinForcing, by_record, load_pairs
from operations.verification.regional_snow_cells import RegionalChoice, SnowyBasin
from operations.verification.snow_cells import Reference, read_snow, reference_snow
from operations.versions.held_out import version_to_score
from operations.versions.load_networks import LoadedVersion, load_version
from operations.versions.training_domain import attribute_means
from records.basins import basins as basin_records
from records.database.engine import Database
from records.forecasts.seasonal_volumes import SNOW_SHARE
from records.verification import scores as verification_scores
from runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class BasinSkill:
    """The result of an evaluation in one basin.

    Attributes:
        scores: of the members' mean, by metric.
        simulated, observed: (days of the period,), the members' mean and the observation, mm/day, NaN where missing.
        errors: of the members' mean, from which its NSE over any of the period's water years follows.
        worst_residual: the largest |residual| / water over all members and days; None where the network does not
            conserve mass.
        snow: the cells that read as snow; None where the basin has no reference snow.
        assumed: the names of the assumed attributes.
    """

    basin: str
    scores: dict[str, Score]
    simulated: Array = field(repr=False, compare=False)
    observed: Array = field(repr=False, compare=False)
    errors: YearlyErrors
    worst_residual: float | None
    snow: verification_scores.SnowCells | None
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BasinScores:
    """The results of an evaluation in several basins.

    Attributes:
        own: the skill of the version itself.
        scored: that of its twin with the version's own closure; `own` without a twin.
        left_out: why a basin could not be scored.
        snowy: the data for choosing regional snow cells, of the version and of its twin.
    """

    own: list[BasinSkill]
    scored: list[BasinSkill]
    left_out: dict[str, Absent]
    snowy: list[dict[str, SnowyBasin]]


@dataclass(frozen=True, slots=True)
class Judge:
    """Scores a version over a period.

    Attributes:
        twin: the version that is scored for it; None where it is scored itself.
        without: days to leave out of the scores, by basin.
    """

    database: Database
    clock: Clock
    loaded: LoadedVersion
    twin: LoadedVersion | None
    period: Period
    without: Mapping[str, Days] = field(default_factory=dict)

    @classmethod
    def of(cls, database: Database, clock: Clock, version: str, period: Period, without: Mapping[str, Days]) -> "Judge":
        """Load a version, and its twin if that is to be scored.

        Raises:
            UnknownVersion: there is none of that id.
        """
        with database.reading() as session:
            loaded = load_version(session, version)
            scored = version_to_score(session, loaded.version, period).id
            twin = None if scored == version else load_version(session, scored)
        return cls(database, clock, loaded, twin, period, without)

    @property
    def scored(self) -> str:
        """The version that is scored."""
        return (self.twin or self.loaded).version.id

    def choices(self) -> list[RegionalChoice]:
        """Return empty choices of regional snow cells, for the version and for its twin."""
        return [RegionalChoice(loaded, self.period) for loaded in (self.loaded, self.twin) if loaded is not None]

    def judge(self, basins: Sequence[str]) -> BasinScores:
        """Score the version in some basins."""
        left_out: dict[str, Absent] = {}
        with self.database.reading() as session:
            ready = _ready(session, self.loaded, self.period, basins, left_out)
        for basin in ready.keys() & self.without.keys():
            ready[basin].observed[np.isin(self.period.days, self.without[basin])] = np.nan
        choices = self.choices()
        own = list(_judge(self.clock, self.loaded, self.period, ready, choices[0]))
        scored = own
        if self.twin is not None:
            of_twin = _judge(self.clock, self.twin, self.period, ready, choices[1])
            pairs = zip(of_twin, own, strict=True)
            scored = [replace(judged, worst_residual=basin.worst_residual) for judged, basin in pairs]
        return BasinScores(own, scored, left_out, [choice.basins for choice in choices])


@dataclass(frozen=True, slots=True)
class _Ready:
    forcing: BasinForcing
    observed: Array  # (days of the period,) in mm/day
    reference: Reference | None  # snow, over the days of the forcing
    snow_share: float  # of the precipitation; NaN where unknown


def _ready(
    session: Session, loaded: LoadedVersion, period: Period, basins: Sequence[str], left_out: dict[str, Absent]
) -> dict[str, _Ready]:
    means, products = attribute_means(loaded.version), loaded.version.area_products
    pairs = load_pairs(session, basins, loaded.config, period, products, left_out=left_out, means=means)
    shares = dict(zip(basins, basin_records.attributes_of(session, basins, [SNOW_SHARE])[:, 0].tolist(), strict=True))
    return {
        basin: _Ready(forcing, observed, reference_snow(session, basin, forcing.period), shares[basin])
        for basin, (forcing, observed) in pairs.items()
    }


def _judge(
    clock: Clock, loaded: LoadedVersion, period: Period, ready: dict[str, _Ready], regional: RegionalChoice
) -> Iterator[BasinSkill]:
    """Simulate basins of one record at a time, score each, and add it to the choice of regional snow cells."""
    conserving = loaded.ensemble.conserving
    wanted = ("discharge", "loss", "storage") if conserving else ("discharge",)
    for record, names, forcing in by_record({basin: one.forcing for basin, one in ready.items()}):
        outputs, _ = loaded.ensemble.simulate(forcing, None, wanted)
        for at, basin in enumerate(names):
            one = ready[basin]
            simulated = outputs["discharge"][:, at, days_of(record, period)].mean(axis=0)
            scores = all_scores(simulated, one.observed, period.days)
            errors = YearlyErrors.of_basin(simulated, one.observed, period.days)
            residual, snow = None, None
            if conserving:
                residual = _residual(forcing.mass[at], outputs, at)
                storage = outputs["storage"][:, at]
                if one.reference is not None:
                    snow = read_snow(clock, loaded, basin, record, one.reference, storage, test=period)
                    regional.add(basin, one.snow_share, record, one.reference, storage)
            yield BasinSkill(
                basin,
                scores,
                simulated,
                one.observed,
                errors=errors,
                worst_residual=residual,
                snow=snow,
                assumed=one.forcing.assumed,
            )


def _residual(precipitation: Array, outputs: ArrayMap, at: int) -> float:
    members = len(outputs["discharge"])
    total: npt.NDArray[np.float64] = outputs["storage"][:, at].sum(axis=-1, dtype=np.float64)
    return float(
        worst_relative_residual(
            np.broadcast_to(precipitation, (members, len(precipitation))),
            outputs["discharge"][:, at],
            outputs["loss"][:, at],
            np.zeros(members),
            total,
        ).max()
    )
