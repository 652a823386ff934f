"""The days of parallel buckets as their equations, in torch under autograd. For any device, and to check the compiled.

Source of the form: HBV (Bergström 1976; Lindström et al. 1997, doi:10.1016/S0022-1694(97)00041-3), with parts of other
models: the soil's variable capacity (Zhao 1992, doi:10.1016/0022-1694(92)90096-E; Moore 2007,
doi:10.5194/hess-11-483-2007) instead of HBV's power law, because it is exact for any amount of water in a day; runoff
in excess of what the ground takes in, of the form of the curve number (Mockus 1964; SCS, National Engineering
Handbook, section 4); drainage that rises with the wetness of the soil (Brooks and Corey 1964); and a unit hydrograph of
weights that are learnt, whose water on its way is part of the state.

A component is a share a of the basin. All its water is in mm over the whole basin, so that stores simply add up; its
capacities and potential rates are a times those of the ground. A day, every store before (0) and after (1, 2, ...):

    snow     I1 = I0 + snowfall                   m = min(I1, melt)
             L1 = L0 + m                          f = min(L1, freeze)         I2 = I1 - m + f,  L2 = L1 - f
                                                  w = release L2              L3 = L2 - w
    ground   x  = w + rain                        b = x^2 / (x + excess)
    soil     u0 = (1 - S0 / C)^(1/n)              u1 = max(u0 - (x - b) / (n C), 0)
             S1 = C (1 - u1^n)                    r = x - b - (S1 - S0)
                                                  d = drain S1 W^2            S2 = S1 - d,  W = min(S1 / C, 1)
                                                  e = min(demand, drying S2)  S3 = S2 - e
    upper    U1 = U0 + r + d                      p = min(U1, percolation)    U2 = U1 - p
             q0 = k0 U2^2 / (U2 + threshold)      q1 = k1 (U2 - q0)           U3 = U2 - q0 - q1
    lower    G1 = G0 + p                          y = k2 G1, leak = lost y    G2 = G1 - y
    way      of b + q0 and of q1 + y - leak, the share `routing[i]` of each is discharge after i days

Every store after the day rises with every store before it and with rain, never faster than these, and so do flow,
evapotranspiration and leak: more rain or snow lowers no store and no flow on any day, and additional flow returns no
more than the additional water. For this, rain passes snow without delay, melt water leaves it by a share that does not
depend on the snow, and 3 drain is at most 1. Soil above its capacity (a state that somebody has changed) takes in
nothing and drains at its full rate.

Water may be divided by tags: every flow takes the same share of each tag in the store that it leaves.
"""

from typing import NamedTuple

import torch
from torch import Tensor

STORES = ("snow", "liquid", "soil", "upper", "lower")
PATHS = 2  # of a component's flow to the gauge: over the ground, and in it
DELAYS = 10  # days after which flow is discharge, from 0
UNDERWAY = DELAYS - 1  # cells of the flow on its way, by the days left, before those of the stores
TINY = 1e-6  # of u: where less is left of the capacity's range, the soil is full


class Drivers(NamedTuple):
    """What changes from day to day, each (T, N, B): T days, N components, B samples."""

    snowfall: Tensor  # mm/day
    rain: Tensor  # mm/day
    melt: Tensor  # mm/day, potential
    freeze: Tensor  # mm/day, potential refreezing
    demand: Tensor  # mm/day, potential evapotranspiration
    drying: Tensor  # share of the soil's water that can evaporate in a day
    n: Tensor  # 1 + b, of the soil's capacities
    excess: Tensor  # mm/day of water on the ground of which half runs off
    percolation: Tensor  # mm/day, potential
    k0: Tensor  # 1/day
    k1: Tensor
    k2: Tensor
    lost: Tensor  # share of the lower zone's outflow


class Constants(NamedTuple):
    """What stays, each (N, B)."""

    release: Tensor  # 1/day, of the liquid water in snow
    capacity: Tensor  # mm, of the soil
    threshold: Tensor  # mm in the upper zone at which fast flow is half of k0 of it
    drain: Tensor  # 1/day, of a full soil


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
    release: Tensor
    excess: Tensor
    recharge: Tensor
    drainage: Tensor
    evaporation: Tensor
    percolation: Tensor
    fast: Tensor
    slow: Tensor
    lower: Tensor
    leak: Tensor  # of the lower zone's outflow


def scan(drivers: Drivers, constants: Constants, routing: Tensor, cells: Tensor) -> Flow:
    """Run T days from the water in the cells, (K, B) in mm.

    `routing`, (DELAYS, N PATHS, B), are shares of each path's flow by the days until discharge; they add up to 1.
    """
    nothing = cells.new_zeros(len(cells), 0, cells.shape[1])
    return tagged_scan(drivers, constants, routing, cells, nothing, None)[0]


