"""A training gives one version, goes on where it stopped, and names what it could not use."""

import multiprocessing
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.series import DailySeries, Flag
from jobspec.jobs.training import PromotionRule
from jobspec.training import Cosine, InputsConfig, WindowsConfig
from models import checkpoint
from models.forcing import days_of
from models.networks import build
from models.training import Progress, TrainingDiverged
from operations.training.assemble import assemble, assemble_all
from operations.training.promotion_rule import decide
from operations.training.train import begin, reopen
from operations.training.training_data import NoBasinLeft, prepare
from operations.versions.learnt_days import require_held_out
from records.database.engine import Database
from records.series import revisions, series, series_writer
from records.series.year_rows import SERIES
from records.versions import promotions, trainings, versions
from records.versions.promotions import PROMOTIONS
from records.versions.version_properties import ELSEWHERE
from testing.country import BASINS, CLOCK, configuration
from testing.records import list_trainings
from testing.training import train
from testing.work import work_of
from tests.operations.conftest import FILE
from tests.shared_folders import filled_once


class StoppedHereError(Exception):
    """Stands for a worker that dies."""


def replace_flow(database: Database, basin: str, value: float) -> None:
    """Give a basin the same flow on every day."""
    with database.transaction() as session:
        old = series.read(session, basin, "synth", "discharge")
        assert old is not None
        flag = Flag.MISSING if np.isnan(value) else Flag.APPROVED
        new = DailySeries(old.start, np.full(len(old), value, np.float32), np.full(len(old), flag, np.uint8), "cfs")
        source = revisions.register_source(session, "test", "0" * 64, 1, CLOCK.wall())
        series_writer.write(session, basin, "synth", "discharge", new, source, CLOCK.now())


def test_a_version_stores_its_members_and_serves_the_basins_that_had_none(trained_store: Database) -> None:
    with trained_store.reading() as session:
        version = versions.newest(session)
        members = versions.members_of(session, version.id)
        assert promotions.current(session, BASINS) == dict.fromkeys(BASINS, version.id)
    assert (version.architecture, version.conserving, version.product) == ("mclstm", True, "synthetic")
    assert version.basins == BASINS
    assert version.uses == "best"
    assert [(member.label, member.seed) for member in members] == [(0, 0), (1, 1)]
    assert members[0].weights != members[1].weights
    assert version.properties.physics
    assert not any(probe.forbids for probe in version.properties.physics)
    assert "added rain" in {probe.name for probe in version.properties.physics}

    again = train(work_of(trained_store, CLOCK), configuration(), BASINS)
    assert again.already
    assert again.version_id == version.id

    other = train(work_of(trained_store, CLOCK), configuration(seed=7, members=1), BASINS)
    assert not other.already
    assert other.promoted == ()


def test_a_version_that_fails_a_physics_probe_is_stored_and_serves_no_basin(trained_store: Database) -> None:
    config = configuration(seed=9, members=1, train_period="2001-10-01..2003-09-30", validation_period=None)
    started = begin(work_of(trained_store, CLOCK), config, BASINS)
    network = build(config.network, config.inputs, seed=0, basins=len(BASINS))
    torch.nn.init.constant_(network.get_parameter("output_gate.bias"), torch.nan)
    member = versions.Member(0, 9, {"last": checkpoint.dump(network.state_dict(), {})}, {"validation": []})
    with trained_store.transaction() as session:
        session.execute(PROMOTIONS.delete())
        trainings.finish_member(session, started.training_id, member, CLOCK.wall())

    trained = assemble(work_of(trained_store, CLOCK), started)

    assert trained.promoted == ()
    assert trained.refused is not None
    assert "closure: no finite number" in trained.refused
    with trained_store.reading() as session:
        assert promotions.current(session, BASINS) == {}
        assert versions.get(session, trained.version_id).properties.physics is not None

    shares = {ELSEWHERE: 0.5}
    with trained_store.reading() as session:
        (whole_one,) = [one.id for one in list_trainings(session) if one.id != started.training_id]
    other = reopen(trained_store, whole_one)
    whole, _ = assemble_all(work_of(trained_store, CLOCK), [replace(one, shares=shares) for one in (other, started)])
    assert (whole.version_id, whole.refused) == (trained.version_id, trained.refused)
    assert len(whole.validation_nse) == other.config.members + 1
    rule = PromotionRule(period=Period.parse("2004-10-01..2008-09-30"), promote=True)
    decision = decide(work_of(trained_store, CLOCK), whole.version_id, rule, refused=whole.refused)
    assert (decision.sentence, decision.promoted) == (f"Not promoted: {trained.refused}", ())


