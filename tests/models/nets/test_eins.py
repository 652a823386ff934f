"""EINS is System 4.1, and has as many parameters as its paper prints."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.nets.comparison_networks import EINSRecurrence

PRINTED = [  # xi, theta, EINS, LSTM, to what the paper rounds
    (400, 1150, 2.62e6, 7.13e6, 0.01e6),
    (1150, 1150, 9.26e6, 10.58e6, 0.01e6),
    (70, 100, 44.9e3, 68.4e3, 0.1e3),
    (100, 800, 0.42e6, 2.88e6, 0.01e6),
    (20, 20, 2.82e3, 3.28e3, 0.01e3),
    (300, 256, 564.30e3, 570.37e3, 0.01e3),
]


def transcription(
    net: EINSRecurrence, x: torch.Tensor, s: torch.Tensor, q: torch.Tensor
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Run System 4.1 number by number, for one sample."""
    xi, theta = x.shape[1], len(s)
    W_D, b_D, W_Omega = net.diagnosis.weight, net.diagnosis.bias, net.feedback.weight
    W_rho = net.extrapolation.weight
    W_F, W_I, W_O, W_A = net.gates.weight.split(theta)

    def row(W: torch.Tensor, k: int, v: torch.Tensor) -> torch.Tensor:
        return sum((W[k, j] * v[j] for j in range(len(v))), torch.zeros((), dtype=v.dtype))

    steps = []
    for x_t in x:
        d = torch.stack([torch.sigmoid(row(W_D, k, x_t) + row(W_Omega, k, q) + b_D[k]) for k in range(xi)])
        v = torch.stack([(1 - d[k]) * x_t[k] + d[k] * row(W_rho, k, x_t) for k in range(xi)])
        f = torch.stack([torch.sigmoid(row(W_F, k, v) + net.forget_bias) for k in range(theta)])
        i = torch.stack([torch.sigmoid(row(W_I, k, v)) for k in range(theta)])
        o = torch.stack([torch.sigmoid(row(W_O, k, v)) for k in range(theta)])
        a = torch.stack([row(W_A, k, v) for k in range(theta)])
        s = f * s + i * a
        q = o * torch.tanh(s)
        steps.append((s, q))
    return steps


@given(xi=st.integers(1, 5), theta=st.integers(1, 5), seed=st.integers(0, 99), forget_bias=st.sampled_from([0.0, 1.0]))
@settings(max_examples=15, deadline=None)
def test_it_is_system_4_1(xi: int, theta: int, seed: int, forget_bias: float) -> None:
    torch.manual_seed(seed)
    net = EINSRecurrence(xi, theta, forget_bias).double().requires_grad_(False)
    x, s, q = torch.randn(4, xi).double(), torch.randn(theta).double(), torch.randn(theta).double()
    expected = transcription(net, x, s, q)
    for at_once in (True, False):
        with torch.set_grad_enabled(at_once):
            hidden, last_s, last_q = net(x.unsqueeze(1), s.unsqueeze(0), q.unsqueeze(0))
        torch.testing.assert_close(hidden[:, 0], torch.stack([q for _, q in expected]), rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(last_s[0], expected[-1][0], rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(last_q[0], expected[-1][1], rtol=1e-12, atol=1e-14)


def test_gradcheck() -> None:
    torch.manual_seed(0)
    net = EINSRecurrence(3, 2).double()
    leaves = [torch.randn(*shape).double().requires_grad_() for shape in ((4, 2, 3), (2, 2), (2, 2))]
    assert torch.autograd.gradcheck(net, leaves)


@pytest.mark.parametrize(("xi", "theta", "eins", "lstm", "digit"), PRINTED)
def test_the_printed_parameter_counts(xi: int, theta: int, eins: float, lstm: float, digit: float) -> None:
    ours = sum(parameter.numel() for parameter in EINSRecurrence(xi, theta).parameters())
    assert ours == 2 * xi**2 + 5 * xi * theta + xi
    assert abs(ours - eins) <= digit  # the paper cuts some and rounds others
    of_torch = sum(parameter.numel() for parameter in torch.nn.LSTM(xi, theta).parameters())
    assert abs(of_torch - 4 * theta - lstm) <= digit  # printed with one bias a gate; torch has two
