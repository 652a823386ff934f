"""A season's retraining: which years are learnt and judged, and what becomes of what it leads to."""

from pathlib import Path

import pytest

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput, Problem
from jobspec.jobs.training import RetrainingParams
from operations.training import retrain
from operations.training.assemble import assemble_all
from operations.training.train import plan_of, reopen_all, train_members
from records.database.engine import Database
from records.verification import scores
from records.versions import combinations, error_models, promotions, versions
from testing.country import BASINS, CLOCK, FIRST, SECOND, combined, configuration
from testing.training import train
from testing.work import work_of

WHOLE_RECORD = "2001-10-01..2008-09-30"
JUDGED = "2004-10-01..2008-09-30"


@pytest.fixture(scope="session")
def trained_file(long_trained_file: Path) -> Path:
    """The country with the longer record: its version has learnt from the years to 2004."""
    return long_trained_file


def in_use(database: Database) -> str:
    with database.reading() as session:
        (version,) = promotions.in_use(session)
    return version


def parts_of(database: Database, **params: object) -> retrain.Season:
    with database.reading() as session:
        planned = retrain.season(session, RetrainingParams.model_validate(params))
    assert not isinstance(planned, Absent)
    return planned


def season(database: Database, **params: object) -> retrain.PartOfSeason:
    (planned,) = parts_of(database, **params)
    return planned


def reopened(database: Database, trainings: list[retrain.Both]) -> list[retrain.Both]:
    """Return trainings as another process continues them."""
    return retrain.with_twins(database, reopen_all(database, plan_of([candidate for _, candidate in trainings])))


def retrained(database: Database, **params: object) -> retrain.Retrained:
    trainings = retrain.begin_all(work_of(database, CLOCK), parts_of(database, **params))
    for started in (one for both in trainings for one in both):
        train_members(work_of(database, CLOCK), started, device="cpu", on_progress=lambda _member, _progress: None)
    again = reopened(database, trainings)
    return retrain.conclude(work_of(database, CLOCK), again, RetrainingParams.model_validate(params))


@pytest.mark.extended
def test_each_part_of_a_combined_version_is_retrained_and_combined_again(trained_store: Database) -> None:
    both = combined(trained_store, CLOCK)
    done = retrained(trained_store, version=both.id)
    with trained_store.reading() as session:
        candidate, twin = (versions.get(session, of) for of in (done.trained.version_id, done.twin_id))
        of_parts = [(versions.get(session, part.version), part) for part in candidate.parts]
        assert all(error_models.get(session, of.twin_id or "", BASINS) is not None for of, _ in of_parts)
    assert [(part.product, round(part.weight, 6)) for _, part in of_parts] == [(FIRST, 0.7), (SECOND, 0.3)]
    assert [part.version for part in twin.parts] == [of.twin_id for of, _ in of_parts]
    assert {str(period) for of, _ in of_parts for period in of.fitted_periods} == {WHOLE_RECORD}
    assert candidate.twin_id == twin.id
    assert candidate.properties.comparison == done.decision
    assert f"judged by its twin {done.twin_id}" in done.decision.sentence
    assert done.decision.deciding is not None

    # With other weights, the same networks are combined again without a training.
    first, second = (part.version for part in both.parts)
    with trained_store.transaction() as session:
        weights = {first: 0.2, second: 0.8}
        other = combinations.combine(session, weights, label="other", wall=CLOCK.wall(), now=CLOCK.now())
    started = retrain.begin_all(work_of(trained_store, CLOCK), parts_of(trained_store, version=other.id))
    assert all(one.version_id is not None for of_part in started for one in of_part)
    again = reopened(trained_store, started)
    whole, _ = assemble_all(work_of(trained_store, CLOCK), [one for _, one in again])
    with trained_store.reading() as session:
        parts = versions.get(session, whole.version_id).parts
    assert {part.version: round(part.weight, 6) for part in parts} == {
        part.version: {FIRST: 0.2, SECOND: 0.8}[part.product] for part in candidate.parts
    }


