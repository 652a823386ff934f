"""Seasonal retraining: trains the recipe of the current version on the updated record.

It trains two ensembles. The *candidate* learns from every whole water year of the record, so that a promotion brings
the newest years into use. Its *twin* learns from all but the judged years, and is compared there with the current
version, or that version's twin (`operations.training.promotion_rule`). The number of steps is the recipe's: no weights
are chosen by validation, so that the judged years, from which neither has learnt, decide nothing but the promotion.

Of a version that combines others, each part is retrained so, and the results are combined again with the same weights:
candidates with candidates, twins with twins.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period
from hydrology.base.errors import DataProblem, InvalidInput, counted
from hydrology.base.reasons import Reason
from hydrology.verification.held_out_years import MIN_YEARS, whole_water_years, year_of
from jobspec.jobs.training import Judgement, PromotionRule, RetrainingParams
from jobspec.training import TrainingConfig
from operations.training.assemble import Trained, assemble, assemble_all
from operations.training.promotion_rule import decide
from operations.training.train import begin, reopen
from operations.training.training_data import StartedTraining
from operations.verification.calibrate import calibrate
from operations.verification.evaluate import evaluate
from operations.verification.simulated_levels import compute
from records.basins import ownership
from records.database.engine import Database
from records.database.work import Work
from records.series import series
from records.versions import promotions, versions
from records.versions.version_properties import PromotionDecision


@dataclass(frozen=True, slots=True)
class PartOfSeason:
    """The trainings of a version with members of its own: the one in use, or a part of it.

    The basins are the official ones that it learnt from or serves. The held-out period of the twin is that of the
    judged years. The shares are its weights in the version in use; None where that is itself.
    """

    version_id: str
    basins: tuple[str, ...]
    twin: TrainingConfig
    candidate: TrainingConfig
    shares: Mapping[str, float] | None = None


Season = tuple[PartOfSeason, ...]
"""The trainings of a season."""
Both = tuple[StartedTraining, StartedTraining]
"""The trainings of a twin and of its candidate."""


@dataclass(frozen=True, slots=True)
class Retrained:
    trained: Trained
    twin_id: str
    decision: PromotionDecision


def season(session: Session, params: RetrainingParams) -> Season | Absent:
    """Return the trainings of a season, or why there is nothing to train.

    Refused where no version is current, it was fine-tuned, or too few years are left to judge on.
    """
    version = versions.get(session, params.version) if params.version else _most_used(session)
    shares: dict[str, Mapping[str, float] | None] = {part.version: part.weights for part in version.combines}
    shares = shares or {version.id: None}
    parts = [versions.get(session, name) for name in shares]
    for part in parts:
        if part.tuned_on is not None:
            raise InvalidInput(
                f"Version {part.id} was fine-tuned from another: retrain that one (--version), and fine-tune the "
                "result."
            )
    served = promotions.in_use(session).get(version.id, [])
    names = {part.id: _to_learn_from(session, part, served) for part in parts}
    learnt = [Period.parse(days) for days in version.used_periods]
    first = min(days.first for days in learnt)
    record = Period(first, min(_newest_year_end(session, part, names[part.id], first) for part in parts))
    newest = max(days.last for days in learnt)
    if record.last <= newest:
        return absent(Reason.NO_NEW_WATER_YEAR, version=version.id, last=str(newest))
    judged_by = versions.get(session, version.scored_as)
    judged = params.judge_on or _unused_years(record, [Period.parse(days) for days in judged_by.used_periods])
    if record.overlap(judged) != judged:
        raise InvalidInput(f"{judged} is not within the record, {record}: judge on other years.")
    return tuple(_of_part(part, names[part.id], record, judged, shares[part.id]) for part in parts)


def _of_part(
    part: versions.Version, names: tuple[str, ...], record: Period, judged: Period, shares: Mapping[str, float] | None
) -> PartOfSeason:
    config = part.training
    every_year = config.model_dump() | {
        "inputs": config.inputs.model_copy(update={"product": part.product}).model_dump(),
        "train_period": record,
        "validation_period": None,
    }
    twin, candidate = (TrainingConfig.model_validate(every_year | {"held_out_period": out}) for out in (judged, None))
    return PartOfSeason(part.id, names, twin, candidate, shares)


def begin_all(work: Work, season: Season) -> list[Both]:
    """Start or resume the trainings of the twin and of the candidate of each part."""
    started = []
    for part in season:
        twin = begin(work, part.twin, part.basins)
        candidate = begin(work, part.candidate, part.basins, twin=twin.training_id, shares=part.shares)
        started.append((twin, candidate))
    return started


def with_twins(database: Database, candidates: Iterable[StartedTraining]) -> list[Both]:
    """Return the trainings of the twins, finished or not, with those of their candidates."""
    return [(reopen(database, one.twin), one) for one in candidates if one.twin is not None]


def conclude(work: Work, trainings: Sequence[Both], judgement: Judgement, *, label: str | None = None) -> Retrained:
    """Assemble all versions once their members are trained, and decide on the promotion.

    Before that, the candidate gets an error model, scores (those of its twin in the judged years) and the levels of its
    simulation, as every current version has; where it combines others, these get them, too. One that fails a physics
    probe, or has a part that does, gets none of these. Repeating it changes nothing.
    """
    judged = trainings[0][0].config.held_out_period
    assert judged is not None
    for twin, _ in trainings:
        assemble(work, twin, serves=False)
    trained, parts = assemble_all(work, [candidate for _, candidate in trainings], label)
    of_versions = {**{one.version_id: one.basins for one in parts}, trained.version_id: trained.basins}
    for version, names in of_versions.items() if trained.refused is None else ():
        calibrate(work.stage("calibrated"), version, names, judged)
        evaluate(work.stage("evaluated"), version, judged, names)
        compute(work.stage("levels"), version, names)
    rule = PromotionRule(period=judged, margin=judgement.margin, promote=judgement.promote)
    decision = decide(work.stage("judged"), trained.version_id, rule, refused=trained.refused)
    with work.database.reading() as session:
        twin_id = versions.get(session, trained.version_id).twin_id
    assert twin_id is not None
    return Retrained(trained, twin_id, decision)


def _most_used(session: Session) -> versions.Version:
    in_use = promotions.in_use(session)
    in_use = {version: names for version, names in in_use.items() if versions.owner_of(session, version) is None}
    if not in_use:
        raise InvalidInput("No version is in use: train one first (freshet train).")
    return versions.get(session, max(in_use, key=lambda version: (len(in_use[version]), version)))


def _to_learn_from(session: Session, version: versions.Version, served: Sequence[str]) -> tuple[str, ...]:
    names = tuple(ownership.official(session, sorted({*version.scope, *served})))
    if not names:
        raise InvalidInput(
            f"No official basin that version {version.id} learnt from or serves is stored here: ingest one."
        )
    return names


def _newest_year_end(session: Session, version: versions.Version, names: Sequence[str], first: Day) -> Day:
    """Return the end of the newest water year for which half the basins have complete weather.

    Basins whose record ended years ago do not hold up the others: the training leaves them out, with a reason.
    """
    mass, half = version.training.inputs.mass, (len(names) + 1) // 2
    ends = sorted(days.last for days in series.extent(session, names, version.product, [mass]).values())
    years = whole_water_years(Period(first, ends[-half])) if len(ends) >= half and ends[-half] > first else []
    if not years:
        raise DataProblem(
            f"Fewer than half of the {counted(len(names), 'basin')} have a whole water year of {mass} of "
            f"{version.product} since "
            f"{first}: ingest it."
        )
    return year_of(years[-1]).last


def _unused_years(record: Period, used: Sequence[Period]) -> Period:
    """Return the longest stretch of whole water years outside all used periods; of two, the newer."""
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
