"""Scores of probabilistic forecasts: against another implementation, and what they must be by their meaning."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from scores.categorical import BinaryContingencyManager
from scores.probability import brier_score, crps_cdf

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period, month
from hydrology.base.reasons import Reason
from hydrology.scores.bootstrap import MIN_YEARS
from hydrology.uncertainty.error_model import LEVELS
from hydrology.verification.results import SEASONS, TENTHS, ForecastScores, Reliability, Verification, high_flow
from hydrology.verification.verify import CLIMATOLOGY, PERSISTENCE, verify

Array = npt.NDArray[np.float64]

DAYS = Period.parse("2000-10-01..2004-09-30").days
LEAD = 10
FINE = tuple(np.round(np.arange(1, 1000) / 1000, 3).tolist())


def truth(seed: int = 0) -> tuple[Array, Array]:
    """Return a mean a day and what came: normal around it with a standard deviation of 1."""
    generator = np.random.default_rng(seed)
    mean = 10 + 3 * np.sin(np.arange(len(DAYS)) / 58) + generator.gamma(0.5, 2, len(DAYS))
    return mean, mean + generator.standard_normal(len(DAYS))


def verified(
    quantiles: Array, observed: Array, levels: tuple[float, ...] = LEVELS, days: npt.NDArray[np.datetime64] = DAYS
) -> dict[tuple[str, str], Verification]:
    """Verify a forecaster `ours` beside a wide climatology and yesterday's flow."""
    threshold = high_flow(observed)
    wide = np.broadcast_to(np.quantile(observed, levels), (len(observed), len(levels)))
    judged: dict[str, ForecastScores | Absent] = {
        "ours": ForecastScores.of_quantiles(quantiles, levels, observed, threshold),
        CLIMATOLOGY: ForecastScores.of_quantiles(wide, levels, observed, threshold),
        PERSISTENCE: ForecastScores.of_flow(np.roll(observed, 1), observed, threshold),
    }
    return {(name, season): scores for name, season, scores in verify(judged, days, observed, threshold, LEAD)}


@pytest.fixture(scope="module")
def right() -> dict[tuple[str, str], Verification]:
    """What is true of forecasts that know the distribution."""
    mean, observed = truth()
    return verified(mean[:, None] + norm.ppf(LEVELS), observed)


@pytest.mark.extended
def test_crps_is_that_of_another_implementation() -> None:
    mean, observed = truth()
    mean, observed = mean[:60], observed[:60]
    quantiles = mean[:, None] + norm.ppf(FINE)
    grid = np.linspace(0, 40, 4001)
    distributions = xr.DataArray(
        norm.cdf(grid[None] - mean[:, None]), dims=["day", "threshold"], coords={"threshold": grid}
    )
    expected = crps_cdf(distributions, xr.DataArray(observed, dims=["day"])).total.item()
    ours = ForecastScores.of_quantiles(quantiles, FINE, observed, 12.0)
    assert ours.crps.mean() == pytest.approx(expected, abs=2e-3)
    of_flow = ForecastScores.of_flow(mean, observed, 12.0)
    steps = xr.DataArray(
        (grid[None] >= mean[:, None]).astype(float), dims=["day", "threshold"], coords={"threshold": grid}
    )
    assert of_flow.crps.mean() == pytest.approx(
        crps_cdf(steps, xr.DataArray(observed, dims=["day"])).total.item(), abs=0.01
    )


def test_warnings_are_counted_as_by_another_implementation(right: dict[tuple[str, str], Verification]) -> None:
    mean, observed = truth()
    threshold = high_flow(observed)
    judged = ForecastScores.of_quantiles(mean[:, None] + norm.ppf(LEVELS), LEVELS, observed, threshold)
    passed = (observed > threshold).astype(float)
    ours = right["ours", "all"]
    table = BinaryContingencyManager(
        xr.DataArray((judged.chance >= 0.5).astype(float)), xr.DataArray(passed)
    ).transform()
    assert ours.pod == pytest.approx(table.probability_of_detection().item())
    assert ours.far == pytest.approx(table.false_alarm_ratio().item())
    assert ours.csi == pytest.approx(table.critical_success_index().item())
    assert ours.brier == pytest.approx(brier_score(xr.DataArray(judged.chance), xr.DataArray(passed)).item())
    assert ours.threshold_mm_per_day == threshold
    assert passed.mean() == pytest.approx(0.02, abs=1e-3)


