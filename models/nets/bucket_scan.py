"""The days of parallel buckets as their equations, in torch under autograd. For any device, and to check the compiled.

Source of the form: HBV (Bergström 1976; Lindström et al. 1997, doi:10.1016/S0022-1694(97)00041-3), with two parts of
other models: the soil's variable capacity (Zhao 1992, doi:10.1016/0022-1694(92)90096-E; Moore 2007,
doi:10.5194/hess-11-483-2007) instead of HBV's power law, because it is exact for any amount of water in a day, and two
equal linear reservoirs for the way to the gauge (Nash 1957) instead of a triangle, because they hold their water.

A component is a share a of the basin. All its water is in mm over the whole basin, so that stores simply add up; its
capacities and potential rates are a times those of the ground. A day, every store before (0) and after (1, 2, ...):

    snow     I1 = I0 + snowfall                   m = min(I1, melt)           I2 = I1 - m
             L1 = L0 + m + rain                   f = min(L1, freeze)         I3 = I2 + f,  L2 = L1 - f
             x  = max(L2 - held I3, 0)                                        L3 = L2 - x
    soil     u0 = (1 - S0 / C)^(1/n)              u1 = max(u0 - x / (n C), 0)
             S1 = C (1 - u1^n)                    r  = x - (S1 - S0)
             e  = min(demand, drying S1)                                      S2 = S1 - e
    upper    U1 = U0 + r                          p  = min(U1, percolation)   U2 = U1 - p
             q0 = k0 max(U2 - threshold, 0)   q1 = k1 (U2 - q0)               U3 = U2 - q0 - q1
    lower    G1 = G0 + p                          y  = k2 G1                  G2 = G1 - y
             of y the share `lost` leaks, the rest flows
    routing  R1 + the flow of all components      o = kr R1,  R1 - o;  R2 + o,  discharge = kr R2,  R2 - discharge

Every store after the day rises with every store before it and with rain, and so does every flow, but for snow that
holds liquid water: where it is dry or rain finds no snow, more rain lowers no flow on any day.

Water may be divided by tags: every flow takes the same share of each tag in the store that it leaves.
"""

from typing import NamedTuple

import torch
from torch import Tensor

STORES = ("snow", "liquid", "soil", "upper", "lower")
ROUTING = 2  # cells of the routing, before those of the stores, component by component
TINY = 1e-6  # of u: where less is left of the capacity's range, the soil is full


class Drivers(NamedTuple):
    """What changes from day to day, each (T, N, B): T days, N components, B samples."""

    snowfall: Tensor  # mm/day
    rain: Tensor  # mm/day
    melt: Tensor  # mm/day, potential
    freeze: Tensor  # mm/day, potential refreezing
    demand: Tensor  # mm/day, potential
    drying: Tensor  # share of the soil's water that can evaporate in a day
    n: Tensor  # 1 + b, of the soil's capacities
    percolation: Tensor  # mm/day, potential
    k0: Tensor  # 1/day
    k1: Tensor
    k2: Tensor


class Constants(NamedTuple):
    """What stays, each (N, B)."""

    held: Tensor  # liquid water that snow holds, as a share of it
    capacity: Tensor  # mm, of the soil
    threshold: Tensor  # mm, of fast flow in the upper zone
    lost: Tensor  # share of the lower zone's outflow


class Flow(NamedTuple):
    """Results: mm/day (T, B), and storage in mm (T, K, B) after each day."""

    discharge: Tensor
    evapotranspiration: Tensor
    leak: Tensor
    storage: Tensor


class TaggedFlow(NamedTuple):
    """Outflow and storage of the water of each tag."""

    discharge: Tensor  # (T, G, B), mm/day
    loss: Tensor  # (T, G, B), mm/day
    cells: Tensor  # (K, G, B), mm, after the last day


class _Shares(NamedTuple):
    """The shares of a day's stores that move on, each (N, B)."""

    snowfall: Tensor  # of the precipitation, and so the next
    rain: Tensor
    melt: Tensor
    freeze: Tensor
    outflow: Tensor
    recharge: Tensor
    evaporation: Tensor
    percolation: Tensor
    upper: Tensor
    lower: Tensor


def scan(drivers: Drivers, constants: Constants, routing: Tensor, cells: Tensor) -> Flow:
    """Run T days.

    Args:
        routing: kr, (B,).
        cells: water before the first day, (K, B) in mm.
    """
    nothing = cells.new_zeros(len(cells), 0, cells.shape[1])
    return tagged_scan(drivers, constants, routing, cells, nothing, None)[0]


