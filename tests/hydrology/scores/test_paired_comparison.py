"""Paired scores against hand-computed cases and scipy."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

from hydrology.base.errors import InvalidInput
from hydrology.scores.comparisons import MEANINGS, Quartiles, difference, quartiles, signed_rank
from hydrology.scores.scores import SCORES


def test_every_score_has_a_meaning_under_which_a_perfect_simulation_is_perfect() -> None:
    assert MEANINGS.keys() == SCORES.keys()
    river = np.random.default_rng(1).gamma(0.7, 3, 800)
    for name, score in SCORES.items():
        assert score(river, river).value == pytest.approx(MEANINGS[name].perfect, abs=1e-9)


def test_quartiles_lie_between_neighbours() -> None:
    assert quartiles([4.0, 1.0, 2.0]) == Quartiles(3, 1.5, 2.0, 3.0)
    assert quartiles([7.0]) == Quartiles(1, 7.0, 7.0, 7.0)
    assert quartiles([]) == Quartiles(0, None, None, None)


def test_six_differences_of_one_sign_have_the_p_of_six_coins() -> None:
    found = difference([0.6, 0.7, 0.8, 0.5, 0.4, 0.9], [0.5, 0.5, 0.5, 0.1, -0.1, 0.3], perfect=1)
    assert found.median == pytest.approx((0.3 + 0.4) / 2)
    assert (found.n, found.better, found.worse, found.reason) == (6, 6, 0, None)
    assert found.p == pytest.approx(2 / 2**6)


def test_ranks_are_summed_by_sign() -> None:
    # The ranks of the negative differences -1 and -3 sum to 1 + 3 = 4. Of 2⁶ signs, 7 give a sum of 4 or less:
    # {}, {1}, {2}, {3}, {4}, {1, 2}, {1, 3}.
    p = signed_rank(np.array([-1.0, 2.0, -3.0, 4.0, 5.0, 6.0]))
    assert p == pytest.approx(2 * 7 / 2**6)


def test_better_is_nearer_to_the_perfect_value() -> None:
    found = difference([10.0, -5.0, 3.0, -4.0], [-20.0, 1.0, 3.0, 4.0], perfect=0)
    assert (found.better, found.worse) == (1, 1)
    assert found.median == -3.0  # of 30, -6, 0, -8
    # A lower error is better too, a higher efficiency as well.
    assert difference([0.2], [0.5], perfect=0).better == 1
    assert difference([0.2], [0.5], perfect=1).worse == 1


@pytest.mark.parametrize("n", [6, 30, 60, 447])
def test_p_is_that_of_scipy_without_the_zeros(n: int) -> None:
    rng = np.random.default_rng(n)
    ours, theirs = rng.normal(0.72, 0.1, n), rng.normal(0.70, 0.1, n)
    expected = wilcoxon(ours, theirs).pvalue
    assert difference(ours, theirs, perfect=1).p == pytest.approx(expected, rel=1e-12)
    with_zeros = difference([*ours, 0.5, 0.6], [*theirs, 0.5, 0.6], perfect=1)
    assert with_zeros.n == n + 2
    assert with_zeros.p == pytest.approx(expected, rel=1e-12)


def test_p_does_not_depend_on_who_is_named_first() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=40), rng.normal(size=40)
    there, back = difference(one, other, perfect=1), difference(other, one, perfect=1)
    assert (there.p, there.better, there.worse) == (back.p, back.worse, back.better)
    assert there.median is not None
    assert back.median == pytest.approx(-there.median)


@pytest.mark.parametrize(
    ("one", "other", "sentence"),
    [
        ([], [], "no basin where both have a value"),
        ([0.5] * 9, [0.5] * 9, "the same value in every basin"),
        ([1.0, 2, 3, 4, 5], [0.0] * 5, "at least 6 basins that differ; there are 5"),
        ([1.0, 2, 3, 4, 5, 0], [0.0] * 6, "at least 6 basins that differ; there are 5"),
    ],
)
def test_an_undefined_test_has_a_reason(one: list[float], other: list[float], sentence: str) -> None:
    found = difference(one, other, perfect=1)
    assert found.p is None
    assert sentence in str(found.reason)
    assert (found.median is None) == (not one)


@pytest.mark.parametrize(("one", "other"), [([1.0], [1.0, 2.0]), ([[1.0]], [[1.0]]), ([float("nan")], [1.0])])
def test_unpaired_scores_are_refused(one: list[float], other: list[float]) -> None:
    with pytest.raises(InvalidInput):
        difference(one, other, perfect=1)
