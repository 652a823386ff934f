"""The addition problem: its sequences, the units it compares, and a run that is stopped and started again."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call, stack_module_state

from benchmarks.papers.addition import (
    CONTENDERS,
    QUICK,
    REFERENCE,
    TESTS,
    Contender,
    Learning,
    Task,
    learn,
    sequences,
)
from benchmarks.papers.addition_networks import ConservingSum
from benchmarks.papers.plan import Plan
from benchmarks.papers.units import Nalu, Nau

pytestmark = pytest.mark.extended

SIZE = replace(QUICK, sequences=160, epochs=4, validate_every=1, seeds=2)


@pytest.mark.parametrize("task", TESTS, ids=lambda task: task.name)
def test_sequences_are_those_of_the_paper(task: Task) -> None:
    x, a, y = sequences(task, 50, 7)
    assert x.shape == a.shape == (task.length, 50, 1)
    assert x.min() >= 0
    assert 0.95 * task.highest < x.max() <= task.highest
    assert torch.all(a[-1] == -1)
    marked = a[:-1] == 1
    assert torch.all(marked | (a[:-1] == 0))
    counts = marked.sum((0, 2))
    fewest, maximum = task.summands
    assert (counts.min() >= fewest) & (counts.max() <= maximum)
    assert len(counts.unique()) > 1 or fewest == maximum
    torch.testing.assert_close(y, torch.where(marked, x[:-1], 0.0).sum((0, 2)))


def test_marks_fall_on_every_step_but_the_last() -> None:
    _, a, _ = sequences(REFERENCE, 2000, 7)
    assert torch.all((a == 1).sum((1, 2))[:-1] > 0)


def test_a_key_gives_the_same_sequences_and_another_key_others() -> None:
    once, again, other = (sequences(REFERENCE, 5, *key) for key in ((0, 1), (0, 1), (0, 2)))
    assert all(torch.equal(left, right) for left, right in zip(once, again, strict=True))
    assert not torch.equal(once[0], other[0])


def test_nau_is_a_sum_with_weights_from_minus_one_to_one() -> None:
    unit = Nau(3, 2)
    unit.weight.data = torch.tensor([[2.0, -3.0], [0.25, 1.0], [-1.0, 0.0]])
    torch.testing.assert_close(unit(torch.tensor([[5.0, 4.0, 3.0]])), torch.tensor([[5.0 + 1.0 - 3.0, -5.0 + 4.0]]))


def test_nalu_equals_its_equations() -> None:
    unit = Nalu(3, 2).double()
    x = np.array([0.5, -2.0, 3.0])
    w_hat, m_hat, gate = (weight.detach().numpy().T for weight in (unit.w_hat, unit.m_hat, unit.gate))
    W = np.tanh(w_hat) / (1 + np.exp(-m_hat))
    g = 1 / (1 + np.exp(-(gate @ x)))
    expected = g * (W @ x) + (1 - g) * np.exp(W @ np.log(np.abs(x) + 1e-7))
    np.testing.assert_allclose(unit(torch.from_numpy(x)).detach().numpy(), expected, rtol=1e-12)


def test_saturated_nalu_adds_or_multiplies() -> None:
    unit = Nalu(2, 1)
    unit.w_hat.data.fill_(20.0)
    unit.m_hat.data.fill_(20.0)
    for gate, expected in ((20.0, 7.0), (-20.0, 12.0)):
        unit.gate.data.fill_(gate)
        torch.testing.assert_close(unit(torch.tensor([3.0, 4.0])), torch.tensor([expected]))


@pytest.mark.parametrize(("name", "forget_bias"), [("LSTM", 0.0), ("LSTM, forget bias 3", 3.0)])
def test_lstm_equals_torch(name: str, forget_bias: float) -> None:
    torch.manual_seed(0)
    network = _contender(name).build()
    reference = nn.LSTM(2, 10)
    own = dict(network.named_parameters())
    reference.load_state_dict(
        {
            "weight_ih_l0": own["from_inputs"],
            "weight_hh_l0": own["from_cells"],
            "bias_ih_l0": own["bias"],
            "bias_hh_l0": torch.zeros(40),
        }
    )
    x, a, _ = sequences(REFERENCE, 4, 0)
    h = reference(torch.cat([x, a], -1))[0][-1]
    expected = h @ own["read_out.weight"].squeeze(-1) + own["read_out.bias"].squeeze()
    torch.testing.assert_close(network(x, a), expected)
    assert torch.all(own["bias"][10:20] == forget_bias)


@pytest.mark.parametrize("contender", CONTENDERS, ids=lambda contender: contender.name)
def test_stacked_networks_equal_single_ones(contender: Contender) -> None:
    torch.manual_seed(0)
    networks = [contender.build() for _ in range(2)]
    x, a, _ = sequences(replace(REFERENCE, length=12), 6, 0)
    x, a = (values.unflatten(1, (2, 3)) for values in (x, a))
    together = functional_call(networks[0], stack_module_state(networks)[0], (x, a))
    for seed, network in enumerate(networks):
        torch.testing.assert_close(together[seed], network(x[:, seed], a[:, seed]), equal_nan=True)


@pytest.mark.parametrize("redistribution", ["fixed", "gated"])
def test_the_gradient_by_hand_is_that_of_autograd(redistribution: Literal["fixed", "gated"]) -> None:
    torch.manual_seed(0)
    network = ConservingSum(redistribution).double()
    x, a, _ = sequences(replace(REFERENCE, length=12), 6, 0)
    x, a = x.double(), a.double()
    weights = list(network.cells.parameters())
    direction = torch.randn(6, 10).double()
    expected = torch.autograd.grad((network.cells(x, a)[1][-1] * direction).sum(), weights)
    by_hand = torch.autograd.grad((network.outflow_to_learn_from(x, a) * direction).sum(), weights)
    for own, reference in zip(by_hand, expected, strict=True):
        torch.testing.assert_close(own, reference, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("name", ["MC-LSTM", "MC-LSTM, R of each step"])
def test_mc_lstm_learns_from_the_outflow_that_it_is_judged_by(name: str) -> None:
    network = _contender(name).build()
    x, a, _ = sequences(REFERENCE, 6, 0)
    with torch.no_grad():
        judged = network(x, a)
    torch.testing.assert_close(network(x, a), judged)


def test_mc_lstm_adds_exactly_with_the_weights_that_solve_the_task() -> None:
    network = _contender("MC-LSTM").build()
    weights, far = {name: torch.zeros_like(weight) for name, weight in network.named_parameters()}, 60.0
    weights["cells.redistribution.logits"] = far * torch.eye(10)
    weights["cells.input_gate.bias"][0, 1] = far / 2  # cell 1 takes what is not marked,
    weights["cells.input_gate.from_drivers"][0, 0] = far  # cell 0 what is,
    weights["cells.output_gate.bias"].fill_(-far / 2)
    weights["cells.output_gate.from_drivers"].fill_(-far)  # and they give it out at the mark -1;
    weights["read_out.weight"][0] = 1.0  # cell 0 alone is read
    network.load_state_dict(weights)
    for task in TESTS:
        x, a, y = sequences(replace(task, length=task.length // 4), 10, 0)
        torch.testing.assert_close(network(x, a), y)


@pytest.mark.parametrize("contender", CONTENDERS[:3], ids=lambda contender: contender.name)
def test_stopped_and_started_again_equals_a_run_without_a_stop(tmp_path: Path, contender: Contender) -> None:
    whole = learn(Plan(True, None, tmp_path / "whole"), contender, SIZE, 2)
    plan = Plan(True, None, tmp_path / "stopped")
    learn(plan, contender, replace(SIZE, epochs=2), 2)
    resumed = learn(plan, contender, SIZE, 2)
    assert resumed.epoch == whole.epoch == SIZE.epochs
    assert torch.equal(resumed.best_error, whole.best_error)
    for name, weight in whole.weights.items():
        assert torch.equal(resumed.weights[name], weight)
        assert torch.equal(resumed.best[name], whole.best[name])


def test_a_seed_learns_the_same_whatever_other_seeds_learn() -> None:
    contender = _contender("LSTM")
    alone, together = Learning(contender, SIZE, 1), Learning(contender, SIZE, 3)
    torch.testing.assert_close(together.run_epoch()[:1], alone.run_epoch())
    for name, weight in alone.weights.items():
        torch.testing.assert_close(together.weights[name][:1], weight)


def test_the_best_weights_are_those_of_the_lowest_validation_error() -> None:
    learning, seen = Learning(_contender("NAU"), SIZE, 2), []
    for _ in range(SIZE.epochs):
        learning.run_epoch()
        seen.append(learning.errors(learning.weights, *learning.validation))
    assert torch.equal(learning.best_error, torch.stack(seen).amin(0))
    torch.testing.assert_close(learning.errors(learning.best, *learning.validation), learning.best_error)


def _contender(name: str) -> Contender:
    return next(contender for contender in CONTENDERS if contender.name == name)
