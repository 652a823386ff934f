"""The Triton kernels of MC-LSTM's recurrence: all days of a sample in one launch, forward, with tags, and backward.

The weights of a member are in the registers of a program for all days where they fit (`RESIDENT`). What a day needs
from memory is loaded a day ahead, so that only the cells wait for one another. Sums have an order that depends on no
other sample or member; the numbers of days and samples are not compiled in, so that one day has the program of many.
Layouts, with M members, B samples, T days:

    factor (M, R, K, K), factor_bias (M, K, K); where R is not factorised, R = K and b is in the rows
    of_cells (M, mixtures + 2 K, K), wetness (M, K); mixtures are R, or 0 where R is not factorised
    rows (M, B, T, W), W = R + 2 K, or K K + 2 K where R is not factorised
    mass, discharge (M, B, T); cells (M, B, K); storage, outflow (M, B, T, K)
    gates (M, B, T, 6 K + R): n, i, sigma(-z_i), o, m, s and v, what the way back needs of a day
"""

import triton
import triton.language as tl

from extensions.gpu.nets.day import (
    EPSILON,
    collect,
    collect_back,
    input_gate,
    load_factor,
    load_few,
    load_gates,
    load_row,
    load_rows,
    load_square,
    mix,
    normalise,
    output_gate,
    redistribute,
    redistribute_streamed,
    release_back,
    shares,
    store_few,
    store_gates,
)


@triton.jit(do_not_specialize=["days", "samples"])
def forward(
    factor, factor_bias, of_cells, wetness, rows, mass, cells, storage, outflow, discharge, gates, days, samples,
    K: tl.constexpr, KP: tl.constexpr, R: tl.constexpr, RP: tl.constexpr,
    FACTORISED: tl.constexpr, WETNESS: tl.constexpr, RESIDENT: tl.constexpr, TRAINING: tl.constexpr,
):  # fmt: skip
    """Run the days of a sample; `TRAINING` stores the gates for `backward`."""
    sample, member = tl.program_id(0), tl.program_id(1).to(tl.int64)
    FIRST: tl.constexpr = R if FACTORISED else K * K  # row of the input gate
    MIXTURES: tl.constexpr = R if FACTORISED else 0
    WIDTH: tl.constexpr = FIRST + 2 * K
    at = member * samples + sample
    rows += at * days * WIDTH
    factor += member * (R * K * K)
    k = tl.arange(0, KP)
    weights = of_cells + member * (MIXTURES + 2 * K) * K
    into, out = load_square(weights + MIXTURES * K, K, KP), load_square(weights + (MIXTURES + K) * K, K, KP)
    mixing = load_rows(weights, MIXTURES, RP, K, KP)
    if RESIDENT:
        U = load_factor(factor, K, KP, R, RP)
    if FACTORISED:
        bias = load_square(factor_bias + member * (K * K), K, KP)
    else:
        bias = load_square(rows, K, KP)
    kappa = load_few(wetness + member * K, K * WETNESS, KP)
    c = load_few(cells + at * K, K, KP)
    row_v, row_i, row_o = load_row(rows, K, KP, MIXTURES, RP, first=FIRST, there=1)
    x = tl.load(mass + at * days)
    for t in range(days):
        n, _ = normalise(c)
        if FACTORISED:
            v = mix(mixing, n, row_v)
        else:
            v = n
        z_i, z_o = mix(into, n, row_i), mix(out, n, row_o)
        if RESIDENT:
            A = redistribute(U, v, bias)
        else:
            A = redistribute_streamed(factor, v, bias, K=K, KP=KP, R=R, RP=RP)
        s = tl.sum(A, 1)
        dead, w = shares(c, s)
        i = input_gate(z_i, K, KP)
        m = collect(w, A, i, x, c, dead)
        # The next day's, while this one is computed.
        more = tl.where(t + 1 < days, 1, 0)
        after = rows + (t + 1) * WIDTH
        row_v, row_i, row_o = load_row(after, K, KP, MIXTURES, RP, first=FIRST, there=more)
        if not FACTORISED:
            bias = load_rows(after, K * more, KP, K, KP)
        x = tl.load(mass + at * days + t + 1, mask=more > 0, other=0.0)
        o = output_gate(z_o, 1.0 + kappa * m)
        h = o * m
        day = at * days + t
        if TRAINING:
            of_day = gates + day * (6 * K + R)
            store_gates(of_day, n=n, z_i=z_i, i=i, o=o, m=m, s=s, v=v, K=K, KP=KP, mixtures=MIXTURES, RP=RP)
        c = m - h
        store_few(storage + day * K, K, c, KP)
        store_few(outflow + day * K, K, h, KP)
        tl.store(discharge + day, tl.sum(tl.where(k == 0, 0.0, h), 0))


