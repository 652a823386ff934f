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
from hydrology.base.products import JOINT, subsets
from hydrology.scores.bootstrap import YearlyErrors
from hydrology.scores.score import Score
from hydrology.scores.scores import all_scores
from hydrology.uncertainty.weighted import weighted_mean
from hydrology.water.ledger import worst_relative_residual
from models.arrays import Array, days_of
from models.inference import ArrayMap
from operations.basin_data.dataset import BasinForcing, by_record, load_pairs
from operations.verification.regional_snow_cells import RegionalChoice, SnowyBasin
from operations.verification.snow_cells import (
    Reference,
    SnowReading,
    SnowSeries,
    combined_snow,
    read_snow,
    reference_snow,
)
from operations.versions.held_out import version_to_score
from operations.versions.load_networks import LoadedPart, LoadedVersion, load_version
from operations.versions.training_domain import attribute_means
from records.basins import basins as basin_records
from records.database.engine import Database
from records.forecasts.seasonal_volumes import SNOW_SHARE
from records.verification import scores as verification_scores
from records.versions.version_properties import VersionPart
from records.versions.versions import Version
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
        snow: the cells that read as snow, with their skill; None where the basin has no reference snow.
        snow_series: what they read; None after the judging.
        assumed: the names of the assumed attributes.
        subsets: of a combined version, the scores with some of its products alone, by their joined names.
    """

    basin: str
    scores: dict[str, Score]
    simulated: Array = field(repr=False, compare=False)
    observed: Array = field(repr=False, compare=False)
    errors: YearlyErrors
    worst_residual: float | None
    snow: verification_scores.SnowCells | None
    snow_series: SnowSeries | None = field(default=None, repr=False, compare=False)
    assumed: tuple[str, ...] = ()
    subsets: dict[str, dict[str, Score]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BasinScores:
    """The results of an evaluation in several basins.

    Attributes:
        scored: the skill of the version; with a twin that of the twin, with the version's own closure.
        left_out: why a basin could not be scored.
        snow: the snow cells chosen in each basin, by the version that they are of.
        snowy: the data for choosing regional snow cells, likewise.
    """

    scored: list[BasinSkill]
    left_out: dict[str, Absent]
    snow: dict[str, list[verification_scores.SnowCells]]
    snowy: dict[str, dict[str, SnowyBasin]]


@dataclass(frozen=True, slots=True)
class VersionScorer:
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
    def of(
        cls, database: Database, clock: Clock, version: str, period: Period, without: Mapping[str, Days]
    ) -> "VersionScorer":
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
        """The identifier of the version that is scored."""
        return self.scored_version.id

    @property
    def scored_version(self) -> Version:
        """The version that is scored."""
        return (self.twin or self.loaded).version

    def choices(self) -> list[RegionalChoice]:
        """Return empty choices of regional snow cells: of the version and its twin, or of the parts of both."""
        every = [one for loaded in (self.loaded, self.twin) if loaded is not None for one in _with_members(loaded)]
        return [RegionalChoice(one, self.period) for one in {one.version.id: one for one in every}.values()]

    def judge(self, basins: Sequence[str]) -> BasinScores:
        """Score the version in some basins, and choose the snow cells of those whose members these are."""
        left_out: dict[str, Absent] = {}
        skills = {
            choice.loaded.version.id: (self._skills(choice, basins, left_out), choice.basins)
            for choice in self.choices()
        }
        of_members = {version: of_version for version, (of_version, _) in skills.items()}
        own = self._skill(self.loaded, basins, of_members)
        scored, every = own, of_members | {self.loaded.version.id: own}
        if self.twin is not None:
            of_twin = self._skill(self.twin, basins, of_members)
            every |= {self.twin.version.id: of_twin}
            scored = {
                basin: replace(of_twin[basin], worst_residual=skill.worst_residual)
                for basin, skill in own.items()
                if basin in of_twin
            }
        return BasinScores(
            scored=[replace(skill, snow_series=None) for skill in scored.values()],
            left_out={basin: reason for basin, reason in left_out.items() if basin not in scored},
            snow={
                version: [skill.snow for skill in of_version.values() if skill.snow is not None]
                for version, of_version in every.items()
            },
            snowy={version: snowy for version, (_, snowy) in skills.items()},
        )

    def _skill(
        self, loaded: LoadedVersion, basins: Sequence[str], of_members: Mapping[str, Mapping[str, BasinSkill]]
    ) -> dict[str, BasinSkill]:
        """Return the skill of a version by basin, of a combined one in the basins that one of its products covers.

        Args:
            of_members: the skill of versions with members, by version and basin.
        """
        if not loaded.parts:
            return dict(of_members[loaded.version.id])
        parts = [(one, of_members[one.part.version]) for one in loaded.parts]
        found = dict[str, BasinSkill]()
        for basin in basins:
            there = [(one, skills[basin]) for one, skills in parts if basin in skills]
            if there:
                weighted = [(one.part.in_basin(basin), skill) for one, skill in there]
                skill = combined_skill(weighted, self.period, loaded.version.products)
                found[basin] = replace(skill, snow=self._combined_snow(loaded, there))
        return found

    def _combined_snow(
        self, loaded: LoadedVersion, parts: Sequence[tuple[LoadedPart, BasinSkill]]
    ) -> verification_scores.SnowCells | None:
        """Return what a combined version reads as snow in a basin; None where a part of it reads none."""
        readings = [
            (one, SnowReading(skill.snow, skill.snow_series))
            for one, skill in parts
            if skill.snow is not None and skill.snow_series is not None
        ]
        if len(readings) < len(parts):
            return None
        return combined_snow(self.clock, loaded, readings, self.period)

    def _skills(
        self, choice: RegionalChoice, basins: Sequence[str], left_out: dict[str, Absent]
    ) -> dict[str, BasinSkill]:
        """Return the skill of a version with members by basin, and add its basins to the choice of its snow cells."""
        ready = self._ready(choice.loaded, basins, left_out)
        return {skill.basin: skill for skill in _judge(self.clock, choice.loaded, self.period, ready, choice)}

    def _ready(self, loaded: LoadedVersion, basins: Sequence[str], left_out: dict[str, Absent]) -> "dict[str, _Ready]":
        products = (self.loaded if self.loaded.parts else loaded).version.area_products
        with self.database.reading() as session:
            ready = _ready(session, loaded, self.period, basins, left_out, products)
        for basin in ready.keys() & self.without.keys():
            ready[basin].observed[np.isin(self.period.days, self.without[basin])] = np.nan
        return ready


def _with_members(loaded: LoadedVersion) -> list[LoadedVersion]:
    """Return a version with members of its own, or the parts of a combined one."""
    return [one.loaded for one in loaded.parts] or [loaded]


def combined_skill(parts: Sequence[tuple[VersionPart, BasinSkill]], period: Period, every: Sequence[str]) -> BasinSkill:
    """Return the skill of a combined version in a basin, from that of its parts there, and that of each set of its
    products alone.

    Args:
        every: the products of the version.
    """
    leading = parts[0][1]
    residuals = [skill.worst_residual for _, skill in parts if skill.worst_residual is not None]
    products = tuple(dict.fromkeys(part.product for part, _ in parts))
    simulated = _mean_of_parts(parts)
    return replace(
        leading,
        scores=all_scores(simulated, leading.observed, period.days),
        simulated=simulated,
        errors=YearlyErrors.of_basin(simulated, leading.observed, period.days),
        worst_residual=max(residuals) if len(residuals) == len(parts) else None,
        snow=None,
        snow_series=None,
        assumed=tuple(dict.fromkeys(name for _, skill in parts for name in skill.assumed)),
        subsets={
            JOINT.join(chosen): all_scores(
                _mean_of_parts([one for one in parts if one[0].product in chosen]), leading.observed, period.days
            )
            for chosen in subsets(every)
            if {*chosen} <= {*products}
        },
    )


def _mean_of_parts(parts: Sequence[tuple[VersionPart, BasinSkill]]) -> Array:
    weights = np.array([part.weight for part, _ in parts])
    flows = np.stack([skill.simulated for _, skill in parts])
    return weighted_mean(flows, weights / weights.sum()).astype(np.float32)


@dataclass(frozen=True, slots=True)
class _Ready:
    forcing: BasinForcing
    observed: Array  # (days of the period,) in mm/day
    reference: Reference | None  # snow, over the days of the forcing
    snow_share: float  # of the precipitation; NaN where unknown


def _ready(
    session: Session,
    loaded: LoadedVersion,
    period: Period,
    basins: Sequence[str],
    left_out: dict[str, Absent],
    products: Sequence[str],
) -> dict[str, _Ready]:
    means = attribute_means(loaded.version)
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
            residual, reading = None, None
            if conserving:
                residual = _residual(forcing.mass[at], outputs, at)
                storage = outputs["storage"][:, at]
                if one.reference is not None:
                    reading = read_snow(clock, loaded, basin, record, one.reference, storage, test=period)
                    regional.add(basin, one.snow_share, record, one.reference, storage)
            yield BasinSkill(
                basin,
                scores,
                simulated,
                one.observed,
                errors=errors,
                worst_residual=residual,
                snow=None if reading is None else reading.cells,
                snow_series=None if reading is None else reading.series,
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
