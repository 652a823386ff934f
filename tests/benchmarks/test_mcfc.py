"""MC-FC: mass shared out over the outputs, less what the gates hold back."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.func import functional_call, stack_module_state

from benchmarks.papers.mcfc import MCFC, MultiplicativeMCFC

pytestmark = pytest.mark.extended

SIZES = st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(1, 4), st.integers(0, 1000))


def layer(mass: int, outputs: int, seed: int) -> MCFC:
    """Return a layer with shares and gates that differ."""
    torch.manual_seed(seed)
    net = MCFC(mass, outputs).double()
    with torch.no_grad():
        net.shares.normal_(std=2)
        net.output_gate.normal_()
    return net


def product(mass: int, outputs: int, seed: int) -> MultiplicativeMCFC:
    """Return a multiplicative layer whose weights are all away from where they start."""
    torch.manual_seed(seed)
    net = MultiplicativeMCFC(mass, outputs).double()
    with torch.no_grad():
        for weight in net.parameters():
            weight.normal_()
    return net


def masses(samples: int, mass: int, seed: int) -> Tensor:
    return 5 * torch.rand(samples, mass, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def written_out(net: MCFC, x: Tensor) -> Tensor:
    """Return y = diag(o) I x one number at a time."""
    outputs = net.shares.shape[-1]
    y = torch.zeros(len(x), outputs, dtype=x.dtype)
    for b in range(len(x)):
        for m in range(x.shape[1]):
            whole = sum(net.shares[m, k].exp() for k in range(outputs))
            for k in range(outputs):
                o = 1 / (1 + (-net.output_gate[0, k]).exp())
                y[b, k] += o * net.shares[m, k].exp() / whole * x[b, m]
    return y


@given(SIZES)
@settings(max_examples=15, deadline=None)
def test_outputs_and_what_the_gates_hold_back_are_the_inputs(sizes: tuple[int, int, int, int]) -> None:
    mass, outputs, samples, seed = sizes
    net, x = layer(mass, outputs, seed), masses(samples, mass, seed)
    y = net(x)
    held = y * torch.exp(-net.output_gate)  # (1 - o) / o of what left
    torch.testing.assert_close((y + held).sum(-1), x.sum(-1), rtol=1e-12, atol=1e-12)
    assert (y >= 0).all()
    assert (held >= 0).all()


@given(SIZES)
@settings(max_examples=15, deadline=None)
def test_equals_the_equation_written_out(sizes: tuple[int, int, int, int]) -> None:
    mass, outputs, samples, seed = sizes
    net, x = layer(mass, outputs, seed), masses(samples, mass, seed)
    torch.testing.assert_close(net(x), written_out(net, x), rtol=1e-12, atol=1e-12)


def test_the_multiplicative_form_is_a_product_of_powers() -> None:
    net, x = product(3, 2, 0), masses(5, 3, 0) + 0.1
    exponents = net.logarithmic.weight()
    for k in range(2):
        powers = x[:, 0] ** exponents[0, k] * x[:, 1] ** exponents[1, k] * x[:, 2] ** exponents[2, k]
        torch.testing.assert_close(net(x)[:, k], torch.exp(net.alpha[0, k]) * powers)


def test_the_multiplicative_form_multiplies() -> None:
    net = MultiplicativeMCFC(3, 1).double()
    with torch.no_grad():
        net.logarithmic.shares.copy_(torch.tensor([[40.0, -40.0], [40.0, -40.0], [-40.0, 40.0]]))
        net.logarithmic.output_gate.fill_(40.0)
        net.alpha.fill_(torch.tensor(3.0).log().item())
    y = net(torch.tensor([[2.0, 5.0, 7.0]], dtype=torch.float64))
    torch.testing.assert_close(y, torch.tensor([[30.0]], dtype=torch.float64), rtol=1e-6, atol=0)


def test_stacked_layers_equal_single_ones() -> None:
    x = masses(4, 3, 1) + 0.1
    for make in (layer, product):
        nets = [make(3, 2, seed) for seed in range(3)]
        stacked, _ = stack_module_state(list(nets))
        together = functional_call(nets[0], stacked, (x,))
        assert together.shape == (3, 4, 2)
        for net, y in zip(nets, together, strict=True):
            torch.testing.assert_close(y, net(x), rtol=1e-13, atol=1e-13)


def test_gradients_are_right() -> None:
    x = (masses(3, 3, 2) + 0.1).requires_grad_()
    assert torch.autograd.gradcheck(layer(3, 2, 3), (x,))
    assert torch.autograd.gradcheck(product(3, 2, 3), (x,))
