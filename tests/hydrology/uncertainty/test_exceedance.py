"""The probability of passing a level, upwards or downwards."""

import numpy as np

from hydrology.uncertainty.exceedance import FlowAhead

DRY = FlowAhead((0.05, 0.5, 0.95), np.zeros((3, 4)), np.zeros((10, 4)))


def test_flow_never_falls_below_zero() -> None:
    for level in (0.0, -1.0):
        of_days, on_any = DRY.chances(level, "falling")
        assert (of_days.tolist(), on_any) == ([0.0] * 4, 0.0)


def test_a_dry_river_is_below_every_level_above_zero() -> None:
    of_days, on_any = DRY.chances(0.1, "falling")
    assert (of_days >= 0.95).all()
    assert on_any == 1
