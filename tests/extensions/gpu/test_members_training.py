"""Members that are trained side by side become what each becomes alone."""

import numpy as np
import pytest
import torch

from extensions.gpu import members_training
from extensions.gpu.members_training import MembersTraining
from extensions.gpu.programs import PROGRAMS
from hydrology.base.errors import DataProblem
from jobspec.network import BucketsConfig, MCLSTMConfig, sized
from jobspec.training import Cosine, TrainingConfig, WindowsConfig
from models.forcing import Scaler
from models.learning import TrainingData
from models.nets.mclstm import MCLSTM
from models.training import MemberTraining, Progress, TrainedMember
from testing.networks import config, training_data

pytestmark = pytest.mark.extended

NETWORK = MCLSTMConfig(cells=4, embedding=2, rank=2, basin_vector=2, antecedent_days=(3.0,))
SEEDS = (0, 1)


class _StoppedError(Exception):
    pass


def short(**changes: object) -> TrainingConfig:
    """Return a training of few days: the interpreter takes milliseconds a day."""
    settings: dict[str, object] = {
        "network": NETWORK,
        "windows": WindowsConfig(spinup_days=1, loss_days=2, batch=2),
        "schedule": Cosine(steps=2, warmup_steps=1, peak_learning_rate=0.02),
        "validation_period": None,
        "checkpoint_every": 1,
        "precision": "float32",
        "members": 2,
    }
    return config(**{**settings, **changes})


def of(training: TrainingConfig, seeds: tuple[int, ...], data: TrainingData | None = None) -> MembersTraining:
    data = data or training_data()
    return MembersTraining(training, data, Scaler.fit(data.forcing), seeds, "cpu")


def alone(training: TrainingConfig, seed: int) -> MemberTraining:
    data = training_data()
    return MemberTraining(training, data, Scaler.fit(data.forcing), seed)


def assert_alike(one: TrainedMember, other: TrainedMember) -> None:
    """Compare most weights: Adam divides by each gradient, and moves a weight by one that is rounding alone, too."""
    own, wanted = (torch.cat([of.flatten() for of in member.last.values()]) for member in (one, other))
    assert ((own - wanted).abs() <= 1e-5).float().mean() >= 0.9


@pytest.mark.parametrize("unseen", [(), ((), ("past_weather",))])
def test_members_get_the_weights_that_each_gets_alone_on_a_processor(unseen: tuple[tuple[str, ...], ...]) -> None:
    training = short(unseen=unseen, schedule=Cosine(steps=1, warmup_steps=0, peak_learning_rate=0.02))
    losses: dict[int, float] = {}
    together = of(training, SEEDS).run(on_progress=lambda seed, progress: losses.update({seed: progress.loss}))
    for seed in SEEDS:
        steps: list[Progress] = []
        assert_alike(together[seed], alone(training, seed).run(on_progress=steps.append))
        assert losses[seed] == pytest.approx(steps[0].loss, rel=1e-5)


def test_a_member_gets_the_same_bits_alone_and_beside_another() -> None:
    training = short()
    together, one = of(training, SEEDS).run(), of(training, (1,)).run()
    assert all(torch.equal(weights, together[1].last[name]) for name, weights in one[1].last.items())


def test_members_resume_to_the_bit_and_on_a_processor_too() -> None:
    training = short()
    whole = of(training, SEEDS).run()
    blobs: dict[int, bytes] = {}

    def save(seed: int, step: int, blob: bytes) -> None:
        assert step == 1
        blobs[seed] = blob

    def stop(_seed: int, progress: Progress) -> None:
        if progress.step == 1:
            raise _StoppedError

    with pytest.raises(_StoppedError):
        of(training, SEEDS).run(save, stop)
    resumed = of(training, SEEDS)
    resumed.resume(blobs)
    again = resumed.run()
    assert all(torch.equal(of_seed, whole[1].last[name]) for name, of_seed in again[1].last.items())
    on_processor = alone(training, 0)
    on_processor.resume(blobs[0])
    assert_alike(whole[0], on_processor.run())
    # A member that began on a processor goes on side by side.
    started = alone(training, 0)
    with pytest.raises(_StoppedError):
        started.run(lambda step, blob: blobs.update({0: blob}) if step == 1 else None, lambda p: stop(0, p))
    beside = of(training, (0,))
    beside.resume(blobs)
    assert_alike(beside.run()[0], whole[0])


