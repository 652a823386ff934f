import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.calendar import Period, day
from hydrology.base.series import DailySeries, Flag

START = day("2000-01-01")


def a_series(length: int) -> DailySeries:
    return DailySeries(
        START, np.arange(length, dtype=np.float32), np.full(length, Flag.APPROVED, dtype=np.uint8), "cfs"
    )


def test_the_days_of_a_series_follow_from_its_start() -> None:
    series = a_series(60)
    assert len(series) == 60
    assert str(series.period) == "2000-01-01..2000-02-29"
    assert str(series.days[-1]) == "2000-02-29"


@given(st.integers(0, 20), st.integers(-30, 30), st.integers(0, 40))
def test_over_a_period_known_days_stay_and_the_others_are_absent(length: int, offset: int, longer: int) -> None:
    series = a_series(length)
    first = START + np.timedelta64(offset, "D")
    over = series.over(Period(first, first + np.timedelta64(longer, "D")))
    assert (over.start, len(over), over.unit) == (first, longer + 1, "cfs")
    for i, (value, flag) in enumerate(zip(over.values, over.flags, strict=True)):
        if 0 <= i + offset < length:
            assert (value, flag) == (i + offset, Flag.APPROVED)
        else:
            assert np.isnan(value)
            assert flag == Flag.ABSENT


def test_values_and_flags_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        DailySeries(START, np.zeros(3), np.zeros(2, dtype=np.uint8), "cfs")


def test_every_flag_is_a_bit_of_its_own_that_fits_a_byte() -> None:
    assert sum(Flag) == 255
