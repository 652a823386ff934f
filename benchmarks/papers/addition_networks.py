"""The networks of the addition experiment: marked sequences in, their sum out; weights may have an axis in front."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from benchmarks.papers.massconserving import EPSILON, NEARLY_IDENTITY, MassConserving
from benchmarks.papers.units import Nau

CELLS = 10


class ReadOut(nn.Module):
    """A linear unit."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.kaiming_uniform_(torch.empty(1, features), nonlinearity="linear").T)
        self.bias = nn.Parameter(torch.zeros(1, 1))

    def forward(self, values: Tensor) -> Tensor:
        """Return (..., 1) for values (..., features)."""
        return values @ self.weight + self.bias


class ConservingSum(nn.Module):
    """MC-LSTM of (5)-(8), and a read-out of the last step's outflow.

    R is the same at every step (7), or `gated` (8).
    """

    def __init__(self, redistribution: Literal["fixed", "gated"] = "fixed") -> None:
        super().__init__()
        self.cells = MassConserving(1, 1, CELLS, redistribution=redistribution)
        self.gated = redistribution == "gated"
        if self.gated:
            of_R: Any = self.cells.redistribution
            with torch.no_grad():  # as the fixed one: from an R that mixes all cells nothing is learnt
                of_R.gate.bias += NEARLY_IDENTITY * torch.eye(CELLS).reshape(1, -1)
        self.read_out = ReadOut(CELLS)

    def forward(self, x: Tensor, a: Tensor) -> Tensor:
        """Return the sums (..., B) for x, a (T, ..., B, 1)."""
        outflow = self.outflow_to_learn_from(x, a) if torch.is_grad_enabled() else self._outflow(x, a)
        return self.read_out(outflow).squeeze(-1)  # type: ignore[no-any-return]

    def _outflow(self, x: Tensor, a: Tensor) -> Tensor:
        c, outflow = None, x
        for x_t, a_t in zip(x.split(1), a.split(1), strict=True):  # only the last outflow is wanted: hold no other
            storage, outflow = self.cells(x_t, a_t, c)
            c = storage[0]
        return outflow[0]

    def outflow_to_learn_from(self, x: Tensor, a: Tensor) -> Tensor:
        """Return the same outflow, with a gradient by hand: less than half of autograd's time."""
        redistribution: Any = self.cells.redistribution
        gates = [self.cells.input_gate, self.cells.output_gate, *([redistribution.gate] if self.gated else [])]
        from_drivers, from_cells, bias = (
            torch.cat([getattr(gate, part) for gate in gates], -1).mT for part in ("from_drivers", "from_cells", "bias")
        )
        R = None if self.gated else redistribution.drive(a[:1])[0].mT
        h: Tensor = _LastOutflow.apply(x.mT, from_drivers @ a.mT + bias, from_cells, R)  # type: ignore[no-untyped-call]
        return h.mT


