"""Fused weather is the mean of what is known of a day, flagged where it lacks a product."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hydrology.base.calendar import Period, day
from hydrology.base.series import DailySeries, Flag
from hydrology.weather.fused import mean_of_known

FIRST = day("2001-01-01")
DAYS = Period.parse("2000-12-30..2001-01-12")
VALUES = arrays(np.float32, st.integers(1, 10), elements=st.one_of(st.just(np.nan), st.floats(0, 300, width=32)))


def of_values(values: np.ndarray, start: int = 0) -> DailySeries:
    flags = np.where(np.isnan(values), Flag.MISSING, 0).astype(np.uint8)
    return DailySeries(FIRST + start, values, flags, "mm/day")


@given(st.lists(st.tuples(VALUES, st.integers(0, 3)), min_size=2, max_size=4))
def test_each_day_is_the_mean_of_the_known_values(parts: list[tuple[np.ndarray, int]]) -> None:
    series = [of_values(values, start) for values, start in parts]
    whole = np.stack([one.over(DAYS).values for one in series])
    fused = mean_of_known(series, DAYS)
    known = np.isfinite(whole).sum(axis=0)
    np.testing.assert_array_equal(np.isfinite(fused.values), known > 0)
    some = known > 0
    np.testing.assert_allclose(
        fused.values[some], np.nanmean(whole[:, some].astype(float), axis=0), rtol=1e-6, atol=1e-30
    )
    np.testing.assert_array_equal(fused.flags & Flag.FILLED != 0, some & (known < len(parts)))


def test_the_flags_of_a_value_are_those_of_the_mean() -> None:
    one, other = (np.array([1, 2, np.nan], np.float32) for _ in range(2))
    suspect = DailySeries(FIRST, one, np.array([Flag.SUSPECT, 0, Flag.ABSENT], np.uint8), "mm/day")
    fused = mean_of_known([suspect, of_values(other)], suspect.period)
    assert [Flag(int(of)) for of in fused.flags] == [Flag.SUSPECT, Flag(0), Flag.MISSING]


def test_a_product_without_the_variable_leaves_it_to_the_others() -> None:
    alone = of_values(np.array([3.0], np.float32))
    fused = mean_of_known([None, alone], alone.period)
    assert (fused.values.tolist(), fused.flags.tolist(), fused.unit) == ([3.0], [int(Flag.FILLED)], "mm/day")
    with pytest.raises(ValueError, match="at least one"):
        mean_of_known([None], alone.period)
