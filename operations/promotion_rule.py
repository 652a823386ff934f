"""A candidate beside the versions that basins use now, on held-out days: which is better, and by which rule.

A candidate that was trained from scratch is judged by its median over all basins. One that was fine-tuned is judged
basin by basin, in those it was tuned on, and beside its parent where a basin uses no version.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np
import structlog

from hydrology.calendar import Days, Period
from jobspec.training import TrainingConfig
from operations.dataset import skipped_days
from operations.evaluate import evaluate
from operations.heldout import require_held_out
from records import promotions, versions
from records.clock import Clock
from records.engine import Database

log = structlog.get_logger()

METRIC = "nse"


@dataclass(frozen=True, slots=True)
class Rule:
    """When a candidate takes over.

    Attributes:
        period: FIRST..LAST, days that took no part in the training of the candidate or its ancestors.
        margin: by how much its median NSE, or that of a basin, must exceed that of the current versions.
        promote: whether it then becomes current by itself; otherwise an admin decides.
    """

    period: str
    margin: float = 0.0
    promote: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the comparison came to.

    Attributes:
        current: the versions compared with.
        basins: how many basins both sides have a score for.
        candidate_median, current_median: of their NSE over these basins; None where there is none to compare.
        better: whether the rule is met, in any basin.
        better_in: the basins where it is met; all or none of a candidate that is judged by its median.
        promoted: the basins that now use the candidate because of it.
        sentence: all this in words.
    """

    candidate: str
    current: tuple[str, ...]
    rule: Rule
    basins: int
    candidate_median: float | None
    current_median: float | None
    better: bool
    better_in: tuple[str, ...]
    promoted: tuple[str, ...]
    sentence: str


def judge(
    database: Database,
    clock: Clock,
    candidate: str,
    rule: Rule,
    on_basins: Callable[[int, int], None] = lambda _done, _total: None,
) -> Verdict:
    """Compare a candidate with the current versions of its basins, keep the verdict with it, and act by the rule.

    A verdict that compares nothing does not take the place of one that does.

    Raises:
        InvalidInput: the period overlaps the training or validation of the candidate or its ancestors.
        DataProblem: no basin can be evaluated.
    """
    with database.reading() as session:
        version = versions.get(session, candidate)
        current = promotions.current(session, version.scope)
    if version.parent_id is not None:
        current = dict.fromkeys(version.scope, version.parent_id) | current
    period = Period.parse(rule.period)
    require_held_out(version, period)
    rivals: dict[str, list[str]] = {}
    for basin, used in current.items():
        if used != candidate:
            rivals.setdefault(used, []).append(basin)
    ours: dict[str, float] = {}
    theirs: dict[str, float] = {}
    for rival, names in rivals.items():
        with database.reading() as session:
            configs = [TrainingConfig.model_validate(one.config) for one in (version, versions.get(session, rival))]
            skipped = skipped_days(session, configs, names, period)
        ours |= _scores(database, clock, candidate, period, names, skipped, on_basins)
        theirs |= _scores(database, clock, rival, period, names, skipped, on_basins)
    verdict = _verdict(version, tuple(rivals), rule, ours, theirs)
    if verdict.better and rule.promote:
        verdict = _promote(database, clock, verdict)
    if not verdict.basins and version.properties.comparison is not None:
        return verdict
    with database.transaction() as session:
        versions.set_comparison(session, candidate, asdict(verdict))
    log.info("compare.verdict", candidate=candidate, better=verdict.better, promoted=len(verdict.promoted))
    return verdict


def _scores(
    database: Database,
    clock: Clock,
    version: str,
    period: Period,
    basins: list[str],
    skipped: Mapping[str, Days],
    on_basins: Callable[[int, int], None],
) -> dict[str, float]:
    done = evaluate(database, clock, version, period, basins, on_basins, without=skipped)
    values = {one.basin: one.scores[METRIC].value for one in done.basins}
    return {basin: value for basin, value in values.items() if value is not None}


def _verdict(
    candidate: versions.Version, current: tuple[str, ...], rule: Rule, ours: dict[str, float], theirs: dict[str, float]
) -> Verdict:
    common = sorted(ours.keys() & theirs.keys())
    if not common:
        said = "No basin has another current version to compare with, so the candidate is not judged."
        return Verdict(candidate.id, current, rule, 0, None, None, False, (), (), said)
    one, other = (float(np.median([side[basin] for basin in common])) for side in (ours, theirs))
    if candidate.tuned_on is None:
        better_in = common if one > other + rule.margin else []
        which = f"{'more' if better_in else 'not more'} than the margin of {rule.margin:g} above it."
    else:
        better_in = [basin for basin in common if ours[basin] > theirs[basin] + rule.margin]
        which = f"by more than the margin of {rule.margin:g} above it in {len(better_in)} of them."
    other_one = "its parent" if current == (candidate.parent_id,) else "the current version"
    said = (
        f"Over {rule.period} the candidate's median NSE is {one:.3f} and that of {other_one} {other:.3f} in "
        f"{len(common)} basin{'s' if len(common) > 1 else ''}; {which}"
    )
    return Verdict(candidate.id, current, rule, len(common), one, other, bool(better_in), tuple(better_in), (), said)


def _promote(database: Database, clock: Clock, verdict: Verdict) -> Verdict:
    with database.transaction() as session:
        changed = promotions.promote(
            session,
            verdict.candidate,
            verdict.better_in,
            reason=verdict.sentence,
            by="retraining rule",
            at=clock.now(),
        )
    return replace(verdict, promoted=tuple(changed))
