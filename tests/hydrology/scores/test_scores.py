"""The scores against hand-computed cases and three other libraries."""

import math
import re
import warnings

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hydrology.base.calendar import day
from hydrology.base.errors import InvalidInput
from hydrology.scores.score_types import Score
from hydrology.scores.scores import (
    SCORES,
    all_scores,
    alpha_nse,
    beta_kge,
    beta_nse,
    fhv,
    flv,
    fms,
    high_flow_rmse,
    kge,
    kge_2012,
    log_nse,
    low_flow_bias,
    low_flow_rmse,
    nse,
    pearson_r,
    rmse,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import HydroErr
    import neuralhydrology.evaluation.metrics as neural
    import scores.continuous as nci
    import xarray

Array = npt.NDArray[np.float64]

flows = hnp.arrays(np.float64, st.integers(30, 400), elements=st.floats(0.01, 1e3))


def rivers(seed: int, n: int = 800) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    observed = rng.gamma(0.7, 3, n)
    observed = np.maximum(observed, 1e-4)  # above the floor, which libraries treat differently
    return observed * rng.lognormal(0, 0.4, n) + rng.gamma(0.5, 0.2, n), observed


def data_array(values: Array) -> "xarray.DataArray":
    days = np.datetime64("2000-01-01", "ns") + np.arange(len(values)) * np.timedelta64(1, "D")
    return xarray.DataArray(values, coords={"date": days}, dims="date")


def value(score: Score) -> float:
    assert score.value is not None, score.reason
    return score.value


# Σ(s-o)² = 1 + 0 + 1 + 4 = 6, Σ(o-ō)² = 5, both means 2.5 and 3, covariance 1.5, variances 1.25 and 2.5
SIMULATED, OBSERVED = np.array([2.0, 2, 2, 6]), np.array([1.0, 2, 3, 4])


def test_hand_computed() -> None:
    r, alpha, beta = 1.5 / math.sqrt(1.25 * 3), math.sqrt(3 / 1.25), 3 / 2.5
    assert value(nse(SIMULATED, OBSERVED)) == pytest.approx(1 - 6 / 5)
    assert value(rmse(SIMULATED, OBSERVED)) == pytest.approx(math.sqrt(6 / 4))
    assert value(pearson_r(SIMULATED, OBSERVED)) == pytest.approx(r)
    assert value(alpha_nse(SIMULATED, OBSERVED)) == pytest.approx(alpha)
    assert value(beta_nse(SIMULATED, OBSERVED)) == pytest.approx(0.5 / math.sqrt(1.25))
    assert value(beta_kge(SIMULATED, OBSERVED)) == pytest.approx(beta)
    assert value(kge(SIMULATED, OBSERVED)) == pytest.approx(1 - math.hypot(r - 1, alpha - 1, beta - 1))
    gamma = alpha / beta
    assert value(kge_2012(SIMULATED, OBSERVED)) == pytest.approx(1 - math.hypot(r - 1, gamma - 1, beta - 1))


def test_flow_duration_curve_scores_hand_computed() -> None:
    observed = np.exp(np.arange(10.0))  # ln o from 0 to 9: the 20 % flow is e^7, the 70 % flow e^2
    simulated = np.exp(2 * np.arange(10.0))
    assert value(fms(simulated, observed)) == pytest.approx(100)
    assert value(flv(simulated, observed)) == pytest.approx(-100)  # the low tail twice as steep
    fifty = np.arange(1.0, 51)
    higher = np.where(fifty == 50, 60, fifty)
    assert value(fhv(higher, fifty)) == pytest.approx(20)
    assert value(high_flow_rmse(higher, fifty)) == pytest.approx(10)
    lower = np.where(fifty <= 15, fifty / 2, fifty)[::-1]  # on which days does not matter
    assert value(low_flow_bias(lower, fifty)) == pytest.approx(-50)
    assert value(low_flow_rmse(lower, fifty)) == pytest.approx(math.sqrt(np.mean(np.arange(1, 16) ** 2) / 4))


@given(flows)
def test_a_perfect_simulation_has_the_perfect_score(observed: Array) -> None:
    perfect = {
        "nse": 1,
        "log_nse": 1,
        "kge": 1,
        "kge_2012": 1,
        "alpha_nse": 1,
        "beta_nse": 0,
        "beta_kge": 1,
        "pearson_r": 1,
    }
    perfect |= {"fhv": 0, "flv": 0, "fms": 0, "rmse": 0, "peak_timing": 0, "missed_peaks": 0, "peak_mape": 0}
    perfect |= {"high_flow_rmse": 0, "low_flow_bias": 0, "low_flow_rmse": 0}
    for name, function in SCORES.items():
        score = function(observed, observed)
        assert (score.value is None) == (score.reason is not None)
        if score.value is not None and name not in ("peak_timing",):
            assert score.value == pytest.approx(perfect[name], abs=1e-9)


@given(flows, st.floats(0.1, 10))
def test_low_flow_and_mid_slope_are_blind_to_scale(observed: Array, factor: float) -> None:
    for function in (flv, fms):
        score = function(observed * factor, observed)
        if score.value is not None and np.ptp(np.log(observed)) > 0.1:
            spread = 1e-6 * 100 * len(observed)
            assert score.value == pytest.approx(0, abs=spread)


def test_the_level_of_low_flows_counts_where_their_shape_does_not() -> None:
    low = np.arange(100) < 50
    observed = np.where(low, np.linspace(1, 10, 100), 50)
    halved = np.where(low, observed / 2, observed)
    assert value(flv(halved, observed)) == pytest.approx(0, abs=1e-6)
    assert value(nse(halved, observed)) > 0.99
    assert value(log_nse(halved, observed)) < 0.91
    assert value(low_flow_bias(halved, observed)) == pytest.approx(-50)


@pytest.mark.parametrize("seed", range(8))
def test_against_other_libraries(seed: int) -> None:
    s, o = rivers(seed, n=800 + 13 * seed)
    sim, obs = data_array(s), data_array(o)
    for ours, theirs in (
        (nse(s, o), neural.nse(obs, sim)),
        (kge(s, o), neural.kge(obs, sim)),
        (alpha_nse(s, o), neural.alpha_nse(obs, sim)),
        (beta_nse(s, o), neural.beta_nse(obs, sim)),
        (beta_kge(s, o), neural.beta_kge(obs, sim)),
        (rmse(s, o), neural.rmse(obs, sim)),
        (pearson_r(s, o), neural.pearsonr(obs, sim)),
        (nse(s, o), float(nci.nse(sim, obs))),
        (kge(s, o), float(nci.kge(sim, obs))),
        (nse(s, o), HydroErr.nse(s, o)),
        (rmse(s, o), HydroErr.rmse(s, o)),
        (pearson_r(s, o), HydroErr.pearson_r(s, o)),
        (fhv(s, o), neural.fdc_fhv(obs, sim)),
        (log_nse(s, o), HydroErr.nse(np.log(s + o.mean() / 100), np.log(o + o.mean() / 100))),
    ):
        assert value(ours) == pytest.approx(theirs, rel=1e-9)
    # The other library adds 1e-6 to these two denominators.
    assert value(flv(s, o)) == pytest.approx(neural.fdc_flv(obs, sim), rel=1e-6)
    assert value(fms(s, o)) == pytest.approx(neural.fdc_fms(obs, sim), rel=1e-5)
    # HydroErr's standard deviations have ddof = 1, which a variation coefficient's ratio does not notice.
    assert value(kge_2012(s, o)) == pytest.approx(HydroErr.kge_2012(s, o), rel=1e-9)


def test_zero_flow_counts_as_the_floor_as_in_neuralhydrology() -> None:
    s, o = rivers(3)
    s[::7], o[::9] = 0, 0
    assert value(flv(s, o)) == pytest.approx(neural.fdc_flv(data_array(o), data_array(s)), rel=1e-6)


@given(st.data())
def test_a_missing_day_on_either_side_is_as_if_it_were_not_there(data: st.DataObject) -> None:
    s, o = rivers(1, n=200)
    missing = data.draw(hnp.arrays(bool, 200))
    side = data.draw(hnp.arrays(bool, 200))
    gappy_s, gappy_o = np.where(missing & side, np.nan, s), np.where(missing & ~side, np.nan, o)
    for function in (nse, kge, fhv, flv, fms, rmse):
        assert function(gappy_s, gappy_o) == function(s[~missing], o[~missing])


@pytest.mark.parametrize(
    ("name", "simulated", "observed", "reason"),
    [
        ("nse", [1, 2, 3], [0.1, 0.1, 0.1], "observation is constant"),
        ("kge", [1, 2, 3], [0.1, 0.1, 0.1], "observation is constant"),
        ("kge", [0.1, 0.1, 0.1], [1, 2, 3], "simulation is constant"),
        ("pearson_r", [0.1, 0.1, 0.1], [1, 2, 3], "simulation is constant"),
        ("pearson_r", [1, 2], [1, 2], "at least 3 days .* there are 2"),
        ("kge", [1, 2, 4], [-1, 0, 1], "observed mean is 0"),
        ("kge_2012", [-1, 0, 1], [1, 2, 4], "simulated mean is 0"),
        ("beta_kge", [1.0], [0.0], "observed mean is 0"),
        ("alpha_nse", [1, 2, 3], [7, 7, 7], "observation is constant"),
        ("beta_nse", [1, 2, 3], [7, 7, 7], "observation is constant"),
        ("fhv", range(25), range(25), "at least 26 days .* there are 25"),
        ("fhv", range(30), [0] * 30, "sum to 0"),
        ("flv", range(20), [0] * 10 + list(range(10)), "no shape"),
        ("flv", [1, 2, 3, 4], [1, 2, 3, 4], "at least 5 days"),
        ("low_flow_bias", range(10), [0] * 5 + list(range(5)), "sum to 0"),
        ("low_flow_rmse", [1, 2, 3, 4], [1, 2, 3, 4], "at least 5 days"),
        ("high_flow_rmse", range(25), range(25), "at least 26 days"),
        ("fms", range(10), [1] * 10, "no slope"),
        ("rmse", [], [], "at least 1 day"),
        ("rmse", [np.nan, 1], [1, np.nan], "at least 1 day"),
        ("rmse", [np.inf, 1], [1, 1], "simulation is infinite on 1"),
        ("nse", [1, 2], [1, -np.inf], "observation is infinite on 1"),
        ("nse", [1e200, 2], [1, 3], "too large"),
    ],
)
def test_an_undefined_score_has_a_reason_and_no_number(
    name: str, simulated: npt.ArrayLike, observed: npt.ArrayLike, reason: str
) -> None:
    score = SCORES[name](np.array(simulated, dtype=float), np.array(observed, dtype=float))
    assert score.value is None
    assert score.reason is not None
    assert re.search(reason, str(score.reason)), score.reason


@given(hnp.arrays(np.float64, st.tuples(st.just(2), st.integers(0, 40)), elements=st.floats(width=32)))
def test_any_numbers_give_a_finite_score_or_a_reason(both: Array) -> None:
    days = day("1999-10-01") + np.arange(both.shape[1])
    for score in all_scores(both[0], both[1], days).values():
        assert (score.value is None) != (score.reason is None)
        assert score.value is None or math.isfinite(score.value)


def test_every_score_has_its_stable_name() -> None:
    s, o = rivers(0)
    expected = [
        "nse",
        "log_nse",
        "kge",
        "kge_2012",
        "alpha_nse",
        "beta_nse",
        "beta_kge",
        "fhv",
        "high_flow_rmse",
        "flv",
        "low_flow_bias",
        "low_flow_rmse",
        "fms",
        "rmse",
        "pearson_r",
    ]
    expected += ["peak_timing", "missed_peaks", "peak_mape"]
    result = all_scores(s, o, day("1999-10-01") + np.arange(len(o)))
    assert list(result) == list(SCORES) == expected
    assert result["nse"] == nse(s, o) == Score(value(nse(s, o)), 800, None)


def test_shapes_that_differ_and_days_out_of_order_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"\(2,\), \(3,\)"):
        nse([1, 2], [1, 2, 3])
    with pytest.raises(InvalidInput, match="increase"):
        nse([1, 2], [1, 3], days=np.array(["2000-01-02", "2000-01-01"], dtype="datetime64[D]"))