def tagged_scan(
    drivers: Drivers, constants: Constants, routing: Tensor, cells: Tensor, tagged: Tensor, tag: Tensor | None
) -> tuple[Flow, TaggedFlow]:
    """Run T days, each tag's water beside all water.

    Args:
        tagged: of the cells, (K, G, B) in mm.
        tag: of the water that falls, (T,); None without tags.
    """
    days, of_tags = [], []
    for t, today in enumerate(zip(*drivers, strict=True)):
        day, shares = _day(Drivers(*today), constants, routing, cells)
        cells = day.storage
        if tag is not None:
            falls = torch.zeros_like(tagged[0])
            falls[tag[t]] = (today[0] + today[1]).sum(0)
            tagged, left = _route(shares, constants.lost, routing, tagged, falls, cells)
            of_tags.append(left)
        days.append(day)
    flow = Flow(*(torch.stack(values) for values in zip(*days, strict=True)))
    if not of_tags:
        return flow, TaggedFlow(tagged, tagged, tagged)
    discharge, loss = (torch.stack(values) for values in zip(*of_tags, strict=True))
    return flow, TaggedFlow(discharge, loss, tagged)


def _day(today: Drivers, fixed: Constants, kr: Tensor, cells: Tensor) -> tuple[Flow, _Shares]:
    I0, L0, S0, U0, G0 = cells[ROUTING:].unflatten(0, (len(STORES), -1))
    I1 = I0 + today.snowfall
    m = _least(I1, today.melt)
    L1 = L0 + (m + today.rain)
    f = _least(L1, today.freeze)
    I3, L2 = (I1 - m) + f, L1 - f
    x = (L2 - fixed.held * I3).relu()
    gain = _gain(today.n, fixed.capacity, S0, x)
    S1, r = S0 + gain, x - gain
    e = _least(today.demand, today.drying * S1)
    U1 = U0 + r
    p = _least(U1, today.percolation)
    U2 = U1 - p
    q0 = today.k0 * (U2 - fixed.threshold).relu()
    q1 = today.k1 * (U2 - q0)
    q = q0 + q1
    G1 = G0 + p
    y = today.k2 * G1
    leak = fixed.lost * y
    R1 = cells[0] + (q + (y - leak)).sum(0)
    o = kr * R1
    R2 = cells[1] + o
    discharge = kr * R2
    stores = torch.cat([I3, L2 - x, S1 - e, (U2 - q0) - q1, G1 - y])
    storage = torch.cat([(R1 - o).unsqueeze(0), (R2 - discharge).unsqueeze(0), stores])
    of_rain, of_soil = (today.snowfall + today.rain).sum(0), S0 + x
    shares = _Shares(
        *(_share(part, whole) for part, whole in ((today.snowfall, of_rain), (today.rain, of_rain), (m, I1), (f, L1))),
        *(_share(part, whole) for part, whole in ((x, L2), (r, of_soil), (e, S1), (p, U1), (q, U2), (y, G1))),
    )
    return Flow(discharge, e.sum(0), leak.sum(0), storage), shares


def _gain(n: Tensor, C: Tensor, S0: Tensor, x: Tensor) -> Tensor:
    """Return S1 - S0. Rounding alone could take it out of 0 to x; it has the gradient of the equation."""
    u0 = torch.exp(torch.log((1 - S0 / C).clamp_min(TINY)) / n)
    u1 = u0 - x / (n * C)
    gain = C * (1 - torch.where(u1 > TINY, u1.clamp_min(TINY) ** n, u1 * 0)) - S0
    return gain + (torch.minimum(gain.relu(), x) - gain).detach()


def _route(
    by: _Shares, lost: Tensor, kr: Tensor, tagged: Tensor, falls: Tensor, cells: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Return the cells by tag after a day, (K, G, B), and discharge and loss by tag, (G, B)."""
    by = _Shares(*(share.unsqueeze(1) for share in by))
    ice, liquid, soil, upper, lower = tagged[ROUTING:].unflatten(0, (len(STORES), -1))  # each (N, G, B)
    ice, m = _leave(ice + by.snowfall * falls, by.melt)
    liquid, f = _leave(liquid + m + by.rain * falls, by.freeze)
    liquid, x = _leave(liquid, by.outflow)
    soil, r = _leave(soil + x, by.recharge)
    soil, e = _leave(soil, by.evaporation)
    upper, p = _leave(upper + r, by.percolation)
    upper, q = _leave(upper, by.upper)
    lower, y = _leave(lower + p, by.lower)
    leak = lost.unsqueeze(1) * y
    first, o = _leave(tagged[0] + (q + (y - leak)).sum(0), kr)
    second, discharge = _leave(tagged[1] + o, kr)
    after = torch.cat([first.unsqueeze(0), second.unsqueeze(0), ice + f, liquid, soil, upper, lower])
    total = after.sum(1)  # each tag is rounded separately
    return after * _share(cells, total).unsqueeze(1), (discharge, (e + leak).sum(0))


def _leave(store: Tensor, share: Tensor) -> tuple[Tensor, Tensor]:
    moved = share * store
    return store - moved, moved


def _share(part: Tensor, whole: Tensor) -> Tensor:
    return torch.where(whole > 0, part / torch.where(whole > 0, whole, 1), 0)


def _least(a: Tensor, b: Tensor) -> Tensor:
    """Return the smaller one, NaN where either is; where they are equal, the gradient is that of b."""
    return torch.where((a < b) | a.isnan(), a, b)