class _LastOutflow(torch.autograd.Function):
    """(2)-(4) with the gates of (5), (6) and R of (7) or (8), forwards and backwards; the cells start empty.

    Vectors stand upright, (..., K, B): sums over a few cells are fast along the batch, and slow across it.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, driven: Tensor, from_cells: Tensor, R: Tensor | None) -> Tensor:
        """Return h(T) (..., K, B).

        Args:
            x: (T, ..., 1, B), mass.
            driven: (T, ..., 2 K, B), what i and then o are given besides the cells' shares; with R of (8)
                (T, ..., 2 K + K K, B), R's source by source after them.
            from_cells: (..., 2 K, K) or (..., 2 K + K K, K), the gates' weights on the shares.
            R: (..., K, K) of (7), target by row; None for that of (8).
        """
        K = from_cells.shape[-1]
        h = c = torch.zeros_like(driven[0, ..., :K, :])
        steps = []
        for x_t, driven_t in zip(x, driven, strict=True):
            total = c.sum(-2, keepdim=True) + EPSILON
            shares = c / total
            to_i, to_o, to_R = (driven_t + from_cells @ shares).split([K, K, driven.shape[-2] - 2 * K], -2)
            i, o = to_i.softmax(-2), to_o.sigmoid()
            routing = _Fixed(R) if R is not None else _OfStep(to_R.unflatten(-2, (K, K)).softmax(-2))
            m_tot = torch.addcmul(routing.route(c), i, x_t)  # (2)
            steps.append((c, total, shares, i, o, m_tot, routing))
            h = o * m_tot  # (4)
            c = m_tot - h  # (3)
        ctx.save_for_backward(x, from_cells, R)
        ctx.steps = steps
        return h

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor, Tensor | None]:
        """Return the gradients of what `forward` was given, x excepted."""
        x, from_cells, R = ctx.saved_tensors
        (dh,), dc = gradients, torch.zeros_like(gradients[0])
        d_driven, dm_tot = [], []
        for x_t, (c, total, shares, i, o, m_tot, routing) in zip(x.flip(0), reversed(ctx.steps), strict=True):
            dh = dh - dc
            dm = torch.addcmul(dc, o, dh)
            di = i * dm * x_t
            d_routed, d_R = routing.back(c, dm)
            d_gates = torch.cat([di - i * di.sum(-2, keepdim=True), dh * m_tot * o * (1 - o), *d_R], -2)
            d_shares = from_cells.mT @ d_gates
            dc = d_routed + (d_shares - (d_shares * shares).sum(-2, keepdim=True)) / total
            dh = torch.zeros_like(dh)  # only the last outflow is read
            d_driven.append(d_gates)
            dm_tot.append(dm)
        shares = torch.stack([step[2] for step in ctx.steps])
        d_all = torch.stack(d_driven[::-1])
        d_fixed = None
        if R is not None:
            d_fixed = (torch.stack(dm_tot[::-1]) @ torch.stack([step[0] for step in ctx.steps]).mT).sum(0)
        return None, d_all, (d_all @ shares.mT).sum(0), d_fixed


@dataclass(frozen=True, slots=True)
class _Fixed:
    """R of (7), (..., K, K), target by row."""

    R: Tensor

    def route(self, c: Tensor) -> Tensor:
        """Return R c."""
        return self.R @ c

    def back(self, c: Tensor, dm: Tensor) -> tuple[Tensor, list[Tensor]]:  # noqa: ARG002 - as its sibling
        """Return the gradient of c through R c, and nothing for the gates."""
        return self.R.mT @ dm, []


@dataclass(frozen=True, slots=True)
class _OfStep:
    """R of (8) in one step, (..., K sources, K targets, B)."""

    R: Tensor

    def route(self, c: Tensor) -> Tensor:
        """Return R c."""
        return (self.R * c.unsqueeze(-2)).sum(-3)

    def back(self, c: Tensor, dm: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the gradients of c through R c, and of what R's softmax is given, source by source."""
        dm = dm.unsqueeze(-3)
        d_routed = (self.R * dm).sum(-2)
        d_R = self.R * (dm - d_routed.unsqueeze(-2)) * c.unsqueeze(-2)
        return d_routed, [d_R.flatten(-3, -2)]


class RecurrentUnit(nn.Module):
    """h(t) = unit([x(t), a(t), h(t-1)]), h(0) = 0, and a NAU that reads the last h."""

    def __init__(self, unit: Callable[[int, int], nn.Module]) -> None:
        super().__init__()
        self.unit = unit(2 + CELLS, CELLS)
        self.read_out = Nau(CELLS, 1)

    def forward(self, x: Tensor, a: Tensor) -> Tensor:
        """Return the sums (..., B) for x, a (T, ..., B, 1)."""
        h = x.new_zeros(*x.shape[1:-1], CELLS)
        for inputs in torch.cat([x, a], -1):
            h = self.unit(torch.cat([inputs, h], -1))
        return self.read_out(h).squeeze(-1)  # type: ignore[no-any-return]


class LongShortTermSum(nn.Module):
    """`torch.lstm`, and a read-out of the last step. Networks with an axis in front run one after the other.

    First weights: orthogonal from the inputs, the identity from the cells; biases 0 but the forget gate's.
    """

    def __init__(self, forget_bias: float = 0.0) -> None:
        super().__init__()
        from_inputs = [nn.init.orthogonal_(torch.empty(CELLS, 2)) for _ in range(4)]
        bias = torch.zeros(4, CELLS)
        bias[1] = forget_bias  # torch's order of gates: i, f, g, o
        self.from_inputs = nn.Parameter(torch.cat(from_inputs))
        self.from_cells = nn.Parameter(torch.eye(CELLS).repeat(4, 1))
        self.bias = nn.Parameter(bias.flatten())
        self.read_out = ReadOut(CELLS)

    def forward(self, x: Tensor, a: Tensor) -> Tensor:
        """Return the sums (..., B) for x, a (T, ..., B, 1)."""
        weights, inputs = [self.from_inputs, self.from_cells, self.bias], torch.cat([x, a], -1)
        if inputs.dim() == 3:
            h = _last_of_lstm(inputs, *weights)
        else:
            networks = zip(inputs.unbind(1), *(weight.unbind() for weight in weights), strict=True)
            h = torch.stack([_last_of_lstm(*network) for network in networks])
        return self.read_out(h).squeeze(-1)  # type: ignore[no-any-return]


def _last_of_lstm(inputs: Tensor, from_inputs: Tensor, from_cells: Tensor, bias: Tensor) -> Tensor:
    start = inputs.new_zeros(1, inputs.shape[1], from_cells.shape[1])
    weights = [from_inputs, from_cells, bias, torch.zeros_like(bias)]
    _, h, _ = torch.lstm(
        inputs,
        (start, start),
        weights,
        has_biases=True,
        num_layers=1,
        dropout=0.0,
        train=False,
        bidirectional=False,
        batch_first=False,
    )
    return h[0]
