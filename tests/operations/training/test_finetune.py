"""A fine-tuning starts from its parent, stays with it where training never helps, and takes over only where it does."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from extensions.shipping.export import export
from hydrology.base.absent import Absent
from hydrology.base.calendar import Period, day
from hydrology.base.errors import InvalidInput
from hydrology.scores.bootstrap import YearlyErrors, median_difference_interval
from hydrology.verification.held_out_years import split_years
from jobspec.jobs.forecasting import ForecastParams
from jobspec.jobs.training import PromotionRule
from jobspec.network import LATITUDE, MCLSTMConfig, sized
from jobspec.training import STATIC_ATTRIBUTES, Cosine, FineTuningConfig
from models import checkpoint
from models.contract import with_room
from models.ensemble import Ensemble
from models.forcing import Scaler, places
from models.learning import Validation
from models.training import Progress
from operations.basin_data.dataset import load_forcing
from operations.forecasting.forecast import forecast
from operations.training.pretrained import install, read_shipped
from operations.training.promotion_rule import decide
from operations.training.training_data import NoBasinLeft, prepare
from operations.verification.compare import compare
from operations.verification.evaluate import evaluate
from operations.versions.learnt_days import require_held_out, require_to_be_held_out
from operations.versions.load_networks import load_version
from records.basins.ownership import ATTRIBUTES
from records.database.engine import Database
from records.runs import runs
from records.runs.runs import RunRequest
from records.versions import promotions, versions
from records.versions.promotions import PROMOTIONS
from testing.country import BASINS, CLOCK, FIRST, configuration
from testing.training import train
from testing.work import work_of

pytestmark = pytest.mark.extended

LEARNT, UNSEEN = BASINS[:2], BASINS[2]
HELD_OUT = Period.parse("2004-10-01..2008-09-30")
HELPING = {"steps": 60, "peak_learning_rate": 0.02, "warmup_steps": 2}
HARMING = {"steps": 8, "peak_learning_rate": 3.0, "warmup_steps": 0}


class StoppedHereError(Exception):
    """Stands for a worker that dies."""


@pytest.fixture(scope="session")
def trained_file(long_trained_file: Path) -> Path:
    """The country with the longer record."""
    return long_trained_file


@pytest.fixture(scope="session")
def with_parent(trained_file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A file in which a second version of two members learnt from two of the three basins, and that version."""
    file = Path(shutil.copy(trained_file, tmp_path_factory.mktemp("parent") / "freshet.sqlite"))
    database = Database(f"sqlite:///{file}")
    schedule = Cosine(steps=40, warmup_steps=2, peak_learning_rate=0.02)
    config = configuration(seed=5, schedule=schedule, validate_every=20, precision="float32")
    parent = train(work_of(database, CLOCK), config, LEARNT).version_id
    database.close()
    return file, parent


@pytest.fixture
def parent(with_parent: tuple[Path, str]) -> str:
    """The version to start from."""
    return with_parent[1]


@pytest.fixture
def own(with_parent: tuple[Path, str], tmp_path: Path) -> Iterator[Database]:
    """A copy of that file. The basins use the first version, of all three."""
    database = Database(f"sqlite:///{shutil.copy(with_parent[0], tmp_path / 'own.sqlite')}")
    yield database
    database.close()


def tuning(parent: str, **changes: object) -> FineTuningConfig:
    """Return a fine-tuning of a second."""
    settings: dict[str, object] = {
        "parent": parent,
        "train_period": "2001-10-01..2003-09-30",
        "validation_period": "2003-10-01..2004-09-30",
        "windows": {"spinup_days": 60, "loss_days": 60, "batch": 8},
        "schedule": {"steps": 6},
        "validate_every": 3,
        "checkpoint_every": 2,
        "seed": 40,
    }
    return FineTuningConfig.model_validate({**settings, **changes})


def tuned(database: Database, parent: str, basins: tuple[str, ...] = (UNSEEN,), **changes: object) -> versions.Version:
    done = train(work_of(database, CLOCK), tuning(parent, **changes), basins)
    assert done.promoted == ()
    return version(database, done.version_id)


