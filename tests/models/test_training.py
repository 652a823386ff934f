"""Trainings repeat, resume, validate and refuse."""

import copy
import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import expectile

from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem
from jobspec.network import MCLSTMConfig, Unseen
from jobspec.training import Cosine, Staircase, WindowsConfig
from models.checkpoint import Tensors, dump, parse
from models.forcing import Scaler
from models.learning import Windows, loss_of, nse_of_days
from models.nets.mclstm import MCLSTM
from models.training import MemberTraining, Progress, TrainingDiverged, learning_rate
from testing.networks import config, training_data

PRECISIONS = ("bfloat16", "float32")


def member(seed: int = 1, start: Tensors | None = None, **changes: object) -> MemberTraining:
    data = training_data()
    scaler = Scaler.fit(data.forcing.over(Period.parse("2001-01-01..2002-12-31")))
    return MemberTraining(config(**changes), data, scaler, seed, start=start)


def same(one: Tensors, other: Tensors) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    first, again, other = member().run(), member().run(), member(seed=2).run()
    assert same(first.last, again.last)
    assert not same(first.last, other.last)


@pytest.mark.parametrize("stop", [3, 6, 9])
def test_a_resumed_training_equals_an_uninterrupted_one(stop: int) -> None:
    blobs: dict[int, bytes] = {}
    whole = member().run(on_checkpoint=blobs.__setitem__)
    resumed = member()
    resumed.resume(blobs[stop])
    assert resumed.step == stop
    finished = resumed.run()
    assert same(finished.last, whole.last)
    assert whole.best is not None
    assert finished.best is not None
    assert same(finished.best, whole.best)
    assert finished.log == whole.log
    assert finished.curve == whole.curve
    assert whole.curve["step"] == list(range(1, 13))


def test_a_long_training_records_its_curve_in_part_up_to_its_last_step() -> None:
    training = member(schedule=Cosine(steps=2501, warmup_steps=2))
    for step in range(1, 2502):
        training.record(step, loss=1 / step, norm=float(step))
    assert training.curve["step"] == [*range(3, 2502, 3), 2501]
    assert training.curve["loss"] == [1 / step for step in training.curve["step"]]
    assert training.curve["learning_rate"][-1] == training.rate(2500)


def test_each_loss_is_what_its_name_states() -> None:
    generator = np.random.default_rng(2)
    observed, simulated = generator.gamma(1.0, 2.0, (2, 20, 3))
    sd, known = np.array([0.5, 1.0, 4.0]), np.ones((20, 3), bool)
    known[4:9, 1] = False
    error = (simulated - observed)[known]
    scaled = ((simulated - observed) / (sd + 0.1))[known]
    logs = (np.log(simulated + 0.1) - np.log(observed + 0.1))[known]
    expected = {"nse*": np.mean(scaled**2), "mse": np.mean(error**2), "rmse": np.sqrt(np.mean(error**2))}
    gappy = torch.tensor(np.where(known, observed, np.nan))
    for loss, value in expected.items():
        for share in (0.0, 0.25, 1.0):
            flow = torch.tensor(simulated, requires_grad=True)
            found = loss_of(flow, gappy, torch.tensor(sd), config(loss=loss, log_share=share, expectile=0.5))
            assert found.item() == pytest.approx((1 - share) * value + share * np.mean(logs**2))
            (gradient,) = torch.autograd.grad(found, flow)
            assert torch.isfinite(gradient).all()
            assert (gradient[~known] == 0).all()
    dry = torch.zeros(20, 3, dtype=torch.float64) - 1  # a network without a balance may go below zero in training
    assert torch.isfinite(loss_of(dry, gappy, torch.tensor(sd), config(log_share=1.0)))


@pytest.mark.parametrize(
    ("seed", "hidden"), [(0, None), (1, "past_weather"), (2, "embedding"), (3, "basin_vector"), (5, "past_weather")]
)
def test_members_do_without_the_inputs_that_they_are_not_to_see(seed: int, hidden: Unseen | None) -> None:
    network = MCLSTMConfig(cells=4, embedding=3, rank=2, basin_vector=2, antecedent_days=(5.0,))
    unseen = ((), ("past_weather",), ("embedding",), ("basin_vector",))
    training = member(seed=seed, network=network, unseen=unseen, weight_decay=0.1)
    learnt = training.run().last

    def discharge(**changes: float) -> torch.Tensor:
        """Return what the member makes of inputs that are shifted."""
        trained = copy.deepcopy(training.network).eval()
        trained.load_state_dict(learnt)
        assert isinstance(trained, MCLSTM)
        assert trained.vectors is not None
        assert trained.embedding is not None
        with torch.no_grad():
            trained.vectors.table.add_(changes.get("basin_vector", 0.0))
            trained.embedding.second.bias.add_(changes.get("embedding", 0.0))
            inputs, _, _ = training._samples(0)
            state = trained.empty_state(inputs.mass.shape[1])
            state["weather"] = state["weather"] + changes.get("past_weather", 0.0)
            return trained(inputs, state)[0]["discharge"]

    for name in ("past_weather", "embedding", "basin_vector"):
        assert torch.equal(discharge(**{name: 1.0}), discharge()) == (name == hidden)