@triton.jit(do_not_specialize=["days", "samples"])
def tagged_forward(
    factor, factor_bias, of_cells, wetness, rows, mass, cells, storage, outflow, discharge,
    tag_mass, tag_cells, tag_discharge, tag_loss, days, samples,
    K: tl.constexpr, KP: tl.constexpr, R: tl.constexpr, RP: tl.constexpr, G: tl.constexpr, GP: tl.constexpr,
    FACTORISED: tl.constexpr, WETNESS: tl.constexpr, RESIDENT: tl.constexpr,
):  # fmt: skip
    """Run the days of a sample, each tag's water beside all water.

    `tag_mass`, `tag_discharge`, `tag_loss` (M, B, T, G); `tag_cells` (M, B, G, K), before and then after the days.
    """
    sample, member = tl.program_id(0), tl.program_id(1).to(tl.int64)
    FIRST: tl.constexpr = R if FACTORISED else K * K
    MIXTURES: tl.constexpr = R if FACTORISED else 0
    WIDTH: tl.constexpr = FIRST + 2 * K
    at = member * samples + sample
    rows += at * days * WIDTH
    factor += member * (R * K * K)
    k, g = tl.arange(0, KP), tl.arange(0, GP)
    weights = of_cells + member * (MIXTURES + 2 * K) * K
    into, out = load_square(weights + MIXTURES * K, K, KP), load_square(weights + (MIXTURES + K) * K, K, KP)
    mixing = load_rows(weights, MIXTURES, RP, K, KP)
    if RESIDENT:
        U = load_factor(factor, K, KP, R, RP)
    kappa = load_few(wetness + member * K, K * WETNESS, KP)
    c = load_few(cells + at * K, K, KP)
    tagged = load_rows(tag_cells + at * (G * K), G, GP, K, KP)
    for t in range(days):
        day = at * days + t
        today = rows + t * WIDTH
        n, _ = normalise(c)
        if FACTORISED:
            v = mix(mixing, n, load_few(today, MIXTURES, RP))
            bias = load_square(factor_bias + member * (K * K), K, KP)
        else:
            v = n
            bias = load_square(today, K, KP)
        if RESIDENT:
            A = redistribute(U, v, bias)
        else:
            A = redistribute_streamed(factor, v, bias, K=K, KP=KP, R=R, RP=RP)
        s = tl.sum(A, 1)
        dead, w = shares(c, s)
        i = input_gate(mix(into, n, load_few(today + FIRST, K, KP)), K, KP)
        m = collect(w, A, i, tl.load(mass + day), c, dead)
        o = output_gate(mix(out, n, load_few(today + FIRST + K, K, KP)), 1.0 + kappa * m)
        parts = tl.where(dead[None, :], 0.0, tagged / tl.where(dead, 1.0, s)[None, :])
        x = tl.load(tag_mass + day * G + g, mask=g < G, other=0.0)
        held = tl.where(dead[None, :], tagged, 0.0)
        tagged = tl.dot(parts, A, input_precision="ieee", out_dtype=A.dtype) + x[:, None] * i[None, :] + held
        # Each tag is rounded separately: scaled, they add up to all water.
        total = tl.sum(tagged, 0)
        tagged *= tl.where(total > 0, m / tl.where(total > 0, total, 1.0), 1.0)[None, :]
        h, h_tags = o * m, o[None, :] * tagged
        c, tagged = m - h, tagged - h_tags
        tl.store(storage + day * K + k, c, mask=k < K)
        tl.store(outflow + day * K + k, h, mask=k < K)
        tl.store(discharge + day, tl.sum(tl.where(k == 0, 0.0, h), 0))
        first = tl.where(k == 0, 1.0, 0.0)[None, :]
        tl.store(tag_discharge + day * G + g, tl.sum(h_tags * (1.0 - first), 1), mask=g < G)
        tl.store(tag_loss + day * G + g, tl.sum(h_tags * first, 1), mask=g < G)
    tags = tag_cells + at * (G * K) + g[:, None] * K + k[None, :]
    tl.store(tags, tagged, mask=(g[:, None] < G) & (k[None, :] < K))


