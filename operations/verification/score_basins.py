"""Scores a version in basins, each simulated from an empty store on the first day of its record.

The state is carried through, as that of the forecasts is. A version that has fitted days of the period itself, and has
a twin that has not, is scored by its twin; its closure and its snow cells are its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent
from hydrology.base.calendar import Days, Period
from hydrology.base.products import JOINT, subsets
from hydrology.scores.bootstrap import YearlyErrors
from hydrology.scores.score_types import Score
from hydrology.scores.scores import all_scores
from hydrology.uncertainty.draws import scores_of_draws
from hydrology.uncertainty.error_model import BasinErrorModel
from hydrology.uncertainty.weighted import mean_by_shares
from hydrology.water.ledger import worst_relative_residual
from models.ensemble import ArrayMap
from models.forcing import Array, days_of
from operations.basin_data.dataset import BasinForcing, by_record
from operations.forecasting.calibrated_flow import error_model_of
from operations.verification.past_simulation import PastDays, in_blocks
from operations.verification.regional_snow_cells import RegionalChoice, SnowyBasin
from operations.verification.snow_cells import Reference, SnowReading, combined_snow, read_snow, reference_snow
from operations.versions.learnt_days import version_to_score
from operations.versions.load_networks import LoadedPart, LoadedVersion, load_version
from records.basins import basins as basin_records
from records.database.work import Work
from records.forecasts.volumes_and_recessions import SNOW_SHARE
from records.simulations import snow_cells
from records.versions.versions import Version
from runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class EvaluatedBasin:
    """The scores of a version in one basin.

    Attributes:
        worst_residual: the largest |residual| / water over all members and days; None where the network does not
            conserve mass.
    """

    basin: str
    scores: dict[str, Score]
    worst_residual: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinSkill(EvaluatedBasin):
    """The result of an evaluation in one basin.

    Attributes:
        simulated, observed: (days of the period,), the members' mean and the observation, mm/day, NaN where missing.
        errors: of the members' mean, from which its NSE over any of the period's water years follows.
        snow: the cells that read as snow, with their skill; None where the basin has no reference snow.
        subsets: of a combined version, the scores with some of its products alone, by their joined names.
        of_draws: of the calibrated flow; empty without an error model that is fitted to other days.
    """

    simulated: Array = field(repr=False, compare=False)
    observed: Array = field(repr=False, compare=False)
    errors: YearlyErrors
    snow: snow_cells.SnowCells | None
    assumed: tuple[str, ...] = ()
    subsets: dict[str, dict[str, Score]] = field(default_factory=dict)
    of_draws: dict[str, Score] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BasinScores:
    """The results of an evaluation in several basins.

    The skill is that of the version; with a twin that of the twin, with the version's own closure. The snow cells, and
    the data for choosing regional ones (`snowy`), are by the version that they are of.
    """

    scored: list[BasinSkill]
    left_out: dict[str, Absent]
    snow: dict[str, list[snow_cells.SnowCells]]
    snowy: dict[str, dict[str, SnowyBasin]]


@dataclass(frozen=True, slots=True)
class PartSimulation:
    """What a part simulates in a basin, as in `BasinSkill`; snow is None without reference snow."""

    simulated: Array
    observed: Array
    worst_residual: float | None
    snow: SnowReading | None
    assumed: tuple[str, ...]


_OfBasins = Mapping[str, PartSimulation]
_OfPart = tuple[LoadedPart, PartSimulation]


@dataclass(frozen=True, slots=True)
class VersionScorer:
    """Scores a version over a period, by its twin if there is one."""

    work: Work
    loaded: LoadedVersion
    twin: LoadedVersion | None
    period: Period
    without: Mapping[str, Days] = field(default_factory=dict)

    @classmethod
    def of(cls, work: Work, version: str, period: Period, without: Mapping[str, Days]) -> "VersionScorer":
        """Load a version, and its twin if that is to be scored."""
        with work.database.reading() as session:
            loaded = load_version(session, version)
            scored = version_to_score(session, loaded.version, period).id
            twin = None if scored == version else load_version(session, scored)
        return cls(work, loaded, twin, period, without)

    @property
    def scored(self) -> str:
        return self.scored_version.id

    @property
    def scored_version(self) -> Version:
        return (self.twin or self.loaded).version

    def choices(self) -> list[RegionalChoice]:
        """Return empty choices of regional snow cells: of the parts of the version and of its twin."""
        every = [one.loaded for loaded in (self.loaded, self.twin) if loaded is not None for one in loaded.parts]
        return [RegionalChoice(one, self.period) for one in {one.version.id: one for one in every}.values()]

    def snowy(self, choice: RegionalChoice, basins: Sequence[str]) -> dict[str, SnowyBasin]:
        """Return the data of some basins for a choice of regional snow cells."""
        past = PastDays(self.work.database, self.period, self.loaded.version.area_products)
        for names in in_blocks(basins):
            self._simulated(choice, names, past)
        return choice.basins

    def judge(self, basins: Sequence[str]) -> BasinScores:
        """Score the version in some basins, and choose the snow cells of those whose members these are."""
        past = PastDays(self.work.database, self.period, self.loaded.version.area_products)
        of_parts, snowy = dict[str, _OfBasins](), dict[str, dict[str, SnowyBasin]]()
        for choice in self.choices():
            version = choice.loaded.version.id
            of_parts[version], snowy[version] = self._simulated(choice, basins, past), choice.basins
        snow = {version: [one.snow.cells for one in of.values() if one.snow] for version, of in of_parts.items()}
        own = self._skills(self.loaded, basins, of_parts)
        scored, every = own, {self.loaded.version.id: own}
        if self.twin is not None:
            of_twin = every[self.twin.version.id] = self._skills(self.twin, basins, of_parts)
            scored = {
                basin: replace(of_twin[basin], worst_residual=skill.worst_residual)
                for basin, skill in own.items()
                if basin in of_twin
            }
        snow |= {version: [one.snow for one in of.values() if one.snow] for version, of in every.items()}
        left_out = {basin: reason for basin, reason in past.left_out.items() if basin not in scored}
        return BasinScores(scored=[*scored.values()], left_out=left_out, snow=snow, snowy=snowy)

    def _skills(
        self, loaded: LoadedVersion, basins: Sequence[str], of_parts: Mapping[str, _OfBasins]
    ) -> dict[str, BasinSkill]:
        """Return the skill of a version in the basins that one of its products covers."""
        found, error_models = dict[str, BasinSkill](), self._error_models(loaded, basins)
        for basin in basins:
            there = [
                (replace(one, part=one.part.in_basin(basin)), of_parts[one.part.version][basin])
                for one in loaded.parts
                if basin in of_parts[one.part.version]
            ]
            if there:
                found[basin] = self._skill(loaded, basin, there, error_models.get(basin))
        return found

    def _error_models(self, loaded: LoadedVersion, basins: Sequence[str]) -> dict[str, BasinErrorModel]:
        """Return the error models of the version to score; none that are fitted to days of the period."""
        if loaded.version.id != self.scored:
            return {}
        with self.work.database.reading() as session:
            model = error_model_of(session, loaded.version, basins)
        if isinstance(model, Absent) or model.period.overlap(self.period):
            return {}
        return {basin: of_basin for basin in basins if (of_basin := model.of_basin(basin)) is not None}

    def _skill(
        self, loaded: LoadedVersion, basin: str, parts: Sequence[_OfPart], error_model: BasinErrorModel | None
    ) -> BasinSkill:
        """Return the skill of a version in a basin; of a combined one also that of each set of its products alone."""
        days, observed, simulated = self.period.days, parts[0][1].observed, _mean_of_parts(parts)
        residuals = [one.worst_residual for _, one in parts if one.worst_residual is not None]
        products = {one.part.product for one, _ in parts}
        return BasinSkill(
            basin=basin,
            scores=all_scores(simulated, observed, days),
            simulated=simulated,
            observed=observed,
            errors=YearlyErrors.of_basin(simulated, observed, days),
            worst_residual=max(residuals) if len(residuals) == len(parts) else None,
            snow=self._snow(loaded, parts),
            assumed=tuple(dict.fromkeys(name for _, one in parts for name in one.assumed)),
            subsets={
                JOINT.join(chosen): all_scores(
                    _mean_of_parts([one for one in parts if one[0].part.product in chosen]), observed, days
                )
                for chosen in (subsets(loaded.version.products) if loaded.combines else ())
                if {*chosen} <= products
            },
            of_draws={}
            if error_model is None
            else scores_of_draws(error_model, simulated.astype(float), observed, days),
        )

    def _snow(self, loaded: LoadedVersion, parts: Sequence[_OfPart]) -> snow_cells.SnowCells | None:
        """Return what a version reads as snow in a basin; None where a part of it reads none."""
        readings = [(one, of_part.snow) for one, of_part in parts if of_part.snow is not None]
        if len(readings) < len(parts):
            return None
        return (
            combined_snow(self.work.clock, loaded, readings, self.period) if loaded.combines else readings[0][1].cells
        )

    def _simulated(self, choice: RegionalChoice, basins: Sequence[str], past: PastDays) -> _OfBasins:
        pairs = past.pairs(choice.loaded, basins)
        for basin in pairs.keys() & self.without.keys():
            pairs[basin][1][np.isin(self.period.days, self.without[basin])] = np.nan
        with past.database.reading() as session:
            shares = basin_records.attributes_of(session, [*pairs], [SNOW_SHARE])[:, 0].tolist()
            found = {basin: reference_snow(session, basin, forcing.period) for basin, (forcing, _) in pairs.items()}
        references = {
            basin: (one, share) for (basin, one), share in zip(found.items(), shares, strict=True) if one is not None
        }
        return dict(_simulated(self.work.clock, choice, pairs, references))


def _mean_of_parts(parts: Sequence[_OfPart]) -> Array:
    shares = [one.part.weight for one, _ in parts]
    return mean_by_shares([of_part.simulated for _, of_part in parts], shares).astype(np.float32)


def _simulated(
    clock: Clock,
    regional: RegionalChoice,
    pairs: Mapping[str, tuple[BasinForcing, Array]],
    references: Mapping[str, tuple[Reference, float]],
) -> Iterator[tuple[str, PartSimulation]]:
    """Yield what a part simulates; the references have the snow fraction of precipitation, NaN where unknown."""
    loaded, period = regional.loaded, regional.test
    conserving = loaded.ensemble.conserving
    wanted = ("discharge", "loss", "storage") if conserving else ("discharge",)
    for record, names, forcing in by_record({basin: forcing for basin, (forcing, _) in pairs.items()}):
        outputs, _ = loaded.ensemble.simulate(forcing, None, wanted)
        for at, basin in enumerate(names):
            residual, reading = None, None
            if conserving:
                residual = _residual(forcing.mass[at], outputs, at)
                storage = outputs["storage"][:, at]
                if basin in references:
                    reference, share = references[basin]
                    reading = read_snow(clock, loaded, reference, storage, test=period)
                    regional.add(share, reference, storage)
            simulated = outputs["discharge"][:, at, days_of(record, period)].mean(axis=0)
            yield basin, PartSimulation(simulated, pairs[basin][1], residual, reading, pairs[basin][0].assumed)


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
