"""Evaluates a version over a period: scores of its ensemble mean, closure and snow, and stores them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import structlog

from hydrology.base.absent import Absent, first_texts
from hydrology.base.calendar import Days, Period
from hydrology.base.errors import DataProblem
from hydrology.scores.comparisons import Quartiles, quartiles
from hydrology.verification.held_out_years import PeriodUse, joint_use
from models.nets.layers import BLOCK
from operations.verification import simulated_levels
from operations.verification.regional_snow_cells import store_regional_snow
from operations.verification.score_basins import BasinScores, BasinSkill, VersionScorer
from operations.verification.snow_cells import store_snow
from operations.versions.learnt_days import warning
from operations.versions.processes import OnProgress, processes_for, side_by_side
from records.database.engine import Database
from records.database.work import Work
from records.simulations import simulated_series
from records.simulations.simulated_series import SimulatedFlow
from records.verification import scores
from records.versions import promotions, versions
from records.versions.version_properties import Closure
from runtime.clock import Clock
from runtime.settings import Settings

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A version's evaluation over a period; `scored` is it or its twin, `warning` why scores flatter it."""

    version_id: str
    scored: str
    use: PeriodUse
    warning: str | None
    period: Period
    basins: tuple[BasinSkill, ...]
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


def evaluate(
    work: Work,
    version_id: str,
    period: Period,
    basins: Sequence[str],
    *,
    without: Mapping[str, Days] | None = None,
    stored: bool = True,
) -> Evaluation:
    """Evaluate a version over a period and store the scores.

    Blocks of basins are evaluated on as many cores as the work may use; the scores are the same. Scores of a basin
    `without` some days are not stored, because they do not cover the period.
    """
    parts = {basin: days for basin, days in (without or {}).items() if len(days)}
    judge = VersionScorer.of(work, version_id, period, parts)
    blocks = [basins[first : first + BLOCK] for first in range(0, len(basins), BLOCK)]
    judged: dict[int, BasinScores] = {}

    def save(block: int, outcome: BasinScores) -> None:
        if stored:
            _store(judge, outcome)
        judged[block] = outcome
        work.show(sum(len(done.scored) + len(done.left_out) for done in judged.values()), len(basins))

    processes = processes_for(len(blocks), work.cores)
    if processes > 1:
        apart = partial(_judge_apart, (work.settings, work.clock, version_id, period), parts, blocks)
        side_by_side(apart, range(len(blocks)), processes, save)
    else:
        for block, names in enumerate(blocks):
            save(block, judge.judge(names))
    in_order = [judged[block] for block in sorted(judged)]
    done = tuple(basin for outcome in in_order for basin in outcome.scored)
    left_out = {basin: reason for outcome in in_order for basin, reason in outcome.left_out.items()}
    if not done:
        raise DataProblem(f"No basin can be evaluated over {period}. {first_texts(left_out)}")
    used = judge.scored_version
    use = joint_use(used.use_of(period, basin.basin) for basin in done)
    evaluation = Evaluation(
        version_id=version_id,
        scored=used.id,
        use=use,
        warning=warning(used, period, use),
        period=period,
        basins=done,
        left_out=left_out,
    )
    if stored:
        _store_regional_snow(judge, in_order)
        _store_closure(work.database, evaluation)
        _simulate_snow(judge)
    log.info("evaluate.done", version=version_id, basins=len(done), left_out=len(left_out))
    return evaluation


def _judge_apart(
    opened: tuple[Settings, Clock, str, Period],
    without: Mapping[str, Days],
    blocks: Sequence[Sequence[str]],
    block: int,
    report: OnProgress,
) -> None:
    report(replace(_opened(*opened), without=without).judge(blocks[block]))


@cache
def _opened(settings: Settings, clock: Clock, version_id: str, period: Period) -> VersionScorer:
    return VersionScorer.of(Work.opened(settings, clock), version_id, period, {})


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


def _store_regional_snow(judge: VersionScorer, judged: Sequence[BasinScores]) -> None:
    with judge.work.database.transaction() as session:
        for choice in judge.choices():
            for outcome in judged:
                choice.basins.update(outcome.snowy[choice.loaded.version.id])
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
    each = [("mean", judged.scores), *judged.subsets.items()]
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


def _store_closure(database: Database, evaluation: Evaluation) -> None:
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
