"""Seasonal retraining: trains the recipe of the current version on the updated record.

It trains two ensembles. The *candidate* learns from every whole water year of the record, so that a promotion brings
the newest years into use. Its *twin* learns from all but the judged years, and is compared there with the current
version, or that version's twin (`operations.training.promotion_rule`). The number of steps is the recipe's: no weights
are chosen by validation, so that the judged years, from which neither has learnt, decide nothing but the promotion.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.reasons import Reason
from hydrology.verification.held_out_years import MIN_YEARS, whole_water_years, year_of
from jobspec.jobs.training import Judgement, PromotionRule, RetrainingParams
from jobspec.training import TrainingConfig
from operations.training.members import StartedTraining
from operations.training.promotion_rule import decide
from operations.training.train import Trained, assemble, begin, reopen
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
"""Called with the current stage, the number of basins done and the total."""


@dataclass(frozen=True, slots=True)
class Season:
    """The trainings of a season.

    Attributes:
        version_id: the version whose recipe is used.
        basins: those that the version learnt from or serves.
        twin: the configuration of the twin; its held-out period is that of the judged years.
        candidate: the configuration of the candidate.
    """

    version_id: str
    basins: tuple[str, ...]
    twin: TrainingConfig
    candidate: TrainingConfig


@dataclass(frozen=True, slots=True)
class Retrained:
    """The result of a seasonal retraining."""

    trained: Trained
    twin_id: str
    decision: PromotionDecision


def season(session: Session, params: RetrainingParams) -> Season | Absent:
    """Return the trainings of a season, or why there is nothing to train.

    Raises:
        UnknownVersion: there is none of that id.
        InvalidInput: none is current; it was fine-tuned; the judged years are not within the record, or too few years
            are left to judge on.
        DataProblem: the record has no whole water year.
    """
    version = versions.get(session, params.version) if params.version else _most_used(session)
    version.require_members("Retraining")
    if version.tuned_on is not None:
        raise InvalidInput(
            f"Version {version.id} was fine-tuned from another: retrain that one (--version), and fine-tune the result."
        )
    config = version.training
    names = _to_learn_from(session, version)
    learnt = [Period.parse(days) for days in version.used_periods]
    first = min(days.first for days in learnt)
    record = Period(first, _newest_year_end(session, version, config, names, first))
    newest = max(days.last for days in learnt)
    if record.last <= newest:
        return absent(Reason.NO_NEW_WATER_YEAR, version=version.id, last=str(newest))
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
    """Start or resume the trainings of the twin and of the candidate.

    Raises:
        NoBasinLeft: no basin can serve.
    """
    twin = begin(database, clock, work.twin, work.basins)
    return twin, begin(database, clock, work.candidate, work.basins, twin=twin.training_id)


def reopen_both(database: Database, trainings: Iterable[str]) -> tuple[StartedTraining, StartedTraining]:
    """Return the trainings of the twin and of the candidate that another process started.

    Args:
        trainings: their ids.

    Raises:
        UnknownTraining: one does not exist.
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
    *,
    label: str | None = None,
    on_step: OnStep = lambda _step, _done, _total: None,
) -> Retrained:
    """Assemble both versions once all members are trained, and decide on the promotion.

    Before that, the candidate gets an error model, scores (those of its twin in the judged years) and the levels of its
    simulation, as every current version has. Repeating it changes nothing.

    Raises:
        DataProblem: a member is not trained yet, or no basin can be simulated.
    """
    judged = twin.config.held_out_period
    assert judged is not None
    twin_id = assemble(database, clock, twin, serves=False).version_id
    trained = assemble(database, clock, candidate, label)
    version, names = trained.version_id, trained.basins

    def shown(step: str) -> Callable[[int, int], None]:
        return lambda done, total: on_step(step, done, total)

    calibrate(database, clock, version, names, judged, shown("calibrated"))
    evaluate(database, clock, version, judged, names, on_basins=shown("evaluated"))
    compute(database, clock, version, names, shown("levels"))
    rule = PromotionRule(period=judged, margin=judgement.margin, promote=judgement.promote)
    return Retrained(trained, twin_id, decide(database, clock, version, rule, shown("judged")))


def _most_used(session: Session) -> versions.Version:
    """Return the service's version that is current for the most basins."""
    in_use = promotions.in_use(session)
    in_use = {version: names for version, names in in_use.items() if versions.owner_of(session, version) is None}
    if not in_use:
        raise InvalidInput("No version is in use: train one first (freshet train).")
    return versions.get(session, max(in_use, key=lambda version: (len(in_use[version]), version)))


def _to_learn_from(session: Session, version: versions.Version) -> tuple[str, ...]:
    served = promotions.in_use(session).get(version.id, [])
    names = tuple(sorted({*basins.known(session, version.scope), *served}))
    if not names:
        raise InvalidInput(f"No basin that version {version.id} learnt from or serves is stored here: ingest one.")
    return names


def _newest_year_end(
    session: Session, version: versions.Version, config: TrainingConfig, names: Sequence[str], first: Day
) -> Day:
    """Return the end of the newest water year for which half the basins have complete weather.

    Basins whose record ended years ago do not hold up the others: the training leaves them out, with a reason.

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
    """Return the longest stretch of whole water years outside all used periods.

    Of two, the newer.

    Raises:
        InvalidInput: it is shorter than a promotion needs.
    """
    unused = [
        year for year in whole_water_years(record) if not any(year_of(year).overlap(days) is not None for days in used)
    ]
    # Successive years differ from their places by the same number.
    stretches = [[year for _, year in group] for _, group in groupby(enumerate(unused), lambda at: at[1] - at[0])]
    longest_run = max(stretches, key=lambda years: (len(years), years[-1]), default=[])
    if len(longest_run) < MIN_YEARS:
        raise InvalidInput(
            f"The version in use has learnt from all but {len(longest_run)} successive water years of the record "
            f"{record}, and a promotion is decided on at least {MIN_YEARS}: name years to judge on all the same "
            "(--judge-on), knowing that the version in use knows them."
        )
    return Period(year_of(longest_run[0]).first, year_of(longest_run[-1]).last)
