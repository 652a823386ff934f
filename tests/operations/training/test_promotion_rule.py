"""A candidate is held against what basins use now, and only a better one takes over."""

import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from pydantic import ValidationError
from sqlalchemy import select

from hydrology.base.calendar import Period, water_year
from hydrology.base.errors import InvalidInput
from hydrology.scores.bootstrap import YearlyErrors
from hydrology.water.probes import ProbeResult
from jobspec.jobs.base import TRAINING
from jobspec.jobs.training import PromotionRule
from jobspec.training import Cosine
from operations.training.promotion_rule import decide, side_by_side
from records.access import keys
from records.basins.ownership import Basin
from records.database.engine import Database
from records.database.stored import table_of
from records.job_permissions.permissions import of_key
from records.job_permissions.write_guard import Guard
from records.verification.scores import SCORES
from records.versions import promotions, versions
from records.versions.version_properties import SideBySide
from records.versions.versions import VERSIONS
from testing.country import BASINS, CLOCK, configuration
from testing.records import NOW, change
from testing.training import train
from testing.work import work_of
from tests.operations.conftest import FILE
from tests.shared_folders import filled_once

HELD_OUT = Period.parse("2004-10-01..2008-09-30")
DAYS = HELD_OUT.days
WORSE, BETTER = 3, 300  # steps of training

Array = npt.NDArray[np.float64]


@pytest.fixture(scope="session")
def trained_file(long_trained_file: Path) -> Path:
    """The country with the longer record, and two candidates that no basin uses."""

    def add(folder: Path) -> None:
        with closing(Database(f"sqlite:///{shutil.copy(long_trained_file, folder / FILE)}")) as database:
            for steps in (WORSE, BETTER):
                schedule = Cosine(steps=steps, warmup_steps=2, peak_learning_rate=0.01)
                train(
                    work_of(database, CLOCK), configuration(schedule=schedule, validate_every=steps, members=1), BASINS
                )

    return filled_once(long_trained_file.parent / "candidates", add) / FILE


def candidate(database: Database, steps: int) -> str:
    """Return the version that was trained in as many steps."""
    with database.reading() as session:
        (found,) = [one.id for one in versions.list_versions(session) if one.config["schedule"]["steps"] == steps]
    return found


def test_a_better_candidate_that_fails_a_probe_of_its_physics_is_reported_and_not_promoted(
    trained_store: Database,
) -> None:
    before = in_use(trained_store)
    better = candidate(trained_store, BETTER)
    leak = ProbeResult("closure", "water unaccounted for", "1", 1e-5, 0.01)
    with trained_store.transaction() as session:
        properties = versions.get(session, better).properties
        change(session, VERSIONS, better, properties=replace(properties, physics=(leak,)))

    decision = decide(work_of(trained_store, CLOCK), better, PromotionRule(period=HELD_OUT, promote=True))

    assert decision.better
    assert decision.promoted == ()
    assert "fails probes of its physics (closure: 1.0e-02, at most 1e-05)" in decision.sentence
    assert in_use(trained_store) == before


def in_use(database: Database) -> set[str]:
    with database.reading() as session:
        return set(promotions.current(session, BASINS).values())


def test_a_better_candidate_takes_over_by_the_rule_and_a_worse_one_does_not(trained_store: Database) -> None:
    (first,) = in_use(trained_store)
    better = candidate(trained_store, BETTER)
    decision = decide(work_of(trained_store, CLOCK), better, PromotionRule(period=HELD_OUT, promote=True))
    assert decision.better
    assert decision.current == (first,)
    assert decision.basins == len(BASINS)
    assert decision.deciding is not None
    assert decision.deciding.difference is not None
    assert decision.deciding.difference.low is not None
    assert decision.deciding.difference.low > 0
    assert decision.reporting is not None
    assert (decision.deciding.years, decision.reporting.years) == ((2005, 2006, 2008), (2007,))
    assert set(decision.promoted) == set(BASINS)
    assert in_use(trained_store) == {better}

    worse = candidate(trained_store, WORSE)
    decision = decide(work_of(trained_store, CLOCK), worse, PromotionRule(period=HELD_OUT, promote=True))
    assert not decision.better
    assert decision.promoted == ()
    assert "not shown to be better by more than the margin" in decision.sentence
    assert in_use(trained_store) == {better}
    with trained_store.reading() as session:
        comparison = versions.get(session, worse).properties.comparison
        (newest, *_) = promotions.history(session, "SYNTH-01")
    assert comparison == decision
    assert newest.promoted_by == "retraining rule"
    assert "median NSE" in newest.reason