@triton.jit(do_not_specialize=["days", "samples"])
def backward(
    factor, factor_bias, of_cells, wetness, rows, mass, cells, storage, gates,
    d_storage, d_outflow, d_discharge, d_rows, d_mass, d_cells, d_wetness, routes, days, samples,
    K: tl.constexpr, KP: tl.constexpr, R: tl.constexpr, RP: tl.constexpr,
    FACTORISED: tl.constexpr, WETNESS: tl.constexpr, RESIDENT: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """Return from the last day of a sample to the first, with R computed again from the stored mixtures.

    `d_storage`, `d_outflow` (M, B, T, K) are read where `WHOLE`. Beside the gradients, w, q and dm are stored in
    `routes` (M, B, T, 3 K), of which `factor_gradient` makes the gradient of U.
    """
    sample, member = tl.program_id(0), tl.program_id(1).to(tl.int64)
    FIRST: tl.constexpr = R if FACTORISED else K * K
    MIXTURES: tl.constexpr = R if FACTORISED else 0
    WIDTH: tl.constexpr = FIRST + 2 * K
    GATES: tl.constexpr = 6 * K + R
    at = member * samples + sample
    factor += member * (R * K * K)
    k = tl.arange(0, KP)
    weights = of_cells + member * (MIXTURES + 2 * K) * K
    if RESIDENT:
        U = load_factor(factor, K, KP, R, RP)
    kappa = load_few(wetness + member * K, K * WETNESS, KP)
    dkappa = tl.zeros_like(kappa)
    dc = tl.zeros_like(kappa)
    last = at * days + days - 1
    n, i, closed, o, m, s, v = load_gates(gates + last * GATES, K, KP, MIXTURES, RP, 1)
    x, dq = tl.load(mass + last), tl.load(d_discharge + last)
    if days > 1:
        c = load_few(storage + (last - 1) * K, K, KP)
    else:
        c = load_few(cells + at * K, K, KP)
    for back in range(days):
        day = last - back
        # From the cache every day, as the gates' weights below: beside U the registers have no room for them.
        if FACTORISED:
            bias = load_square(factor_bias + member * (K * K), K, KP)
        else:
            bias = load_square(rows + day * WIDTH, K, KP)
            v = n
        if RESIDENT:
            A = redistribute(U, v, bias)
        else:
            A = redistribute_streamed(factor, v, bias, K=K, KP=KP, R=R, RP=RP)
        dead, w = shares(c, s)
        norm = tl.sum(c, 0) + EPSILON
        dh = tl.where((k == 0) | (k >= K), 0.0, dq)
        if WHOLE:
            dh += load_few(d_outflow + day * K, K, KP)
            dc += load_few(d_storage + day * K, K, KP)
        dm, dz_o = release_back(o, m, dh, dc)
        if WETNESS:
            along = dz_o / (1.0 + kappa * m)
            dkappa += along * m
            dm += kappa * along
        q, dz = collect_back(A, w, s, dead, dm)
        di = dm * x
        dz_i = i * (di - tl.sum(i * di, 0)) * closed
        tl.store(d_mass + day, tl.sum(dm * i, 0))
        if RESIDENT:
            dv = tl.sum(tl.reshape(U * dz[None, :, :], (RP, KP * KP)), 1)
        else:
            dv = tl.zeros((RP,), kappa.dtype)
            for r in range(R):
                of_r = tl.sum(tl.sum(load_square(factor + r * (K * K), K, KP) * dz, 1), 0)
                dv = tl.where(tl.arange(0, RP) == r, of_r, dv)
        # The day before, while this one's gradients are computed.
        more = tl.where(back + 1 < days, 1, 0)
        n, i, closed, o, m, s, v = load_gates(gates + (day - 1) * GATES, K, KP, MIXTURES, RP, more)
        x = tl.load(mass + day - 1, mask=more > 0, other=0.0)
        dq = tl.load(d_discharge + day - 1, mask=more > 0, other=0.0)
        c_before = load_few(storage + (day - 2) * K, K * tl.where(back + 2 < days, 1, 0), KP)
        c_before += load_few(cells + at * K, K * tl.where(back + 2 == days, 1, 0), KP)
        into, out = load_square(weights + MIXTURES * K, K, KP), load_square(weights + (MIXTURES + K) * K, K, KP)
        dn = tl.sum(into * dz_i[:, None], 0) + tl.sum(out * dz_o[:, None], 0)
        d_row = d_rows + day * WIDTH
        if FACTORISED:
            dn += tl.sum(load_rows(weights, MIXTURES, RP, K, KP) * dv[:, None], 0)
            store_few(d_row, R, dv, RP)
            store_few(routes + day * (3 * K), K, w, KP)
            store_few(routes + day * (3 * K) + K, K, q, KP)
            store_few(routes + day * (3 * K) + 2 * K, K, dm, KP)
        else:
            dn += dv
            square = k[:, None] * K + k[None, :]
            tl.store(d_row + square, dz, mask=(k[:, None] < K) & (k[None, :] < K))
        store_few(d_row + FIRST, K, dz_i, KP)
        store_few(d_row + FIRST + K, K, dz_o, KP)
        dc = q + (dn - tl.sum(dn * c, 0) / norm) / norm
        c = c_before
    store_few(d_cells + at * K, K, dc, KP)
    if WETNESS:
        store_few(d_wetness + at * K, K, dkappa, KP)


@triton.jit(do_not_specialize=["rows"])
def factor_gradient(
    factor, factor_bias, gates, routes, d_factor, d_bias, rows,
    CHUNK: tl.constexpr, K: tl.constexpr, KP: tl.constexpr, R: tl.constexpr, RP: tl.constexpr, JB: tl.constexpr,
):  # fmt: skip
    """Sum the gradient of some source cells of U, and of b, over a chunk of the rows (M, rows) of samples and days.

    The results have a chunk as their second axis: d_factor (M, chunks, R, K, K), d_bias (M, chunks, K, K).
    """
    chunk, block, member = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    GATES: tl.constexpr = 6 * K + R
    r, k = tl.arange(0, RP), tl.arange(0, KP)
    j = block * JB + tl.arange(0, JB)
    source, target = block * JB + tl.arange(0, JB * KP) // KP, tl.arange(0, JB * KP) % KP
    inside = (r[:, None] < R) & (source[None, :] < K) & (target[None, :] < K)
    tile = r[:, None] * (K * K) + source[None, :] * K + target[None, :]
    U = tl.reshape(tl.load(factor + member * (R * K * K) + tile, mask=inside, other=0.0), (RP, JB, KP))
    square = j[:, None] * K + k[None, :]
    within = (j[:, None] < K) & (k[None, :] < K)
    bias = tl.load(factor_bias + member * (K * K) + square, mask=within, other=0.0)
    dU, db = tl.zeros_like(U), tl.zeros_like(bias)
    first = member * rows + chunk * CHUNK
    count = tl.minimum(CHUNK, rows - chunk * CHUNK)
    gates += first * GATES + 6 * K + r
    routes += first * (3 * K)
    v = tl.load(gates, mask=r < R, other=0.0)
    w, q = tl.load(routes + j, mask=j < K, other=0.0), tl.load(routes + K + j, mask=j < K, other=0.0)
    dm = tl.load(routes + 2 * K + k, mask=k < K, other=0.0)
    for at in range(count):
        dz = tl.where(redistribute(U, v, bias) > 0, w[:, None] * (dm[None, :] - q[:, None]), 0.0)
        dU += v[:, None, None] * dz[None, :, :]
        db += dz
        # The next row's, which nothing waits for.
        more = tl.where(at + 1 < count, 1, 0)
        v = tl.load(gates + (at + 1) * GATES, mask=r < R * more, other=0.0)
        after = routes + (at + 1) * (3 * K)
        w, q = tl.load(after + j, mask=j < K * more, other=0.0), tl.load(after + K + j, mask=j < K * more, other=0.0)
        dm = tl.load(after + 2 * K + k, mask=k < K * more, other=0.0)
    of_chunk = member * tl.num_programs(0) + chunk
    tl.store(d_factor + of_chunk * (R * K * K) + tile, tl.reshape(dU, (RP, JB * KP)), mask=inside)
    tl.store(d_bias + of_chunk * (K * K) + square, db, mask=within)
