"""Traces around a weather forecast: between the forecast and other years' weather, by its skill."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.arrays import Array
from hydrology.weather.forecast_errors import TRACES, OtherWeather, around, assumed, correlations

DAYS, YEARS = 10, 25


def chance(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def years(seed: int = 0, count: int = YEARS) -> OtherWeather:
    """Return weather of two variables: rain that falls on a third of the days, and temperature."""
    draw = chance(seed)
    rain = draw.gamma(0.6, 8.0, (count, DAYS)) * (draw.random((count, DAYS)) < 0.35)
    return OtherWeather(np.stack([rain, draw.normal(5, 4, (count, DAYS))], axis=-1))


def forecast(traces: int = 1, seed: int = 7) -> Array:
    return years(seed, traces).values


def skill(value: float) -> Array:
    return np.full((DAYS, 2), value)


def test_a_forecast_without_errors_stays_as_it_is() -> None:
    assert around(forecast(), years(), skill(1.0), chance()) is None


def test_with_hardly_any_error_every_trace_is_the_forecast() -> None:
    single = forecast()
    traces = around(single, years(), skill(1 - 1e-9), chance())
    assert traces is not None
    assert traces.shape == (TRACES, DAYS, 2)
    np.testing.assert_allclose(traces, np.repeat(single, TRACES, 0), atol=0.6)


def test_without_skill_the_traces_are_the_weather_of_other_years() -> None:
    other = years()
    traces = around(forecast(), other, skill(0.0), chance())
    assert traces is not None
    pooled, climate = traces[..., 1].ravel(), other.values[..., 1].ravel()
    assert np.quantile(pooled, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(climate, [0.1, 0.5, 0.9]), abs=0.7)
    assert (traces[..., 0] == 0).mean() == pytest.approx((other.values[..., 0] == 0).mean(), abs=0.08)
    # One trace is one other year, so its days belong together.
    of_one_year = [np.corrcoef(traces[0, :, 1], of[:, 1])[0, 1] for of in other.values]
    assert max(of_one_year) > 0.99


def test_traces_are_as_far_apart_as_the_forecast_errs() -> None:
    """A world in which scores are jointly normal: the truth lies among the traces as often as each of them."""
    other, draw, r, ranks = years(count=60), chance(3), 0.6, []
    for _ in range(400):
        scores = draw.normal(size=(1, DAYS, 2))
        came = r * scores + np.sqrt(1 - r**2) * draw.normal(size=scores.shape)
        traces = around(other.weather(scores), other, skill(r), draw)
        assert traces is not None
        ranks.append((traces[:, :, 1] < other.weather(came)[0, :, 1]).mean(axis=0))
    share = np.concatenate(ranks)
    assert ((share > 0.05) & (share < 0.95)).mean() == pytest.approx(0.9, abs=0.03)
    assert ((share > 0.25) & (share < 0.75)).mean() == pytest.approx(0.5, abs=0.04)


@given(st.integers(0, 1000), st.floats(0, 0.99))
def test_rain_is_never_negative_and_never_beyond_forecast_and_record(seed: int, r: float) -> None:
    single, other = forecast(seed=seed), years(seed + 1)
    traces = around(single, other, skill(r), chance(seed))
    assert traces is not None
    rain = traces[..., 0]
    assert (rain >= 0).all()
    assert rain.max() <= max(float(other.values[..., 0].max()), float(single[..., 0].max())) + 1e-9


def test_more_rain_than_in_any_other_year_stays_more() -> None:
    single = forecast()
    single[0, 0, 0] = 400.0
    traces = around(single, years(), skill(0.95), chance())
    assert traces is not None
    assert np.median(traces[:, 0, 0]) > 0.8 * 400


def test_an_ensemble_that_is_far_enough_apart_stays_as_it_is() -> None:
    assert around(forecast(30), years(), skill(0.4), chance()) is None


def test_an_ensemble_that_is_too_close_gets_what_it_lacks() -> None:
    close = forecast() + chance(1).normal(0, 0.01, (11, DAYS, 2)) * np.array([0, 1])
    traces = around(close, years(), skill(0.6), chance())
    assert traces is not None
    assert len(traces) == TRACES
    assert traces[..., 1].std(axis=0).mean() > 10 * close[..., 1].std(axis=0).mean()


def test_the_assumed_skill_falls_with_the_lead() -> None:
    for variable in ("precipitation", "tmax", "vp", "srad"):
        skills = assumed(variable, 15)
        assert (np.diff(skills) < 0).all()
        assert 0 < skills[-1] < skills[0] < 1
    assert (assumed("daylength", 15) == 1).all()


@pytest.mark.parametrize("issues", [0, 1, 40])
def test_the_skill_goes_from_what_is_assumed_to_what_is_seen(issues: int) -> None:
    draw, r = chance(5), 0.3
    pairs = []
    for _ in range(issues):
        scores = draw.normal(size=(30, DAYS, 1))
        pairs.append((scores, r * scores + np.sqrt(1 - r**2) * draw.normal(size=scores.shape)))
    first = correlations(["precipitation"], DAYS, pairs)["precipitation"][0]
    expected = {0: (0.849, 0.851), 1: (0.6, 0.85), 40: (0.27, 0.5)}[issues]
    assert expected[0] <= first <= expected[1]


def test_leads_that_have_not_come_yet_have_the_assumed_skill() -> None:
    scores = chance().normal(size=(30, DAYS, 1))
    came = np.where(np.arange(DAYS)[:, None] < 2, scores, np.nan)
    by_lead = correlations(["tmax"], DAYS, [(scores, came)])["tmax"]
    expected = assumed("tmax", DAYS)
    assert (by_lead[:2] > expected[:2]).all()
    np.testing.assert_allclose(by_lead[2:], expected[2:])
