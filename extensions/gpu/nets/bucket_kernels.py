# ruff: noqa: RUF059, SIM300 - a day has many values, of which each kernel uses some; capitals are variables here

"""The Triton kernels of buckets: all days of a component of a sample in one launch, forward and backward.

A program runs some elements, components by samples, each alone: what they exchange, the way to the gauge, is torch's.
Equations and letters are those of `models.nets.bucket_scan`; the way back has d_x for the gradient of x. Layouts, with
T days, N components, B samples, E = N B elements:

    drivers, d_drivers (T, 13, E), constants, d_constants (4, E), in the order of `Drivers` and `Constants`
    stores, d_stores (T + 1, 5, E): before the first day, and after each; d_before (5, E)
    flow, d_flow (T, N, 2, B); evapotranspiration, leak and theirs (T, E)
"""

import triton
import triton.language as tl


@triton.jit
def _least(a, b):
    return tl.where((a < b) | (a != a), a, b)


@triton.jit
def _read(rows, number, elements, at, inside):
    """Return a row of elements; 1 beyond the last, which divides nothing by 0."""
    return tl.load(rows + number * elements + at, mask=inside, other=1.0)


@triton.jit
def _write(rows, number, elements, at, inside, values):
    tl.store(rows + number * elements + at, values, mask=inside)


@triton.jit
def _read_drivers(drivers, elements, at, inside):
    return (
        _read(drivers, 0, elements, at, inside),
        _read(drivers, 1, elements, at, inside),
        _read(drivers, 2, elements, at, inside),
        _read(drivers, 3, elements, at, inside),
        _read(drivers, 4, elements, at, inside),
        _read(drivers, 5, elements, at, inside),
        _read(drivers, 6, elements, at, inside),
        _read(drivers, 7, elements, at, inside),
        _read(drivers, 8, elements, at, inside),
        _read(drivers, 9, elements, at, inside),
        _read(drivers, 10, elements, at, inside),
        _read(drivers, 11, elements, at, inside),
        _read(drivers, 12, elements, at, inside),
    )


@triton.jit
def _read_constants(constants, elements, at, inside):
    return (
        _read(constants, 0, elements, at, inside),
        _read(constants, 1, elements, at, inside),
        _read(constants, 2, elements, at, inside),
        _read(constants, 3, elements, at, inside),
    )


@triton.jit
def _read_stores(stores, elements, at, inside):
    return (
        _read(stores, 0, elements, at, inside),
        _read(stores, 1, elements, at, inside),
        _read(stores, 2, elements, at, inside),
        _read(stores, 3, elements, at, inside),
        _read(stores, 4, elements, at, inside),
    )


@triton.jit
def _write_stores(stores, elements, at, inside, I2, L3, S3, U3, G2):
    _write(stores, 0, elements, at, inside, I2)
    _write(stores, 1, elements, at, inside, L3)
    _write(stores, 2, elements, at, inside, S3)
    _write(stores, 3, elements, at, inside, U3)
    _write(stores, 4, elements, at, inside, G2)


@triton.jit
def _snow(I0, L0, snowfall, melt, freeze, release):
    I1 = I0 + snowfall
    m = _least(I1, melt)
    L1 = L0 + m
    f = _least(L1, freeze)
    L2 = L1 - f
    return I1, m, L1, f, L2, release * L2


@triton.jit
def _soil(S0, x, n, excess, C, drain):
    tiny = tl.full(S0.shape, 1e-6, S0.dtype)
    b = x * (x / (x + excess))
    enters = x - b
    a = tl.maximum(1 - S0 / C, tiny)
    u0 = tl.exp(tl.log(a) / n)
    u1 = u0 - enters / (n * C)
    left = tl.where(u1 > tiny, tl.exp(n * tl.log(tl.maximum(u1, tiny))), 0.0)
    gain = tl.minimum(tl.maximum(C * (1 - left) - S0, 0.0), enters)
    S1 = S0 + gain
    wet = tl.minimum(S1 / C, 1.0)
    return b, enters, a, u0, u1, left, gain, S1, wet, drain * S1 * wet * wet


