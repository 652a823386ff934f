"""Decides promotions: a candidate replaces current versions if it is significantly better on held-out years.

The whole water years of a held-out period are divided into two sets. The *deciding* years alone settle whether the
candidate is promoted: the median over basins of the difference in NSE, paired by basin, must have a 95 % interval
(bootstrap over water years, `hydrology.scores.bootstrap`) above the margin. The skill to expect is then reported over
the *reporting* years, which took no part in the decision.

A version that was fitted to these years itself, and has a twin that was not, is judged by its twin.

A candidate trained from scratch is decided on for all basins together. A fine-tuned one is decided on basin by basin,
in those it was tuned on, and against its parent where a basin uses no version.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import structlog
from sqlalchemy.orm import Session

from hydrology.base.calendar import Days, Period
from hydrology.scores.bootstrap import YearlyErrors, median_difference_interval
from hydrology.verification.held_out_years import HeldOutYears, joint_use, split_years
from jobspec.jobs.training import PromotionRule
from jobspec.training import FineTuningConfig, TrainingConfig
from operations.basin_data.dataset import skipped_days
from operations.verification.evaluate import evaluate
from operations.versions.learnt_days import require_held_out, require_to_be_held_out, version_to_score, warning
from records.basins.basins import lock
from records.database.stored import grouped
from records.database.work import Work
from records.versions import promotions, versions
from records.versions.version_properties import PromotionDecision, SideBySide
from runtime.clock import Clock

log = structlog.get_logger()

ByBasin = Mapping[str, YearlyErrors]


def require_decidable(session: Session, config: TrainingConfig | FineTuningConfig, rule: PromotionRule) -> None:
    """Check before a training whether `decide` can be applied to its version.

    Refuse a period that is too short, or overlaps days of the training or of an ancestor's.
    """
    split_years(rule.period)
    require_to_be_held_out(session, config, rule.period)


def decide(work: Work, candidate: str, rule: PromotionRule, *, refused: str | None = None) -> PromotionDecision:
    """Compare a candidate with its basins' current versions, store the decision, and promote accordingly.

    A decision without a comparison does not replace one with a comparison; one that has promoted the candidate by the
    same rule stands. Basins that got another version meanwhile retain it: it was not compared with. An operator's
    candidate becomes current only for basins that are registered with that key, and scores are stored only for versions
    of that operator. A candidate `refused` for a reason is compared with none.
    """
    years = split_years(rule.period)
    if refused is not None:
        refusal = _undecided(candidate, rule, f"Not promoted: {refused}")
        with work.database.transaction() as session:
            versions.update_properties(session, candidate, comparison=refusal)
        return refusal
    with work.database.reading() as session:
        version = versions.get(session, candidate)
        standing = promotions.current(session, version.scope)
    decided = version.properties.comparison
    if decided is not None and decided.promoted and decided.rule == rule:
        return decided
    of_parent = {} if version.parent_id is None else dict.fromkeys(version.scope, version.parent_id)
    in_use = of_parent | standing
    rivals = grouped((rival, basin) for basin, rival in in_use.items() if rival != candidate)
    with work.database.reading() as session:
        judged = {
            name: version_to_score(session, versions.get(session, name), rule.period) for name in (candidate, *rivals)
        }
    require_held_out(judged[candidate], rule.period)
    ours, theirs = _yearly_errors(work, candidate, rivals, judged, rule.period)
    decision = _decision(version, tuple(rivals), rule, years, ours, theirs)
    twins = [f"{name} was judged by its twin {other.id}." for name, other in judged.items() if other.id != name]
    learnt = []
    for name, basins in rivals.items():
        use = joint_use(judged[name].use_of(rule.period, basin) for basin in basins)
        learnt.append(warning(judged[name], rule.period, use))
    decision = replace(decision, sentence=" ".join(filter(None, [decision.sentence, *twins, *learnt])))
    with work.database.transaction() as session:
        if decision.better and rule.promote:
            decision = _promote(session, work.clock, decision, standing)
        if decision.basins or decided is None:
            versions.update_properties(session, candidate, comparison=decision)
    log.info("promotion.decided", candidate=candidate, better=decision.better, promoted=len(decision.promoted))
    return decision


def _undecided(
    candidate: str, rule: PromotionRule, sentence: str, current: tuple[str, ...] = (), basins: int = 0
) -> PromotionDecision:
    return PromotionDecision(
        candidate=candidate,
        current=current,
        rule=rule,
        basins=basins,
        deciding=None,
        reporting=None,
        better=False,
        better_in=(),
        promoted=(),
        sentence=sentence,
    )


def _yearly_errors(
    work: Work, candidate: str, rivals: Mapping[str, list[str]], judged: Mapping[str, versions.Version], period: Period
) -> tuple[dict[str, YearlyErrors], dict[str, YearlyErrors]]:
    def errors(version: str, basins: list[str], skipped: Mapping[str, Days]) -> dict[str, YearlyErrors]:
        of, owner = judged[version], judged[candidate].owner
        stored = owner is None or of.owner == owner
        evaluation = evaluate(work, of.id, period, basins, without=skipped, stored=stored)
        return {basin.basin: basin.errors for basin in evaluation.basins}

    ours: dict[str, YearlyErrors] = {}
    theirs: dict[str, YearlyErrors] = {}
    for rival, basins in rivals.items():
        with work.database.reading() as session:
            skipped = skipped_days(session, [judged[candidate], judged[rival]], basins, period)
        ours |= errors(candidate, basins, skipped)
        theirs |= errors(rival, basins, skipped)
    common = sorted(ours.keys() & theirs.keys())
    return {basin: ours[basin] for basin in common}, {basin: theirs[basin] for basin in common}


def _decision(
    candidate: versions.Version,
    current: tuple[str, ...],
    rule: PromotionRule,
    years: HeldOutYears,
    ours: ByBasin,
    theirs: ByBasin,
) -> PromotionDecision:
    nothing = "No basin has another current version to compare with, so nothing is decided."
    undecided = _undecided(candidate.id, rule, nothing, current, len(ours))
    if not ours:
        return undecided
    deciding, reporting = (side_by_side(some, ours, theirs) for some in (years.deciding, years.reporting))
    if candidate.tuned_on is None:
        better_in = tuple(ours) if deciding.exceeds(rule.margin) else ()
        outcome = f"so it is {'better' if better_in else 'not shown to be better'} by more than the margin of"
    else:
        alone = {
            basin: side_by_side(years.deciding, *({basin: side[basin]} for side in (ours, theirs))) for basin in ours
        }
        better_in = tuple(basin for basin, pair in alone.items() if pair.exceeds(rule.margin))
        outcome = f"basin by basin, it is shown to be better in {len(better_in)} of them, by more than the margin of"
    rival = "its parent" if current == (candidate.parent_id,) else "the current version"
    sentence = (
        f"Decided on the water years {_listed(years.deciding)}: {_in_words(deciding, rival)}; {outcome} "
        f"{rule.margin:g}. Over {_listed(years.reporting)}, which did not decide: {_in_words(reporting, rival)}."
    )
    return replace(
        undecided,
        deciding=deciding,
        reporting=reporting,
        better=bool(better_in),
        better_in=better_in,
        sentence=sentence,
    )


def side_by_side(years: tuple[int, ...], ours: ByBasin, theirs: ByBasin) -> SideBySide:
    """Compare a candidate's errors with those of the current versions, over some water years of the same basins."""
    one, other = (YearlyErrors.joined([side[basin] for basin in ours]).over(years) for side in (ours, theirs))
    known = np.isfinite(one.nse() + other.nse())[:, 0]
    ours_median, theirs_median = (
        float(np.median(errors.nse()[known])) if known.any() else None for errors in (one, other)
    )
    return SideBySide(
        years=years,
        basins=int(known.sum()),
        candidate_median=ours_median,
        current_median=theirs_median,
        difference=median_difference_interval(one, other),
    )


