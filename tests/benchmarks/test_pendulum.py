"""The pendulum experiment: its data, its loss and windows, its fast LSTM, and that a stopped run goes on."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr

from benchmarks.papers import pendulum
from benchmarks.papers.pendulum import Training, fit, grown, window_losses
from benchmarks.papers.pendulum_data import Pendulum, energies, pendulums, series, waves
from benchmarks.papers.pendulum_networks import FeedbackLSTM, MassForecaster
from benchmarks.papers.plan import Plan

pytestmark = pytest.mark.extended

SMALL = Pendulum(number=3, training_steps=100, noise=0.0, damping=0.0, amplitude=0.2, length=1.0)
DAMPED = Pendulum(number=7, training_steps=100, noise=0.01, damping=0.4, amplitude=0.4, length=0.75)


def test_the_energies_of_an_undamped_small_pendulum_sum_to_a_constant() -> None:
    total = energies(SMALL).sum(1)
    assert total[0] == pytest.approx(9.81 * (1 - np.cos(0.2)))
    assert np.ptp(total) < 0.005 * total.mean()


def test_the_energy_of_a_damped_pendulum_dies_away_with_the_damping() -> None:
    total = energies(DAMPED).sum(1)
    assert total[-1] == pytest.approx(total[0] * np.exp(-0.4 * 25), rel=0.1)


def test_the_kinetic_energy_is_that_of_the_moving_angle() -> None:
    kinetic, potential = energies(DAMPED).T
    angle = np.arccos(1 - potential / (9.81 * 0.75))
    speed = np.gradient(angle, 0.025)
    moving = angle > 0.1  # away from zero, where the angle's sign is lost
    assert np.allclose(0.5 * (0.75 * speed[moving]) ** 2, kinetic[moving], atol=0.01)


def test_the_training_part_is_scaled_to_0_and_1_and_back() -> None:
    truth = series(DAMPED)
    part = truth.scaled[: DAMPED.training_steps]
    assert np.array_equal(part.min(0), [0, 0])
    assert np.array_equal(part.max(0), [1, 1])
    assert np.allclose(truth.unscaled(truth.scaled), truth.observed)


def test_the_sets_are_every_level_with_every_other() -> None:
    levels = [(each.amplitude, each.length, each.training_steps, each.noise, each.damping) for each in pendulums()]
    assert len(set(levels)) == 120
    assert [len(set(level)) for level in zip(*levels, strict=True)] == [2, 2, 3, 2, 5]


def test_the_loss_is_error_less_correlation_over_each_network_s_own_window() -> None:
    generator = torch.Generator().manual_seed(0)
    predicted, observed = torch.rand(2, 30, 2, 2, generator=generator, dtype=torch.float64)
    windows = torch.tensor([11, 30])
    losses = window_losses(predicted, observed, windows)
    for index, tau in enumerate(windows.tolist()):
        p, q = predicted[1:tau, index].numpy(), observed[1:tau, index].numpy()
        correlation = np.mean([pearsonr(p[:, column], q[:, column]).statistic for column in (0, 1)])
        assert losses[index].item() == pytest.approx(np.square(p - q).mean() - correlation)


def test_steps_beyond_a_window_have_no_gradient_and_a_constant_window_a_finite_one() -> None:
    predicted = torch.full((30, 1, 2), 0.5, requires_grad=True)
    observed = torch.rand(30, 1, 2, generator=torch.Generator().manual_seed(0))
    (gradient,) = torch.autograd.grad(window_losses(predicted, observed, torch.tensor([11])).sum(), predicted)
    assert gradient.isfinite().all()
    assert gradient[1:11].abs().min() > 0
    assert not gradient[0].any()
    assert not gradient[11:].any()


def test_a_window_grows_by_5_when_the_loss_is_good_enough_and_no_further_than_the_training_part() -> None:
    windows = torch.tensor([11, 11, 98])
    losses = torch.tensor([-0.9, -0.89, -0.95])
    assert grown(windows, losses, torch.tensor([100, 100, 100])).tolist() == [16, 11, 100]


def test_the_feedback_lstm_is_pytorch_s_cell_fed_with_its_own_outputs() -> None:
    torch.manual_seed(0)
    network = FeedbackLSTM(cells=7).double()
    a = torch.tensor(waves()[:40])
    first = torch.rand(1, 2, dtype=torch.float64)
    state = (torch.zeros(1, 7, dtype=torch.float64), torch.zeros(1, 7, dtype=torch.float64))
    outputs = [first]
    for wave in a:
        state = network.lstm(torch.cat([outputs[-1], wave[None]], 1), state)
        outputs.append(network.read(state[1]))
    slow, fast = torch.stack(outputs), network(first, a)
    assert torch.allclose(fast, slow, rtol=0, atol=1e-13)
    weight = torch.rand_like(slow)
    parameters = list(network.parameters())
    expected = torch.autograd.grad((weight * slow.sin()).sum(), parameters)
    found = torch.autograd.grad((weight * fast.sin()).sum(), parameters)
    assert all(torch.allclose(f, e, rtol=0, atol=1e-12) for f, e in zip(found, expected, strict=True))


@pytest.mark.parametrize("damped", [False, True])
def test_the_mc_lstm_s_energy_stays_unless_it_may_leak(damped: bool) -> None:
    network = MassForecaster([1, 2], damped)
    first = torch.tensor([[0.0, 1.0], [0.3, 0.6]])
    outputs = network(first, torch.tensor(waves()[:50], dtype=torch.float32))
    total = ((outputs[1:] + 0.01) / 1.02).sum(-1).detach()
    if damped:
        assert (total.diff(dim=0) < 0).all()
    else:
        assert torch.allclose(total, first.sum(-1).expand_as(total), atol=1e-5)


def test_networks_trained_together_are_those_trained_alone() -> None:
    both = Training(MassForecaster([1, 2], True), [SMALL, DAMPED])
    alone = Training(MassForecaster([2], True), [DAMPED])
    for _ in range(5):
        both.update()
        alone.update()
    assert both.windows[1] == alone.windows[0]
    for name, weight in alone.network.weights().items():
        assert torch.allclose(both.network.weights()[name][1], weight[0], atol=1e-5)


@pytest.mark.parametrize("kind", ["mass", "lstm"])
def test_a_stopped_run_goes_on_to_the_same_result(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(quick=True, seeds=None, folder=tmp_path)

    def network() -> MassForecaster | FeedbackLSTM:
        torch.manual_seed(0)
        return MassForecaster([5], True) if kind == "mass" else FeedbackLSTM(cells=8)

    whole = fit(plan, "whole", network(), [DAMPED], 12)
    monkeypatch.setattr(pendulum, "SAVE_SECONDS", 0.0)
    stopped = Training(network(), [DAMPED])
    for _ in range(5):
        stopped.update()
    stopped.save(plan.checkpoint("halves"))
    halves = fit(plan, "halves", network(), [DAMPED], 12)
    assert (halves.errors, halves.windows) == (whole.errors, whole.windows)
    assert fit(plan, "halves", network(), [DAMPED], 12) == halves