@triton.jit
def _zones(U0, G0, enters, percolation, threshold, k0, k1, k2):
    U1 = U0 + enters
    p = _least(U1, percolation)
    U2 = U1 - p
    q0 = k0 * (U2 * (U2 / (U2 + threshold)))
    rest = U2 - q0
    G1 = G0 + p
    return U1, p, U2, q0, rest, k1 * rest, G1, k2 * G1


@triton.jit(do_not_specialize=["days"])
def forward(
    drivers, constants, stores, flow, evapotranspiration, leak, days, elements, samples, BLOCK: tl.constexpr
):  # fmt: skip
    """Run the days of a block of elements; `stores` holds those before the first day."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < elements
    of_flow = at // samples * (2 * samples) + at % samples
    release, C, threshold, drain = _read_constants(constants, elements, at, inside)
    I0, L0, S0, U0, G0 = _read_stores(stores, elements, at, inside)
    for _ in range(days):
        snowfall, rain, melt, freeze, demand, drying, n, excess, percolation, k0, k1, k2, lost = _read_drivers(
            drivers, elements, at, inside
        )
        I1, m, L1, f, L2, w = _snow(I0, L0, snowfall, melt, freeze, release)
        b, enters, a, u0, u1, left, gain, S1, wet, d = _soil(S0, w + rain, n, excess, C, drain)
        e = _least(demand, drying * (S1 - d))
        U1, p, U2, q0, rest, q1, G1, y = _zones(
            U0, G0, (enters - gain) + d, percolation, threshold, k0=k0, k1=k1, k2=k2
        )
        leaked = lost * y
        I0, L0, S0, U0, G0 = (I1 - m) + f, L2 - w, (S1 - d) - e, rest - q1, G1 - y
        stores += 5 * elements
        _write_stores(stores, elements, at, inside, I2=I0, L3=L0, S3=S0, U3=U0, G2=G0)
        tl.store(flow + of_flow, b + q0, mask=inside)
        tl.store(flow + of_flow + samples, q1 + (y - leaked), mask=inside)
        tl.store(evapotranspiration + at, e, mask=inside)
        tl.store(leak + at, leaked, mask=inside)
        drivers += 13 * elements
        flow += 2 * elements
        evapotranspiration += elements
        leak += elements


@triton.jit(do_not_specialize=["days"])
def backward(
    drivers, constants, stores, d_stores, d_flow, d_evapotranspiration, d_leak, d_drivers, d_constants, d_before,
    days, elements, samples, WHOLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Carry gradients back through the days; those of stores, evapotranspiration and leak where `WHOLE`."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < elements
    of_flow = at // samples * (2 * samples) + at % samples
    release, C, threshold, drain = _read_constants(constants, elements, at, inside)
    last = (days - 1).to(tl.int64)
    drivers += last * 13 * elements
    d_drivers += last * 13 * elements
    stores += last * 5 * elements
    d_stores += (last + 1) * 5 * elements
    d_flow += last * 2 * elements
    d_evapotranspiration += last * elements
    d_leak += last * elements
    zero = release * 0
    d_I, d_L, d_S, d_U, d_G = zero, zero, zero, zero, zero
    d_release, d_C, d_threshold, d_drain = zero, zero, zero, zero
    for _ in range(days):
        snowfall, rain, melt, freeze, demand, drying, n, excess, percolation, k0, k1, k2, lost = _read_drivers(
            drivers, elements, at, inside
        )
        I0, L0, S0, U0, G0 = _read_stores(stores, elements, at, inside)
        I1, m, L1, f, L2, w = _snow(I0, L0, snowfall, melt, freeze, release)
        x = w + rain
        b, enters, a, u0, u1, left, gain, S1, wet, d = _soil(S0, x, n, excess, C, drain)
        S2 = S1 - d
        U1, p, U2, q0, rest, q1, G1, y = _zones(
            U0, G0, (enters - gain) + d, percolation, threshold, k0=k0, k1=k1, k2=k2
        )
        d_e, d_l = zero, zero
        if WHOLE:
            more_I, more_L, more_S, more_U, more_G = _read_stores(d_stores, elements, at, inside)
            d_I, d_L, d_S, d_U, d_G = d_I + more_I, d_L + more_L, d_S + more_S, d_U + more_U, d_G + more_G
            d_e, d_l = _read(d_evapotranspiration, 0, elements, at, inside), _read(d_leak, 0, elements, at, inside)
        over = tl.load(d_flow + of_flow, mask=inside, other=0.0)
        within = tl.load(d_flow + of_flow + samples, mask=inside, other=0.0)
        # The zones.
        d_l -= within
        d_y = within - d_G + lost * d_l
        d_G += k2 * d_y
        d_q1 = within - d_U
        d_rest = d_U + k1 * d_q1
        d_q0 = over - d_rest
        share = U2 / (U2 + threshold)
        d_U2 = d_rest + d_q0 * k0 * share * (2 - share)
        d_threshold -= d_q0 * k0 * share * share
        d_p = d_G - d_U2
        by_store = U1 < percolation
        d_U = d_U2 + tl.where(by_store, d_p, 0.0)
        _write(d_drivers, 8, elements, at, inside, tl.where(by_store, 0.0, d_p))
        _write(d_drivers, 9, elements, at, inside, d_q0 * U2 * share)
        _write(d_drivers, 10, elements, at, inside, d_q1 * rest)
        _write(d_drivers, 11, elements, at, inside, d_y * G1)
        _write(d_drivers, 12, elements, at, inside, d_l * y)
        # The soil.
        d_e -= d_S
        by_demand = demand < drying * S2
        dried = tl.where(by_demand, 0.0, d_e)
        _write(d_drivers, 4, elements, at, inside, tl.where(by_demand, d_e, 0.0))
        _write(d_drivers, 5, elements, at, inside, dried * S2)
        d_S2 = d_S + dried * drying
        d_d = d_U - d_S2
        unfilled = S1 / C <= 1.0
        d_S1 = d_S2 + d_d * drain * wet * wet * tl.where(unfilled, 3.0, 1.0)
        d_C -= tl.where(unfilled, 2 * d_d * drain * wet * wet * wet, 0.0)
        d_drain += d_d * S1 * wet * wet
        d_gain = d_S1 - d_U
        tiny = tl.full(S0.shape, 1e-6, S0.dtype)
        rises = u1 > tiny
        d_left = tl.where(rises, -C * d_gain * left, 0.0)  # times left
        d_u1 = d_left * n / tl.where(rises, u1, 1.0)
        d_a = tl.where(1 - S0 / C >= tiny, d_u1 * u0 / (n * a), 0.0)
        d_n = d_left * tl.log(tl.where(rises, u1, 1.0)) - d_u1 * u0 * tl.log(a) / (n * n)
        d_n += d_u1 * enters / (n * n * C)
        _write(d_drivers, 6, elements, at, inside, d_n)
        d_C += d_gain * (1 - left) + d_u1 * enters / (n * C * C) + d_a * S0 / (C * C)
        d_S = d_S1 - d_gain - d_a / C
        # What reaches the ground.
        d_enters = d_U - d_u1 / (n * C)
        d_b = over - d_enters
        part = x / (x + excess)
        d_x = d_enters + d_b * part * (2 - part)
        _write(d_drivers, 7, elements, at, inside, -d_b * part * part)
        _write(d_drivers, 1, elements, at, inside, d_x)
        # The snow.
        d_w = d_x - d_L
        d_L += release * d_w
        d_release += d_w * L2
        d_f = d_I - d_L
        by_liquid = L1 < freeze
        d_L += tl.where(by_liquid, d_f, 0.0)
        _write(d_drivers, 3, elements, at, inside, tl.where(by_liquid, 0.0, d_f))
        d_m = d_L - d_I
        by_snow = I1 < melt
        d_I += tl.where(by_snow, d_m, 0.0)
        _write(d_drivers, 2, elements, at, inside, tl.where(by_snow, 0.0, d_m))
        _write(d_drivers, 0, elements, at, inside, d_I)
        drivers -= 13 * elements
        d_drivers -= 13 * elements
        stores -= 5 * elements
        d_stores -= 5 * elements
        d_flow -= 2 * elements
        d_evapotranspiration -= elements
        d_leak -= elements
    _write_stores(d_before, elements, at, inside, I2=d_I, L3=d_L, S3=d_S, U3=d_U, G2=d_G)
    _write(d_constants, 0, elements, at, inside, d_release)
    _write(d_constants, 1, elements, at, inside, d_C)
    _write(d_constants, 2, elements, at, inside, d_threshold)
    _write(d_constants, 3, elements, at, inside, d_drain)