@pytest.mark.extended
@pytest.mark.parametrize("stop", [(0, 5), (1, 2), (1, 7)])
def test_a_training_that_died_goes_on_to_the_same_weights(trained_store: Database, stop: tuple[int, int]) -> None:
    with trained_store.reading() as session:
        whole = versions.newest(session)
    config = configuration(checkpoint_every=2)  # another request, the same weights
    seen: list[tuple[int, int]] = []

    def die(member: int, progress: Progress) -> None:
        if (member, progress.step) == stop:
            raise StoppedHereError

    with pytest.raises(StoppedHereError):
        train(work_of(trained_store, CLOCK), config, BASINS, on_progress=die)
    with trained_store.reading() as session:
        assert versions.newest(session).id == whole.id  # no incomplete version
        (running,) = list_trainings(session, status="running")
        checkpoint = trainings.checkpoint(session, running.id, stop[0])
    done = train(
        work_of(trained_store, CLOCK), config, BASINS, on_progress=lambda member, p: seen.append((member, p.step))
    )
    first = checkpoint.step + 1 if checkpoint else 1
    assert seen[0] == (stop[0], first)
    with trained_store.reading() as session:
        assert versions.get(session, done.version_id).weights_hash == whole.weights_hash


@pytest.mark.extended
def test_members_trained_side_by_side_are_those_trained_one_after_the_other(trained_store: Database) -> None:
    with trained_store.reading() as session:
        whole = versions.newest(session)
    steps: dict[int, list[int]] = {0: [], 1: []}
    done = train(
        work_of(trained_store, CLOCK, cores=2),
        configuration(checkpoint_every=2),
        BASINS,
        on_progress=lambda member, progress: steps[member].append(progress.step),
    )
    assert steps == {0: list(range(1, 9)), 1: list(range(1, 9))}
    with trained_store.reading() as session:
        assert versions.get(session, done.version_id).weights_hash == whole.weights_hash


def _training_processes() -> list[BaseProcess]:
    """Return the processes of this one but for parts of a service, which end with it."""
    return [process for process in multiprocessing.active_children() if not process.daemon]


LONGER = {"schedule": Cosine(steps=200, warmup_steps=2, peak_learning_rate=0.02), "validate_every": 50}
"""Longer than the wait between two looks."""


@pytest.fixture
def longer_trained_store(trained_file: Path, tmp_path: Path) -> Iterator[Database]:
    """A copy of the country in which a longer training was not interrupted."""

    def add(folder: Path) -> None:
        with closing(Database(f"sqlite:///{shutil.copy(trained_file, folder / FILE)}")) as database:
            train(work_of(database, CLOCK), configuration(**LONGER), BASINS)

    file = filled_once(trained_file.parent / "longer", add) / FILE
    with closing(Database(f"sqlite:///{shutil.copy(file, tmp_path)}")) as database:
        yield database


