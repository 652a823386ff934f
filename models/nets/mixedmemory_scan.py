"""The recurrence of mmRNN with its own backward pass: Algorithm 1 with dh/dt = W2 tanh(W1 h + b1) + b2.

With M = W1 W2 and m = W1 b2, a step from c(t-1), h(t-1) is

    (u, w) = tanh(y + A h(t-1))             y: the inputs' part of the first layers
    c = Z w + b_z + g c(t-1),               g = sigma(G u + b_g)
    p_0 = W1 c + b1,  p_k = p_{k-1} + dt (M s_{k-1} + m),  s_k = tanh(p_k)
    h = c + dt (W2 (s_0 + ... + s_3) + 4 b2)

Under autograd most operations of a step add up the gradients of weights. Here the pass back carries those of c and h
alone, and one product over all days makes the gradient of each weight.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

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
