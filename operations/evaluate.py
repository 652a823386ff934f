"""How good a version is: every score of its members' mean, its closure, and its snow, basin by basin.

A version that has fitted days of the period itself, and has a twin that has not, is scored by its twin; its closure and
its snow cells are its own.

The simulation starts at an empty store on the first day of a basin's record and carries its state through, as
the forecasts' states do.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import structlog
from sqlalchemy.orm import Session

from hydrology.bootstrap import YearlyErrors
from hydrology.calendar import Days, Period
from hydrology.errors import DataProblem
from hydrology.ledger import worst_relative_residual
from hydrology.pairs import Score
from hydrology.scores import all_scores
from models.arrays import Array, days_of
from models.inference import ArrayMap
from models.nets.products import BLOCK
from operations.dataset import BasinForcing, load_discharge, load_forcing, stacked
from operations.heldout import stand_in
from operations.learnt import attribute_means
from operations.loading import LoadedVersion, load_version
from operations.regional_snow import RegionalChoice, keep_regional_snow
from operations.snow import Reference, keep_snow, read_snow, reference_snow
from records import basins as basin_records
from records import promotions, skill, versions
from records.clock import Clock
from records.engine import Database
from records.version_properties import Closure
from records.volumes import SNOW_SHARE

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class BasinSkill:
    """What an evaluation says of a basin.

    Attributes:
        scores: of the members' mean, by metric.
        errors: of the members' mean, from which its NSE over any of the period's water years follows.
        worst_residual: the largest |residual| / water over all members and days; None where the network does
            not conserve mass.
        snow: the cells that read as snow; None where the basin has no reference snow.
        assumed: the attributes of the basin that were assumed.
    """

    basin: str
    scores: dict[str, Score]
    errors: YearlyErrors
    worst_residual: float | None
    snow: skill.SnowCells | None
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation of a version over a period.

    Attributes:
        scored: the version whose scores these are: its twin's, or its own.
        left_out: why a basin could not be evaluated.
    """

    version_id: str
    scored: str
    period: Period
    basins: tuple[BasinSkill, ...]
    left_out: dict[str, str]

    @property
    def worst_residual(self) -> float | None:
        """The largest relative residual of all basins."""
        known = [basin.worst_residual for basin in self.basins if basin.worst_residual is not None]
        return max(known, default=None)

    def quartiles(self, metric: str) -> tuple[int, float | None, float | None, float | None]:
        """Return how many basins have a score, and its quartile, median and upper quartile over them."""
        values = [basin.scores[metric].value for basin in self.basins]
        known = [value for value in values if value is not None]
        if not known:
            return 0, None, None, None
        low, middle, high = np.percentile(known, [25, 50, 75])
        return len(known), float(low), float(middle), float(high)


def evaluate(
    database: Database,
    clock: Clock,
    version_id: str,
    period: Period,
    basins: Sequence[str],
    on_basins: Callable[[int, int], None] = lambda _done, _total: None,
    without: Mapping[str, Days] | None = None,
) -> Evaluation:
    """Evaluate a version over a period and keep the scores.

    Args:
        on_basins: gets how many basins are done, of how many.
        without: days that are not to be scored, by basin; the scores of a basin that has some are not kept, for they
            are not those of the period.

    Raises:
        UnknownVersion: there is none of that id.
        DataProblem: no basin can be evaluated.
    """
    with database.reading() as session:
        loaded = load_version(session, version_id)
        scored = stand_in(session, loaded.version, period).id
        twin = None if scored == version_id else load_version(session, scored)
    regional = RegionalChoice(loaded, period)
    of_twin = None if twin is None else RegionalChoice(twin, period)
    parts = {basin: days for basin, days in (without or {}).items() if len(days)}
    done: list[BasinSkill] = []
    left_out: dict[str, str] = {}
    for names in _blocks(basins):
        with database.reading() as session:
            ready = _ready(session, loaded, period, names, left_out)
        for basin in ready.keys() & parts.keys():
            ready[basin].observed[np.isin(period.days, parts[basin])] = np.nan
        own = list(_judge(clock, loaded, period, ready, regional))
        judged = own if twin is None else _scored_by(_judge(clock, twin, period, ready, of_twin), own)
        whole = [basin for basin in judged if basin.basin not in parts]
        with database.transaction() as session:
            skill.replace(session, [row for basin in whole for row in _rows(clock, scored, period, basin)])
            keep_snow(session, scored, [basin.snow for basin in whole if basin.snow is not None])
            if twin is not None:
                keep_snow(session, version_id, [basin.snow for basin in own if basin.snow is not None])
        done += judged
        on_basins(len(done) + len(left_out), len(basins))
    if not done:
        raise DataProblem(f"No basin can be evaluated over {period}. {' '.join(list(left_out.values())[:3])}")
    with database.transaction() as session:
        for choice in (regional, of_twin):
            if choice is not None:
                keep_regional_snow(session, clock, choice)
    evaluation = Evaluation(version_id, scored, period, tuple(done), left_out)
    _keep_closure(database, evaluation)
    log.info("evaluate.done", version=version_id, basins=len(done), left_out=len(left_out))
    return evaluation


