"""The recurrence of MC-LSTM exactly as its equations, under autograd. The reference for `models.nets.scan`.

It stores every R: some 8 GB for a year of 256 basins.
"""

import sys

import torch
from torch import Tensor
from torch.nn import functional

from models.nets.layers import DEAD_COLUMN, aligned_size, normalised_logistic
from models.nets.mclstm import PROGRAMS
from models.nets.scan import EPSILON, Flow, Gates, TaggedFlow, Tags, apart


def softmax(z: Tensor) -> Tensor:
    """Return exp(z) / sum of exp(z), as in (5), (7) and (8)."""
    return torch.softmax(z, -1)


def normalised_relu(z: Tensor) -> Tensor:
    """Return the R of (18), z (..., K sources, K targets). A source without a positive entry retains its water."""
    positive = z.relu()
    total = positive.sum(-1, keepdim=True)
    dead = total <= DEAD_COLUMN
    identity = torch.eye(z.shape[-1], dtype=z.dtype, device=z.device)
    return torch.where(dead, identity, positive / torch.where(dead, 1.0, total))


def scan(gates: Gates, drivers: Tensor, static: Tensor, mass: Tensor, cells: Tensor) -> Flow:
    """Run T days; arguments and results as of `models.nets.scan.scan`."""
    nothing = Tags(mass.new_zeros(*mass.shape, 0), cells.new_zeros(*cells.shape, 0))
    return tagged_scan(gates, drivers, static, mass, cells, nothing)[0]


def tagged_scan(
    gates: Gates, drivers: Tensor, static: Tensor, mass: Tensor, cells: Tensor, tags: Tags
) -> tuple[Flow, TaggedFlow]:
    """Run T days, each tag's water beside all water; as of `models.nets.scan.tagged_scan`."""
    fixed = functional.linear(static, gates.static, gates.bias)
    storage, outflow, tagged_outflow, tagged = [], [], [], tags.cells.mT
    for d, x, x_tags in zip(drivers, mass, tags.mass, strict=True):
        i, z_o, R = _gates_of_day(gates, fixed, d, cells)
        m_tot = (cells.unsqueeze(-2) @ R).squeeze(-2) + i * x.unsqueeze(-1)  # (10)
        o = torch.sigmoid(z_o if gates.wetness is None else z_o + torch.log1p(gates.wetness * m_tot))  # (15)
        m_tags = tagged @ R + i.unsqueeze(-2) * x_tags.unsqueeze(-1)
        h, h_tags = o * m_tot, o.unsqueeze(-2) * m_tags  # (12)
        cells, tagged = m_tot - h, m_tags - h_tags  # (11)
        storage.append(cells)
        outflow.append(h)
        tagged_outflow.append(h_tags)
    h = torch.stack(outflow)
    flow = torch.stack(storage), h, apart(h)[0]
    return flow, TaggedFlow(*apart(torch.stack(tagged_outflow)), tagged.mT)


def _gates_of_day(gates: Gates, fixed: Tensor, drivers: Tensor, cells: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return i (B, K), the argument of o (B, K) and R (B, K, K), source by row."""
    K = cells.shape[-1]
    P = aligned_size(K)
    normalised = cells / (cells.sum(-1, keepdim=True) + EPSILON)
    z = functional.linear(torch.cat([normalised, drivers], -1), gates.varying) + fixed
    z_R, z_i, z_o = z.split([z.shape[-1] - 2 * P, P, P], -1)
    if gates.factor is not None:
        z_R = functional.linear(z_R, gates.factor, gates.factor_bias)
    z_R, z_i, z_o = z_R.unflatten(-1, (K, P))[..., :K], z_i[..., :K], z_o[..., :K]
    return normalised_logistic(z_i), z_o, normalised_relu(z_R)  # (17), (18)


PROGRAMS["plain"] = sys.modules[__name__]
