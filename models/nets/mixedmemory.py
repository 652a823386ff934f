"""The recurrence of mmRNN. A discrete memory cell, and a state that an ODE advances from it over the elapsed time.

Source: Lechner and Hasani, mmRNN (ODE-LSTM), Algorithm 1.

    c_i = c_{i-1} * sigmoid(g(h_{i-1}, x_i) + b_f) + z(h_{i-1}, x_i)
    h_i = ODESolve(f, c_i, t_i - t_{i-1}), started at c_i

g and z are perceptrons with one hidden tanh layer, whose last layers start near 0: at first dc_i/dc_{i-1} is
sigmoid(b_f), and a gradient neither grows nor vanishes on its way through c.
"""

import torch
from torch import Tensor, nn

from models.nets.mixedmemory_scan import SUBSTEPS, Weights, scan
from models.nets.products import Linear, linear

NEARLY_ZERO = 1e-4  # standard deviation of the first weights of the last layers of g and z

MemoryState = tuple[Tensor, Tensor]


class MixedMemory(nn.Module):
    """Memory cells c and a time-continuous state h of one size, read and written at irregular times.

    The cells are bounded whatever the elapsed times, since g and z are: |c| <= max|z| / (1 - max sigmoid). h is finite
    for every finite elapsed time, but the solver is meant for at most one unit. With the plain f, h moves away from c
    in proportion to the elapsed time. With the decaying f, h stays between c and the reach of tanh up to 4 units; past
    8 a sub-step enlarges h instead of damping it. Bound longer gaps beforehand.

    Args:
        cells: H, the size of c and of h, and the width of all hidden layers.
        forget_bias: b_f, where the last bias of g starts. sigmoid(3) = 0.953, sigmoid(5.1) = 0.994.
        decaying: whether f is dh/dt = tanh(W1 h + b1) - h, instead of dh/dt = W2 tanh(W1 h + b1) + b2.
    """

    def __init__(self, features: int, cells: int, *, forget_bias: float = 3.0, decaying: bool = False) -> None:
        super().__init__()
        self.cells = cells
        self.from_inputs = Linear(features, 2 * cells)  # the first layers of g and z, one above the other
        self.from_state = Linear(cells, 2 * cells, bias=False)
        self.last_g, self.last_z = Linear(cells, cells), Linear(cells, cells)
        self.W1 = Linear(cells, cells)
        self.W2 = None if decaying else Linear(cells, cells)
        for last, bias in ((self.last_g, forget_bias), (self.last_z, 0.0)):
            nn.init.normal_(last.weight, std=NEARLY_ZERO)
            nn.init.constant_(last.bias, bias)

    def forward(
        self, x: Tensor, elapsed: Tensor, mask: Tensor | None = None, state: MemoryState | None = None
    ) -> tuple[Tensor, MemoryState]:
        """Run T steps of x (T, B, F); return h (T, B, H) after each, and the last (c, h), (B, H) each.

        Without gradients every product is of one step's rows, so that a run in parts gives the bits of the whole run.

        Args:
            elapsed: (T, B), time since the step before, in units of about a whole sequence.
            mask: (T, B), False where a step is skipped: c and h do not change, whatever x is.
        """
        empty = x.new_zeros(x.shape[1], self.cells)
        c, h = (empty, empty) if state is None else state
        if mask is not None:
            x = torch.where(mask.unsqueeze(-1), x, torch.zeros_like(x))
        dts, valid = (elapsed / SUBSTEPS).unsqueeze(-1), None if mask is None else mask.unsqueeze(-1)
        inner = self.inner()
        if torch.is_grad_enabled() and inner is not None:
            cells, states = scan(self.from_inputs(x), dts, valid, (c, h), self._weights(*inner))
            return states, (cells[-1], states[-1])
        driven = self.from_inputs(x).unbind() if torch.is_grad_enabled() else map(self.from_inputs, x.unbind())
        taken = [None] * len(x) if valid is None else valid.unbind()
        moved = []
        for now, dt, one in zip(driven, dts.unbind(), taken, strict=True):
            new_c, new_h = self.step((c, h), now, dt, inner)
            c, h = (new_c, new_h) if one is None else (torch.where(one, new_c, c), torch.where(one, new_h, h))
            moved.append(h)
        return torch.stack(moved), (c, h)

    def inner(self) -> tuple[Tensor, Tensor] | None:
        """Return W1 W2 and W1 b2; None of the decaying form, which has no W2."""
        return None if self.W2 is None else (self.W1.weight @ self.W2.weight, self.W1.weight @ self.W2.bias)

    def step(self, state: MemoryState, driven: Tensor, dt: Tensor, inner: tuple[Tensor, Tensor] | None) -> MemoryState:
        """Return c and h after one step of dt (B, 1), h by way of c; `driven` (B, 2H) is of the inputs."""
        c = self._remember(*state, driven)
        return c, self._decay(c, dt) if inner is None else self._move(c, dt, *inner)

    def _weights(self, W1W2: Tensor, W1b2: Tensor) -> Weights:
        assert self.W2 is not None
        gate, memory, inner, outer = self.last_g, self.last_z, self.W1, self.W2
        return Weights(
            *(self.from_state.weight, gate.weight, gate.bias, memory.weight, memory.bias),
            *(inner.weight, inner.bias, W1W2, W1b2, outer.weight, outer.bias),
        )

    def _remember(self, c: Tensor, h: Tensor, driven: Tensor) -> Tensor:
        """Return the next c (B, H). `driven` (B, 2H) is the inputs' part in the first layers."""
        to_g, to_z = torch.tanh(driven + self.from_state(h)).chunk(2, -1)
        return torch.addcmul(self.last_z(to_z), c, torch.sigmoid(self.last_g(to_g)))

    def _move(self, c: Tensor, dt: Tensor, W1W2: Tensor, W1b2: Tensor) -> Tensor:
        """Solve dh/dt = W2 tanh(W1 h + b1) + b2 from c, in p = W1 h + b1: dp/dt = W1 W2 tanh(p) + W1 b2.

        One product per sub-step instead of two; h is its start and the sum of its slopes.
        """
        assert self.W2 is not None
        p = self.W1(c)
        slopes = torch.tanh(p)
        total = slopes
        for _ in range(SUBSTEPS - 1):
            p = torch.addcmul(p, dt, linear(slopes, W1W2, W1b2))
            slopes = torch.tanh(p)
            total = total + slopes
        return torch.addcmul(c, dt, linear(total, self.W2.weight, SUBSTEPS * self.W2.bias))

    def _decay(self, c: Tensor, dt: Tensor) -> Tensor:
        """Solve dh/dt = tanh(W1 h + b1) - h from c."""
        h = c
        for _ in range(SUBSTEPS):
            h = torch.lerp(h, torch.tanh(self.W1(h)), dt)
        return h
