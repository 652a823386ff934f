"""The growth of a gradient on its way back: against a chain that is known, and against differences."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.papers.gradient_norms import CELLS, FORGET_BIAS, NETWORKS, SAMPLES, euler, gradient_norm, runge_kutta
from models.nets.mixedmemory import MemoryState

pytestmark = pytest.mark.extended

TINY = 1e-4  # a difference's step


class _Chain(nn.Module):
    """s_t = scale s_{t-1} Q + x_t, Q orthogonal: a gradient grows by `scale` a step."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(scale * nn.init.orthogonal_(torch.empty(CELLS, CELLS, dtype=torch.float64)))

    def forward(self, state: MemoryState, x: Tensor, elapsed: Tensor) -> MemoryState:  # noqa: ARG002 - as networks
        s = state[0] @ self.weight + x
        return s, s


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.3])
@pytest.mark.parametrize("length", [2, 7])
def test_a_linear_chain_passes_the_power_of_its_scale(scale: float, length: int) -> None:
    assert gradient_norm(lambda: _Chain(scale), length, 0) == pytest.approx(scale ** (length - 1), rel=1e-9)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_norm_is_that_of_differences(name: str) -> None:
    length, seed = 3, 5
    torch.manual_seed(seed)
    step, head = NETWORKS[name]().double(), nn.Linear(CELLS, 2).double()
    x = torch.randn(length, SAMPLES, 1, dtype=torch.float64)
    elapsed = torch.rand(length, SAMPLES, dtype=torch.float64) * 2 / length
    above = (x.sum((0, 2)) > 0).long()

    def loss(first: int, state: MemoryState) -> Tensor:
        for t in range(first, length):
            state = step(state, x[t], elapsed[t])
        return functional.cross_entropy(head(state[1]), above, reduction="none")

    def of_c(t: int, c: Tensor) -> Tensor:
        return loss(t, (c, states[t][1]))

    def of_h(t: int, h: Tensor) -> Tensor:
        return loss(t, (h, h))

    with torch.no_grad():
        states = [(torch.zeros(SAMPLES, CELLS, dtype=torch.float64),) * 2]
        for t in range(length):
            states.append(step(states[-1], x[t], elapsed[t]))
        if name.startswith("mmRNN"):
            # h follows from c within a step: c is moved through c of the step before, by one factor a cell.
            back = [_slope(partial(of_c, t), states[t][0]) for t in (0, length - 1)]
            through = [_factor(step, states[t], x[t], elapsed[t]) for t in (0, length - 1)]
            first, last = (slope / factor for slope, factor in zip(back, through, strict=True))
        else:
            first, last = (_slope(partial(of_h, t), states[t][0]) for t in (1, length))
    expected = float((first.norm(dim=-1) / last.norm(dim=-1)).mean())
    assert gradient_norm(NETWORKS[name], length, seed) == pytest.approx(expected, rel=1e-5)


def _slope(loss: Callable[[Tensor], Tensor], state: Tensor) -> Tensor:
    """Return the gradient (B, H) of every sample's loss by central differences."""
    moves = TINY * torch.eye(CELLS, dtype=torch.float64)
    return torch.stack([(loss(state + move) - loss(state - move)) / (2 * TINY) for move in moves], -1)


def _factor(step: nn.Module, state: MemoryState, x: Tensor, elapsed: Tensor) -> Tensor:
    c, h = state
    higher, lower = (step((c + by, h), x, elapsed)[0] for by in (1.0, 0.0))
    return torch.as_tensor(higher - lower)


def test_mmrnn_hands_a_gradient_on_and_forgets_with_a_smaller_bias() -> None:
    assert pytest.approx(5.1) == FORGET_BIAS
    for seed in range(3):
        ratio = gradient_norm(NETWORKS["mmRNN"], 5, seed)
        assert 0.9 < ratio < 1.05
        assert gradient_norm(NETWORKS["mmRNN, b_f = 3"], 5, seed) < ratio


def test_an_ode_rnn_lets_a_gradient_grow_with_the_length_and_a_saturating_one_loses_it() -> None:
    short, long = (gradient_norm(NETWORKS["ODE-RNN"], length, 0) for length in (5, 15))
    assert 1 < short < long
    assert gradient_norm(NETWORKS["ODE-RNN, saturating"], 5, 0) < 0.5


def test_the_solvers_follow_a_decay_to_their_order_of_accuracy() -> None:
    start, elapsed = torch.ones(1, dtype=torch.float64), torch.full((1,), 0.4, dtype=torch.float64)
    assert float(euler(torch.neg, start, elapsed)) == pytest.approx((1 - 0.4 / 4) ** 4, rel=1e-12)
    fourth_order = 1 - 0.4 + 0.4**2 / 2 - 0.4**3 / 6 + 0.4**4 / 24  # of exp(-0.4)
    assert float(runge_kutta(torch.neg, start, elapsed)) == pytest.approx(fourth_order, rel=1e-12)