@pytest.mark.extended
@pytest.mark.parametrize("ended", ["asked to stop", "killed"])
def test_members_side_by_side_end_together_and_go_on_to_the_same_weights(
    longer_trained_store: Database, ended: str
) -> None:
    with longer_trained_store.reading() as session:
        whole = versions.newest(session)
    config = configuration(**LONGER, checkpoint_every=2)

    def end(_member: int, progress: Progress) -> None:
        if progress.step < 3:
            return
        if ended == "asked to stop":
            raise StoppedHereError
        for process in _training_processes():
            process.kill()

    with pytest.raises(StoppedHereError if ended == "asked to stop" else DataProblem):
        train(work_of(longer_trained_store, CLOCK, cores=2), config, BASINS, on_progress=end)
    assert _training_processes() == []
    with longer_trained_store.reading() as session:
        assert versions.newest(session).id == whole.id
        (running,) = list_trainings(session, status="running")
        checkpoints = [trainings.checkpoint(session, running.id, member) for member in (0, 1)]
        finished = trainings.finished_members(session, running.id)  # a member that is in needs no checkpoint
    assert any(checkpoints) or finished
    done = train(work_of(longer_trained_store, CLOCK), config, BASINS)
    with longer_trained_store.reading() as session:
        assert versions.get(session, done.version_id).weights_hash == whole.weights_hash


@pytest.mark.extended
def test_a_member_that_fails_ends_the_others_with_its_own_error(trained_store: Database) -> None:
    schedule = Cosine(steps=400, warmup_steps=0, peak_learning_rate=1e30)
    with pytest.raises(TrainingDiverged, match="learning rate"):
        train(work_of(trained_store, CLOCK, cores=2), configuration(schedule=schedule), BASINS)
    assert _training_processes() == []


@pytest.mark.parametrize(("value", "result"), [(12.5, "is constant"), (float("nan"), "no observed discharge")])
def test_a_basin_of_constant_or_missing_flow_is_left_out_and_named(
    trained_store: Database, value: float, result: str
) -> None:
    replace_flow(trained_store, "SYNTH-02", value)
    done = train(work_of(trained_store, CLOCK), configuration(members=1), BASINS)
    assert done.basins == ("SYNTH-01", "SYNTH-03")
    assert result in str(done.left_out["SYNTH-02"])
    with trained_store.reading() as session:
        assert versions.get(session, done.version_id).basins == ("SYNTH-01", "SYNTH-03")


def test_a_training_without_any_usable_basin_fails_and_stores_nothing(trained_store: Database) -> None:
    replace_flow(trained_store, "SYNTH-02", 3.0)
    with pytest.raises(NoBasinLeft, match="is constant"):
        train(work_of(trained_store, CLOCK), configuration(members=1), ["SYNTH-02"])
    with trained_store.reading() as session:
        assert len(list_trainings(session)) == 1


def test_a_basin_without_attributes_or_product_is_named(trained_store: Database) -> None:
    inputs = InputsConfig(product="synthetic", static=("p_mean", "unheard_of"))
    with trained_store.reading() as session, pytest.raises(NoBasinLeft, match="no attribute unheard_of"):
        prepare(session, configuration(inputs=inputs), BASINS)
    with trained_store.reading() as session, pytest.raises(NoBasinLeft, match="stored for this basin: synth, synth"):
        prepare(session, configuration(inputs=InputsConfig(product="daymet")), BASINS)


def test_a_period_outside_the_record_is_named(trained_store: Database) -> None:
    with trained_store.reading() as session, pytest.raises(NoBasinLeft, match="does not cover"):
        prepare(session, configuration(train_period="1990-10-01..1999-09-30"), BASINS)


def test_a_loss_that_turns_nan_fails_the_training_and_creates_no_version(trained_store: Database) -> None:
    config = configuration(schedule=Cosine(steps=8, warmup_steps=0, peak_learning_rate=5e36), members=1)
    with pytest.raises(TrainingDiverged, match="lower learning rate"):
        train(work_of(trained_store, CLOCK), config, BASINS)
    with trained_store.reading() as session:
        assert len(versions.list_versions(session)) == 1
        (failed,) = list_trainings(session, status="failed")
    assert failed.reason is not None
    assert "lower learning rate" in str(failed.reason)


