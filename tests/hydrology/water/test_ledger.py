from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydrology.base.errors import InvalidInput
from hydrology.water.ledger import (
    INCREMENT,
    Ledger,
    close,
    close_since_empty,
    negative_water,
    sums_after,
    tolerance_of,
    worst_relative_residual,
)

Array = npt.NDArray[np.float64]


def a_run(seed: int, members: int = 3, days: int = 400) -> tuple[Array, Array, Array, Array, Array]:
    """Precipitation, discharge, loss, storage before and at every day's end of leaking buckets."""
    rng = np.random.default_rng(seed)
    rain = rng.gamma(0.5, 6, (members, days))
    before = rng.uniform(0, 300, members)
    discharge, loss, storage = (np.empty_like(rain) for _ in range(3))
    stored = before.copy()
    for day in range(days):
        stored = stored + rain[:, day]
        discharge[:, day], loss[:, day] = 0.03 * stored, 0.02 * stored
        stored = stored - discharge[:, day] - loss[:, day]
        storage[:, day] = stored
    return rain, discharge, loss, before, storage


@given(st.integers(0, 1000))
def test_a_conserving_run_closes_in_double_precision_on_every_day(seed: int) -> None:
    rain, discharge, loss, before, storage = a_run(seed, days=60)
    ledgers = close(rain, discharge, loss, before, storage[:, -1], dtype=np.float64).each()
    assert len(ledgers) == 3
    assert all(ledger.closes for ledger in ledgers)
    assert (worst_relative_residual(rain, discharge, loss, before, storage) <= 1e-12).all()


def test_the_rows_are_named_and_signed() -> None:
    (ledger,) = close([[5.0, 7]], [[1.0, 2]], [[3.0, 0]], [10.0], [16.0], dtype=np.float64).each()
    assert ledger.terms == {"precipitation": 12.0, "discharge": -3.0, "loss": -3.0, "storage change": -6.0}
    assert (ledger.residual_mm, ledger.scale_mm, ledger.closes) == (0, 22, True)


@pytest.mark.parametrize("increment", [10.0, -4.0])
def test_an_increment_is_a_term_of_its_own_and_belongs_to_the_water_available(increment: float) -> None:
    flows = [[5.0, 7]], [[1.0, 2]], [[3.0, 0]]
    ledger = close(*flows, [10.0], [16.0 + increment], dtype=np.float64, booked={INCREMENT: increment}).of(0)
    assert ledger.terms[INCREMENT] == increment
    assert ledger.terms["storage change"] == -6.0 - increment
    assert (ledger.residual_mm, ledger.scale_mm, ledger.closes) == (0, 22 + increment, True)
    unbooked = close(*flows, [10.0], [16.0 + increment], dtype=np.float64).of(0)
    assert (unbooked.residual_mm, unbooked.closes) == (-increment, False)


@pytest.mark.parametrize("flow", range(3))
def test_water_lost_on_one_day_opens_that_members_ledger_alone(flow: int) -> None:
    rain, discharge, loss, before, storage = a_run(1)
    flows = [rain, discharge, loss]
    flows[flow][1, 200] += 0.1
    ledgers = close(flows[0], flows[1], flows[2], before, storage[:, -1], dtype=np.float32).each()
    assert [ledger.closes for ledger in ledgers] == [True, False, True]
    assert abs(ledgers[1].residual_mm) == pytest.approx(0.1)


def test_an_error_that_is_compensated_later_shows_on_its_day() -> None:
    rain, discharge, loss, before, storage = a_run(2)
    discharge[0, 10] += 5
    discharge[0, 20] -= 5
    assert all(
        ledger.closes for ledger in close(rain, discharge, loss, before, storage[:, -1], dtype=np.float64).each()
    )
    worst = worst_relative_residual(rain, discharge, loss, before, storage)
    scale = before[0] + rain[0, :11].sum()
    assert worst[0] == pytest.approx(5 / scale)
    assert (worst[1:] <= 1e-12).all()


@pytest.mark.parametrize(("slip", "closes"), [(0.9e-5, True), (1.1e-5, False)])
def test_the_tolerance_of_single_precision_is_the_stated_one(slip: float, closes: bool) -> None:
    (ledger,) = close([[100.0]], [[100 * slip]], [[0.0]], [0.0], [100.0], dtype=np.float32).each()
    assert ledger.closes is closes
    (strict,) = close([[100.0]], [[100 * slip]], [[0.0]], [0.0], [100.0], dtype=np.float64).each()
    assert not strict.closes


def test_no_water_at_all_closes_and_water_from_nothing_does_not() -> None:
    none = np.zeros((1, 5))
    (dry,) = close(none, none, none, [0.0], [0.0], dtype=np.float64).each()
    assert (dry.closes, dry.scale_mm) == (True, 0)
    assert worst_relative_residual(none, none, none, [0.0], none).tolist() == [0]
    (conjured,) = close(none, none, none, [0.0], [1e-9], dtype=np.float64).each()
    assert not conjured.closes
    assert worst_relative_residual(none, none, none, [0.0], none + 1e-9).tolist() == [np.inf]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", range(5))
def test_a_value_that_is_not_finite_never_closes(bad: float, where: int) -> None:
    rain, discharge, loss, before, storage = a_run(3)
    run = [rain, discharge, loss, before, storage]
    run[where][(0, -1) if run[where].ndim == 2 else 0] = bad
    ledgers = close(run[0], run[1], run[2], run[3], run[4][:, -1], dtype=np.float32).each()
    assert [ledger.closes for ledger in ledgers] == [False, True, True]
    assert worst_relative_residual(*run)[0] == np.inf


