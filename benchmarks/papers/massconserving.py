"""The MC-LSTM family: equations (2)-(4) with the gates of choice.

Source: Hoedt et al., MC-LSTM; equation numbers are those of the ICLR 2021 submission. `models.nets.mclstm` is the
hydrology variant, with a recurrence of its own; these are the forms that the paper's other experiments use.

    m_tot(t) = R(t) c(t-1) + i(t) x(t)      (2)
    c(t)     = (1 - o(t)) m_tot(t)          (3)
    h(t)     = o(t) m_tot(t)                (4)

i and o see the auxiliaries a(t) and the cells' shares c(t-1) / |c(t-1)|_1, normalised per sample, and x(t) only if
asked to. R is fixed (7), gated (8) or computed by a hypernetwork.

Weights and data may have further axes in front (`torch.func.stack_module_state`), so that many networks are trained
in one program: parameters (S, ...) go with inputs (T, S, B, ...).
"""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.nets.layers import normalised_logistic
from testing.plain_recurrence import normalised_relu, softmax

EPSILON = 1e-5  # of the cells' shares
NEARLY_IDENTITY = 5.0  # the first fixed R is softmax(5 I): its diagonal is 0.95 at K = 10

Shares = Callable[[Tensor], Tensor]
INPUT_SHARES: dict[str, Shares] = {"softmax": softmax, "logistic": normalised_logistic}
CELL_SHARES: dict[str, Shares] = {"softmax": softmax, "relu": normalised_relu}


