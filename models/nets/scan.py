"""The recurrence of MC-LSTM in torch with its own backward pass. For any device, and to check the compiled one.

R (B, K, K) of a day is never stored and never normalised in memory. With Z its pre-activations (source cell j, target
cell k), A = max(Z, 0), s_j = sum over k of A_jk and w_j = c_j / s_j:

    m_k = sum over j of w_j A_jk + i_k x

The forward pass stores c(t) alone. The backward pass computes the gates of each day again and, with dh and dc
the gradients of h(t) and c(t):

    dm    = o dh + (1 - o) dc
    do    = (dh - dc) m
    q_j   = sum over k of A_jk dm_k / s_j         (the direct part of the gradient of c_j(t-1))
    dZ_jk = [Z_jk > 0] w_j (dm_k - q_j)

A dead source (s_j = 0: no positive entry, (18) would delete its water) retains its water: m_j += c_j,
q_j = dm_j, dZ_j = 0. Memory is O(T B K) where autograd's would be O(T B K^2).

Water may be divided by tags: the gates are those of all water, and every tag g is routed by the same R, i and o,

    m_gk = sum over j of (c_gj / s_j) A_jk + i_k x_g

and in every cell the tags are scaled to add up to m_k: each is rounded separately, and a store that hardly changes
would be rounded the same way every day. In exact arithmetic they add up without scaling.

Where R is factorised, Z_R = U v + b with v = V u: r mixtures of the gates' inputs, the same for all source cells.

Where a cell's own water opens its output gate, o_k = sigma(z_k + log(1 + kappa_k m_k)), and with dz the gradient of the
argument's z, m_k gets kappa_k dz / (1 + kappa_k m_k) too, and kappa_k gets m_k dz / (1 + kappa_k m_k).
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from models.nets.layers import DEAD_COLUMN, aligned_size, normalised_logistic

EPSILON = 1e-5  # of the normalised cells, as published
FIRST_WETNESS_MM = 50.0  # 1 / kappa at first, where all cells together hold some 100 mm


Learnt = tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]
"""`varying`, `factor`, `factor_bias` and `wetness` of `Gates`."""
Flow = tuple[Tensor, Tensor, Tensor]
"""Storage c (T, B, K) in mm after each day, outflow h (T, B, K) in mm/day, discharge (T, B) in mm/day (13): the outflow
of all cells but the first."""


class Tags(NamedTuple):
    """Water divided by G tags. Summed over the tags, both fields give all water."""

    mass: Tensor  # (T, B, G)   precipitation, in mm/day
    cells: Tensor  # (B, K, G)  water in the cells before the first day, in mm


class TaggedFlow(NamedTuple):
    """Outflow and storage of the water of each tag."""

    discharge: Tensor  # (T, B, G)  mm/day
    loss: Tensor  # (T, B, G)       mm/day
    cells: Tensor  # (B, K, G)      mm, after the last day


@dataclass(slots=True, eq=False)
class Gates:
    """The weights of all gates. H rows of R, then the groups of i and of o.

    A group has a row per target cell and zeros up to P, the next multiple of products.ROW_ALIGNMENT. R has K groups,
    one per source cell: H = K P. Where R is factorised, the rows of its mixtures replace them: H = r, padded alike.

    Attributes:
        varying: (H + 2 P, K + D), of the normalised cells and of the drivers, which change from day to day.
        static, bias: (H + 2 P, S) and (H + 2 P,).
        factor, factor_bias: U, (K P, r), and b, (K P,); None where R is not factorised.
        wetness: kappa, (K,) in 1/mm, not negative; None where a cell's water does not open its output gate.
        half_products: whether the products with cells and drivers may be in bfloat16, their sums in float32, where the
            processor has a unit for that and R is not factorised. Water is routed in float32 all the same.
        prepared: a program's own form of the weights, by its name; valid while they stay the same.
    """

    varying: Tensor
    static: Tensor
    bias: Tensor
    factor: Tensor | None = None
    factor_bias: Tensor | None = None
    wetness: Tensor | None = None
    half_products: bool = False
    prepared: dict[str, dict[str, Tensor]] = field(default_factory=dict)

    @property
    def learnt(self) -> Learnt:
        return self.varying, self.factor, self.factor_bias, self.wetness


def scan(gates: Gates, drivers: Tensor, static: Tensor, mass: Tensor, cells: Tensor) -> Flow:
    """Run T days of the recurrence on mass (T, B) in mm/day, from cells (B, K) in mm, not negative.

    The inputs that change from day to day are `drivers`, (T, B, D); `static`, (B, S), do not.
    """
    fixed = functional.linear(static, gates.static, gates.bias)
    storage, outflow = _Scan.apply(*gates.learnt, fixed, drivers, mass, cells)  # type: ignore[no-untyped-call]
    return storage, outflow, outflow[..., 1:].sum(-1)


def tagged_scan(
    gates: Gates, drivers: Tensor, static: Tensor, mass: Tensor, cells: Tensor, tags: Tags
) -> tuple[Flow, TaggedFlow]:
    """Run T days of the recurrence, each tag's water beside all water. Without gradients.

    The arguments are those of `scan`. The gates and the total water have the same bits as those of `scan`.
    """
    fixed = functional.linear(static, gates.static, gates.bias)
    of_day = _GatesOfDay(gates.learnt, fixed, cells.shape[-1])
    storage, outflow, of_tags = [], [], []
    c, tagged = cells, tags.cells.mT  # (B, G, K)
    for d, x, x_tags in zip(drivers, mass, tags.mass, strict=True):
        day = of_day(c, d, x)
        h = day.o * day.m
        c = day.m - h
        m_tags = day.route(tagged, x_tags)
        h_tags = day.o.unsqueeze(1) * m_tags
        tagged = m_tags - h_tags
        storage.append(c)
        outflow.append(h)
        of_tags.append(h_tags)
    discharge, loss = apart(torch.stack(of_tags))
    h = torch.stack(outflow)
    return (torch.stack(storage), h, h[..., 1:].sum(-1)), TaggedFlow(discharge, loss, tagged.mT)


def apart(outflow: Tensor) -> tuple[Tensor, Tensor]:
    """Split an outflow (..., K) into discharge and loss."""
    return outflow[..., 1:].sum(-1), outflow[..., 0]


class _Day(NamedTuple):
    """The gates of one day, and the water before them."""

    norm: Tensor  # (B, 1)  |c|_1 + eps
    A: Tensor  # (B, K, P)  positive part of R's pre-activations, a view of a reused buffer
    s: Tensor  # (B, K)     its row sums
    dead: Tensor  # (B, K)  sources without a positive entry
    w: Tensor  # (B, K)     c / s, 0 where dead
    z_i: Tensor  # (B, K)
    i: Tensor  # (B, K)
    o: Tensor  # (B, K)
    m: Tensor  # (B, K)     m_tot

    def route(self, c: Tensor, x: Tensor) -> Tensor:
        """Return m_tot (B, G, K) by tag, from c (B, G, K) and x (B, G)."""
        dead = self.dead.unsqueeze(1)
        w = (c / self.s.unsqueeze(1)).masked_fill(dead, 0)
        m = torch.bmm(w, self.A)[..., : c.shape[-1]] + x.unsqueeze(-1) * self.i.unsqueeze(1) + c * dead
        total = m.sum(1)
        return m * torch.where(total > 0, self.m / total, 1).unsqueeze(1)


class _GatesOfDay:
    def __init__(self, learnt: Learnt, fixed: Tensor, cells: int) -> None:
        weight, factor, self.factor_bias, self.wetness = learnt
        self.cells, self.fixed = cells, fixed
        self.weight_T = weight.t().contiguous()
        self.factor_T = None if factor is None else factor.t().contiguous()
        self.features = fixed.new_empty(fixed.shape[0], weight.shape[1])  # u = (c / |c|, drivers)
        self.rows = torch.empty_like(fixed)
        # Z_R; R's rows themselves where it is not factorised.
        self.z_R = self.rows if factor is None else fixed.new_empty(len(fixed), len(factor))
        self.padded = aligned_size(cells)

    @property
    def mixtures(self) -> Tensor:
        """v, (B, r)."""
        return self.rows[:, : -2 * self.padded]

    def __call__(self, c: Tensor, d: Tensor, x: Tensor) -> _Day:
        K = self.cells
        norm = c.sum(-1, keepdim=True).add_(EPSILON)
        torch.div(c, norm, out=self.features[:, :K])
        self.features[:, K:] = d
        torch.addmm(self.fixed, self.features, self.weight_T, out=self.rows)
        if self.factor_T is not None and self.factor_bias is not None:
            torch.addmm(self.factor_bias, self.mixtures, self.factor_T, out=self.z_R)
        A, (z_i, z_o) = self.sources(self.z_R), self.others(self.rows)
        A.relu_()
        s = A.sum(-1)
        dead = s <= DEAD_COLUMN
        w = (c / s).masked_fill_(dead, 0)
        i = normalised_logistic(z_i)
        m = torch.bmm(w.unsqueeze(1), A)[:, 0, :K]
        m.addcmul_(i, x.unsqueeze(-1)).addcmul_(c, dead.to(c.dtype))
        lift = 0 if self.wetness is None else torch.log1p(self.wetness * m)
        o = torch.sigmoid(z_o + lift)
        return _Day(norm=norm, A=A, s=s, dead=dead, w=w, z_i=z_i, i=i, o=o, m=m)

    def sources(self, z_R: Tensor) -> Tensor:
        """Return R's part of the pre-activations, (B, K, P)."""
        sources: Tensor = z_R[:, : self.cells * self.padded].unflatten(-1, (self.cells, -1))
        return sources

    def others(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the pre-activations of i and of o, (B, K)."""
        groups = rows[:, -2 * self.padded :].unflatten(-1, (2, -1))
        return groups[:, 0, : self.cells], groups[:, 1, : self.cells]


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[Tensor, Tensor]:
        *learnt, fixed, drivers, mass, cells = given
        gates = _GatesOfDay((*learnt,), fixed.contiguous(), cells.shape[-1])
        storage = cells.new_empty(len(drivers), *cells.shape)
        outflow = torch.empty_like(storage)
        c = cells
        for d, x, c_next, h in zip(drivers, mass, storage, outflow, strict=True):
            day = gates(c, d, x)
            torch.mul(day.o, day.m, out=h)
            c = torch.sub(day.m, h, out=c_next)
        ctx.save_for_backward(*given, storage)
        return storage, outflow

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_storage: Tensor, d_outflow: Tensor) -> tuple[Tensor | None, ...]:
        weight, factor, factor_bias, wetness, fixed, drivers, mass, cells, storage = ctx.saved_tensors
        K = cells.shape[-1]
        wants_drivers, wants_mass = ctx.needs_input_grad[5:7]
        d_weight_T, d_fixed = weight.new_zeros(weight.shape[::-1]), torch.zeros_like(fixed)
        d_factor, d_factor_bias, d_wetness = (
            None if values is None else torch.zeros_like(values) for values in (factor, factor_bias, wetness)
        )
        # The drivers' gradient is seldom needed, and a product for the cells alone is faster.
        to_features = weight if wants_drivers else weight[:, :K].contiguous()
        d_drivers = torch.empty_like(drivers) if wants_drivers else None
        d_mass = torch.empty_like(mass) if wants_mass else None
        gates = _GatesOfDay((weight, factor, factor_bias, wetness), fixed.contiguous(), K)
        dz = torch.zeros_like(gates.rows)
        dz_all_R = dz if factor is None else torch.zeros_like(gates.z_R)
        dz_R = gates.sources(dz_all_R)[..., :K]  # the padding of a row stays 0
        dz_i, dz_o = gates.others(dz)
        dc = torch.zeros_like(cells)
        for t in reversed(range(len(drivers))):
            c = storage[t - 1] if t else cells
            day = gates(c, drivers[t], mass[t])
            dc = dc + d_storage[t]
            dh = d_outflow[t]
            dm = torch.lerp(dc, dh, day.o)
            torch.mul((dh - dc) * day.m, day.o * (1 - day.o), out=dz_o)
            if d_wetness is not None:
                along = dz_o / (1 + wetness * day.m)
                d_wetness.add_((along * day.m).sum(0))
                dm = dm + wetness * along
            A = day.A[..., :K]
            q = torch.bmm(dm.unsqueeze(1), A.mT).squeeze(1) / day.s
            q = torch.where(day.dead, dm, q)
            torch.sub(dm.unsqueeze(1), q.unsqueeze(-1), out=dz_R).mul_(day.w.unsqueeze(-1))
            torch.ops.aten.threshold_backward.grad_input(dz_R, A, 0, grad_input=dz_R)
            di = dm * mass[t].unsqueeze(-1)
            d_log = day.i * (di - (day.i * di).sum(-1, keepdim=True))
            torch.mul(d_log, torch.sigmoid(-day.z_i), out=dz_i)
            if d_factor is not None and d_factor_bias is not None:
                d_factor.addmm_(dz_all_R.t(), gates.mixtures)
                d_factor_bias.add_(dz_all_R.sum(0))
                dz[:, : factor.shape[1]] = dz_all_R @ factor
            d_fixed.add_(dz)
            d_weight_T.addmm_(gates.features.t(), dz)
            du = dz @ to_features
            if d_drivers is not None:
                d_drivers[t] = du[:, K:]
            if d_mass is not None:
                torch.sum(dm * day.i, -1, out=d_mass[t])
            dn = du[:, :K]  # through c / (|c|_1 + eps)
            dc = q + (dn - (dn * c).sum(-1, keepdim=True) / day.norm) / day.norm
        return d_weight_T.t(), d_factor, d_factor_bias, d_wetness, d_fixed, d_drivers, d_mass, dc