def _scored_by(twin: Iterable[BasinSkill], own: Sequence[BasinSkill]) -> list[BasinSkill]:
    """Return the skill of a twin, with the closure of the version that it is judged for."""
    return [replace(judged, worst_residual=basin.worst_residual) for judged, basin in zip(twin, own, strict=True)]


def _blocks(basins: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, len(basins), BLOCK):
        yield basins[first : first + BLOCK]


@dataclass(frozen=True, slots=True)
class _Ready:
    forcing: BasinForcing
    observed: Array  # (days of the period,) in mm/day
    reference: Reference | None  # snow, over the days of the forcing
    snow_share: float  # of the precipitation; NaN where that is not known


def _ready(
    session: Session, loaded: LoadedVersion, period: Period, basins: Sequence[str], left_out: dict[str, str]
) -> dict[str, _Ready]:
    ready = {}
    means = attribute_means(loaded.version)
    shares = dict(zip(basins, basin_records.attributes_of(session, basins, [SNOW_SHARE])[:, 0].tolist(), strict=True))
    for basin in basins:
        forcing = load_forcing(session, basin, loaded.config, means)
        if isinstance(forcing, str):
            left_out[basin] = forcing
            continue
        if period.overlap(forcing.period) != period:
            left_out[basin] = forcing.stop or f"{basin}: the forcing {forcing.period} does not cover {period}."
            continue
        observed = load_discharge(session, basin, loaded.version.area_products, period)
        if isinstance(observed, str):
            left_out[basin] = observed
        else:
            reference = reference_snow(session, basin, forcing.period)
            ready[basin] = _Ready(forcing, observed, reference, shares[basin])
    return ready


def _judge(
    clock: Clock, loaded: LoadedVersion, period: Period, ready: dict[str, _Ready], regional: RegionalChoice | None
) -> Iterator[BasinSkill]:
    """Simulate basins of one record at a time, score each, and let it choose the regional snow cells with others."""
    for record in sorted({one.forcing.period for one in ready.values()}, key=str):
        group = {basin: one for basin, one in ready.items() if one.forcing.period == record}
        forcing = stacked([one.forcing.forcing for one in group.values()])
        conserving = loaded.ensemble.conserving
        keep = ("discharge", "loss", "storage") if conserving else ("discharge",)
        outputs, _ = loaded.ensemble.simulate(forcing, None, keep)
        for at, (basin, one) in enumerate(group.items()):
            simulated = outputs["discharge"][:, at, days_of(record, period)].mean(axis=0)
            scores = all_scores(simulated, one.observed, period.days)
            errors = YearlyErrors.of_basin(simulated, one.observed, period.days)
            residual, snow = None, None
            if conserving:
                mass = forcing.mass[at]
                residual = _residual(mass, outputs, at)
                storage = outputs["storage"][:, at]
                if one.reference is not None:
                    snow = read_snow(clock, loaded, basin, record, one.reference, storage, period)
                    if regional is not None:
                        regional.add(basin, one.snow_share, record, one.reference, storage)
            yield BasinSkill(basin, scores, errors, residual, snow, one.forcing.assumed)


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


def _rows(clock: Clock, version: str, period: Period, judged: BasinSkill) -> Iterator[skill.Score]:
    for metric, score in judged.scores.items():
        yield skill.Score(
            version_id=version,
            basin_id=judged.basin,
            member="mean",
            metric=metric,
            first_day=period.first,
            last_day=period.last,
            n=score.n,
            value=score.value,
            reason=score.reason,
            attributes_assumed=list(judged.assumed),
            evaluated_at=clock.wall(),
        )


def _keep_closure(database: Database, evaluation: Evaluation) -> None:
    """Keep the closure with the version where it is of all its basins."""
    if evaluation.worst_residual is None:
        return
    done = {one.basin for one in evaluation.basins}
    with database.reading() as session:
        version = versions.get(session, evaluation.version_id)
        here = promotions.basins_here(session, version)
    if not here or not done.issuperset(here):
        return
    closure = Closure(
        worst_relative_residual=evaluation.worst_residual,
        basins=len(evaluation.basins),
        period=str(evaluation.period),
    )
    with database.transaction() as session:
        versions.set_closure(session, evaluation.version_id, closure)
