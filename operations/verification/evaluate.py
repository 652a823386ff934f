"""Evaluates a version over a period: scores of its ensemble mean, closure and snow, and stores them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Self, TypeVar

import structlog
from pydantic import Field

from hydrology.base.absent import Absent, first_texts
from hydrology.base.calendar import Days, Period
from hydrology.base.errors import DataProblem
from hydrology.scores.comparisons import Quartiles, quartiles
from hydrology.verification.held_out_years import PeriodUse, joint_use
from operations.verification import simulated_levels
from operations.verification.past_simulation import in_blocks
from operations.verification.regional_snow_cells import MIN_BASINS, SnowyBasin, store_regional_snow
from operations.verification.score_basins import BasinScores, BasinSkill, EvaluatedBasin, VersionScorer
from operations.verification.snow_cells import store_snow
from operations.versions.learnt_days import warning
from records.database.engine import Database
from records.database.work import Work
from records.simulations import simulated_series
from records.simulations.simulated_series import SimulatedFlow
from records.verification import scores
from records.versions import promotions, versions
from records.versions.version_properties import Closure

log = structlog.get_logger()


Skill = TypeVar("Skill", bound=EvaluatedBasin)
_Snowy = dict[str, dict[str, SnowyBasin]]


@dataclass(frozen=True, slots=True)
class Evaluation(Generic[Skill]):
    """A version's evaluation over a period; `scored` is it or its twin, `warning` why scores flatter it."""

    version_id: str
    scored: str
    use: PeriodUse
    warning: str | None
    period: Period
    basins: tuple[Skill, ...]
    left_out: dict[str, Absent]

    @property
    def worst_residual(self) -> float | None:
        """Largest relative residual over all basins."""
        known = [basin.worst_residual for basin in self.basins if basin.worst_residual is not None]
        return max(known, default=None)

    def quartiles(self, metric: str) -> Quartiles:
        """Return a score's quartiles over the basins that have it."""
        values = [basin.scores[metric].value for basin in self.basins]
        return quartiles([value for value in values if value is not None])


@dataclass(frozen=True, slots=True)
class EvaluatedPart:
    """The outcome of a part of an evaluation, whose scores are stored.

    Attributes:
        snowy: the basins with snow, by the version that simulates them.
        data: of these basins, for choosing regional snow cells; not stored with a job's result, because they are large.
    """

    basins: list[EvaluatedBasin]
    left_out: dict[str, Absent]
    snowy: dict[str, list[str]] = field(default_factory=dict)
    data: Annotated[Any, Field(exclude=True)] = None

    @classmethod
    def failed(cls, names: Sequence[str], reason: Absent) -> Self:
        """Return the outcome of a part that failed."""
        return cls([], dict.fromkeys(names, reason))


def evaluate(
    work: Work,
    version_id: str,
    period: Period,
    basins: Sequence[str],
    *,
    without: Mapping[str, Days] | None = None,
    stored: bool = True,
) -> Evaluation[BasinSkill]:
    """Evaluate a version over a period and store the scores.

    Scores of a basin `without` some days are not stored, because they do not cover the period.
    """
    judge = VersionScorer.of(work, version_id, period, _some(without))
    judged = [*_judged(judge, basins, stored=stored)]
    left_out = {basin: reason for block in judged for basin, reason in block.left_out.items()}
    evaluation = _evaluation(judge, [basin for block in judged for basin in block.scored], left_out)
    if stored:
        _conclude(judge, evaluation, basins, _joined(block.snowy for block in judged))
    return evaluation


def _some(without: Mapping[str, Days] | None) -> dict[str, Days]:
    return {basin: days for basin, days in (without or {}).items() if len(days)}


def evaluate_part(
    work: Work,
    version_id: str,
    period: Period,
    basins: Sequence[str],
    *,
    without: Mapping[str, Days] | None = None,
    stored: bool = True,
) -> EvaluatedPart:
    """Evaluate a version in a part of the basins, and store the scores as `evaluate` does."""
    done = [*_judged(VersionScorer.of(work, version_id, period, _some(without)), basins, stored=stored)]
    data = _joined(block.snowy for block in done)
    return EvaluatedPart(
        basins=[EvaluatedBasin(of.basin, of.scores, of.worst_residual) for block in done for of in block.scored],
        left_out={basin: reason for block in done for basin, reason in block.left_out.items()},
        snowy={version: [*of_basins] for version, of_basins in data.items()},
        data=data,
    )


def conclude(
    work: Work,
    version_id: str,
    period: Period,
    basins: Sequence[str],
    parts: Sequence[EvaluatedPart],
    *,
    stored: bool = True,
) -> Evaluation[EvaluatedBasin]:
    """Join the parts of an evaluation, and store what follows from all basins: regional snow cells and closure."""
    judge = VersionScorer.of(work, version_id, period, {})
    left_out = {basin: reason for part in parts for basin, reason in part.left_out.items()}
    evaluation = _evaluation(judge, [basin for part in parts for basin in part.basins], left_out)
    if not stored:
        return evaluation
    snowy = _joined(part.data for part in parts if part.data is not None)
    for choice in judge.choices():
        version = choice.loaded.version.id
        names = [name for part in parts for name in part.snowy.get(version, ())]
        if len(names) >= MIN_BASINS and (missing := [name for name in names if name not in snowy.get(version, {})]):
            snowy.setdefault(version, {}).update(judge.snowy(choice, missing))
    _conclude(judge, evaluation, basins, snowy)
    return evaluation