def test_training_runs_on_either_database(database: Database, trained_store: Database) -> None:
    """The same data in another database give the same weights."""
    from sqlalchemy import select

    from records.database.base import Base

    wanted = {"basins", "basin_areas", "basin_attributes", "basin_texts", "series", "sources"}
    with trained_store.reading() as source, database.transaction() as target:
        for table in Base.metadata.sorted_tables:
            if any(table.name == name for name in wanted):
                rows = [dict(row._mapping) for row in source.execute(select(table))]
                if rows:
                    target.execute(table.insert(), rows)
    done = train(work_of(database, CLOCK), configuration(), BASINS)
    with database.reading() as session, trained_store.reading() as other:
        assert versions.get(session, done.version_id).weights_hash == versions.newest(other).weights_hash


def test_two_processes_that_do_the_same_training_make_one_version(trained_store: Database) -> None:
    config = configuration(seed=11)
    other: list[str] = []

    def overtaken(member: int, progress: Progress) -> None:
        if (member, progress.step) == (1, 3) and not other:
            other.append(train(work_of(trained_store, CLOCK), config, BASINS).version_id)

    done = train(work_of(trained_store, CLOCK), config, BASINS, on_progress=overtaken)
    assert [done.version_id] == other
    with trained_store.reading() as session:
        assert len(versions.list_versions(session)) == 2
        assert versions.get(session, done.version_id).members == (0, 1)


def test_a_validation_period_without_flow_is_refused_at_once(trained_store: Database) -> None:
    with trained_store.transaction() as session:
        session.execute(SERIES.delete().where(SERIES.c.product == "synth", SERIES.c.year >= 2004))
    with trained_store.reading() as session, pytest.raises(NoBasinLeft, match="validation period 2004"):
        prepare(session, configuration(validation_period="2004-10-01..2005-09-30"), BASINS)


def test_a_long_warm_up_is_read_from_the_record(trained_store: Database) -> None:
    config = configuration(
        windows=WindowsConfig(spinup_days=700, loss_days=30, batch=4), train_period="2003-01-01..2003-12-31",
        validation_period=None,
    )  # fmt: skip
    with trained_store.reading() as session:
        assert prepare(session, config, BASINS).data.forcing.first == np.datetime64("2001-01-31")


def test_days_held_out_within_the_training_period_are_never_seen(trained_store: Database) -> None:
    config = configuration(
        train_period="2001-10-01..2004-09-30",
        validation_period="2004-10-01..2005-09-30",
        held_out_period="2002-10-01..2003-09-30",
        members=1,
    )
    replaced = Period.parse("2002-10-01..2003-09-30")
    first = train(work_of(trained_store, CLOCK), config, BASINS)
    with trained_store.reading() as session:
        before = prepare(session, config, BASINS)
        version = versions.get(session, first.version_id)
    assert version.used_periods == ("2001-10-01..2002-09-30", "2003-10-01..2004-09-30", "2004-10-01..2005-09-30")
    require_held_out(version, replaced)
    with pytest.raises(InvalidInput, match=r"overlaps the train period 2003-10-01\.\.2004-09-30"):
        require_held_out(version, Period.parse("2003-09-30..2003-10-01"))
    with trained_store.transaction() as session:
        old = series.read(session, BASINS[0], "synth", "discharge")
        assert old is not None
        values = old.values.copy()
        values[days_of(old.period, replaced)] *= 3
        source = revisions.register_source(session, "test", "1" * 64, 1, CLOCK.wall())
        new = DailySeries(old.start, values, old.flags, "cfs")
        series_writer.write(session, BASINS[0], "synth", "discharge", new, source, CLOCK.now())
    with trained_store.reading() as session:
        assert prepare(session, config, BASINS).data_hash == before.data_hash


def test_held_out_days_lie_within_the_training_period() -> None:
    with pytest.raises(ValidationError, match="within the training period"):
        configuration(held_out_period="2003-09-01..2003-10-31")