def test_progress_and_checkpoints_come_for_every_member(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members_training, "CHECKPOINT_SECONDS", 0.0)
    saved, seen = [], []
    of(short(), SEEDS).run(lambda seed, step, _blob: saved.append((seed, step)), lambda s, p: seen.append((s, p.step)))
    assert saved == [(0, 1), (1, 1), (0, 2), (1, 2)]
    assert seen == saved


def test_the_best_weights_of_the_validation_are_those_of_a_member_alone() -> None:
    days = training_data()
    first = days.forcing.first
    period = f"{first + np.timedelta64(1096, 'D')}..{first + np.timedelta64(1099, 'D')}"
    training = short(validation_period=period, validate_every=2, network=NETWORK.model_copy(update={"cells": 2}))
    few = TrainingData(days.forcing.basins(np.array([1])), days.discharge[1:2])
    together = of(training, (0,), few).run()[0]
    member = MemberTraining(training, few, Scaler.fit(few.forcing), 0).run()
    assert [row["validation_nse"] for row in together.log] == pytest.approx(
        [row["validation_nse"] for row in member.log], abs=1e-4
    )
    assert together.best is not None
    assert together.best.keys() == member.best.keys() if member.best else False


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the interpreter, where a card is silent
def test_a_loss_that_is_not_finite_stops_the_training() -> None:
    broken = training_data()
    broken.forcing.auxiliary[:, :, 0] = np.inf
    scaler = Scaler((0.0,) * 3, (1.0,) * 3, (0.0,) * 4, (1.0,) * 4)
    with pytest.raises(DataProblem, match="loss became"):
        MembersTraining(short(), broken, scaler, (0,), "cpu").run()


@pytest.mark.parametrize("architecture", ["lstm", "ealstm", "gru", "eins", "mmrnn"])
def test_networks_without_storage_train_side_by_side_too(architecture: str) -> None:
    data = training_data()
    first = data.forcing.first
    training = short(
        network=sized(architecture, 4) | {"dropout": 0.0},
        validation_period=f"{first + np.timedelta64(1096, 'D')}..{first + np.timedelta64(1195, 'D')}",
        validate_every=2,
    )
    if architecture == "mmrnn":
        data.forcing.mass[:, 5::7] = np.nan
    together = of(training, SEEDS, data).run()
    for seed in SEEDS:
        member = MemberTraining(training, data, Scaler.fit(data.forcing), seed).run()
        assert_alike(together[seed], member)
        assert together[seed].log[-1]["validation_nse"] == pytest.approx(member.log[-1]["validation_nse"], abs=1e-4)


def test_buckets_train_side_by_side_too() -> None:
    data = training_data()
    first = data.forcing.first
    training = short(
        network=BucketsConfig(architecture="buckets", components=2, hidden=4, embedding=2, basin_vector=2),
        validation_period=f"{first + np.timedelta64(1096, 'D')}..{first + np.timedelta64(1105, 'D')}",
        validate_every=2,
    )
    together = of(training, SEEDS, data).run()
    for seed in SEEDS:
        member = MemberTraining(training, data, Scaler.fit(data.forcing), seed).run()
        assert_alike(together[seed], member)
        assert together[seed].log[-1]["validation_nse"] == pytest.approx(member.log[-1]["validation_nse"], abs=1e-4)


def test_only_vectors_of_the_basins_at_hand_are_fitted_where_only_these_are_asked_for() -> None:
    data = training_data()
    scaler = Scaler.fit(data.forcing)
    of_others = tuple(f"a-{number}" for number in range(3))  # before the basins of the data, by their ids
    everyone = (*of_others, *data.forcing.ids)
    training = short(fitted="basin_vectors")
    start = MemberTraining(training, data, scaler, 0, learnt_from=everyone).network.state_dict()
    member = MemberTraining(training, data, scaler, 0, start=start, learnt_from=everyone).run()
    together = MembersTraining(training, data, scaler, (0,), "cpu", learnt_from=everyone, starts={0: start}).run()[0]
    for name, weights in together.last.items():
        changed = name == "vectors.table"
        torch.testing.assert_close(weights, member.last[name], rtol=0, atol=1e-3 if changed else 0)
    before, after = start["vectors.table"], together.last["vectors.table"]
    assert torch.equal(after[:3], before[:3])
    assert (after[3:] != before[3:]).all()


def test_days_without_weather_are_refused() -> None:
    gappy = training_data()
    gappy.forcing.mass[0, 5] = np.nan
    with pytest.raises(ValueError, match="without gaps"):
        of(short(), (0,), gappy)


def test_only_a_card_trains_members_together() -> None:
    assert not PROGRAMS.trains_together(short(), "cpu")
    assert isinstance(alone(short(), 0).network, MCLSTM)
