"""Updates of a forecast by a flow that was measured within one of its days.

The paths of a forecast have the flow of whole days. Each path implies a flow at the instant: by the parabola that
conserves the means of the days and meets those of its neighbours at midnight (Colella and Woodward 1984,
doi:10.1016/0021-9991(84)90143-8). Over the paths, the cube root of each day's flow is regressed on the cube root of
that of the instant, and the distribution of the day moved to the one that the regression has at the measured flow: the
update of an ensemble smoother (van Leeuwen and Evensen 1996, doi:10.1175/1520-0493(1996)124<2898:DAAIMI>2.0.CO;2).

Days do not show how flow varies within a day. As in a random walk, the flow of an instant deviates from the mean of
its day by (f^3 + (1 - f)^3) / 3 of the variance that a day brings, where f is the part of the day that has gone: 1/12
at noon, 1/3 at midnight.
"""

import numpy as np

from hydrology.base.arrays import Array

CHANCE_CORRELATION = 2.0
"""A correlation of fewer than this many standard errors counts as none."""


def flow_at(fraction: float | Array, before: Array, of_day: Array, after: Array) -> Array:
    """Return the flow at a fraction of a day from the mean flows of three days, of any unit and shape."""
    begin, end = (before + of_day) / 2, (of_day + after) / 2
    bulge = 6 * of_day - 3 * (begin + end)
    return np.maximum(begin + fraction * (end - begin + bulge * (1 - fraction)), 0.0)


def moves(paths: Array, before: float, at: int, fraction: float, measured: float) -> Array:
    """Return how a flow measured within a day moves those of all days: `FlowAdjustment.moves`, (2, days).

    Paths are (paths, days), all in the unit of the measured flow.

    Args:
        before: flow of the day before the first.
        at: the place of the day.
        fraction: the part of it that has gone.
    """
    roots, last = np.cbrt(paths), paths.shape[1] - 1
    yesterday = paths[:, at - 1] if at else np.full(len(paths), before)
    instant = np.cbrt(flow_at(fraction, yesterday, paths[:, at], paths[:, min(at + 1, last)]))
    spread, own = roots.std(axis=0), instant.std()
    unmoved = np.stack([np.zeros(last + 1), np.ones(last + 1)])
    if not own:
        return unmoved
    centre, away = roots.mean(axis=0), instant - instant.mean()
    covariance = away @ (roots - centre) / len(paths)
    within = 1 + (fraction**3 + (1 - fraction) ** 3) / 3
    counts = (covariance > spread * own * CHANCE_CORRELATION / np.sqrt(len(paths))) & (np.arange(last + 1) >= at)
    gain = covariance / (own**2 * within)
    scale = np.sqrt(1 - gain * covariance / np.where(spread > 0, spread, 1.0) ** 2)
    offset = centre * (1 - scale) + gain * (np.cbrt(measured) - instant.mean())
    return np.where(counts, np.stack([offset, scale]), unmoved)