class MassConserving(nn.Module):
    """Cells that conserve mass.

    Args:
        mass: M, the number of mass inputs; 0: no mass enters, the cells start full.
        auxiliary: L, the number of auxiliary inputs.
        cells: K.
        redistribution: `fixed`: R = softmax(B), the same at every step (7). `gated`: from a(t) and the cells (8).
            `hyper`: from a fully connected network of widths `hidden` of a(t) and the cells' mass.
        input_shares: `softmax` (5) or `logistic` (17).
        cell_shares: `softmax` (7, 8) or `relu` (18).
        sees_mass: whether the gates also see x(t), as in the hydrology variant.
        learns_start: whether the initial mass of the cells is learnt; empty otherwise.
        leaks: whether there is an output gate; without one nothing leaves, and o = 0.
        output_gate_bias: the first bias of o.
        hidden: the widths of the hypernetwork.
    """

    def __init__(
        self,
        mass: int,
        auxiliary: int,
        cells: int,
        *,
        redistribution: Literal["fixed", "gated", "hyper"] = "fixed",
        input_shares: Literal["softmax", "logistic"] = "softmax",
        cell_shares: Literal["softmax", "relu"] = "softmax",
        sees_mass: bool = False,
        learns_start: bool = False,
        leaks: bool = True,
        output_gate_bias: float = -3.0,
        hidden: tuple[int, int] = (50, 100),
    ) -> None:
        super().__init__()
        self.mass, self.cells, self.sees_mass = mass, cells, sees_mass
        self._input_shares = INPUT_SHARES[input_shares]
        drivers, into = auxiliary + (mass if sees_mass else 0), CELL_SHARES[cell_shares]
        self.input_gate = _Gate(drivers, cells, mass * cells) if mass else None
        self.output_gate = _Gate(drivers, cells, cells, output_gate_bias) if leaks else None
        self.redistribution: _Fixed | _Gated | _Hyper
        if redistribution == "fixed":
            self.redistribution = _Fixed(cells, into)
        elif redistribution == "gated":
            self.redistribution = _Gated(drivers, cells, into)
        else:
            self.redistribution = _Hyper(drivers, cells, hidden, into)
        self.start = nn.Parameter(torch.zeros(1, cells)) if learns_start else None

    def first_cells(self, like: Tensor) -> Tensor:
        """Return the initial mass of the cells, (..., B, K), for auxiliaries `like` (..., B, L)."""
        empty = like.new_zeros(*like.shape[:-1], self.cells)
        return empty if self.start is None else empty + functional.softplus(self.start)

    def forward(self, x: Tensor | None, a: Tensor, cells: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Run T steps.

        Args:
            x: (T, ..., B, M), mass, not negative; None where none enters.
            a: (T, ..., B, L).
            cells: (..., B, K), the mass before the first step; None for the network's own start.

        Returns:
            storage c (T, ..., B, K) after each step, and outflow h (T, ..., B, K).
        """
        c = self.first_cells(a[0]) if cells is None else cells
        drivers = torch.cat([x, a], -1) if self.sees_mass and x is not None else a
        # Split once: a gradient of to_R[t] would be as long as all steps together.
        to_R = self.redistribution.drive(drivers).unbind()
        to_i = None if self.input_gate is None else self.input_gate.drive(drivers).unbind()
        to_o = None if self.output_gate is None else self.output_gate.drive(drivers).unbind()
        storage, outflow = [], []
        for t in range(len(a)):
            shares = c / (c.sum(-1, keepdim=True) + EPSILON)
            m_tot = self.redistribution(to_R[t], c, shares)
            if self.input_gate is not None and to_i is not None and x is not None:
                i = self._input_shares(self.input_gate(to_i[t], shares).unflatten(-1, (self.mass, self.cells)))
                m_tot = m_tot + (x[t].unsqueeze(-2) @ i).squeeze(-2)  # (2)
            if self.output_gate is not None and to_o is not None:
                h = torch.sigmoid(self.output_gate(to_o[t], shares)) * m_tot  # (4)
            else:
                h = torch.zeros_like(m_tot)
            c = m_tot - h  # (3)
            storage.append(c)
            outflow.append(h)
        return torch.stack(storage), torch.stack(outflow)


class _Gate(nn.Module):
    """Pre-activations from the known drivers (`drive`: all steps at once) and from the cells' shares.

    Weights have the shape (features, outputs), so that an axis in front of them only has to broadcast.
    """

    def __init__(self, drivers: int, cells: int, outputs: int, bias: float = 0.0) -> None:
        super().__init__()
        weight = nn.init.orthogonal_(torch.empty(outputs, drivers + cells))
        self.from_drivers = nn.Parameter(weight[:, :drivers].T.contiguous())
        self.from_cells = nn.Parameter(weight[:, drivers:].T.contiguous())
        self.bias = nn.Parameter(torch.full((1, outputs), bias))

    def drive(self, drivers: Tensor) -> Tensor:
        return drivers @ self.from_drivers + self.bias

    def forward(self, driven: Tensor, shares: Tensor) -> Tensor:
        return driven + shares @ self.from_cells


class _Fixed(nn.Module):
    """R = softmax(B), source by row (7)."""

    def __init__(self, cells: int, shares: Shares) -> None:
        super().__init__()
        self.logits = nn.Parameter(NEARLY_IDENTITY * torch.eye(cells))
        self._shares = shares

    def drive(self, drivers: Tensor) -> Tensor:
        """Return R for every step: one matrix, computed once."""
        return self._shares(self.logits).expand(len(drivers), *self.logits.shape)

    def forward(self, R: Tensor, c: Tensor, shares: Tensor) -> Tensor:  # noqa: ARG002 - as its siblings
        return c @ R


class _Gated(nn.Module):
    """R of (8), from a(t) and the cells' shares."""

    def __init__(self, drivers: int, cells: int, shares: Shares) -> None:
        super().__init__()
        self.cells, self._shares = cells, shares
        self.gate = _Gate(drivers, cells, cells * cells)

    def drive(self, drivers: Tensor) -> Tensor:
        return self.gate.drive(drivers)

    def forward(self, driven: Tensor, c: Tensor, shares: Tensor) -> Tensor:
        R = self._shares(self.gate(driven, shares).unflatten(-1, (self.cells, self.cells)))
        return (c.unsqueeze(-2) @ R).squeeze(-2)


class _Hyper(nn.Module):
    """R from a fully connected network with ReLU, of a(t) and the cells' mass."""

    def __init__(self, drivers: int, cells: int, hidden: tuple[int, int], shares: Shares) -> None:
        super().__init__()
        self.cells, self._shares = cells, shares
        self.first = _Gate(drivers, cells, hidden[0])
        self.second = _Gate(hidden[0], 0, hidden[1])
        self.last = _Gate(hidden[1], 0, cells * cells)

    def drive(self, drivers: Tensor) -> Tensor:
        return self.first.drive(drivers)

    def forward(self, driven: Tensor, c: Tensor, shares: Tensor) -> Tensor:  # noqa: ARG002 - as its siblings
        widest = self.second.drive(self.first(driven, c).relu()).relu()
        R = self._shares(self.last.drive(widest).unflatten(-1, (self.cells, self.cells)))
        return (c.unsqueeze(-2) @ R).squeeze(-2)
