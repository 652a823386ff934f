"""A candidate is held against what basins use now, and only a better one takes over."""

import pytest

from hydrology.errors import InvalidInput
from jobspec.training import Cosine
from operations.promotion_rule import Rule, judge
from operations.train import train
from records import promotions, versions
from records.engine import Database
from tests.operations.conftest import BASINS, CLOCK, configuration

HELD_OUT = "2004-10-01..2005-09-30"


def candidate(database: Database, steps: int) -> str:
    """Train another version; more steps make a better one."""
    config = configuration(schedule=Cosine(steps=steps, warmup_steps=2, peak=0.01), validate_every=steps, members=1)
    return train(database, CLOCK, config, BASINS).version_id


def in_use(database: Database) -> set[str]:
    with database.reading() as session:
        return set(promotions.current(session, BASINS).values())


def test_a_better_candidate_takes_over_by_the_rule_and_a_worse_one_does_not(kept: Database) -> None:
    (first,) = in_use(kept)
    better = candidate(kept, steps=300)
    verdict = judge(kept, CLOCK, better, Rule(HELD_OUT, promote=True))
    assert verdict.better
    assert verdict.current == (first,)
    assert verdict.basins == len(BASINS)
    assert verdict.candidate_median is not None
    assert verdict.current_median is not None
    assert verdict.candidate_median > verdict.current_median
    assert set(verdict.promoted) == set(BASINS)
    assert in_use(kept) == {better}

    worse = candidate(kept, steps=3)
    verdict = judge(kept, CLOCK, worse, Rule(HELD_OUT, promote=True))
    assert not verdict.better
    assert verdict.promoted == ()
    assert "not more than the margin" in verdict.sentence
    assert in_use(kept) == {better}
    with kept.reading() as session:
        comparison = versions.get(session, worse).properties.comparison
        (newest, *_) = promotions.history(session, "SYNTH-01")
    assert comparison is not None
    assert comparison["better"] is False
    assert newest.promoted_by == "retraining rule"
    assert "median NSE" in newest.reason


def test_without_leave_a_better_candidate_waits_for_an_admin(kept: Database) -> None:
    before = in_use(kept)
    verdict = judge(kept, CLOCK, candidate(kept, steps=300), Rule(HELD_OUT))
    assert verdict.better
    assert in_use(kept) == before


def test_a_margin_must_be_exceeded(kept: Database) -> None:
    verdict = judge(kept, CLOCK, candidate(kept, steps=300), Rule(HELD_OUT, margin=50.0, promote=True))
    assert not verdict.better


def test_the_current_version_is_not_judged_against_itself(kept: Database) -> None:
    (first,) = in_use(kept)
    verdict = judge(kept, CLOCK, first, Rule(HELD_OUT, promote=True))
    assert (verdict.better, verdict.basins) == (False, 0)


def test_days_of_the_training_are_refused(kept: Database) -> None:
    (first,) = in_use(kept)
    with pytest.raises(InvalidInput, match="took no part in its training"):
        judge(kept, CLOCK, first, Rule("2003-01-01..2005-09-30"))
