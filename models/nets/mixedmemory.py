"""The recurrence of mmRNN. A discrete memory cell, and a state that an ODE advances from it over the elapsed time.

Source: Lechner and Hasani, mmRNN (ODE-LSTM), Algorithm 1.

    c_i = c_{i-1} * sigmoid(g(h_{i-1}, x_i) + b_f) + z(h_{i-1}, x_i)
    h_i = ODESolve(f, c_i, t_i - t_{i-1}), started at c_i

g and z are perceptrons with one hidden tanh layer, whose last layers start near 0: at first dc_i/dc_{i-1} is
sigmoid(b_f), and a gradient neither grows nor vanishes on its way through c.

The backward pass for dh/dt = W2 tanh(W1 h + b1) + b2 is our own. With M = W1 W2 and m = W1 b2, a step from c(t-1),
h(t-1) is

    (u, w) = tanh(y + A h(t-1))             y: the inputs' part of the first layers
    c = Z w + b_z + g c(t-1),               g = sigma(G u + b_g)
    p_0 = W1 c + b1,  p_k = p_{k-1} + dt (M s_{k-1} + m),  s_k = tanh(p_k)
    h = c + dt (W2 (s_0 + ... + s_3) + 4 b2)

Under autograd most operations of a step add up the gradients of weights. Here the pass back carries those of c and h
alone, and one product over all days makes the gradient of each weight.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from models.nets.layers import Linear, linear

SUBSTEPS = 4  # of explicit Euler in each elapsed time


class Weights(NamedTuple):
    """Weights (outputs, inputs) and biases, as above."""

    A: Tensor
    G: Tensor
    b_g: Tensor
    Z: Tensor
    b_z: Tensor
    W1: Tensor
    b1: Tensor
    M: Tensor
    m: Tensor
    W2: Tensor
    b2: Tensor


def scan(
    driven: Tensor, dt: Tensor, valid: Tensor | None, first: tuple[Tensor, Tensor], weights: Weights
) -> tuple[Tensor, Tensor]:
    """Run T steps from c and h (B, H); return those after each step, (T, B, H).

    `driven` is y (T, B, 2H), `dt` (T, B, 1) of a sub-step, `valid` (T, B, 1) False where a step is skipped. In the
    graph of autograd h does not follow from the c returned.
    """
    skipping = dt.new_zeros(()) if valid is None else valid
    cells, states, *_ = _Scan.apply(driven, dt, skipping, *first, *weights)  # type: ignore[no-untyped-call]
    return cells, states


class _Scan(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(driven: Tensor, dt: Tensor, valid: Tensor, c: Tensor, h: Tensor, *flat: Tensor) -> tuple[Tensor, ...]:
        w, days, slopes = Weights(*flat), [], list[Tensor]()
        A, G, Z, W1, M, W2 = (of.t() for of in (w.A, w.G, w.Z, w.W1, w.M, w.W2))
        drift = SUBSTEPS * w.b2
        skips = valid.dim() > 0
        for day, (now, step) in enumerate(zip(driven.unbind(), dt.unbind(), strict=True)):
            hidden = torch.tanh(_add_product(now, h, A))
            u, v = hidden.chunk(2, -1)
            gate = torch.sigmoid(_add_product(w.b_g, u, G))
            new_c = _add_product(w.b_z, v, Z) + gate * c
            p = _add_product(w.b1, new_c, W1)
            slopes.append(torch.tanh(p))
            for _ in range(SUBSTEPS - 1):
                p = p + step * _add_product(w.m, slopes[-1], M)
                slopes.append(torch.tanh(p))
            total = sum(slopes[1 - SUBSTEPS :], slopes[-SUBSTEPS])
            new_h = new_c + step * _add_product(drift, total, W2)
            c, h = (torch.where(valid[day], new_c, c), torch.where(valid[day], new_h, h)) if skips else (new_c, new_h)
            days.append((c, h, hidden, gate))
        return *map(torch.stack, zip(*days, strict=True)), _by_substep(slopes)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        ctx.save_for_backward(*inputs, *output)
        ctx.mark_non_differentiable(*output[2:])

    @staticmethod
    def backward(ctx: Any, d_cells: Tensor, d_states: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        _, dt, valid, c0, h0, *flat = ctx.saved_tensors[:-5]
        cells, states, hidden, gates, slopes = ctx.saved_tensors[-5:]
        w, skips = Weights(*flat), valid.dim() > 0
        before_c, before_h = (torch.cat([first.unsqueeze(0), of[:-1]]) for first, of in ((c0, cells), (h0, states)))
        # The derivatives of tanh and sigma, of all days at once.
        of_hidden, of_slopes, of_gates = 1 - hidden.square(), 1 - slopes.square(), before_c * gates * (1 - gates)
        d_c, d_h, days, d_p = torch.zeros_like(c0), torch.zeros_like(h0), [], list[Tensor]()
        for day in reversed(range(len(cells))):
            d_c, d_h = d_c + d_cells[day], d_h + d_states[day]
            skipped_c, skipped_h = d_c, d_h
            if skips:
                d_c, d_h = torch.where(valid[day], d_c, 0.0), torch.where(valid[day], d_h, 0.0)
            step, (*earlier, last) = dt[day], of_slopes[day].unbind()
            d_slope = step * d_h @ w.W2
            d_p.append(d_slope * last)
            for of in reversed(earlier):
                d_p.append(d_p[-1] + _add_product(d_slope, step * d_p[-1], w.M) * of)
            d_new = _add_product(d_c + d_h, d_p[-1], w.W1)
            d_gate = d_new * of_gates[day]
            d_first = torch.cat([d_gate @ w.G, d_new @ w.Z], -1) * of_hidden[day]
            days.append((d_first, d_gate, d_new, d_h))
            d_c, d_h = d_new * gates[day], d_first @ w.A
            if skips:
                d_c = torch.where(valid[day], d_c, skipped_c)
                d_h = torch.where(valid[day], d_h, skipped_h)
        d_first, d_gate, d_new, d_moved = map(torch.stack, zip(*reversed(days), strict=True))
        (u, v), d_ps, total = hidden.chunk(2, -1), _by_substep(d_p[::-1]), slopes.sum(1)
        d_sum, d_move, moving = dt * d_moved, dt.unsqueeze(1) * d_ps[:, 1:], slopes[:, :-1]
        d_dt = None
        if ctx.needs_input_grad[1]:
            of_moves = d_ps[:, 1:] * (moving @ w.M.t() + w.m)
            d_dt = of_moves.sum((1, -1), keepdim=True).squeeze(1)
            d_dt = d_dt + (d_moved * (total @ w.W2.t() + SUBSTEPS * w.b2)).sum(-1, keepdim=True)
        gradients = (
            _of_weight(d_first, before_h),
            *(_of_weight(d_gate, u), _sum(d_gate)),
            *(_of_weight(d_new, v), _sum(d_new)),
            *(_of_weight(d_ps[:, 0], cells), _sum(d_ps[:, 0])),
            *(_of_weight(d_move, moving), _sum(d_move)),
            *(_of_weight(d_sum, total), SUBSTEPS * _sum(d_sum)),
        )
        return d_first, d_dt, None, d_c, d_h, *gradients


def _add_product(added: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """Return added + x W. For many members at once (vmap) on a card torch copies the operands of both together."""
    result: Tensor = added + x @ weight if x.is_cuda else torch.addmm(added, x, weight)
    return result


def _by_substep(of_all: list[Tensor]) -> Tensor:
    """Return what T times SUBSTEPS sub-steps have, (B, H) each, as (T, SUBSTEPS, B, H)."""
    every = torch.stack(of_all)
    return every.view(-1, SUBSTEPS, *every.shape[1:])


def _of_weight(d_result: Tensor, x: Tensor) -> Tensor:
    """Return the gradient (outputs, inputs) of a weight, of all rows."""
    return d_result.flatten(0, -2).t() @ x.flatten(0, -2)


def _sum(d_result: Tensor) -> Tensor:
    return d_result.flatten(0, -2).sum(0)


NEARLY_ZERO = 1e-4  # standard deviation of the first weights of the last layers of g and z

MemoryState = tuple[Tensor, Tensor]


class MixedMemory(nn.Module):
    """Memory cells c and a time-continuous state h of one size, read and written at irregular times.

    The cells are bounded whatever the elapsed times, since g and z are: |c| <= max|z| / (1 - max sigmoid). h is finite
    for every finite elapsed time, and moves away from c in proportion to it; the solver is meant for at most one unit:
    bound longer gaps beforehand.

    Args:
        cells: H, the size of c and of h, and the width of all hidden layers.
        forget_bias: b_f, where the last bias of g starts. sigmoid(3) = 0.953, sigmoid(5.1) = 0.994.
    """

    def __init__(self, features: int, cells: int, *, forget_bias: float = 3.0) -> None:
        super().__init__()
        self.cells = cells
        self.from_inputs = Linear(features, 2 * cells)  # the first layers of g and z, one above the other
        self.from_state = Linear(cells, 2 * cells, bias=False)
        self.last_g, self.last_z = Linear(cells, cells), Linear(cells, cells)
        self.W1, self.W2 = Linear(cells, cells), Linear(cells, cells)
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
        if torch.is_grad_enabled():
            cells, states = scan(self.from_inputs(x), dts, valid, (c, h), self._weights(*inner))
            return states, (cells[-1], states[-1])
        taken = [None] * len(x) if valid is None else valid.unbind()
        moved = []
        for now, dt, one in zip(x.unbind(), dts.unbind(), taken, strict=True):
            new_c, new_h = self.step((c, h), self.from_inputs(now), dt, inner)
            c, h = (new_c, new_h) if one is None else (torch.where(one, new_c, c), torch.where(one, new_h, h))
            moved.append(h)
        return torch.stack(moved), (c, h)

    def inner(self) -> tuple[Tensor, Tensor]:
        """Return W1 W2 and W1 b2."""
        return self.W1.weight @ self.W2.weight, self.W1.weight @ self.W2.bias

    def step(self, state: MemoryState, driven: Tensor, dt: Tensor, inner: tuple[Tensor, Tensor]) -> MemoryState:
        """Return c and h after one step of dt (B, 1), h by way of c; `driven` (B, 2H) is of the inputs."""
        c = self._remember(*state, driven)
        return c, self._move(c, dt, *inner)

    def _weights(self, W1W2: Tensor, W1b2: Tensor) -> Weights:
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
        p = self.W1(c)
        slopes = torch.tanh(p)
        total = slopes
        for _ in range(SUBSTEPS - 1):
            p = torch.addcmul(p, dt, linear(slopes, W1W2, W1b2))
            slopes = torch.tanh(p)
            total = total + slopes
        return torch.addcmul(c, dt, linear(total, self.W2.weight, SUBSTEPS * self.W2.bias))
