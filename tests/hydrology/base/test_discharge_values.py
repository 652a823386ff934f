"""The one rule for a gauge's values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.calendar import day
from hydrology.base.series import (
    SENTINELS,
    UNKNOWN_CODE,
    DailySeries,
    Flag,
    number_of,
    qualifier_flags,
    refused,
    screened,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1250", 1250.0),
        (" -0.5 ", -0.5),
        ("1e3", 1000.0),
        ("", np.nan),
        ("NaN", np.nan),
        ("Ice", np.nan),
        ("***", np.nan),
        ("--", np.nan),
        ("Whale", UNKNOWN_CODE),
        ("inf", UNKNOWN_CODE),
    ],
)
def test_a_text_is_a_number_or_a_code(text: str, value: float) -> None:
    np.testing.assert_equal(number_of(text), value)


@pytest.mark.parametrize("text", ["1,250", "1_000", "1.2.3", "<5", "5e", "1e999", "\u0663"])
def test_digits_that_are_not_a_number_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a number"):
        number_of(text)


@given(
    rows=st.lists(
        st.tuples(st.floats(width=32) | st.sampled_from(SENTINELS), st.integers(0, 255).map(lambda bits: bits & ~16))
    )
)
def test_a_screened_value_is_a_flow_or_missing_with_its_flag(rows: list[tuple[float, int]]) -> None:
    given_values, given_flags = np.array([v for v, _ in rows], float), np.array([f for _, f in rows], np.uint8)
    values, flags = screened(given_values, given_flags)
    missing = np.isnan(values)
    assert (values[~missing] >= 0).all()
    assert np.isfinite(values[~missing]).all()
    np.testing.assert_array_equal(missing, flags & Flag.MISSING != 0)
    np.testing.assert_array_equal(values[~missing], given_values[~missing])
    for at, (value, flag) in enumerate(rows):
        if missing[at] and not np.isnan(value) and value not in SENTINELS:
            assert flags[at] & Flag.SUSPECT, "a number was taken away without a word"
        assert flags[at] & (Flag.APPROVED | Flag.ICE) == flag & (Flag.APPROVED | Flag.ICE)


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        (["A", "e"], Flag.APPROVED | Flag.ESTIMATED),
        (["P"], Flag(0)),
        (["P", "Ice"], Flag.ICE | Flag.ESTIMATED),
        (["TIDAL", "&", "Bkw"], Flag(0)),
        (["P", "Whale"], Flag.SUSPECT),
    ],
)
def test_qualifiers_are_flags(words: list[str], flags: Flag) -> None:
    assert qualifier_flags(words) == flags


def test_refused_values_are_counted_with_their_first_day() -> None:
    values, flags = screened(np.array([1.0, -0.1, 2, -3, 4]), np.array([0, 0, Flag.SUSPECT, 0, 0], np.uint8))
    sentence = refused(DailySeries(day("2026-11-10"), values, flags, "cfs"))
    assert sentence is not None
    assert "so missing: 2, the first on 2026-11-11" in sentence
    assert "marked suspect (a qualifier that is not known): 1, the first on 2026-11-12" in sentence
    assert refused(DailySeries(day("2026-11-10"), np.array([1.0]), np.zeros(1, np.uint8), "cfs")) is None