def _judged(judge: VersionScorer, basins: Sequence[str], *, stored: bool) -> Iterator[BasinScores]:
    done = 0
    for names in in_blocks(basins):
        outcome = judge.judge(names)
        if stored:
            _store(judge, outcome)
        done += len(outcome.scored) + len(outcome.left_out)
        judge.work.show(done, len(basins))
        yield outcome


def _joined(of_blocks: Iterable[_Snowy]) -> _Snowy:
    joined: _Snowy = {}
    for snowy in of_blocks:
        for version, of_basins in snowy.items():
            joined.setdefault(version, {}).update(of_basins)
    return joined


def _evaluation(judge: VersionScorer, scored: Sequence[Skill], left_out: dict[str, Absent]) -> Evaluation[Skill]:
    period = judge.period
    if not scored:
        raise DataProblem(f"No basin can be evaluated over {period}. {first_texts(left_out)}")
    used = judge.scored_version
    use = joint_use(used.use_of(period, basin.basin) for basin in scored)
    version_id = judge.loaded.version.id
    log.info("evaluate.done", version=version_id, basins=len(scored), left_out=len(left_out))
    return Evaluation(
        version_id=version_id,
        scored=used.id,
        use=use,
        warning=warning(used, period, use),
        period=period,
        basins=tuple(scored),
        left_out=left_out,
    )


def _conclude(judge: VersionScorer, evaluation: Evaluation[Any], basins: Sequence[str], snowy: _Snowy) -> None:
    _store_regional_snow(judge, basins, snowy)
    _store_closure(judge.work.database, evaluation)
    _simulate_snow(judge)


def _store(judge: VersionScorer, judged: BasinScores) -> None:
    whole = [basin for basin in judged.scored if basin.basin not in judge.without]
    with judge.work.database.transaction() as session:
        scores.replace(session, [row for basin in whole for row in _rows(judge, basin)])
        flows = [
            SimulatedFlow(
                version_id=judge.scored,
                basin_id=basin.basin,
                period=judge.period,
                simulated=basin.simulated,
                observed=basin.observed,
                evaluated_at=judge.work.clock.wall(),
            )
            for basin in whole
        ]
        simulated_series.replace_flow(session, flows)
        for version, cells in judged.snow.items():
            store_snow(session, version, [one for one in cells if one.basin_id not in judge.without])


def _store_regional_snow(judge: VersionScorer, basins: Sequence[str], snowy: _Snowy) -> None:
    """Store the regional snow cells, chosen from basins in their order, which no division changes."""
    with judge.work.database.transaction() as session:
        for choice in judge.choices():
            of_version = snowy.get(choice.loaded.version.id, {})
            choice.basins.update({name: of_version[name] for name in basins if name in of_version})
            store_regional_snow(session, judge.work.clock, choice)


def _simulate_snow(judge: VersionScorer) -> None:
    """Simulate the past again where other cells read as snow now, so that its normal is of the same cells."""
    for choice in judge.choices():
        version = choice.loaded.version.id
        with judge.work.database.reading() as session:
            basins = simulated_series.lacking_snow(session, version)
        if basins and choice.loaded.ensemble.conserving:
            simulated_levels.compute(judge.work.quiet, version, basins)


def _rows(judge: VersionScorer, judged: BasinSkill) -> Iterator[scores.Score]:
    version, period = judge.scored_version, judge.period
    use = version.use_of(period, judged.basin)
    each = [(scores.MEAN, judged.scores), (scores.DRAWS, judged.of_draws), *judged.subsets.items()]
    for member, metric, score in ((name, *one) for name, of_name in each for one in of_name.items()):
        yield scores.Score(
            version_id=version.id,
            basin_id=judged.basin,
            member=member,
            metric=metric,
            first_day=period.first,
            last_day=period.last,
            n=score.n,
            value=score.value,
            reason=score.reason,
            attributes_assumed=list(judged.assumed),
            period_use=use,
            evaluated_at=judge.work.clock.wall(),
        )


def _store_closure(database: Database, evaluation: Evaluation[Any]) -> None:
    if evaluation.worst_residual is None:
        return
    done = {one.basin for one in evaluation.basins}
    with database.reading() as session:
        version = versions.get(session, evaluation.version_id)
        here = promotions.basins_here(session, version)
    if not here or not done.issuperset(here):
        return
    closure = Closure(
        worst_relative_residual=evaluation.worst_residual, basins=len(evaluation.basins), period=str(evaluation.period)
    )
    with database.transaction() as session:
        versions.update_properties(session, evaluation.version_id, closure=closure)
