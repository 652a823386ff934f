"""The error model recovers the parameters of synthetic errors, and its intervals have their nominal coverage."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import norm

from hydrology.base.errors import DataProblem
from hydrology.uncertainty.error_fit import PRIOR_DAYS, ErrorPairs, Fit, fit
from hydrology.uncertainty.error_model import (
    GAPS,
    LEVELS,
    BasinErrorModel,
    BasinErrors,
    Shape,
    errors_of,
    mixed,
    shifted,
)
from hydrology.uncertainty.error_network import DaysAhead

Array = npt.NDArray[np.float64]

DAYS, MEMORY, SIZE = 3000, 0.8, 0.15
LOW, MEDIAN, HIGH = (LEVELS.index(level) for level in (0.05, 0.5, 0.95))


def synthetic_pairs(seed: int, days: int = DAYS, bias: float = 0.0) -> ErrorPairs:
    """Return a basin whose errors (of cube roots) are an autoregression."""
    random = np.random.default_rng(seed)
    simulated = random.gamma(0.6, 3.0, days) + 0.05
    noise = random.normal(0.0, SIZE, days)
    error = np.empty(days)
    error[0] = noise[0]
    for day in range(1, days):
        error[day] = MEMORY * error[day - 1] + noise[day]
    root = np.cbrt(simulated / simulated.mean()) + error + bias
    return ErrorPairs(simulated, np.maximum(root, 0.0) ** 3 * simulated.mean())


@pytest.fixture(scope="module")
def model() -> Fit:
    return fit({f"basin {seed}": synthetic_pairs(seed) for seed in range(6)})


def ahead(model: Fit, errors: BasinErrors, pairs: ErrorPairs, gap: int) -> tuple[Array, Array]:
    """Return the quantiles of all days from the flow a gap before, and what was observed."""
    last = errors_of(errors, pairs.simulated, pairs.observed)[:-gap]
    later = pairs.simulated[gap:]
    of_basin = BasinErrorModel.of(model.shape, model.regional, errors)
    return of_basin.quantiles(DaysAhead.after(later, np.full(len(later), gap), last)), pairs.observed[gap:]


@pytest.mark.parametrize("gap", [1, 3, 10])
def test_memory_is_that_of_the_autoregression(model: Fit, gap: int) -> None:
    memory = model.shape.memory[GAPS.index(gap)]
    assert np.median(memory) == pytest.approx(MEMORY**gap, abs=0.06)
    assert not model.shape.memory[-1].any()


@pytest.mark.parametrize("gap", [1, 4, 12, 31])
def test_intervals_have_their_nominal_coverage_on_days_not_fitted(model: Fit, gap: int) -> None:
    pairs = synthetic_pairs(99)
    errors = model.regional.of_basin(pairs.simulated)
    quantiles, observed = ahead(model, errors, pairs, gap)
    for lower, upper in ((0.05, 0.95), (0.25, 0.75)):
        inside = (quantiles[:, LEVELS.index(lower)] <= observed) & (observed <= quantiles[:, LEVELS.index(upper)])
        assert inside.mean() == pytest.approx(upper - lower, abs=0.04)


def test_intervals_of_an_unseen_basin_include_the_bias_of_basins() -> None:
    biases = np.random.default_rng(5).normal(0.0, 0.3, 60)
    pairs = [synthetic_pairs(200 + seed, days=800, bias=bias) for seed, bias in enumerate(biases)]
    model = fit({f"basin {seed}": of_basin for seed, of_basin in enumerate(pairs[:30])})
    inside: list[float] = []
    too_narrow: list[float] = []
    for never_seen in pairs[30:]:
        errors = model.regional.of_basin(never_seen.simulated)
        unknown = np.full(800, np.nan)
        for shape, held in ((model.regional, inside), (model.shape, too_narrow)):
            quantiles = shape.flow_quantiles(errors, never_seen.simulated, unknown, unknown)
            within = (quantiles[:, LOW] <= never_seen.observed) & (never_seen.observed <= quantiles[:, HIGH])
            held.append(float(within.mean()))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.04)
    assert np.mean(too_narrow) < 0.86


def test_the_last_observed_flow_narrows_what_follows_it(model: Fit) -> None:
    pairs, errors = synthetic_pairs(1), model.basins["basin 1"]
    widths = []
    for gap in (1, 3, 10, 40):
        quantiles, _ = ahead(model, errors, pairs, gap)
        widths.append(float(np.mean(quantiles[:, HIGH] - quantiles[:, LOW])))
    assert widths == sorted(widths)
    assert widths[0] < 0.8 * widths[-1]


def test_the_bias_of_a_basin_is_weighted_by_its_number_of_days() -> None:
    pairs = {f"basin {seed}": synthetic_pairs(seed) for seed in range(5)}
    pairs["long"] = synthetic_pairs(10, bias=0.4)
    short = synthetic_pairs(11, bias=0.4)
    for name, count in (("short", 1200), ("too short", 1000)):
        few = np.arange(DAYS) < count
        pairs[name] = ErrorPairs(short.simulated, np.where(few, short.observed, np.nan))
    model = fit(pairs)
    centre = {name: float(np.median(errors.centre[-1])) for name, errors in model.basins.items()}
    assert centre["basin 0"] == pytest.approx(0.0, abs=0.08)
    assert centre["basin 0"] + 0.03 < centre["short"] < centre["long"] - 0.05
    assert (model.basins["short"].days, model.basins["too short"].days) == (1200, 0)
    np.testing.assert_array_equal(model.basins["too short"].centre, model.regional.centre)


def test_quantiles_rise_with_their_level_and_no_flow_is_negative(model: Fit) -> None:
    simulated = np.array([0.0, 1e-6, 0.5, 3.0, 500.0])
    for last_error in (-2.0, 0.0, 2.0, np.nan):
        of_days = model.shape.flow_quantiles(
            model.basins["basin 0"], simulated, np.arange(1.0, 6.0), np.full(5, last_error)
        )
        assert of_days.shape == (5, len(LEVELS))
        assert (np.diff(of_days, axis=1) >= 0).all()
        assert (of_days >= 0).all()
        assert np.isfinite(of_days).all()


def test_a_river_that_is_dry_at_low_flow_is_forecast_so() -> None:
    dry = synthetic_pairs(3)
    pairs = {"dry": ErrorPairs(dry.simulated, np.where(dry.simulated < np.median(dry.simulated), 0.0, dry.observed))}
    model = fit(pairs)
    low_flow = np.quantile(dry.simulated, [0.1])
    (of_day,) = model.shape.flow_quantiles(model.basins["dry"], low_flow, np.array([50]), np.array([np.nan]))
    assert of_day[HIGH] < 1e-3
    assert of_day[MEDIAN] < 1e-5


def test_observed_flow_that_is_too_old_is_not_used(model: Fit) -> None:
    errors, simulated = model.basins["basin 2"], np.array([0.5, 2.0])
    too_old = model.shape.flow_quantiles(errors, simulated, np.array([31, 400]), np.array([0.5, -0.5]))
    unknown = model.shape.flow_quantiles(errors, simulated, np.array([1, 1]), np.array([np.nan, np.nan]))
    np.testing.assert_array_equal(too_old, unknown)
    known = model.shape.flow_quantiles(errors, simulated, np.array([1, 1]), np.array([0.5, -0.5]))
    assert known[0, MEDIAN] > unknown[0, MEDIAN]
    assert known[1, MEDIAN] < unknown[1, MEDIAN]


def test_quantiles_change_little_where_flow_and_gap_change_little(model: Fit) -> None:
    flows = np.linspace(0.05, 20.0, 4001)
    of_flow = model.shape.flow_quantiles(model.basins["basin 0"], flows, np.full(4001, 4), np.full(4001, 0.2))
    assert np.abs(np.diff(of_flow, axis=0)).max() < 0.1


def test_too_few_observed_days_are_refused() -> None:
    pairs = synthetic_pairs(0, days=PRIOR_DAYS)
    with pytest.raises(DataProblem, match="observed days over all basins"):
        fit({"short": pairs})


def test_the_stored_error_model_is_the_fitted_one(model: Fit) -> None:
    errors = model.basins["basin 3"]
    shape, again = Shape.from_arrays(model.shape.arrays()), BasinErrors.from_arrays(errors.arrays(), days=errors.days)
    days = (np.array([0.3, 4.0]), np.array([2, 25]), np.array([0.1, -0.1]))
    np.testing.assert_allclose(
        shape.flow_quantiles(again, *days), model.shape.flow_quantiles(errors, *days), rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("traces", [5, 31, 51, 128, 256])
def test_equal_traces_mix_to_their_own_quantiles_and_others_to_wider_ones(traces: int) -> None:
    normal = np.broadcast_to(10.0 + norm.ppf(LEVELS), (1, 4, len(LEVELS)))
    of_one = mixed(normal)
    np.testing.assert_allclose(mixed(np.repeat(normal, traces, axis=0)), of_one, atol=0.05)
    np.testing.assert_allclose(of_one, normal[0], atol=0.1)
    apart = mixed(np.concatenate([normal - 5.0, normal + 5.0]))
    assert (apart[:, HIGH] > of_one[:, HIGH] + 4.0).all()
    assert (apart[:, LOW] < of_one[:, LOW] - 4.0).all()


@pytest.mark.parametrize("days", [1, 15, 29])
def test_a_few_days_of_many_basins_are_too_few_for_the_longest_gap(days: int) -> None:
    with pytest.raises(DataProblem, match="observed days over all basins"):
        fit({f"basin {seed}": synthetic_pairs(seed, days) for seed in range(60)})


def test_a_river_that_is_always_dry_has_an_error_model() -> None:
    dry = ErrorPairs(np.zeros(DAYS), np.zeros(DAYS))
    fitted = fit({"one": dry, "other": dry})
    for shape in (fitted.shape, fitted.regional):
        for numbers in (shape.memory, shape.centre, shape.spread, shape.quantiles):
            assert np.isfinite(numbers).all()
    of_basin = fitted.of_basin("one")
    assert np.isfinite(of_basin.quantiles(DaysAhead.after(np.zeros(3), np.full(3, 1), np.zeros(3)))).all()


def test_flow_moved_by_the_shifts_of_the_root_is_the_median(model: Fit) -> None:
    errors = model.regional.of_basin(synthetic_pairs(99).simulated)
    of_basin, gaps = BasinErrorModel.of(model.shape, model.regional, errors), np.array([1.0, 4.0])
    shifts = of_basin.root_shifts(gaps, DaysAhead.after(np.ones(1), np.ones(1), np.full(1, -0.2)))
    for gap, of_gap in zip(gaps, shifts, strict=True):
        flow = np.concatenate([errors.class_flow, [3 * errors.class_flow[-1]]])
        ahead = DaysAhead.after(flow, np.full(len(flow), gap), np.full(len(flow), -0.2))
        median = of_basin.quantiles(ahead)[:, MEDIAN]
        np.testing.assert_allclose(shifted(flow, errors.class_flow, of_gap), median, rtol=1e-6)
    assert np.median(shifts[0]) < np.median(shifts[1]) < 0  # simulated too high, and forgotten with the days
    assert np.isnan(shifted(np.array([np.nan]), errors.class_flow, shifts[0])).all()