def version(database: Database, version_id: str) -> versions.Version:
    with database.reading() as session:
        return versions.get(session, version_id)


def logs(database: Database, version_id: str) -> list[list[dict[str, Any]]]:
    with database.reading() as session:
        return [log["validation"] for _, log in versions.seeds_and_logs(session, version_id).values()]


def weights(database: Database, version_id: str) -> list[dict[str, torch.Tensor]]:
    with database.reading() as session:
        members = versions.members_of(session, version_id)
        uses = versions.get(session, version_id).uses
    return [checkpoint.parse(member.weights[uses])[0] for member in members]


def in_use(database: Database) -> dict[str, str]:
    with database.reading() as session:
        return promotions.current(session, BASINS)


def yearly_errors(database: Database, version_id: str, basins: tuple[str, ...]) -> dict[str, YearlyErrors]:
    """Return the errors of the years that decide."""
    period = HELD_OUT
    evaluation = evaluate(work_of(database, CLOCK), version_id, period, basins)
    return {basin.basin: basin.errors.over(split_years(period).deciding) for basin in evaluation.basins}


def deciding_nse(database: Database, version_id: str, basins: tuple[str, ...]) -> dict[str, float]:
    return {basin: errors.nse().item() for basin, errors in yearly_errors(database, version_id, basins).items()}


def test_each_member_starts_from_its_parents_member(own: Database, parent: str) -> None:
    child = tuned(own, parent)
    assert child.members == (0, 1)
    with own.reading() as session:
        loaded = load_version(session, parent)
        data = prepare(session, loaded.config, (UNSEEN,)).data
        assert [seed for seed, _ in versions.seeds_and_logs(session, child.id).values()] == [40, 41]
    scaler, days = Scaler.from_json(loaded.version.scaler), Period.parse("2003-10-01..2004-09-30")
    validation, learnt_from = Validation.of(data, days), loaded.version.basins
    medians = [validation.score_of(network, scaler, learnt_from) for network in loaded.ensemble.networks]
    assert medians[0].value != medians[1].value
    assert [log[0] for log in logs(own, child.id)] == [
        {"step": 0, "loss": None, "validation_nse": median.value, "validation_basins": 1} for median in medians
    ]


def vectors(ensemble: Ensemble) -> list[dict[str, list[float]]]:
    """Return each member's vectors by their basin."""
    tables = [network.state_dict()["vectors.table"].tolist() for network in ensemble.networks]
    return [dict(zip(sorted(ensemble.learnt_from), table, strict=True)) for table in tables]


def test_the_vectors_of_the_parent_stay_with_their_basins(own: Database, parent: str) -> None:
    child = tuned(own, parent, schedule=HELPING)
    with own.reading() as session:
        before, after = (load_version(session, version).ensemble for version in (parent, child.id))
        basin = load_forcing(session, LEARNT[1], after.config)
    for old, new in zip(vectors(before), vectors(after), strict=True):
        assert new.keys() == {*old, UNSEEN}
        assert {name: new[name] for name in old} == old
        assert any(new[UNSEEN])
    assert not isinstance(basin, Absent)
    stranger = replace(basin.forcing, ids=("USGS-00000001",))
    known, unknown = (after.simulate(one, None, ("discharge",))[0]["discharge"] for one in (basin.forcing, stranger))
    assert not np.allclose(known, unknown)


def test_a_basins_vector_is_fitted_alone_and_changes_nothing_elsewhere(own: Database, parent: str) -> None:
    child = tuned(own, parent, fitted="basin_vectors", validation_period=None, schedule=HELPING)
    assert child.uses == "last"
    with own.reading() as session:
        before, after = (load_version(session, version).ensemble for version in (parent, child.id))
        forcings = [load_forcing(session, basin, after.config) for basin in BASINS]
    for old, new in zip(vectors(before), vectors(after), strict=True):
        assert {name: new[name] for name in old} == old
        assert any(new[UNSEEN])
    for mine, theirs in zip(weights(own, child.id), weights(own, parent), strict=True):
        assert all(torch.equal(mine[name], theirs[name]) for name in theirs if name != "vectors.table")
    for basin, loaded in zip(BASINS, forcings, strict=True):
        assert not isinstance(loaded, Absent)
        regional, fitted = (
            ensemble.simulate(loaded.forcing, None, ("discharge",))[0]["discharge"] for ensemble in (before, after)
        )
        assert np.array_equal(regional, fitted) is (basin in LEARNT)
    skill, skill_before = (deciding_nse(own, version, (UNSEEN,))[UNSEEN] for version in (child.id, parent))
    assert skill > skill_before