def tagged_scan(
    drivers: Drivers, constants: Constants, routing: Tensor, cells: Tensor, tagged: Tensor, tag: Tensor | None
) -> tuple[Flow, TaggedFlow]:
    """Run T days, each tag's water (K, G, B) in mm beside all water; rain has `tag` (T,), None without tags."""
    days, of_tags = [], []
    for t, today in enumerate(zip(*drivers, strict=True)):
        day, shares = _day(Drivers(*today), constants, routing, cells)
        cells = day.storage
        if tag is not None:
            falls = torch.zeros_like(tagged[0])
            falls[tag[t]] = (today[0] + today[1]).sum(0)
            tagged, left = _route(shares, routing, tagged, falls, cells)
            of_tags.append(left)
        days.append(day)
    flow = Flow(*(torch.stack(values) for values in zip(*days, strict=True)))
    if not of_tags:
        return flow, TaggedFlow(tagged, tagged, tagged)
    discharge, loss = (torch.stack(values) for values in zip(*of_tags, strict=True))
    return flow, TaggedFlow(discharge, loss, tagged)


def _day(today: Drivers, fixed: Constants, routing: Tensor, cells: Tensor) -> tuple[Flow, _Shares]:
    I0, L0, S0, U0, G0 = cells[UNDERWAY:].unflatten(0, (len(STORES), -1))
    I1 = I0 + today.snowfall
    m = _least(I1, today.melt)
    L1 = L0 + m
    f = _least(L1, today.freeze)
    L2 = L1 - f
    w = fixed.release * L2
    x = w + today.rain
    b = x * (x / (x + today.excess))
    enters = x - b
    gain = _gain(today.n, fixed.capacity, S0, enters)
    S1, r = S0 + gain, enters - gain
    wetness = (S1 / fixed.capacity).clamp_max(1)
    d = fixed.drain * S1 * wetness * wetness
    S2 = S1 - d
    e = _least(today.demand, today.drying * S2)
    U1 = U0 + (r + d)
    p = _least(U1, today.percolation)
    U2 = U1 - p
    q0 = today.k0 * (U2 * (U2 / (U2 + fixed.threshold)))
    rest = U2 - q0
    q1 = today.k1 * rest
    G1 = G0 + p
    y = today.k2 * G1
    leak = today.lost * y
    way, discharge = _way(cells[:UNDERWAY], torch.stack([b + q0, q1 + (y - leak)], 1).flatten(0, 1), routing)
    storage = torch.cat([way, (I1 - m) + f, L2 - w, S2 - e, rest - q1, G1 - y])
    falls = (today.snowfall + today.rain).sum(0)
    moves = ((today.snowfall, falls), (today.rain, falls), (m, I1), (f, L1), (w, L2), (b, x), (r, S0 + enters))
    shares = (*moves, (d, S1), (e, S2), (p, U1), (q0, U2), (q1, rest), (y, G1), (leak, y))
    return Flow(discharge, e.sum(0), leak.sum(0), storage), _Shares(*(_share(*one) for one in shares))


def _way(underway: Tensor, flow: Tensor, routing: Tensor) -> tuple[Tensor, Tensor]:
    """Return what is on its way after a day, (UNDERWAY, ...), and the discharge, from the flow (N PATHS, ...)."""
    due = (routing * flow).sum(1)
    due[:UNDERWAY] = due[:UNDERWAY] + underway
    return due[1:], due[0]


def _gain(n: Tensor, C: Tensor, S0: Tensor, x: Tensor) -> Tensor:
    """Return S1 - S0. Rounding alone could take it out of 0 to x; it has the gradient of the equation."""
    u0 = torch.exp(torch.log((1 - S0 / C).clamp_min(TINY)) / n)
    u1 = u0 - x / (n * C)
    gain = C * (1 - torch.where(u1 > TINY, u1.clamp_min(TINY) ** n, u1 * 0)) - S0
    return gain + (torch.minimum(gain.relu(), x) - gain).detach()


def _route(
    by: _Shares, routing: Tensor, tagged: Tensor, falls: Tensor, cells: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Return the cells by tag after a day, (K, G, B), and discharge and loss by tag, (G, B)."""
    by = _Shares(*(share.unsqueeze(1) for share in by))
    ice, liquid, soil, upper, lower = tagged[UNDERWAY:].unflatten(0, (len(STORES), -1))  # each (N, G, B)
    ice, m = _leave(ice + by.snowfall * falls, by.melt)
    liquid, f = _leave(liquid + m, by.freeze)
    liquid, w = _leave(liquid, by.release)
    enters, b = _leave(w + by.rain * falls, by.excess)
    soil, r = _leave(soil + enters, by.recharge)
    soil, d = _leave(soil, by.drainage)
    soil, e = _leave(soil, by.evaporation)
    upper, p = _leave(upper + (r + d), by.percolation)
    upper, q0 = _leave(upper, by.fast)
    upper, q1 = _leave(upper, by.slow)
    lower, y = _leave(lower + p, by.lower)
    y, leak = _leave(y, by.leak)
    flow = torch.stack([b + q0, q1 + y], 1).flatten(0, 1)
    way, discharge = _way(tagged[:UNDERWAY], flow, routing.unsqueeze(2))
    after = torch.cat([way, ice + f, liquid, soil, upper, lower])
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
