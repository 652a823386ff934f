"""Checks whether the unit, datum and order of levels that somebody set can be right."""

from collections.abc import Mapping, Sequence

import numpy as np

from hydrology.base.arrays import Array
from hydrology.uncertainty.exceedance import Direction

MIN_DAYS = 365
"""Minimum number of observed days to compare a level with."""
MAX_SHARE: Mapping[Direction, float] = {"rising": 0.1, "falling": 0.5}
"""Largest share of the days on which flow is beyond a level that marks an event."""
MAX_TIMES_HIGHEST = 10.0
"""Largest multiple of the highest observed flow that a level can have."""
MAX_RATIO = 2.0
"""Largest ratio of two discharges of the same level."""


def differ(one: float, other: float) -> bool:
    """Return whether two discharges above 0 cannot be of the same level."""
    return ratio(one, other) > MAX_RATIO


def ratio(one: float, other: float) -> float:
    """Return how many times the smaller of two discharges the larger one is."""
    return max(one, other) / min(one, other)


def against_record(discharge: float, direction: Direction, flow: Array) -> str | None:
    """Return why a level cannot be right beside a record; None where it can.

    Args:
        discharge: m3/s.
        flow: the record's, m3/s, NaN where missing.
    """
    known = flow[np.isfinite(flow)]
    if len(known) < MIN_DAYS:
        return None
    share = float(np.mean(known >= discharge if direction == "rising" else known <= discharge))
    if share > MAX_SHARE[direction]:
        beyond = "at or above" if direction == "rising" else "at or below"
        return f"On {share:.0%} of the observed days flow was {beyond} its {discharge:.4g} m³/s, which is usual here."
    if direction == "rising" and discharge > MAX_TIMES_HIGHEST * float(known.max()):
        return f"Its {discharge:.4g} m³/s are {discharge / known.max():.0f} times the highest flow that was observed."
    return None


def out_of_order(discharges: Mapping[str, float], order: Sequence[str]) -> dict[str, str]:
    """Return why categories do not rise, by name, with all that are involved.

    Args:
        discharges: of some of the categories, m3/s.
        order: of all categories, the least severe first.
    """
    known = [name for name in order if name in discharges]
    found: dict[str, str] = {}
    for place, name in enumerate(known):
        for higher in known[place + 1 :]:
            if discharges[higher] <= discharges[name]:
                sentence = (
                    f"Category {higher} ({discharges[higher]:.4g} m³/s) is not above {name} "
                    f"({discharges[name]:.4g} m³/s)."
                )
                found = {one: found.get(one, sentence) for one in (*found, name, higher)}
    return found