def test_a_vector_alone_stays_near_the_others_where_it_is_fitted_too_long(own: Database, parent: str) -> None:
    long = {"steps": 300, "peak_learning_rate": 0.1, "warmup_steps": 2}
    child = tuned(own, parent, members=1, fitted="basin_vectors", validation_period=None, schedule=long)
    with own.reading() as session:
        table = vectors(load_version(session, child.id).ensemble)[0]
    spread = np.sqrt(np.mean([np.square(table[basin]) for basin in LEARNT], axis=0))
    assert np.sqrt(np.mean(np.square(np.array(table[UNSEEN]) / spread))) < 10


def test_vectors_of_buckets_are_fitted_too(own: Database) -> None:
    settings = {"network": sized("buckets", 2), "inputs": {"product": FIRST, "static": [*STATIC_ATTRIBUTES, LATITUDE]}}
    parent = train(work_of(own, CLOCK), configuration(members=1, seed=9, **settings), LEARNT).version_id
    child = tuned(own, parent, fitted="basin_vectors", validation_period=None)
    (mine,), (theirs,) = weights(own, child.id), weights(own, parent)
    assert {name for name in theirs if not torch.equal(mine[name], theirs[name])} == {"vectors.table"}
    assert mine["vectors.table"][-1].any()


def test_vectors_are_fitted_where_the_parent_has_some(own: Database) -> None:
    plain = configuration(network=MCLSTMConfig(cells=5, basin_vector=0), members=1, seed=9)
    without = train(work_of(own, CLOCK), plain, LEARNT).version_id
    with pytest.raises(InvalidInput, match=f"{without} learns no vectors"):
        tuned(own, without, fitted="basin_vectors", validation_period=None)


def test_the_version_records_its_parent(own: Database, parent: str) -> None:
    child, was = tuned(own, parent, members=1), version(own, parent)
    assert (child.parent_id, child.scaler, child.members) == (parent, was.scaler, (0,))
    assert (child.config["network"], child.config["inputs"]) == (was.config["network"], was.config["inputs"])
    assert (child.basins, child.tuned_on) == (BASINS, (UNSEEN,))
    with own.reading() as session:
        everything = versions.list_versions(session)[-1]  # of all three basins
        assert promotions.basins_of(session, child.id) == [UNSEEN]
    assert child.properties.attribute_ranges == everything.properties.attribute_ranges
    assert child.properties.attribute_ranges != was.properties.attribute_ranges
    (run,) = forecast(
        work_of(own, CLOCK), RunRequest(ForecastParams(basins=list(BASINS), t0=day("2004-03-10"), version=child.id))
    )
    with own.reading() as session:
        summaries = {basin: runs.basin_of(session, run.id, basin).summary for basin in BASINS}
    assert all(summary.seen_in_training and summary.outside_training == () for summary in summaries.values())
    assert "fine-tuned here" in str(summaries[UNSEEN].training_note)
    assert "fine-tuned on others since" in str(summaries[LEARNT[0]].training_note)


def test_training_that_only_harms_leaves_the_parent_and_does_not_take_over(own: Database, parent: str) -> None:
    before = in_use(own)
    child = tuned(own, parent, schedule=HARMING)
    for log in logs(own, child.id):
        assert all(row["validation_nse"] < log[0]["validation_nse"] for row in log[1:])
    for mine, theirs in zip(weights(own, child.id), weights(own, parent), strict=True):
        places_of_theirs = torch.as_tensor(places(LEARNT, BASINS))
        theirs["vectors.table"] = with_room(theirs["vectors.table"], places_of_theirs, len(BASINS))
        assert all(torch.equal(mine[name], theirs[name]) for name in mine | theirs)
    with own.transaction() as session:
        promotions.promote(session, parent, [UNSEEN], reason="to try it", by="someone", at=CLOCK.now())
    decision = decide(work_of(own, CLOCK), child.id, PromotionRule(period=HELD_OUT, promote=True))
    assert decision.deciding is not None
    assert decision.deciding.candidate_median == decision.deciding.current_median
    assert (decision.better, decision.better_in, decision.promoted) == (False, (), ())
    assert in_use(own) == before | {UNSEEN: parent}