def _in_words(pair: SideBySide, rival: str) -> str:
    if pair.difference is None:
        return "no basin has a score"
    change = pair.difference
    interval = "too few years for an interval"
    if change.low is not None:
        interval = f"95 % interval {change.low:+.3f} to {change.high:+.3f}"
    return (
        f"the candidate's median NSE is {pair.candidate_median:.3f} and that of {rival} {pair.current_median:.3f} in "
        f"{pair.basins} basin{'s' if pair.basins > 1 else ''}; the median difference is {change.median:+.3f} "
        f"({interval})"
    )


def _listed(years: tuple[int, ...]) -> str:
    return ", ".join(map(str, years))


def _promote(
    session: Session, clock: Clock, decision: PromotionDecision, standing: Mapping[str, str]
) -> PromotionDecision:
    better_in = promotions.servable(session, versions.owner_of(session, decision.candidate), decision.better_in)
    for basin in sorted(better_in):
        lock(session, basin)
    now = promotions.current(session, better_in)
    compared = [basin for basin in better_in if now.get(basin) == standing.get(basin)]
    sentence, others = decision.sentence, len(better_in) - len(compared)
    if others:
        what = "1 basin has" if others == 1 else f"{others} basins have"
        sentence = f"{sentence} {what} another version by now, which it was not compared with and does not replace."
    try:
        changed = promotions.promote(
            session, decision.candidate, compared, reason=sentence, by="retraining rule", at=clock.now()
        )
    except promotions.AgainstPhysics as refusal:
        return replace(decision, sentence=f"{sentence} {refusal}")
    return replace(decision, promoted=tuple(changed), sentence=sentence)
