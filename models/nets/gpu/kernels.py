"""The Triton kernels of MC-LSTM's recurrence: all days of a sample in one launch, forward, with tags, and backward.

The weights of a member are in the registers of a program for all days where they fit (`RESIDENT`). What the weather
gives to the gates (`rows`) is loaded a day ahead, because nothing else of a day has to wait for memory. Sums have an
order that depends on no other sample or member. Layouts, with M members, B samples, T days:

    factor (M, R, K, K), factor_bias (M, K, K) or rows' first K K values; of_cells (M, mixtures + 2 K, K); wetness (M, K)
    rows (M, B, T, W), W = R + 2 K, or K K + 2 K where R is not factorised; mass, discharge (M, B, T)
    cells (M, B, K); storage, outflow (M, B, T, K)
"""

import triton
import triton.language as tl

from models.nets.gpu.day import (
    collect,
    input_gate,
    load_factor,
    load_few,
    load_rows,
    load_square,
    mix,
    normalise,
    output_gate,
    redistribute,
    redistribute_streamed,
    shares,
)


@triton.jit
def forward(
    factor, factor_bias, of_cells, wetness, rows, mass, cells, storage, outflow, discharge, days, samples,
    K: tl.constexpr, KP: tl.constexpr, R: tl.constexpr, RP: tl.constexpr,
    FACTORISED: tl.constexpr, WETNESS: tl.constexpr, RESIDENT: tl.constexpr, OUTFLOW: tl.constexpr,
):  # fmt: skip
    """Run the days of a sample."""
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
    row_v, row_i, row_o = (
        load_few(rows, MIXTURES, RP), load_few(rows + FIRST, K, KP), load_few(rows + FIRST + K, K, KP)
    )  # fmt: skip
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
            A = redistribute_streamed(factor, v, bias, K, KP, R, RP)
        _, dead, w = shares(c, A)
        i = input_gate(z_i, K, KP)
        m = collect(w, A, i, x, c, dead)
        # The next day's, while this one is computed.
        more = tl.where(t + 1 < days, 1, 0)
        after = rows + (t + 1) * WIDTH
        if FACTORISED:
            row_v = load_few(after, MIXTURES * more, RP)
        elif more > 0:
            bias = load_square(after, K, KP)
        row_i, row_o = load_few(after + FIRST, K * more, KP), load_few(after + FIRST + K, K * more, KP)
        x = tl.load(mass + at * days + t + 1, mask=more > 0, other=0.0)
        h = output_gate(z_o, 1.0 + kappa * m) * m
        c = m - h
        day = at * days + t
        tl.store(storage + day * K + k, c, mask=k < K)
        if OUTFLOW:
            tl.store(outflow + day * K + k, h, mask=k < K)
        tl.store(discharge + day, tl.sum(tl.where(k == 0, 0.0, h), 0))


