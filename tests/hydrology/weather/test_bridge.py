"""Bridges from one product's weather to another's."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hydrology.base.arrays import Array
from hydrology.base.calendar import Period, month
from hydrology.weather.bridge import (
    BRIDGED,
    MOVED,
    PRECIPITATION,
    SCALED,
    Corrections,
    DailyWeather,
    TooFewDays,
    fit,
    held_out,
    pooled,
    shared_out,
)

PERIOD = Period.parse("1999-10-01..2004-09-30")
NOTHING = Corrections(0.0, dict.fromkeys(SCALED, (1.0,) * 12), dict.fromkeys(MOVED, (0.0,) * 12))

seeds = st.integers(0, 2**32 - 1)
offsets = st.sampled_from([tenths / 10 for tenths in range(-10, 11)])
months = st.lists(st.floats(0.6, 1.6), min_size=12, max_size=12).map(tuple)


def weather(seed: int, period: Period = PERIOD) -> DailyWeather:
    """Five years of rain on two days of five, and the rest with seasons."""
    rng = np.random.default_rng(seed)
    days = len(period)
    season = np.sin(2 * np.pi * np.arange(days) / 365.25)
    rain = np.where(rng.random(days) < 0.4, rng.gamma(0.7, 8.0, days), 0.0)
    tmin = 3 + 10 * season + rng.normal(0, 3, days)
    values = {
        PRECIPITATION: rain,
        "tmin": tmin,
        "tmax": tmin + 4 + 5 * rng.random(days),
        "srad": 250 + 120 * season + rng.normal(0, 20, days),
        "vp": 800 + 400 * season + rng.normal(0, 40, days),
    }
    return DailyWeather(period.first, values)


def known(values: Array) -> Array:
    return values[np.isfinite(values)]


@given(seeds)
def test_products_that_are_equal_stay_as_they_are(seed: int) -> None:
    same = weather(seed)
    corrections = fit(same, same)
    assert corrections == NOTHING
    assert all(np.array_equal(corrections.apply(same).values[name], same.values[name]) for name in BRIDGED)


@given(seeds, offsets, months, months, st.floats(-5, 5))
def test_a_bridge_finds_the_way_back_that_another_went(
    seed: int, offset: float, rain: tuple[float, ...], light: tuple[float, ...], step: float
) -> None:
    """Where a month was seen for ever, its corrections are found to the last but rounding."""
    source = weather(seed)
    went = Corrections(
        offset,
        {PRECIPITATION: rain, "srad": light, "vp": light[::-1]},
        dict.fromkeys(MOVED, (step, *(0.0,) * 11)),
    )
    target = went.apply(source)
    found = fit(source, target, prior_years=0)
    assert found.day_offset == offset or abs(offset) < 0.3  # a small one hardly shows
    assume(found.day_offset == offset)
    for name in SCALED:
        np.testing.assert_allclose(found.factors[name], went.factors[name], rtol=1e-9)
    for name in MOVED:
        np.testing.assert_allclose(found.steps[name], went.steps[name], atol=1e-9)


@given(seeds, seeds, offsets)
def test_the_sum_of_the_fitted_days_is_stored_and_that_of_months_lies_between(
    seed: int, other: int, offset: float
) -> None:
    source = weather(seed)
    target = Corrections(offset, *_random(other)).apply(source)
    bridged = fit(source, target).apply(source).values[PRECIPITATION]
    wanted = target.values[PRECIPITATION]
    both = np.isfinite(bridged) & np.isfinite(wanted)
    assert bridged[both].sum() == pytest.approx(wanted[both].sum(), rel=1e-9)

    exact = fit(source, target, prior_years=0)
    of_months = exact.apply(source).values[PRECIPITATION]
    for number in range(1, 13):
        days = both & (month(source.period.days) == number) & np.isfinite(of_months)
        assert of_months[days].sum() == pytest.approx(wanted[days].sum(), rel=1e-9)


def _random(seed: int) -> tuple[dict[str, tuple[float, ...]], dict[str, tuple[float, ...]]]:
    rng = np.random.default_rng(seed)
    factors = {name: tuple(rng.uniform(0.7, 1.4, 12).tolist()) for name in SCALED}
    return factors, {name: tuple(rng.uniform(-2, 2, 12).tolist()) for name in MOVED}


@given(seeds, seeds, offsets)
def test_dry_stays_dry_nothing_is_negative_and_tmin_is_never_above_tmax(seed: int, other: int, offset: float) -> None:
    source = weather(seed)
    bridged = Corrections(offset, *_random(other)).apply(source).values
    neighbours = np.stack([np.roll(source.values[PRECIPITATION], days) for days in (-1, 0, 1)])
    dry = (neighbours == 0).all(axis=0)[1:-1]
    assert not np.nan_to_num(bridged[PRECIPITATION][1:-1][dry]).any()
    assert all((known(bridged[name]) >= 0).all() for name in (PRECIPITATION, "vp"))
    assert (bridged["tmin"] <= bridged["tmax"]).all()


def test_without_an_offset_a_dry_day_stays_dry_whatever_its_neighbours() -> None:
    source = weather(1)
    bridged = Corrections(0.0, *_random(2)).apply(source).values[PRECIPITATION]
    np.testing.assert_array_equal(bridged == 0, source.values[PRECIPITATION] == 0)


def test_temperatures_that_cross_meet_in_the_middle() -> None:
    source = weather(3)
    narrow = replace(NOTHING, steps={"tmax": (-20.0,) * 12, "tmin": (0.0,) * 12})
    bridged = narrow.apply(source).values
    np.testing.assert_array_equal(bridged["tmin"], bridged["tmax"])
    np.testing.assert_allclose(bridged["tmax"], (source.values["tmax"] - 20 + source.values["tmin"]) / 2)


@pytest.mark.parametrize(
    ("offset", "expected", "days_after"),
    [
        (0.0, [1, 2, 4, 8], 0),
        (1.0, [2, 4, 8, np.nan], 1),
        (0.25, [1.25, 2.5, 5, np.nan], 1),
        (-1.0, [np.nan, 1, 2, 4], 0),
        (-0.25, [np.nan, 1.75, 3.5, 7], 0),
    ],
)
def test_days_that_begin_later_are_shared_out(offset: float, expected: list[float], days_after: int) -> None:
    np.testing.assert_allclose(shared_out(np.array([1.0, 2, 4, 8]), offset), expected)
    assert replace(NOTHING, day_offset=offset).days_after == days_after


def test_a_day_whose_rain_is_not_known_yet_is_not_guessed() -> None:
    source = weather(4)
    bridged = replace(NOTHING, day_offset=0.9).apply(source)
    assert np.flatnonzero(np.isnan(bridged.values[PRECIPITATION])).tolist() == [len(PERIOD) - 1]
    source.values[PRECIPITATION][100] = np.nan
    bridged = replace(NOTHING, day_offset=0.9).apply(source)
    assert np.flatnonzero(np.isnan(bridged.values[PRECIPITATION])).tolist() == [99, 100, len(PERIOD) - 1]


def test_traces_are_bridged_each_as_it_would_be_alone() -> None:
    one, other = weather(5), weather(6)
    both = DailyWeather(one.first, {name: np.stack([one.values[name], other.values[name]]) for name in BRIDGED})
    corrections = Corrections(0.4, *_random(7))
    for name, values in corrections.apply(both).values.items():
        np.testing.assert_array_equal(values[0], corrections.apply(one).values[name])
        np.testing.assert_array_equal(values[1], corrections.apply(other).values[name])


def test_a_month_that_hardly_ever_sees_rain_gets_the_factor_of_the_year() -> None:
    source = weather(8)
    july = month(source.period.days) == 7
    source.values[PRECIPITATION][july] *= 1e-3
    wet = {name: values.copy() for name, values in source.values.items()}
    wet[PRECIPITATION] = np.where(july, 50, 1.2) * wet[PRECIPITATION]
    factors = fit(source, DailyWeather(source.first, wet)).factors[PRECIPITATION]
    assert factors[6] == pytest.approx(1.2, abs=0.05)
    assert factors[0] == pytest.approx(1.2, abs=0.01)


def test_extreme_factors_are_limited_and_reported() -> None:
    source = weather(9)
    tenfold = DailyWeather(source.first, dict(source.values) | {PRECIPITATION: 10 * source.values[PRECIPITATION]})
    corrections = fit(source, tenfold)
    assert (corrections.factors[PRECIPITATION], corrections.limited) == ((2.0,) * 12, (PRECIPITATION,))


def _drop_julys(whole: DailyWeather) -> DailyWeather:
    gone = np.where(month(whole.period.days) == 7, np.nan, 1.0)
    return DailyWeather(whole.first, {name: values * gone for name, values in whole.values.items()})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda w: w.over(Period.parse("1999-10-01..2000-09-30")), "366 days in common, 29 of month 2"),
        (_drop_julys, "0 of month 7"),
        (lambda w: replace(w, first=w.first + np.timedelta64(9_000, "D")), "no day in common"),
        (lambda w: DailyWeather(w.first, dict(w.values) | {PRECIPITATION: 0 * w.values[PRECIPITATION]}), "No rain"),
    ],
)
def test_few_data_are_refused_with_the_reason(change: Callable[[DailyWeather], DailyWeather], reason: str) -> None:
    for function in (fit, held_out):
        with pytest.raises(TooFewDays, match=reason):
            function(weather(10), change(weather(10)))


def test_the_middle_of_bridges_is_one() -> None:
    bridges = [Corrections(offset, *_random(at)) for at, offset in enumerate((0.0, 0.9, 0.8, 0.9, 0.0))]
    middle = pooled(bridges)
    assert middle.day_offset == 0.8
    for name in BRIDGED:
        of_each = [(one.factors | one.steps)[name] for one in bridges]  # type: ignore[operator]
        np.testing.assert_allclose((middle.factors | middle.steps)[name], np.median(of_each, axis=0))  # type: ignore[operator]
    assert pooled([bridges[1]]).steps == bridges[1].steps


def test_the_skill_is_that_of_years_that_were_held_out() -> None:
    """A bridge that fits the noise of its years would look better than it is."""
    source = weather(11)
    moved = Corrections(0.7, *_random(12)).apply(source)
    skill = held_out(source, moved)
    assert skill.days == len(PERIOD) - 1
    rain, warmth = skill.variables[PRECIPITATION], skill.variables["tmax"]
    assert rain.as_it_is.correlation is not None
    assert rain.bridged.correlation is not None
    assert rain.as_it_is.correlation < 0.7 < 0.97 < rain.bridged.correlation
    assert abs(warmth.bridged.bias) < abs(warmth.as_it_is.bias)

    lucky = {name: values.copy() for name, values in source.values.items()}
    lucky["tmax"][source.period.days >= np.datetime64("2003-10-01")] += 4
    last = held_out(source, DailyWeather(source.first, lucky)).variables["tmax"]
    assert last.bridged.bias == pytest.approx(0, abs=0.3)
    assert last.bridged.correlation is not None
    assert last.bridged.correlation < 0.99


@given(st.integers(-400, 400), st.integers(1, 800))
def test_weather_over_a_period_holds_its_days_and_no_others(shift: int, length: int) -> None:
    whole = weather(13, Period.parse("1999-10-01..2000-09-30"))
    first = whole.first + np.timedelta64(shift, "D")
    part = whole.over(Period(first, first + np.timedelta64(length - 1, "D")))
    assert len(part.period) == length
    shared = part.period.overlap(whole.period)
    held = known(part.values["tmax"])
    np.testing.assert_array_equal(held, [] if shared is None else whole.over(shared).values["tmax"])