def test_a_forecaster_that_knows_the_distribution_is_calibrated(right: dict[tuple[str, str], Verification]) -> None:
    ours = right["ours", "all"]
    assert (ours.n, ours.years, ours.missing) == (len(DAYS), 4, {})
    assert ours.coverage_90 == pytest.approx(0.9, abs=0.02)
    assert ours.coverage_50 == pytest.approx(0.5, abs=0.03)
    assert ours.coverage_90_low is not None
    assert ours.coverage_90_high is not None
    assert ours.coverage_90_low <= ours.coverage_90 <= ours.coverage_90_high  # type: ignore[operator]
    assert ours.width_90_mm_per_day == pytest.approx(2 * norm.ppf(0.95))
    assert ours.width_50_mm_per_day == pytest.approx(2 * norm.ppf(0.75))
    assert ours.pit is not None
    assert sum(ours.pit) == pytest.approx(len(DAYS))
    np.testing.assert_allclose(np.array(ours.pit) * TENTHS / len(DAYS), 1, atol=0.25)
    assert ours.reliability is not None
    assert sum(ours.reliability.days) == len(DAYS)
    for season in SEASONS:
        wide = right[CLIMATOLOGY, season]
        assert right["ours", season].crps_mm_per_day < wide.crps_mm_per_day  # type: ignore[operator]


def test_a_perfect_forecast_has_all_skill() -> None:
    _, observed = truth()
    certain = verified(np.repeat(observed[:, None], len(LEVELS), axis=1), observed)["ours", "all"]
    assert (certain.crps_mm_per_day, certain.crpss_climatology, certain.crpss_persistence) == (0, 1, 1)
    assert (certain.coverage_90, certain.width_90_mm_per_day, certain.nse_of_median) == (1, 0, 1)
    assert (certain.pod, certain.far, certain.csi) == (1, 0, 1)
    assert certain.brier is not None
    assert certain.brier < 1e-4  # what lies beyond the outer levels is left open
    assert certain.pit == pytest.approx([len(DAYS) / TENTHS] * TENTHS)


def test_a_rival_has_no_skill_against_itself(right: dict[tuple[str, str], Verification]) -> None:
    for season in SEASONS:
        climatology, persistence = right[CLIMATOLOGY, season], right[PERSISTENCE, season]
        assert (climatology.crpss_climatology, persistence.crpss_persistence) == (0, 0)
        assert (climatology.crpss_climatology_low, climatology.crpss_climatology_high) == (0, 0)


def test_a_deterministic_forecast_has_no_interval_and_gives_the_reason(
    right: dict[tuple[str, str], Verification],
) -> None:
    persistence = right[PERSISTENCE, "all"]
    of_spread = {"coverage_90", "coverage_90_low", "coverage_90_high", "coverage_50", "pit"}
    assert set(persistence.missing) == of_spread | {"width_90_mm_per_day", "width_50_mm_per_day"}
    assert {getattr(persistence, name) for name in persistence.missing} == {None}
    assert persistence.pod is not None


def test_seasons_are_those_of_the_days_that_were_forecast(right: dict[tuple[str, str], Verification]) -> None:
    counts = {season: right["ours", season].n for season in SEASONS}
    assert counts["all"] == sum(counts[season] for season in SEASONS if season != "all")
    assert counts["DJF"] == np.isin(month(DAYS), (12, 1, 2)).sum()


def test_months_are_verified_as_if_they_were_all(right: dict[tuple[str, str], Verification]) -> None:
    mean, observed = truth()
    threshold, april = high_flow(observed), month(DAYS) == 4
    wide = np.broadcast_to(np.quantile(observed, LEVELS), (len(observed), len(LEVELS)))
    judged = {
        name: ForecastScores.of_quantiles(quantiles, LEVELS, observed, threshold).over(april)
        for name, quantiles in (("ours", mean[:, None] + norm.ppf(LEVELS)), (CLIMATOLOGY, wide), (PERSISTENCE, wide))
    }
    _, _, alone = next(verify(judged, DAYS[april], observed[april], threshold, LEAD))
    months = right["ours", "all"].months
    assert months is not None
    found = months[3]
    assert (found.month, found.n, found.years) == (4, alone.n, alone.years) == (4, 120, 4)
    assert found.independent_issues == alone.independent_issues == 4 * 3  # on 1, 11 and 21 April
    expected = alone.crpss_climatology, alone.crpss_climatology_low, alone.crpss_climatology_high
    assert (found.crpss, found.low, found.high) == expected
    winter = right["ours", "DJF"]
    assert (winter.months, winter.missing["months"].code) == (None, "months_of_all_year")