def test_one_that_helps_takes_over_its_own_basin_alone(own: Database, parent: str) -> None:
    before = in_use(own)
    child = tuned(own, parent, schedule=HELPING)
    assert in_use(own) == before
    decision = decide(work_of(own, CLOCK), child.id, PromotionRule(period=HELD_OUT, promote=True))
    assert decision.better_in == decision.promoted == (UNSEEN,)
    assert in_use(own) == before | {UNSEEN: child.id}
    assert decide(work_of(own, CLOCK), child.id, PromotionRule(period=HELD_OUT, promote=True)) == decision
    other = decide(work_of(own, CLOCK), child.id, PromotionRule(period=HELD_OUT, margin=1.0, promote=True))
    assert other.basins == 0
    assert version(own, child.id).properties.comparison == decision  # not lost to the second


def test_a_basin_without_a_version_is_judged_beside_the_parent(own: Database, parent: str) -> None:
    with own.transaction() as session:
        session.execute(PROMOTIONS.delete().where(PROMOTIONS.c.basin_id == UNSEEN))
    child = tuned(own, parent, schedule=HELPING)
    assert UNSEEN not in in_use(own)
    decision = decide(work_of(own, CLOCK), child.id, PromotionRule(period=HELD_OUT, margin=1.0, promote=True))
    assert (decision.current, decision.better) == ((parent,), False)
    assert decision.deciding is not None
    assert decision.deciding.current_median == pytest.approx(deciding_nse(own, parent, (UNSEEN,))[UNSEEN])
    assert "its parent" in decision.sentence
    assert UNSEEN not in in_use(own)
    assert decide(work_of(own, CLOCK), child.id, PromotionRule(period=HELD_OUT, promote=True)).promoted == (UNSEEN,)
    assert in_use(own)[UNSEEN] == child.id


def test_each_basin_is_decided_on_by_itself(own: Database, parent: str) -> None:
    child = tuned(own, parent, BASINS, schedule=HELPING)
    (current,) = set(in_use(own).values())
    ours, theirs = yearly_errors(own, child.id, BASINS), yearly_errors(own, current, BASINS)
    lows = {}
    for basin in BASINS:
        gain = median_difference_interval(ours[basin], theirs[basin])
        assert gain is not None
        assert gain.low is not None
        lows[basin] = gain.low
    better = {basin for basin, low in lows.items() if low > 0}
    assert 0 < len(better) < len(BASINS)
    decision = decide(work_of(own, CLOCK), child.id, PromotionRule(period=HELD_OUT, promote=True))
    assert set(decision.promoted) == better
    assert f"better in {len(better)} of them" in decision.sentence


def test_days_of_any_ancestor_are_refused(own: Database, parent: str) -> None:
    child = tuned(own, parent, train_period="2001-10-01..2002-09-30", validation_period="2002-10-01..2003-03-31")
    younger = tuning(child.id, train_period="2001-10-01..2002-09-30", validation_period="2002-10-01..2003-03-31")
    validated = Period.parse("2003-10-01..2008-09-30")  # whose first year validated the parent alone
    for use in (
        lambda: decide(work_of(own, CLOCK), child.id, PromotionRule(period=validated, promote=True)),
        lambda: compare(work_of(own, CLOCK), [child.id], validated, [UNSEEN]),
    ):
        with pytest.raises(
            InvalidInput, match=r"overlaps 2003-10-01\.\.2004-09-30, a period of the training of what version"
        ):
            use()
    with own.reading() as session:
        with pytest.raises(InvalidInput, match=r"overlaps 2003-10-01\.\.2004-09-30"):
            require_to_be_held_out(session, younger, validated)
        require_to_be_held_out(session, younger, HELD_OUT)
    require_held_out(child, HELD_OUT)


