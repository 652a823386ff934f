"""The memory cell and the moving state follow Algorithm 1, at every gap, mask and batch."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from models.nets.mixedmemory import MemoryState, MixedMemory

pytestmark = pytest.mark.extended

PADDED = 16  # rows of an inference block


def network(cells: int = 5, *, seed: int = 0, dtype: torch.dtype = torch.float64) -> MixedMemory:
    """Return a network of 3 inputs whose g and z are far from 0, as after training."""
    torch.manual_seed(seed)
    net = MixedMemory(3, cells).to(dtype)
    with torch.no_grad():
        for last in (net.last_g, net.last_z):
            last.weight.normal_(std=0.5)
    return net


def drive(steps: int, samples: int, seed: int = 1, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Return inputs and elapsed times."""
    random = torch.Generator().manual_seed(seed)
    x = torch.randn(steps, samples, 3, generator=random, dtype=dtype)
    return x, torch.rand(steps, samples, generator=random, dtype=dtype)


def algorithm_1(net: MixedMemory, x: Tensor, elapsed: Tensor) -> tuple[Tensor, MemoryState]:
    """Do one sample (T, F), (T) by the letter: every perceptron by itself, every sub-step in h."""
    H = net.cells
    c = h = x.new_zeros(H)
    states = []
    for now, gap in zip(x, elapsed, strict=True):
        hidden_g = torch.tanh(
            net.from_inputs.weight[:H] @ now + net.from_state.weight[:H] @ h + net.from_inputs.bias[:H]
        )
        hidden_z = torch.tanh(
            net.from_inputs.weight[H:] @ now + net.from_state.weight[H:] @ h + net.from_inputs.bias[H:]
        )
        forget = torch.sigmoid(net.last_g.weight @ hidden_g + net.last_g.bias)
        c = c * forget + net.last_z.weight @ hidden_z + net.last_z.bias
        h = c
        for _ in range(4):
            inner = torch.tanh(net.W1.weight @ h + net.W1.bias)
            slope = net.W2.weight @ inner + net.W2.bias
            h = h + gap / 4 * slope
        states.append(h)
    return torch.stack(states), (c, h)


def test_it_equals_algorithm_1_forwards_and_backwards() -> None:
    net = network()
    x, elapsed = drive(12, 4)
    gradients = []
    for fast in (True, False):
        if fast:
            h, (c, last) = net(x, elapsed)
        else:
            each = [algorithm_1(net, x[:, i], elapsed[:, i]) for i in range(4)]
            h = torch.stack([states for states, _ in each], 1)
            c, last = (torch.stack([state[part] for _, state in each]) for part in (0, 1))
        loss = h.sin().sum() + c.square().sum() + last.pow(3).sum()
        gradients.append([h, c, last, *torch.autograd.grad(loss, list(net.parameters()))])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("forget_bias", [3.0, 5.1])
def test_at_first_the_memory_is_carried_on_by_the_forget_gate_alone(forget_bias: float) -> None:
    torch.manual_seed(0)
    net = MixedMemory(3, 64, forget_bias=forget_bias).double()
    x, elapsed = drive(2, 1)
    dt = elapsed / 4

    def next_memory(c: Tensor) -> Tensor:
        """Return c(t+1) of c(t), over both ways: c itself, and h, which starts at c."""
        h = c
        for _ in range(4):
            h = h + dt[0] * net.W2(torch.tanh(net.W1(h)))
        _, (after, _) = net(x[1:], elapsed[1:], state=(c.unsqueeze(0), h.unsqueeze(0)))
        return torch.as_tensor(after[0])

    jacobian = torch.autograd.functional.jacobian(next_memory, torch.randn(64, dtype=torch.float64))
    expected = torch.eye(64, dtype=torch.float64) * torch.sigmoid(torch.tensor(forget_bias, dtype=torch.float64))
    torch.testing.assert_close(jacobian, expected, rtol=0, atol=1e-3)


def reach(net: MixedMemory) -> Tensor:
    """Return the largest |c| (H) that g and z allow."""
    z = net.last_z.weight.abs().sum(1) + net.last_z.bias.abs()
    g = net.last_g.weight.abs().sum(1) + net.last_g.bias
    return z / (1 - torch.sigmoid(g))


def slope(net: MixedMemory) -> Tensor:
    """Return the largest |dh/dt| (H) of the state."""
    return net.W2.weight.abs().sum(1) + net.W2.bias.abs()


def test_a_long_run_with_gaps_of_30_days_is_stable_where_a_year_is_one_unit() -> None:
    net = network(8)
    x, elapsed = drive(2000, 2)
    elapsed = torch.where(elapsed < 0.1, 30.0, 1.0).to(x) / 365
    with torch.no_grad():
        h, (c, _) = net(x, elapsed)
        bound = reach(net) + 30 / 365 * slope(net)
    assert (c.abs() <= reach(net)).all()
    assert (h.abs() <= bound).all()


@pytest.mark.parametrize("gap", [0.0, 1.0, 4.0, 50.0])
def test_the_memory_is_bounded_at_every_gap(gap: float) -> None:
    net = network()
    x, elapsed = drive(400, 3)
    state = None
    with torch.no_grad():
        for now in x.split(1):
            h, state = net(now, torch.full_like(elapsed[:1], gap), state=state)
            assert (state[0].abs() <= reach(net)).all()
            assert h.isfinite().all()