def test_an_undefined_score_is_missing_with_its_reason() -> None:
    _, observed = truth()
    some = slice(0, 31)  # one October
    scores = verified(np.full((31, len(LEVELS)), 5.0), observed[some], days=DAYS[some])
    october, summer = scores["ours", "SON"], scores["ours", "JJA"]
    assert october.coverage_90 == 0
    assert f"of 1 water years, and an interval needs {MIN_YEARS}" in str(october.missing["coverage_90_low"])
    assert str(october.missing["far"]) == "The forecasts warned on none of these days."
    assert (summer.n, summer.years, summer.crps_mm_per_day) == (0, 0, None)
    assert str(summer.missing["crps_mm_per_day"]) == "No such day was both forecast and observed."


def test_a_missing_forecaster_or_rival_has_a_reason() -> None:
    _, observed = truth()
    judged: dict[str, ForecastScores | Absent] = {
        "ours": absent(Reason.FAILED, message="No error model."),
        CLIMATOLOGY: absent(Reason.FAILED, message="No other year."),
        PERSISTENCE: ForecastScores.of_flow(observed, observed, 12.0),
    }
    scores = {name: of for name, season, of in verify(judged, DAYS, observed, 12.0, LEAD) if season == "all"}
    assert {*map(str, scores["ours"].missing.values())} == {"No error model."}
    assert str(scores[PERSISTENCE].missing["crpss_climatology"]) == "No other year."
    assert "never wrong" in str(scores[PERSISTENCE].missing["crpss_persistence"])


def test_the_interval_of_skill_narrows_where_every_year_is_alike() -> None:
    mean, observed = truth()
    quantiles = mean[:, None] + norm.ppf(LEVELS)
    shaken = observed.copy()
    shaken[:365] += 6  # one bad year
    alike, unlike = (verified(quantiles, flow)["ours", "all"] for flow in (observed, shaken))
    assert alike.crpss_climatology_low is not None
    assert alike.crpss_climatology_high is not None
    assert unlike.crpss_climatology_low is not None
    assert unlike.crpss_climatology_high is not None
    assert alike.crpss_climatology_low <= alike.crpss_climatology <= alike.crpss_climatology_high  # type: ignore[operator]
    wide = unlike.crpss_climatology_high - unlike.crpss_climatology_low
    assert wide > 3 * (alike.crpss_climatology_high - alike.crpss_climatology_low)


@given(st.integers(0, 1000), st.floats(0.0, 2.0), st.floats(0.1, 3.0))
def test_shares_lie_between_0_and_1(seed: int, bias: float, width: float) -> None:
    mean, observed = truth(seed)
    mean, observed = mean[:400], observed[:400]
    quantiles = np.maximum(mean[:, None] + bias + width * norm.ppf(LEVELS), 0)
    scores = verified(quantiles, observed, days=DAYS[:400])["ours", "all"]
    for share in (scores.coverage_90, scores.coverage_50, scores.pod, scores.far, scores.csi, scores.brier):
        assert share is None or 0 <= share <= 1
    assert scores.coverage_50 <= scores.coverage_90  # type: ignore[operator]
    assert scores.crpss_climatology <= 1  # type: ignore[operator]
    assert sum(scores.pit or ()) == pytest.approx(400)


def test_reliability_bins_hold_every_day_once() -> None:
    chance = np.array([0.0, 0.05, 0.1, 0.95, 1.0])
    passed = np.array([False, True, False, True, True])
    shown = Reliability.of(chance, passed)
    assert shown.days == (2, 1, 2)
    assert shown.forecast == pytest.approx((0.025, 0.1, 0.975))
    assert shown.observed == (0.5, 0.0, 1.0)
    assert Reliability.of(chance, passed, lowest=2) == replace(
        shown, forecast=shown.forecast[::2], observed=shown.observed[::2], days=shown.days[::2]
    )


def test_a_dry_day_does_not_pass_a_threshold_of_zero() -> None:
    observed, days = np.zeros(62), DAYS[:62]
    observed[5] = 3.0
    scores = verified(np.repeat(observed[:, None], len(LEVELS), axis=1), observed, days=days)
    for name in ("ours", PERSISTENCE):
        assert scores[name, "all"].threshold_mm_per_day == 0
        assert scores[name, "all"].reliability is not None
    assert (scores["ours", "all"].pod, scores["ours", "all"].far) == (1, 0)
    assert (scores[PERSISTENCE, "all"].pod, scores[PERSISTENCE, "all"].far) == (0, 1)