def test_a_better_candidate_of_an_operator_takes_over_its_own_basins_and_scores_no_others(
    trained_store: Database,
) -> None:
    (first,) = in_use(trained_store)
    better = candidate(trained_store, BETTER)
    with trained_store.transaction() as session:
        key = keys.make(session, "mill", "operator", None, NOW)[0]
        change(session, table_of(Basin), BASINS[0], registered_by=key.id)
        change(session, VERSIONS, better, owner=key.id)
    with trained_store.guarded(Guard(of_key(key), TRAINING)):
        decision = decide(work_of(trained_store, CLOCK), better, PromotionRule(period=HELD_OUT, promote=True))
    assert set(decision.better_in) == set(BASINS)
    assert decision.promoted == (BASINS[0],)
    with trained_store.reading() as session:
        assert promotions.current(session, BASINS) == dict.fromkeys(BASINS, first) | {BASINS[0]: better}
        assert set(session.scalars(select(SCORES.c.version_id).distinct())) == {better}


def test_a_basin_that_gets_another_version_meanwhile_retains_it_and_a_decision_that_promoted_stands(
    trained_store: Database,
) -> None:
    (first,) = in_use(trained_store)
    other, better = candidate(trained_store, WORSE), candidate(trained_store, BETTER)
    rule = PromotionRule(period=HELD_OUT, promote=True)

    def promote_another(*_: object) -> None:
        with trained_store.transaction() as session:
            promotions.promote(session, other, BASINS[:1], reason="a flood", by="someone", at=CLOCK.now())

    decision = decide(work_of(trained_store, CLOCK, progress=promote_another), better, rule)
    assert decision.current == (first,)
    assert set(decision.promoted) == set(BASINS[1:])
    assert "1 basin has another version by now" in decision.sentence
    with trained_store.reading() as session:
        assert promotions.current(session, BASINS) == dict.fromkeys(BASINS, better) | {BASINS[0]: other}
        assert versions.get(session, better).properties.comparison == decision
    assert decide(work_of(trained_store, CLOCK), better, rule) == decision
    with trained_store.reading() as session:
        assert promotions.current(session, BASINS)[BASINS[0]] == other


def test_a_current_version_that_has_learnt_from_the_judged_years_is_named_in_the_decision(
    trained_store: Database,
) -> None:
    with trained_store.transaction() as session:
        (current,) = promotions.in_use(session)
        config = versions.get(session, current).config
        days = {"train_period": "2001-10-01..2006-09-30", "validation_period": None}
        change(session, VERSIONS, current, config=config | days)
    decision = decide(work_of(trained_store, CLOCK), candidate(trained_store, BETTER), PromotionRule(period=HELD_OUT))
    assert f"Version {current} has learnt from some of these days" in decision.sentence


def test_without_leave_a_better_candidate_waits_for_an_admin(trained_store: Database) -> None:
    before = in_use(trained_store)
    decision = decide(work_of(trained_store, CLOCK), candidate(trained_store, BETTER), PromotionRule(period=HELD_OUT))
    assert decision.better
    assert in_use(trained_store) == before


def test_a_margin_must_be_exceeded(trained_store: Database) -> None:
    decision = decide(
        work_of(trained_store, CLOCK),
        candidate(trained_store, BETTER),
        PromotionRule(period=HELD_OUT, margin=1.0, promote=True),
    )
    assert not decision.better


def test_the_current_version_is_not_judged_against_itself(trained_store: Database) -> None:
    (first,) = in_use(trained_store)
    decision = decide(work_of(trained_store, CLOCK), first, PromotionRule(period=HELD_OUT, promote=True))
    assert (decision.better, decision.basins) == (False, 0)


def test_days_of_the_training_are_refused(trained_store: Database) -> None:
    (first,) = in_use(trained_store)
    with pytest.raises(InvalidInput, match="took no part in its training"):
        decide(work_of(trained_store, CLOCK), first, PromotionRule(period=Period.parse("2003-10-01..2008-09-30")))


def test_too_few_years_are_refused() -> None:
    with pytest.raises(ValidationError, match="holds 3 whole water years"):
        PromotionRule(period=Period.parse("2004-10-01..2007-09-30"))


def test_one_good_year_among_bad_ones_does_not_decide() -> None:
    """The candidate's median over all deciding years is higher, but it is so by one year alone."""
    flow = np.random.default_rng(1).gamma(2.0, 1.0, len(DAYS))
    years = water_year(DAYS)
    current = flow + np.where(years == 2005, 3.0, 0.5)
    lucky = flow + np.where(years == 2005, 0.0, 0.6)
    steady = flow + np.where(years == 2005, 2.5, 0.3)

    def against_current(candidate: Array) -> SideBySide:
        sides = ({"B": YearlyErrors.of_basin(flows, flow, DAYS)} for flows in (candidate, current))
        return side_by_side((2005, 2006, 2008), *sides)

    for candidate, exceeds in ((lucky, False), (steady, True)):
        pair = against_current(candidate)
        assert pair.difference is not None
        assert pair.difference.median > 0.1
        assert pair.exceeds(0.0) is exceeds
