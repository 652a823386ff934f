"""Levels whose unit, datum or order cannot be right are found."""

import numpy as np

from hydrology.extremes.level_checks import against_record, differ, out_of_order
from hydrology.uncertainty.exceedance import Direction

ORDER = ("action", "minor", "moderate", "major")


def test_a_level_is_held_against_the_observed_flow() -> None:
    flow = np.append(np.arange(1.0, 1001.0), np.nan)
    cases: tuple[tuple[float, Direction, str | None], ...] = (
        (500.0, "rising", "On 50% of the observed days flow was at or above its 500 m³/s"),  # the median
        (0.5, "rising", "On 100% of the observed days"),
        (901.0, "rising", None),
        (1000.0, "rising", None),
        (9000.0, "rising", None),  # a flood that the record does not have
        (35_300.0, "rising", "35 times the highest flow"),  # cubic feet as metres
        (100.0, "falling", None),
        (0.01, "falling", None),
        (501.0, "falling", "On 50% of the observed days flow was at or below its 501 m³/s"),
        (2000.0, "falling", "On 100% of the observed days"),
    )
    for discharge, direction, sentence in cases:
        found = against_record(discharge, direction, flow)
        assert (found is None) if sentence is None else (found is not None and sentence in found), discharge
    assert against_record(0.5, "rising", flow[:364]) is None  # too few days to compare with


def test_categories_must_rise() -> None:
    for discharges, involved in (
        ({"action": 1.0, "minor": 2.0, "moderate": 3.0, "major": 4.0, "bankfull": 2.0}, set()),
        ({"action": 6.33, "minor": 6.33, "moderate": 6.33, "major": 6.33}, set(ORDER)),
        ({"minor": 5.0, "major": 5.0}, {"minor", "major"}),
        ({"action": 1.0, "minor": 9.0, "moderate": 3.0, "major": 10.0}, {"minor", "moderate"}),
        ({"action": 4.0, "minor": 3.0, "moderate": 2.0, "major": 1.0}, set(ORDER)),
        ({"major": 1.0}, set()),
    ):
        assert set(out_of_order(discharges, ORDER)) == involved, discharges


def test_discharges_of_one_level_differ_by_less_than_two_times() -> None:
    assert not differ(10.0, 19.0)
    assert not differ(19.0, 10.0)
    assert differ(1.93, 33.6)
    assert differ(33.6, 1.93)