def test_gates_that_see_neither_rain_nor_water_make_the_flow_of_two_storms_the_sum_of_both() -> None:
    network = MCLSTMConfig(cells=4, embedding=3, rank=2, basin_vector=2, antecedent_days=(5.0, 20.0))
    training = member(network=network, unseen=(("rain", "water"),), weight_decay=0.1)
    training.run()
    inputs, _, _ = training._samples(0)
    wet, dry = inputs.mass.clone(), inputs.mass.clone()
    wet[::2], dry[1::2] = 0, 0
    trained = training.network.eval()
    with torch.no_grad():
        both, one, other = (trained(replace(inputs, mass=mass))[0]["discharge"] for mass in (inputs.mass, wet, dry))
    torch.testing.assert_close(both, one + other, rtol=1e-4, atol=1e-5)


def test_training_learns_and_retains_the_best_validation_weights() -> None:
    long = Cosine(steps=150, warmup_steps=5, peak_learning_rate=0.03)
    seen: list[Progress] = []
    trained = member(schedule=long, validate_every=25).run(on_progress=seen.append)
    scores = [row["validation_nse"] for row in trained.log]
    assert len(scores) == 6
    assert max(scores) > 0.5
    assert seen[-1].step == seen[-1].steps == 150
    best = member(schedule=long)
    assert trained.best is not None
    best.average.load_state_dict(trained.best)
    best.step = best.steps
    assert best._validate(0.0).value == pytest.approx(max(scores), abs=1e-6)


def test_the_stored_weights_are_their_running_mean() -> None:
    plain, averaged = member(ema_decay=0.0), member(ema_decay=0.6)
    means = {name: tensor.clone() for name, tensor in averaged.network.state_dict().items()}

    def follow(progress: Progress) -> None:
        share = min(0.6, progress.step / (progress.step + 10))
        for name, tensor in averaged.network.state_dict().items():
            means[name] = share * means[name] + (1 - share) * tensor

    stored = averaged.run(on_progress=follow).last
    assert same(plain.run().last, dict(plain.network.state_dict()))
    assert same(dict(averaged.network.state_dict()), dict(plain.network.state_dict()))
    for name, mean in means.items():
        torch.testing.assert_close(stored[name], mean)
        assert not torch.equal(stored[name], averaged.network.state_dict()[name])


@pytest.mark.parametrize("architecture", ["mclstm", "lstm"])
def test_a_training_that_starts_from_weights_validates_them_first(architecture: str) -> None:
    network = {"architecture": architecture, "cells": 4}
    parent = member(network=network).run()
    assert parent.best is not None
    again = member(seed=9, start=parent.best, network=network).run()
    assert again.log[0] == {
        "step": 0,
        "loss": None,
        "validation_nse": max(row["validation_nse"] for row in parent.log),
        "validation_basins": 3,
    }
    assert [row["step"] for row in again.log] == [0, 4, 8, 12]
    assert not same(again.last, parent.best)


def test_weights_that_training_only_worsens_stay_the_best() -> None:
    start = member(schedule=Cosine(steps=60, warmup_steps=2, peak_learning_rate=0.03)).run().best
    assert start is not None
    worse = member(start=start, schedule=Cosine(steps=12, warmup_steps=0, peak_learning_rate=3.0)).run()
    assert all(row["validation_nse"] < worse.log[0]["validation_nse"] for row in worse.log[1:])
    assert worse.best is not None
    assert same(worse.best, start)


def test_a_resumed_training_from_weights_equals_an_uninterrupted_one() -> None:
    start, blobs = member().run().last, dict[int, bytes]()
    whole = member(seed=2, start=start).run(on_checkpoint=blobs.__setitem__)
    resumed = member(seed=2, start=start)
    resumed.resume(blobs[6])
    finished = resumed.run()
    assert same(finished.last, whole.last)
    assert finished.log == whole.log


@pytest.mark.parametrize(
    "damage", ["no step", "no network", "another network", "another optimizer", "no optimizer", "half an optimizer"]
)
def test_a_checkpoint_that_is_damaged_or_of_another_training_is_refused(damage: str) -> None:
    blobs, training = dict[int, bytes](), member()
    training.run(on_checkpoint=blobs.__setitem__)
    tensors, header = parse(blobs[6])
    match damage:
        case "no step":
            del header["step"]
        case "no network":
            tensors = {name: values for name, values in tensors.items() if not name.startswith("network.")}
        case "another network":
            tensors = {name: values.unsqueeze(0) for name, values in tensors.items()}
        case "another optimizer":
            tensors["optimizer.99.exp_avg"] = torch.zeros(1)
        case "no optimizer":
            tensors = {name: values for name, values in tensors.items() if not name.startswith("optimizer.")}
        case "half an optimizer":
            tensors = {name: values for name, values in tensors.items() if not name.endswith(".exp_avg_sq")}
    weights, step = dict(training.network.state_dict()), training.step
    with pytest.raises(DataProblem, match="belongs to another training, or is damaged"):
        training.resume(dump(tensors, header))
    assert same(dict(training.network.state_dict()), weights)
    assert training.step == step


