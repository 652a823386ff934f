"""The gates of a day of MC-LSTM, as this folder's Triton kernels compute the equations of `models.nets.scan`.

A program runs one sample of one member. Its tiles have a row for each source cell j and a column for each target cell
k, both padded to KP, a power of two; the padding's pre-activations are 0, so that no water goes there.
"""

import triton
import triton.language as tl

EPSILON: tl.constexpr = tl.constexpr(1e-5)
DEAD_COLUMN: tl.constexpr = tl.constexpr(1e-30)


@triton.jit
def load_factor(factor, K: tl.constexpr, KP: tl.constexpr, R: tl.constexpr, RP: tl.constexpr):
    """Return U (R, K, K) as a tile (RP, KP KP): a thread has, and sums, all mixtures of its sources and targets."""
    r, jk = tl.arange(0, RP)[:, None], tl.arange(0, KP * KP)[None, :]
    j, k = jk // KP, jk % KP
    return tl.reshape(
        tl.load(factor + r * (K * K) + j * K + k, mask=(r < R) & (j < K) & (k < K), other=0.0), (RP, KP, KP)
    )


@triton.jit
def load_square(values, K: tl.constexpr, KP: tl.constexpr):
    """Return values (K, K) as a tile."""
    j, k = tl.arange(0, KP)[:, None], tl.arange(0, KP)[None, :]
    return tl.load(values + j * K + k, mask=(j < K) & (k < K), other=0.0)


@triton.jit
def load_rows(values, rows, padded: tl.constexpr, K: tl.constexpr, KP: tl.constexpr):
    """Return values (rows, K) as a tile (padded, KP)."""
    j, k = tl.arange(0, padded)[:, None], tl.arange(0, KP)[None, :]
    return tl.load(values + j * K + k, mask=(j < rows) & (k < K), other=0.0)


@triton.jit
def load_few(values, count, padded: tl.constexpr):
    """Return values (count,) and zeros after them."""
    k = tl.arange(0, padded)
    return tl.load(values + k, mask=k < count, other=0.0)


@triton.jit
def store_few(values, count, result, padded: tl.constexpr):
    """Store what `load_few` would load."""
    k = tl.arange(0, padded)
    tl.store(values + k, result, mask=k < count)


@triton.jit
def load_gates(gates, K: tl.constexpr, KP: tl.constexpr, mixtures: tl.constexpr, RP: tl.constexpr, there):
    """Return n, i, sigma(-z_i), o, m, s (KP,) and v (RP,) of a day; zeros where `there` is 0."""
    n, i = load_few(gates, K * there, KP), load_few(gates + K, K * there, KP)
    closed, o = load_few(gates + 2 * K, K * there, KP), load_few(gates + 3 * K, K * there, KP)
    m, s = load_few(gates + 4 * K, K * there, KP), load_few(gates + 5 * K, K * there, KP)
    return n, i, closed, o, m, s, load_few(gates + 6 * K, mixtures * there, RP)


@triton.jit
def store_gates(
    gates, n, z_i, i, o, m, s, v, K: tl.constexpr, KP: tl.constexpr, mixtures: tl.constexpr, RP: tl.constexpr
):
    """Store what `load_gates` loads."""
    sure = tl.exp(-tl.abs(z_i))
    closed = tl.where(z_i >= 0, sure, 1.0) / (1.0 + sure)
    store_few(gates, K, n, KP)
    store_few(gates + K, K, i, KP)
    store_few(gates + 2 * K, K, closed, KP)
    store_few(gates + 3 * K, K, o, KP)
    store_few(gates + 4 * K, K, m, KP)
    store_few(gates + 5 * K, K, s, KP)
    store_few(gates + 6 * K, mixtures, v, RP)


@triton.jit
def load_row(rows, K: tl.constexpr, KP: tl.constexpr, mixtures: tl.constexpr, RP: tl.constexpr, first, there):
    """Return what weather and basin give to mixtures, input gate (its row is `first`) and output gate on a day."""
    of_gates = rows + first
    return (
        load_few(rows, mixtures * there, RP),
        load_few(of_gates, K * there, KP),
        load_few(of_gates + K, K * there, KP),
    )


@triton.jit
def normalise(c):
    """Return c / (|c| + eps) and |c| + eps."""
    norm = tl.sum(c, 0) + EPSILON
    return c / norm, norm


@triton.jit
def mix(of_cells, normalised, row):
    """Return rows of pre-activations, (rows,): those of the normalised cells beside what the weather gave."""
    return tl.sum(of_cells * normalised[None, :], 1) + row


@triton.jit
def redistribute(factor, mixtures, bias):
    """Return A, the positive part of R's pre-activations U v + b, (sources, targets)."""
    return tl.maximum(tl.sum(factor * mixtures[:, None, None], 0) + bias, 0.0)


@triton.jit
def redistribute_streamed(factor, mixtures, bias, K: tl.constexpr, KP: tl.constexpr, R: tl.constexpr, RP: tl.constexpr):
    """Do what `redistribute` does with a factor that is too large for the registers, a mixture at a time."""
    z = bias
    for r in range(R):
        mixture = tl.sum(tl.where(tl.arange(0, RP) == r, mixtures, 0.0), 0)
        z += load_square(factor + r * (K * K), K, KP) * mixture
    return tl.maximum(z, 0.0)


@triton.jit
def shares(c, s):
    """Return whether a source is dead, and w = c / s, 0 where it is: (KP,) each, by source."""
    dead = s <= DEAD_COLUMN
    return dead, tl.where(dead, 0.0, c / tl.where(dead, 1.0, s))


@triton.jit
def input_gate(z, K: tl.constexpr, KP: tl.constexpr):
    """Return i = sigma(z) / sum of sigma(z), multiplied by exp(-min(0, max z)) above and below: never 0 / 0."""
    inside = tl.arange(0, KP) < K
    shift = tl.minimum(tl.max(tl.where(inside, z, -float("inf")), 0), 0.0)
    part = tl.where(inside, 1.0 / (tl.exp(shift) + tl.exp(shift - z)), 0.0)
    return part / tl.sum(part, 0)


@triton.jit
def collect(w, A, i, x, c, dead):
    """Return m_tot, (KP,): a dead source retains its water."""
    routed = tl.sum(w[:, None] * A, 0)
    return routed + i * x + tl.where(dead, c, 0.0)


@triton.jit
def release_back(o, m, dh, dc):
    """Return dm and the gradient of the output gate's argument, from dh and dc of (11) and (12)."""
    return o * dh + (1.0 - o) * dc, (dh - dc) * m * o * (1.0 - o)


@triton.jit
def collect_back(A, w, s, dead, dm):
    """Return q, the direct part of the gradient of c, and dZ of R: (KP,) and (KP, KP)."""
    q = tl.where(dead, dm, tl.sum(A * dm[None, :], 1) / tl.where(dead, 1.0, s))
    return q, tl.where(A > 0, w[:, None] * (dm[None, :] - q[:, None]), 0.0)


@triton.jit
def output_gate(z, lift):
    """Return o = sigma(z + log(lift)), lift being 1 + kappa m, or 1."""
    return lift / (lift + tl.exp(-z))
