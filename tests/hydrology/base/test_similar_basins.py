"""Which basins are alike."""

import numpy as np

from hydrology.base.similar_basins import most_similar

UNKNOWN = np.nan
HERE = [45.0, -110.0, 1500.0, 3.0, 1.0, 0.3]


def alike(of_basin: list[float], *others: list[float], maximum: int = 9) -> list[int]:
    return most_similar(np.array(of_basin), np.array(others), maximum)


def test_the_most_similar_basins_come_first_up_to_the_number_asked_for() -> None:
    far, near, same = [30.0, -85.0, 20.0, 4.0, 0.8, 0.0], [45.5, -110.0, 1600.0, 3.0, 1.0, 0.3], HERE
    assert alike(HERE, far, near, same) == [2, 1, 0]
    assert alike(HERE, far, near, same, maximum=2) == [2, 1]


def test_the_nearer_of_two_is_taken_where_only_the_place_is_known() -> None:
    place = [45.0, 179.0, *[UNKNOWN] * 4]
    assert alike(place, [45.0, 160.0, *HERE[2:]], [45.0, -179.0, *HERE[2:]]) == [1, 0]


def test_a_wet_basin_is_likelier_than_a_dry_one_next_to_it() -> None:
    wet, dry = [46.0, -111.0, 1500.0, 3.1, 1.0, 0.3], [45.0, -110.1, 1500.0, 0.4, 6.0, 0.0]
    assert alike(HERE, dry, wet, [40.0, -100.0, 900.0, 1.0, 3.0, 0.1])[0] == 1


def test_unknown_attributes_do_not_count_and_basins_without_known_ones_are_left_out() -> None:
    assert alike(HERE, [45.0, -110.0, *[UNKNOWN] * 4], [40.0, -100.0, 900.0, 1.0, 3.0, 0.1]) == [1]
    assert alike([UNKNOWN] * 6, HERE) == []
    assert alike(HERE, [UNKNOWN] * 6) == []