def test_an_infinite_scale_does_not_close() -> None:
    assert not Ledger({"precipitation": 0.0}, scale_mm=np.inf, tolerance=1e-5).closes


def test_single_precision_is_summed_in_double() -> None:
    days = 20_000
    rain = np.full((1, days), 0.1, dtype=np.float32)
    storage = np.array([np.float64(np.float32(0.1)) * days])
    zero = np.zeros_like(rain)
    (ledger,) = close(rain, zero, zero, [0.0], storage, dtype=np.float64).each()
    assert ledger.closes


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInput, match="discharge must have shape"):
        close(np.zeros((2, 3)), np.zeros((2, 4)), np.zeros((2, 3)), [0, 0], [0, 0], dtype=np.float64)
    with pytest.raises(InvalidInput, match="storage must have shape"):
        close(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)), [0], [0, 0], dtype=np.float64)
    with pytest.raises(InvalidInput, match=r"\(members, days\)"):
        close(np.zeros(3), np.zeros(3), np.zeros(3), [0], [0], dtype=np.float64).each()
    with pytest.raises(InvalidInput, match="float16"):
        tolerance_of(np.float16)


def from_empty(seed: int, days: int, *, of_storage: float = 0, of_rain: float = 0) -> tuple[Array, ...]:
    """The water of a bucket in float32, (1, days), while a share of its storage or its rain vanishes each day.

    Returns:
        rain, discharge, loss and the storage at every day's end.
    """
    rng, one = np.random.default_rng(seed), np.float32(1)
    rain = (rng.gamma(0.3, 9, days) * (rng.random(days) < 0.4)).astype(np.float32)
    discharge, loss, storage = (np.zeros((1, days), np.float32) for _ in range(3))
    to_river, to_air = rng.uniform([0.01, 0.002], [0.3, 0.02]).astype(np.float32)
    stored = np.float32(0)
    for day in range(days):
        water = stored * np.float32(one - of_storage) + rain[day] * np.float32(one - of_rain)
        discharge[0, day], loss[0, day] = to_river * water, to_air * water
        storage[0, day] = stored = water - discharge[0, day] - loss[0, day]
    return tuple(values.astype(np.float64) for values in (rain[np.newaxis], discharge, loss, storage))


def closes_on_every_day(rain: Array, discharge: Array, loss: Array, storage: Array) -> bool:
    """Whether the ledger of each day alone closes."""
    before = np.concatenate([[0], storage[0, :-1]])
    days = close(rain.T, discharge.T, loss.T, before, storage[0], dtype=np.float32).each()
    return all(day.closes for day in days)


def closes_since_empty(rain: Array, discharge: Array, loss: Array, storage: Array) -> bool:
    (ledger,) = close_since_empty(sums_after(None, rain, discharge, loss), storage[:, -1])
    return ledger.closes


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([{}, {"of_storage": 0.9e-5}, {"of_rain": 0.9e-5}]))
def test_a_leak_that_passes_every_day_shows_since_the_empty_store(seed: int, leak: dict[str, float]) -> None:
    shown = from_empty(seed, days=5 * 365, **leak)

    assert closes_on_every_day(*shown)
    assert closes_since_empty(*shown) is not bool(leak)


@given(st.integers(0, 1000), st.lists(st.integers(1, 59), max_size=4))
def test_sums_have_the_same_bits_wherever_the_days_are_cut(seed: int, cuts: list[int]) -> None:
    flows = a_run(seed, days=60)[:3]
    whole, parts = sums_after(None, *flows), None
    for first, after in pairwise(sorted({0, *cuts, 60})):
        parts = sums_after(parts, *(flow[:, first:after] for flow in flows))
    assert parts is not None
    assert {name: sums.tobytes() for name, sums in parts.items()} == {name: s.tobytes() for name, s in whole.items()}
    np.testing.assert_allclose(whole["discharge"], flows[1].sum(axis=1))


def test_the_ledger_since_the_empty_store_is_held_against_all_that_fell() -> None:
    sums = sums_after(None, [[60.0, 40.0]], [[20.0, 10.0]], [[5.0, 5.0]])
    (ledger,) = close_since_empty(sums, [60 - 4e-4])
    assert [*ledger.terms.values()] == [100, -30, -10, -(60 - 4e-4)]
    assert (ledger.scale_mm, ledger.closes) == (100, True)
    assert ledger.residual_mm == pytest.approx(4e-4)
    assert not close_since_empty(sums, [60 - 6e-4])[0].closes
    assert not close_since_empty(sums, [np.nan])[0].closes


@pytest.mark.parametrize(
    ("which", "flaw"),
    [
        (0, "its discharge is negative: -0.1 mm/day at the lowest"),
        (1, "its loss is negative: -0.1 mm/day at the lowest"),
        (2, "its storage is negative: -0.1 mm at the lowest"),
    ],
)
def test_negative_water_is_reported_by_member_and_rounding_is_not(which: int, flaw: str) -> None:
    arrays = [np.zeros((3, 5)) for _ in range(3)]
    arrays[which][0, 2] = -1e-7
    arrays[which][1, 3] = -0.1
    assert {member: str(why) for member, why in negative_water(*arrays).items()} == {1: flaw}
