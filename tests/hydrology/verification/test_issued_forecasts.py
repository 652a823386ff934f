"""Forecasts that were issued are judged as reforecasts are, on the days that count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydrology.base.absent import absent
from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from hydrology.climatology.normals import FlowClimatology
from hydrology.uncertainty.error_model import LEVELS
from hydrology.verification.forecasts import CALIBRATED, FORECASTERS, RAW, IssuedForecasts, Observed, Reforecasts
from hydrology.verification.verify import verify

FIRST = day("2000-10-01")
DAYS, LEADS = 2 * 365, 3

NONE = absent(Reason.FAILED, message="There is none.")


def invented(seed: int, missing: float) -> tuple[np.ndarray, np.ndarray]:
    """Return flow of five members, (members, days), and what was observed of it, with gaps."""
    generator = np.random.default_rng(seed)
    members = generator.gamma(2.0, size=(5, DAYS))
    observed = members.mean(axis=0) * generator.lognormal(sigma=0.3, size=DAYS)
    return members, np.where(generator.random(DAYS) < missing, np.nan, observed)


def issued_of(members: np.ndarray, t0: np.ndarray) -> IssuedForecasts:
    """Return the forecasts that simulations of members are."""
    raw = np.stack([np.quantile(members[:, t0 + lead], LEVELS, axis=0).T for lead in range(1, LEADS + 1)], axis=1)
    return IssuedForecasts(FIRST + t0, raw, np.full_like(raw, np.nan), NONE)


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.floats(0, 0.5), st.integers(1, LEADS), st.integers(5, 40))
def test_forecasts_with_observed_weather_are_scored_like_reforecasts(
    seed: int, missing: float, lead: int, every: int
) -> None:
    members, flow = invented(seed, missing)
    observed, days = Observed(FIRST, flow), FIRST + np.arange(DAYS)
    issued = issued_of(members, np.arange(0, DAYS - LEADS, every))
    at = Reforecasts(days[: DAYS - LEADS + lead], members, flow, FlowClimatology(days, flow, LEVELS), NONE)
    of_past = at.at(lead, every)
    expected = verify(of_past.judged(observed.threshold), of_past.days, of_past.observed, observed.threshold, lead)
    shown = {(name, season): scores for name, season, scores in issued.verify(lead, observed)}
    assert {name for name, _ in shown} == set(FORECASTERS)
    for name, season, scores in expected:
        ours = shown[name, season]
        assert (ours.n, ours.years, ours.pit, ours.missing) == (scores.n, scores.years, scores.pit, scores.missing)
        assert ours.independent_issues == scores.independent_issues
        for figure in ("crps_mm_per_day", "crpss_climatology", "crpss_persistence", "coverage_90", "nse_of_median"):
            assert getattr(ours, figure) == pytest.approx(getattr(scores, figure)), figure


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.sets(st.integers(0, 99)))
def test_excluded_forecasts_enter_no_score(seed: int, out: set[int]) -> None:
    members, flow = invented(seed, 0.1)
    observed, t0 = Observed(FIRST, flow), np.arange(100) * 5
    issued, left = issued_of(members, t0), np.array(sorted(out), dtype=int)
    issued.raw[left] = np.nan
    others = issued_of(members, np.delete(t0, left))
    assert list(issued.verify(1, observed)) == list(others.verify(1, observed))
    assert issued.count(observed) == others.count(observed)


def test_the_error_model_is_verified_on_the_forecasts_issued_with_it() -> None:
    members, flow = invented(1, 0.0)
    observed, issued = Observed(FIRST, flow), issued_of(members, np.arange(0, 100, 10))
    issued.calibrated[4:] = issued.raw[4:]
    shown = {(name, season): scores for name, season, scores in issued.verify(1, observed)}
    later = IssuedForecasts(issued.t0[4:], issued.raw[4:], issued.calibrated[4:], NONE)
    alone = {(name, season): scores for name, season, scores in later.verify(1, observed)}
    assert (shown[RAW, "all"].n, shown[CALIBRATED, "all"].n) == (10, 6)
    assert shown[CALIBRATED, "all"] == alone[CALIBRATED, "all"] == alone[RAW, "all"]


def test_days_beyond_the_record_are_not_observed() -> None:
    observed = Observed(FIRST, np.array([1.0, np.nan, 3.0]))
    days = FIRST + np.arange(-1, 4)
    np.testing.assert_array_equal(observed.on(days), [np.nan, 1, np.nan, 3, np.nan])
