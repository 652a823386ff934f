"""The networks of the pendulum experiment: they carry the two energies on by themselves."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn

from benchmarks.papers import pendulum_data as data
from benchmarks.papers.massconserving import MassConserving

CELLS = 256  # of the LSTM
OUTPUT_GATE_BIAS = -5.0
STRETCH, SHIFT = 1.02, -0.01  # of the MC-LSTM's read-out: a share need not reach 0 or 1

Network = TypeVar("Network", bound=nn.Module)


class Forecaster(Protocol):
    """S networks that carry on from the first energies."""

    def weights(self) -> dict[str, Tensor]:
        """Return what is trained."""

    def __call__(self, first: Tensor, a: Tensor) -> Tensor:
        """Return scaled energies (T + 1, S, 2), the first ones (S, 2) included, for auxiliaries (T, 9)."""


class MassForecaster:
    """MC-LSTMs as one program: two cells that hold the scaled energies, and R of a hypernetwork.

    Args:
        seeds: one a network.
        damped: whether energy can leave.
    """

    def __init__(self, seeds: Sequence[int], damped: bool) -> None:
        networks = [seeded(seed, lambda: _conserving(damped)) for seed in seeds]
        self.base = networks[0]
        self._weights: dict[str, Tensor] = torch.func.stack_module_state(list(networks))[0]

    def weights(self) -> dict[str, Tensor]:
        return self._weights

    def __call__(self, first: Tensor, a: Tensor) -> Tensor:
        storage, _ = torch.func.functional_call(
            self.base, self._weights, (None, a[:, None, None, :], first.unsqueeze(-2))
        )
        return torch.cat([first[None], STRETCH * storage.squeeze(-2) + SHIFT])


def _conserving(damped: bool) -> MassConserving:
    return MassConserving(
        0, len(data.WAVES), 2, redistribution="hyper", leaks=damped, output_gate_bias=OUTPUT_GATE_BIAS
    )


def seeded(seed: int, make: Callable[[], Network]) -> Network:
    """Return a network whose first weights depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


class FeedbackLSTM(nn.Module):
    """One LSTM that is fed its own last output; the output is read from its cells."""

    def __init__(self, cells: int = CELLS) -> None:
        super().__init__()
        self.lstm = nn.LSTMCell(2 + len(data.WAVES), cells)
        self.read = nn.Linear(cells, 2)

    def weights(self) -> dict[str, Tensor]:
        return dict(self.named_parameters())

    def forward(self, first: Tensor, a: Tensor) -> Tensor:
        """Return (T + 1, 1, 2) for the first energies (1, 2) and auxiliaries (T, 9)."""
        from_outputs, from_waves = self.lstm.weight_ih.split([2, len(data.WAVES)], 1)
        recurrent = torch.cat([self.lstm.weight_hh.T, from_outputs.T])
        driven = a @ from_waves.T + self.lstm.bias_ih + self.lstm.bias_hh
        read = self.read
        outputs = _Feedback.apply(driven, first[0], recurrent, read.weight, read.bias)  # type: ignore[no-untyped-call]
        return torch.cat([first[None], outputs[:, None]])


class _Feedback(torch.autograd.Function):
    """The recurrence y(t) = W c(t) + b with y(t-1) among the inputs; gates in the order i, f, g, o.

    `fed` holds (h, y) before each step, so that one product with `recurrent` (K + 2, 4 K) gives the gates. Backward
    gathers the gradients of all gates first: then each weight's gradient is one product.
    """

    @staticmethod
    def forward(ctx: Any, driven: Tensor, first: Tensor, recurrent: Tensor, read: Tensor, bias: Tensor) -> Tensor:
        T, K = len(driven), read.shape[1]
        gates = torch.empty_like(driven)
        cells = driven.new_zeros(T + 1, K)
        squashed = driven.new_empty(T, K)
        fed = driven.new_zeros(T + 1, K + 2)
        fed[0, K:] = first
        i_f, g, o = (part.unbind() for part in gates.split([2 * K, K, K], 1))
        i, f = (part.unbind() for part in gates[:, : 2 * K].split(K, 1))
        h, y = (part.unbind() for part in fed.split([K, 2], 1))
        z, into, c, tanh_c, before = gates.unbind(), driven.unbind(), cells.unbind(), squashed.unbind(), fed.unbind()
        into_gates = recurrent.T
        for t in range(T):
            torch.addmv(into[t], into_gates, before[t], out=z[t])
            i_f[t].sigmoid_()
            g[t].tanh_()
            o[t].sigmoid_()
            torch.mul(f[t], c[t], out=c[t + 1]).addcmul_(i[t], g[t])
            torch.tanh(c[t + 1], out=tanh_c[t])
            torch.mul(o[t], tanh_c[t], out=h[t + 1])
            torch.addmv(bias, read, c[t + 1], out=y[t + 1])
        ctx.save_for_backward(gates, cells, squashed, fed, recurrent, read)
        return fed[1:, K:].clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, Tensor, Tensor, Tensor]:
        gates, cells, squashed, fed, recurrent, read = ctx.saved_tensors
        T, K = squashed.shape
        i, f, g, o = gates.split(K, 1)
        per_cell = torch.stack([g * i * (1 - i), cells[:-1] * f * (1 - f), i * (1 - g * g)], 1)
        per_output = squashed * o * (1 - o)
        through = o * (1 - squashed * squashed)
        d_gates = torch.empty_like(gates)
        d_outputs = grads[0].clone()
        d_i_f_g, d_o = d_gates[:, : 3 * K].view(T, 3, K).unbind(), d_gates[:, 3 * K :].unbind()
        dz, dy, forget = d_gates.unbind(), d_outputs.unbind(), f.unbind()
        d_fed, dc = fed.new_zeros(K + 2), fed.new_zeros(K)
        dh, dy_next = d_fed.split([K, 2])
        into_cells = read.T
        for t in reversed(range(T)):
            dy[t].add_(dy_next)
            dc.addmv_(into_cells, dy[t]).addcmul_(dh, through[t])
            torch.mul(per_cell[t], dc, out=d_i_f_g[t])
            torch.mul(per_output[t], dh, out=d_o[t])
            dc.mul_(forget[t])
            torch.mv(recurrent, dz[t], out=d_fed)
        return d_gates, None, fed[:-1].T @ d_gates, d_outputs.T @ cells[1:], d_outputs.sum(0)