def test_weights_are_validated_with_the_numbers_in_which_they_are_served() -> None:
    trainings = [member(precision=precision, network=MCLSTMConfig(cells=4, rank=0)) for precision in PRECISIONS]
    for training in trainings:
        training.average.load_state_dict(trainings[0].average.state_dict())
    rounded, whole = (training._validate(None).value for training in trainings)
    assert rounded == whole


def test_a_stop_asked_for_by_progress_stops_the_training() -> None:
    class StopHereError(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.step == 2:
            raise StopHereError

    training = member()
    with pytest.raises(StopHereError):
        training.run(on_progress=stop)
    assert training.step == 2


def test_a_loss_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(TrainingDiverged, match="lower learning rate"):
        member(schedule=Cosine(steps=12, warmup_steps=0, peak_learning_rate=5e36), validation_period=None).run()


def test_missing_targets_leave_the_gradient_finite() -> None:
    simulated = torch.ones(4, 2, requires_grad=True)
    observed = torch.tensor([[1.0, 2.0], [float("nan"), 2.0], [1.0, float("nan")], [1.0, 2.0]])
    loss = nse_of_days(simulated, observed, torch.tensor([0.9, 1.9])).sum()
    loss.backward()
    assert loss.item() == pytest.approx(3 * (1 / 2.0) ** 2)
    assert simulated.grad is not None
    assert torch.isfinite(simulated.grad).all()


@pytest.mark.parametrize("share", [0.2, 0.5, 0.58])
def test_the_loss_is_least_at_the_expectile(share: float) -> None:
    observed = torch.tensor([[0.1], [0.4], [0.2], [9.0], [3.0]], dtype=torch.float64)
    best = float(expectile(observed[:, 0].numpy(), share))
    simulated = torch.full_like(observed, best).requires_grad_()
    nse_of_days(simulated, observed, torch.ones(1), share).sum().backward()
    assert simulated.grad is not None
    assert abs(float(simulated.grad.sum())) < 1e-9


def test_broken_weights_are_refused() -> None:
    blob = dump({"w": torch.ones(3)}, {"step": 1})
    assert parse(blob)[1] == {"step": 1}
    for broken in (b"", blob[:-2], b"\x80\x04pickle" * 9):
        with pytest.raises(DataProblem, match="cannot be read"):
            parse(broken)


def test_each_epoch_uses_every_window_once() -> None:
    observed = np.ones((2, 40), dtype=bool)
    observed[1, 20:] = False
    period = Period.parse("2000-01-01..2000-02-09")
    windows = Windows(observed, period, period, WindowsConfig(spinup_days=10, loss_days=5, batch=3), seed=5)
    encoded = [
        (int(b), int(s)) for step in range(windows.batches_per_epoch) for b, s in zip(*windows.batch(step), strict=True)
    ]
    expected = {(0, s) for s in range(26)} | {(1, s) for s in range(10)}
    assert len(encoded) == len(set(encoded)) == 36
    assert set(encoded) == expected


def test_the_windows_of_a_training_leave_memory_with_it() -> None:
    period = Period.parse("2000-01-01..2000-02-09")
    windows = Windows(np.ones((2, 40), bool), period, period, WindowsConfig(spinup_days=10, loss_days=5, batch=3), 5)
    first = windows.batch(0)
    assert not np.array_equal(windows.of_seed(6).batch(0), first)
    assert not np.array_equal(windows.batch(windows.batches_per_epoch), first)
    assert np.array_equal(windows.batch(0), first)
    there = weakref.ref(windows)
    del windows
    assert there() is None


def test_windows_that_do_not_fit_are_refused() -> None:
    period = Period.parse("2000-01-01..2000-01-20")
    with pytest.raises(DataProblem, match="longer training period"):
        Windows(np.ones((1, 20), dtype=bool), period, period, WindowsConfig(spinup_days=15, loss_days=10), seed=0)


def test_the_rates_are_the_papers_and_the_cosine() -> None:
    paper = Staircase()
    rates = [learning_rate(paper, step, 300, 10) for step in (0, 199, 200, 249, 250, 299)]
    assert rates == [0.01, 0.01, 0.005, 0.005, 0.001, 0.001]
    cosine = Cosine(steps=100, warmup_steps=10, peak_learning_rate=0.01, final_learning_rate=0.001)
    assert learning_rate(cosine, 0, 100, 1) == pytest.approx(0.001)
    assert learning_rate(cosine, 9, 100, 1) == pytest.approx(0.01)
    assert learning_rate(cosine, 55, 100, 1) == pytest.approx(0.0055)
    assert learning_rate(cosine, 100, 100, 1) == pytest.approx(0.001)
