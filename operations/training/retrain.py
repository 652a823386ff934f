"""A season's retraining: the recipe of the version in use, trained anew on the record as it is now.

Two ensembles are trained by it. The *candidate* learns from every whole water year of the record, so that a promotion
brings the newest years into use. Its *twin* learns from all but the judged years, and is held there against the version
in use, or that one's twin (`operations.training.promotion_rule`). The number of steps is the recipe's: no weights are
chosen by
validation, so that the judged years, in which neither has learnt anything, choose nothing but what is put in use.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.verification.held_out_years import MIN_YEARS, whole_water_years, year_of
from jobspec.jobs.training import Judgement, PromotionRule, RetrainingParams
from jobspec.training import TrainingConfig
from operations.training.promotion_rule import decide
from operations.training.train import StartedTraining, Trained, assemble, begin, reopen
from operations.verification.calibrate import calibrate
from operations.verification.evaluate import evaluate
from operations.verification.simulated_thresholds import compute
from records.basins import basins
from records.database.engine import Database
from records.series import series
from records.versions import promotions, versions
from records.versions.promotion_decisions import PromotionDecision
from runtime.clock import Clock

OnStep = Callable[[str, int, int], None]
"""Gets what is done, how many basins of it are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Season:
    """What is to be trained.

    Attributes:
        version_id: whose recipe it is.
        basins: to learn from: those that the version learnt from or serves.
        twin: the configuration of the twin: its held-out period is that of the judged years.
        candidate: that of the candidate.
    """

    version_id: str
    basins: tuple[str, ...]
    twin: TrainingConfig
    candidate: TrainingConfig


@dataclass(frozen=True, slots=True)
class Retrained:
    """What a season's retraining led to."""

    trained: Trained
    twin_id: str
    decision: PromotionDecision


def season(session: Session, params: RetrainingParams) -> Season | str:
    """Return what a retraining is to train now, or why there is nothing to train.

    Raises:
        UnknownVersion: there is none of that id.
        InvalidInput: none is in use; it was fine-tuned; the judged years are not within the record, or too few years
            are left to judge on.
        DataProblem: the record has no whole water year.
    """
    version = versions.get(session, params.version) if params.version else _most_used(session)
    if version.tuned_on is not None:
        raise InvalidInput(
            f"Version {version.id} was fine-tuned from another: retrain that one (--version), and fine-tune the result."
        )
    config = TrainingConfig.model_validate(version.config)
    names = _to_learn_from(session, version)
    learnt = [Period.parse(days) for days in version.used_periods]
    first = min(days.first for days in learnt)
    record = Period(first, _newest_year_end(session, version, config, names, first))
    newest = max(days.last for days in learnt)
    if record.last <= newest:
        return f"Version {version.id} has learnt from days up to {newest}, and no water year has become whole since."
    judged_by = versions.get(session, version.twin_id) if version.twin_id else version
    judged = params.judge_on or _unused_years(record, [Period.parse(days) for days in judged_by.used_periods])
    if record.overlap(judged) != judged:
        raise InvalidInput(f"{judged} is not within the record, {record}: judge on other years.")
    every_year = config.model_dump() | {
        "inputs": config.inputs.model_copy(update={"product": version.product}).model_dump(),
        "train_period": record,
        "validation_period": None,
    }
    twin, candidate = (TrainingConfig.model_validate(every_year | {"held_out_period": out}) for out in (judged, None))
    return Season(version.id, names, twin, candidate)


def begin_both(database: Database, clock: Clock, work: Season) -> tuple[StartedTraining, StartedTraining]:
    """Begin the trainings of the twin and of the candidate, or go on with them.

    Raises:
        NoBasinLeft: no basin can serve.
    """
    twin = begin(database, clock, work.twin, work.basins)
    return twin, begin(database, clock, work.candidate, work.basins, twin=twin.training_id)


def reopen_both(database: Database, trainings: Iterable[str]) -> tuple[StartedTraining, StartedTraining]:
    """Return the trainings of the twin and of the candidate, which another process began.

    Args:
        trainings: that of the candidate among them.

    Raises:
        UnknownTraining: one is not kept.
        DataChanged: their data were revised meanwhile.
    """
    candidate = next(started for started in (reopen(database, of) for of in dict.fromkeys(trainings)) if started.twin)
    assert candidate.twin is not None
    return reopen(database, candidate.twin), candidate