@triton.jit
def tagged_forward(
    factor, factor_bias, of_cells, wetness, rows, mass, cells, storage, outflow, discharge,
    tag_mass, tag_cells, tag_discharge, tag_loss, days, samples,
    K: tl.constexpr, KP: tl.constexpr, R: tl.constexpr, RP: tl.constexpr, G: tl.constexpr, GP: tl.constexpr,
    FACTORISED: tl.constexpr, WETNESS: tl.constexpr,
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
        A = redistribute_streamed(factor, v, bias, K, KP, R, RP)
        s, dead, w = shares(c, A)
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


@triton.jit
def backward(
    factor, factor_bias, of_cells, wetness, rows, mass, cells, storage,
    d_storage, d_outflow, d_discharge, d_rows, d_mass, d_cells, d_wetness, normalised, mixtures, routes, days, samples,
    K: tl.constexpr, KP: tl.constexpr, R: tl.constexpr, RP: tl.constexpr,
    FACTORISED: tl.constexpr, WETNESS: tl.constexpr, RESIDENT: tl.constexpr, WHOLE: tl.constexpr, MASS: tl.constexpr,
):  # fmt: skip
    """Return from the last day of a sample to the first, with the gates computed again from the stored cells.

    `d_storage`, `d_outflow` (M, B, T, K) are read where `WHOLE`. Beside the gradients, c / |c| is stored in
    `normalised` (M, B, T, K), v in `mixtures` (M, B, T, R), and w, q and dm in `routes` (M, B, T, 3, K), of which
    the gradients of the weights are made.
    """
    sample, member = tl.program_id(0), tl.program_id(1).to(tl.int64)
    FIRST: tl.constexpr = R if FACTORISED else K * K
    MIXTURES: tl.constexpr = R if FACTORISED else 0
    WIDTH: tl.constexpr = FIRST + 2 * K
    at = member * samples + sample
    factor += member * (R * K * K)
    k = tl.arange(0, KP)
    j_, k_ = k[:, None], k[None, :]
    r = tl.arange(0, RP)
    weights = of_cells + member * (MIXTURES + 2 * K) * K
    into, out = load_square(weights + MIXTURES * K, K, KP), load_square(weights + (MIXTURES + K) * K, K, KP)
    mixing = load_rows(weights, MIXTURES, RP, K, KP)
    if RESIDENT:
        U = load_factor(factor, K, KP, R, RP)
    kappa = load_few(wetness + member * K, K * WETNESS, KP)
    dkappa = tl.zeros_like(kappa)
    dc = tl.zeros_like(kappa)
    last = at * days + days - 1
    row = rows + last * WIDTH
    if FACTORISED:
        bias = load_square(factor_bias + member * (K * K), K, KP)
    else:
        bias = load_square(row, K, KP)
    row_v, row_i, row_o = (
        load_few(row, MIXTURES, RP), load_few(row + FIRST, K, KP), load_few(row + FIRST + K, K, KP)
    )  # fmt: skip
    x, dq = tl.load(mass + last), tl.load(d_discharge + last)
    if days > 1:
        c = load_few(storage + (last - 1) * K, K, KP)
    else:
        c = load_few(cells + at * K, K, KP)
    for back in range(days):
        day = last - back
        n, norm = normalise(c)
        if FACTORISED:
            v = mix(mixing, n, row_v)
        else:
            v = n
        z_i, z_o = mix(into, n, row_i), mix(out, n, row_o)
        if RESIDENT:
            A = redistribute(U, v, bias)
        else:
            A = redistribute_streamed(factor, v, bias, K, KP, R, RP)
        s, dead, w = shares(c, A)
        i = input_gate(z_i, K, KP)
        m = collect(w, A, i, x, c, dead)
        lift = 1.0 + kappa * m
        o = output_gate(z_o, lift)
        dh = tl.where((k == 0) | (k >= K), 0.0, dq)
        if WHOLE:
            dh += load_few(d_outflow + day * K, K, KP)
            dc += load_few(d_storage + day * K, K, KP)
        dm = o * dh + (1.0 - o) * dc
        dz_o = tl.where(k < K, (dh - dc) * m * o * (1.0 - o), 0.0)
        if WETNESS:
            along = dz_o / lift
            dkappa += along * m
            dm += kappa * along
        q = tl.where(dead, dm, tl.sum(A * dm[None, :], 1) / tl.where(dead, 1.0, s))
        dz = tl.where(A > 0, w[:, None] * (dm[None, :] - q[:, None]), 0.0)
        di = dm * x
        sure = tl.exp(-tl.abs(z_i))
        closed = tl.where(z_i >= 0, sure, 1.0) / (1.0 + sure)
        dz_i = i * (di - tl.sum(i * di, 0)) * closed
        if MASS:
            tl.store(d_mass + day, tl.sum(dm * i, 0))
        # The day before, while this one's gradients are computed.
        more = tl.where(back + 1 < days, 1, 0)
        before = rows + (day - 1) * WIDTH
        if FACTORISED:
            row_v = load_few(before, MIXTURES * more, RP)
        elif more > 0:
            bias = load_square(before, K, KP)
        row_i, row_o = load_few(before + FIRST, K * more, KP), load_few(before + FIRST + K, K * more, KP)
        x = tl.load(mass + day - 1, mask=more > 0, other=0.0)
        dq = tl.load(d_discharge + day - 1, mask=more > 0, other=0.0)
        c_before = load_few(storage + (day - 2) * K, K * tl.where(back + 2 < days, 1, 0), KP)
        c_before += load_few(cells + at * K, K * tl.where(back + 2 == days, 1, 0), KP)
        if RESIDENT:
            dv = tl.sum(tl.sum(U * dz[None, :, :], 2), 1)
        else:
            dv = tl.zeros_like(v)
            for rr in range(R):
                of_r = load_square(factor + rr * (K * K), K, KP)
                dv = tl.where(r == rr, tl.sum(tl.sum(of_r * dz, 1), 0), dv)
        dn = tl.sum(into * dz_i[:, None], 0) + tl.sum(out * dz_o[:, None], 0)
        if FACTORISED:
            dn += tl.sum(mixing * dv[:, None], 0)
            tl.store(d_rows + day * WIDTH + r, dv, mask=r < R)
            tl.store(mixtures + day * R + r, v, mask=r < R)
            routed = routes + day * (3 * K) + k
            tl.store(routed, w, mask=k < K)
            tl.store(routed + K, q, mask=k < K)
            tl.store(routed + 2 * K, dm, mask=k < K)
        else:
            dn += dv
            tl.store(d_rows + day * WIDTH + j_ * K + k_, dz, mask=(j_ < K) & (k_ < K))
        tl.store(d_rows + day * WIDTH + FIRST + k, dz_i, mask=k < K)
        tl.store(d_rows + day * WIDTH + FIRST + K + k, dz_o, mask=k < K)
        tl.store(normalised + day * K + k, n, mask=k < K)
        dc = q + (dn - tl.sum(dn * c, 0) / norm) / norm
        c = c_before
    tl.store(d_cells + at * K + k, dc, mask=k < K)
    if WETNESS:
        tl.store(d_wetness + at * K + k, dkappa, mask=k < K)


@triton.jit
def factor_gradient(
    factor, factor_bias, mixtures, routes, d_factor, d_bias, rows,
    CHUNK: tl.constexpr, K: tl.constexpr, KP: tl.constexpr, R: tl.constexpr, RP: tl.constexpr, JB: tl.constexpr,
):  # fmt: skip
    """Sum the gradient of some source cells of U, and of b, over a chunk of the rows (M, rows) of samples and days.

    The results have a chunk as their second axis: d_factor (M, chunks, R, K, K), d_bias (M, chunks, K, K).
    """
    chunk, block, member = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
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
    first = chunk * CHUNK
    for at in range(first, tl.minimum(first + CHUNK, rows)):
        row = member * rows + at
        v = tl.load(mixtures + row * R + r, mask=r < R, other=0.0)
        w = tl.load(routes + row * (3 * K) + j, mask=j < K, other=0.0)
        q = tl.load(routes + row * (3 * K) + K + j, mask=j < K, other=0.0)
        dm = tl.load(routes + row * (3 * K) + 2 * K + k, mask=k < K, other=0.0)
        A = redistribute(U, v, bias)
        dz = tl.where(A > 0, w[:, None] * (dm[None, :] - q[:, None]), 0.0)
        dU += v[:, None, None] * dz[None, :, :]
        db += dz
    of_chunk = member * tl.num_programs(0) + chunk
    tl.store(d_factor + of_chunk * (R * K * K) + tile, tl.reshape(dU, (RP, JB * KP)), mask=inside)
    tl.store(d_bias + of_chunk * (K * K) + square, db, mask=within)