def test_the_candidate_learns_every_year_and_its_twin_all_but_those_that_nobody_has_learnt(
    trained_store: Database,
) -> None:
    planned = season(trained_store)
    with trained_store.reading() as session:
        version = versions.get(session, in_use(trained_store))
    learnt = [Period.parse(days) for days in version.used_periods]
    judged = planned.twin.held_out_period
    assert judged is not None
    assert not any(judged.overlap(days) for days in learnt)
    assert str(planned.candidate.train_period) == str(planned.twin.train_period) == WHOLE_RECORD
    assert (planned.candidate.held_out_period, planned.candidate.validation_period) == (None, None)
    recipe = ("network", "inputs", "windows", "schedule", "members", "seed")
    of_version = configuration().model_dump(include=set(recipe))
    for config in (planned.twin, planned.candidate):
        assert config.model_dump(include=set(recipe)) == of_version


def test_it_ends_in_a_judged_version_with_all_that_one_in_use_needs(trained_store: Database) -> None:
    before = in_use(trained_store)
    done = retrained(trained_store)
    candidate = done.trained.version_id
    judged = Period.parse(JUDGED)
    with trained_store.reading() as session:
        version = versions.get(session, candidate)
        assert version.twin_id == done.twin_id
        assert version.properties.comparison == done.decision
        assert error_models.get(session, done.twin_id, BASINS) is not None
        assert scores.scores(session, versions=[done.twin_id], first_day=judged.first, last_day=judged.last)
    assert done.decision.current == (before,)
    assert f"judged by its twin {done.twin_id}" in done.decision.sentence
    assert in_use(trained_store) == before  # promoting was not asked for


@pytest.mark.extended
def test_a_better_candidate_is_put_in_use_and_rolled_back_in_one_call(trained_store: Database) -> None:
    before = in_use(trained_store)
    done = retrained(trained_store, promote=True, margin=0.0)
    # Whether so small a candidate is better is for the rule to decide: either end is followed to the letter.
    better = done.decision.better
    assert set(done.decision.promoted) == (set(BASINS) if better else set())
    with trained_store.transaction() as session:
        candidate = done.trained.version_id
        if not better:
            promotions.promote(session, candidate, BASINS, reason="by hand", by="someone", at=CLOCK.now())
        restored = promotions.roll_back(session, candidate, reason="worse", by="someone", at=CLOCK.now())
    assert restored == dict.fromkeys(BASINS, before)
    assert in_use(trained_store) == before


@pytest.mark.extended
def test_without_a_new_year_there_is_nothing_to_train(trained_store: Database) -> None:
    done = retrained(trained_store)
    with trained_store.transaction() as session:
        promotions.promote(session, done.trained.version_id, BASINS, reason="try", by="someone", at=CLOCK.now())
    with trained_store.reading() as session:
        result = retrain.season(session, RetrainingParams())
    assert isinstance(result, Absent)
    assert f"Version {done.trained.version_id} has learnt from days up to 2008-09-30" in str(result)


@pytest.mark.extended
def test_done_again_it_changes_nothing(trained_store: Database) -> None:
    first = retrained(trained_store)
    again = retrained(trained_store)
    assert (again.trained.version_id, again.twin_id) == (first.trained.version_id, first.twin_id)
    assert again.trained.already
    assert again.decision == first.decision


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"judge_on": "1990-10-01..1995-09-30"}, "is not within the record"),
        ({"version": "nothing"}, "nothing"),
    ],
)
def test_an_impossible_retraining_is_refused(trained_store: Database, params: dict[str, object], message: str) -> None:
    with pytest.raises(Problem, match=message):
        season(trained_store, **params)


def test_too_few_unknown_years_are_refused_until_years_are_named(trained_store: Database) -> None:
    config = configuration(train_period="2000-10-01..2007-09-30", validation_period=None)
    knowing = train(work_of(trained_store, CLOCK), config, BASINS).version_id
    with pytest.raises(InvalidInput, match=r"all but 1 successive water years .* name years to judge on"):
        season(trained_store, version=knowing)
    named = season(trained_store, version=knowing, judge_on=JUDGED)
    assert str(named.twin.held_out_period) == JUDGED