def conclude(
    database: Database,
    clock: Clock,
    twin: StartedTraining,
    candidate: StartedTraining,
    judgement: Judgement,
    label: str | None = None,
    on_step: OnStep = lambda _step, _done, _total: None,
) -> Retrained:
    """Assemble both versions when all members are in, and decide which is in use from now on.

    Before, the candidate gets all that one in use needs: an error model and scores, those of its twin in the judged
    years, and the levels of its simulation. Done again, it changes nothing.

    Raises:
        DataProblem: a member is not in yet, or no basin can be simulated.
    """
    judged = twin.config.held_out_period
    assert judged is not None
    twin_id = assemble(database, clock, twin, serves=False).version_id
    trained = assemble(database, clock, candidate, label)
    version, names = trained.version_id, trained.basins

    def shown(step: str) -> Callable[[int, int], None]:
        return lambda done, total: on_step(step, done, total)

    calibrate(database, clock, version, names, judged, shown("calibrated"))
    evaluate(database, clock, version, judged, names, shown("evaluated"))
    compute(database, clock, version, names, shown("levels"))
    rule = PromotionRule(period=judged, margin=judgement.margin, promote=judgement.promote)
    return Retrained(trained, twin_id, decide(database, clock, version, rule, shown("judged")))


def _most_used(session: Session) -> versions.Version:
    """Return the version of the service that is in use in the most basins."""
    in_use = promotions.in_use(session)
    in_use = {version: names for version, names in in_use.items() if versions.owner_of(session, version) is None}
    if not in_use:
        raise InvalidInput("No version is in use: train one first (freshet train).")
    return versions.get(session, max(in_use, key=lambda version: (len(in_use[version]), version)))


def _to_learn_from(session: Session, version: versions.Version) -> tuple[str, ...]:
    served = promotions.in_use(session).get(version.id, [])
    names = tuple(sorted({*basins.known(session, version.scope), *served}))
    if not names:
        raise InvalidInput(f"None of the basins that version {version.id} learnt from or serves is kept here.")
    return names


def _newest_year_end(
    session: Session, version: versions.Version, config: TrainingConfig, names: Sequence[str], first: Day
) -> Day:
    """Return the last day of the newest water year, from a first day on, of which half the basins have the weather.

    A basin whose record ended years ago does not hold up the others: it is left out of the training, with a sentence.

    Raises:
        DataProblem: there is none.
    """
    mass, half = config.inputs.mass, (len(names) + 1) // 2
    ends = sorted(days.last for days in series.extent(session, names, version.product, [mass]).values())
    years = whole_water_years(Period(first, ends[-half])) if len(ends) >= half and ends[-half] > first else []
    if not years:
        raise DataProblem(
            f"Fewer than half of the {len(names)} basins have a whole water year of {mass} of {version.product} since "
            f"{first}: ingest it."
        )
    return year_of(years[-1]).last


def _unused_years(record: Period, used: Sequence[Period]) -> Period:
    """Return the longest stretch of whole water years of a record that no used period touches, of two the newer.

    Raises:
        InvalidInput: it is shorter than a promotion is decided on.
    """
    unused = [
        year for year in whole_water_years(record) if not any(year_of(year).overlap(days) is not None for days in used)
    ]
    stretches: list[list[int]] = [[year] for year in unused[:1]]
    for before, year in pairwise(unused):
        if year == before + 1:
            stretches[-1].append(year)
        else:
            stretches.append([year])
    longest_run = max(stretches, key=lambda years: (len(years), years[-1]), default=[])
    if len(longest_run) < MIN_YEARS:
        raise InvalidInput(
            f"The version in use has learnt from all but {len(longest_run)} successive water years of the record {record}, "
            f"and a promotion is decided on at least {MIN_YEARS}: name years to judge on all the same (--judge-on), "
            "knowing that the version in use knows them."
        )
    return Period(year_of(longest_run[0]).first, year_of(longest_run[-1]).last)