def test_days_that_the_parent_held_out_are_not_held_out_of_the_fine_tuning(own: Database) -> None:
    held_out = "2002-10-01..2003-09-30"
    holding_out = train(work_of(own, CLOCK), configuration(members=1, held_out_period=held_out), LEARNT).version_id
    child = tuned(own, holding_out, train_period=held_out)
    assert child.used_periods == (held_out, "2003-10-01..2004-09-30", "2001-10-01..2002-09-30")


def test_one_that_died_goes_on_to_the_same_weights(own: Database, parent: str) -> None:
    whole = tuned(own, parent, checkpoint_every=6)

    def die(member: int, progress: Progress) -> None:
        if (member, progress.step) == (1, 5):
            raise StoppedHereError

    with pytest.raises(StoppedHereError):
        train(work_of(own, CLOCK), tuning(parent), (UNSEEN,), on_progress=die)
    seen: list[tuple[int, int]] = []
    done = train(
        work_of(own, CLOCK), tuning(parent), (UNSEEN,), on_progress=lambda member, now: seen.append((member, now.step))
    )
    assert seen[0] == (1, 6)
    assert version(own, done.version_id).weights_hash == whole.weights_hash
    assert logs(own, done.version_id) == logs(own, whole.id)
    again = train(work_of(own, CLOCK), tuning(parent), (UNSEEN,))
    assert (again.already, again.version_id) == (True, done.version_id)


def test_another_parent_is_another_training(own: Database, parent: str) -> None:
    config = tuning(parent)
    child = train(work_of(own, CLOCK), config, (UNSEEN,))
    other = train(work_of(own, CLOCK), config.model_copy(update={"parent": child.version_id}), (UNSEEN,))
    assert not other.already
    assert version(own, other.version_id).parent_id == child.version_id


def test_exported_and_installed_it_still_knows_its_ancestors_days(
    own: Database, database: Database, parent: str, tmp_path: Path
) -> None:
    child = tuned(own, parent, train_period="2001-10-01..2002-09-30", validation_period="2002-10-01..2003-03-31")
    export(own, child.id, tmp_path / "shelf" / "tuned")
    (tmp_path / "shelf" / "tuned" / "README.md").write_text("A tuned one.")
    installed = version(
        database, install(work_of(database, CLOCK), read_shipped("tuned", tmp_path / "shelf")).version_id
    )
    assert (installed.parent_id, installed.tuned_on, installed.basins) == (None, (UNSEEN,), BASINS)
    with pytest.raises(InvalidInput, match="goes on from"):
        require_held_out(installed, Period.parse("2003-10-01..2004-09-30"))
    export(own, parent, tmp_path / "scratch")
    assert "tuning" not in json.loads((tmp_path / "scratch" / "version.json").read_text())


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"parent": "nobody"}, versions.UnknownVersion, "'nobody' is stored here"),
        ({"product": "daymet"}, InvalidInput, "takes the forcing product synthetic, not daymet"),
        ({"members": 3}, InvalidInput, "has 2 members, so 3 cannot"),
    ],
)
def test_an_impossible_fine_tuning_is_reported(
    own: Database, parent: str, changes: dict[str, object], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        train(work_of(own, CLOCK), FineTuningConfig.model_validate(tuning(parent).model_dump() | changes), (UNSEEN,))
    with own.reading() as session:
        assert len(versions.list_versions(session)) == 2


def test_a_basin_without_the_parents_attributes_is_reported(own: Database, parent: str) -> None:
    with own.transaction() as session:
        session.execute(ATTRIBUTES.delete().where(ATTRIBUTES.c.basin_id == UNSEEN, ATTRIBUTES.c.name == "elev_mean"))
    with pytest.raises(NoBasinLeft, match=f"{UNSEEN} has no attribute elev_mean"):
        train(work_of(own, CLOCK), tuning(parent), (UNSEEN,))