def test_the_state_leaves_the_memory_in_proportion_to_the_gap() -> None:
    net = network()
    x, elapsed = drive(50, 3)
    with torch.no_grad():
        for gap in (0.1, 1.0, 30.0):
            _, (c, h) = net(x, torch.full_like(elapsed, gap))
            assert ((h - c).abs() <= gap * slope(net)).all()


@given(
    cells=st.integers(1, 70),
    samples=st.integers(1, PADDED),
    cut=st.integers(1, 11),
    seed=st.integers(0, 1000),
)
@settings(max_examples=25, deadline=None)
def test_the_whole_run_has_the_bits_of_its_parts_and_of_each_sample_alone(
    cells: int, samples: int, cut: int, seed: int
) -> None:
    net = network(cells, seed=seed, dtype=torch.float32)
    x, elapsed = drive(12, PADDED, seed, torch.float32)
    x[:, samples:] = elapsed[:, samples:] = 0
    only_x, only_elapsed = torch.zeros_like(x), torch.zeros_like(elapsed)
    only_x[:, 0], only_elapsed[:, 0] = x[:, 0], elapsed[:, 0]
    with torch.no_grad():
        whole, last = net(x, elapsed)
        first, state = net(x[:cut], elapsed[:cut])
        rest, rest_last = net(x[cut:], elapsed[cut:], state=state)
        alone, _ = net(only_x, only_elapsed)
    assert torch.equal(torch.cat([first, rest]), whole)
    assert all(torch.equal(one, other) for one, other in zip(rest_last, last, strict=True))
    assert torch.equal(alone[:, 0], whole[:, 0])


def test_a_sample_alone_is_as_in_a_batch_of_any_size() -> None:
    net = network()
    x, elapsed = drive(20, 7)
    together, _ = net(x, elapsed)
    alone, _ = net(x[:, 3:4], elapsed[:, 3:4])
    torch.testing.assert_close(alone[:, 0], together[:, 3], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("training", [False, True])
def test_no_mask_has_the_bits_of_a_mask_that_skips_nothing(training: bool) -> None:
    net = network(dtype=torch.float32)
    x, elapsed = drive(9, 4, dtype=torch.float32)
    with torch.set_grad_enabled(training):
        free, free_last = net(x, elapsed)
        masked, masked_last = net(x, elapsed, torch.ones(9, 4, dtype=torch.bool))
    assert torch.equal(free, masked)
    assert all(torch.equal(one, other) for one, other in zip(free_last, masked_last, strict=True))


def test_a_masked_step_changes_nothing_whatever_it_holds() -> None:
    net = network()
    x, elapsed = drive(10, 4)
    stored = [0, 1, 4, 5, 6, 9]
    mask = torch.zeros(10, 4, dtype=torch.bool)
    mask[stored] = True
    gappy = torch.where(mask.unsqueeze(-1), x, torch.nan)

    h, last = net(gappy, elapsed, mask)
    short, short_last = net(x[stored], elapsed[stored])

    torch.testing.assert_close(h[stored], short, rtol=1e-13, atol=1e-13)
    assert torch.equal(h[2], h[1])
    assert torch.equal(h[8], h[6])
    for one, other in zip(last, short_last, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-13, atol=1e-13)
    for one, other in zip(
        torch.autograd.grad(h[-1].sum(), list(net.parameters())),
        torch.autograd.grad(short[-1].sum(), list(net.parameters())),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_a_step_masked_before_the_first_leaves_the_given_state() -> None:
    net = network()
    x, elapsed = drive(1, 2)
    c, h = torch.randn(2, 2, 5, dtype=torch.float64)
    states, last = net(x, elapsed, torch.tensor([[True, False]]), (c, h))
    assert torch.equal(states[0, 1], h[1])
    assert torch.equal(last[0][1], c[1])
    assert not torch.equal(last[0][0], c[0])


def test_gradcheck() -> None:
    net = network(3)
    x, elapsed = drive(4, 2)
    mask = torch.tensor([[True, True], [True, False], [False, True], [True, True]])
    names = [name for name, _ in net.named_parameters()]

    def run(x: Tensor, elapsed: Tensor, c: Tensor, h: Tensor, *weights: Tensor) -> list[Tensor]:
        given_weights = dict(zip(names, weights, strict=True))
        states, last = torch.func.functional_call(net, given_weights, (x, elapsed, mask, (c, h)))
        return [states, *last]

    c, h = torch.randn(2, 2, 3, dtype=torch.float64)
    leaves = [x, elapsed, c, h, *[parameter.detach() for parameter in net.parameters()]]
    assert torch.autograd.gradcheck(run, [leaf.clone().requires_grad_() for leaf in leaves])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_gives_the_same() -> None:
    net = network()
    x, elapsed = drive(10, 4)
    expected, _ = net(x, elapsed)
    h, _ = net.cuda()(x.cuda(), elapsed.cuda())
    torch.testing.assert_close(h.cpu(), expected, rtol=1e-10, atol=1e-12)
