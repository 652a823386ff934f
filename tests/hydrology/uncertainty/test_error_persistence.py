"""The persistent part of an error is separated from the short-lived one, and sample paths have both."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.uncertainty.error_fit import fit
from hydrology.uncertainty.error_model import BasinErrors, Shape
from hydrology.uncertainty.error_paths import paths, persistence
from tests.hydrology.uncertainty.test_error_model import synthetic_pairs

Array = npt.NDArray[np.float64]
DAYS = 20_000


def autoregression(memory: float, seed: int, days: int = DAYS) -> Array:
    """Return a normal one of variance 1."""
    noise = np.random.default_rng(seed).standard_normal(days)
    values = noise.copy()
    for day in range(1, days):
        values[day] = memory * values[day - 1] + np.sqrt(1 - memory**2) * noise[day]
    return values


def scores(share: float, seed: int) -> Array:
    """Return errors of which a share lasts, with a memory of 0.985 a day; the rest has one of 0.7."""
    lasting, quick = autoregression(0.985, 2 * seed), autoregression(0.7, 2 * seed + 1)
    return np.asarray(np.sqrt(share) * lasting + np.sqrt(1 - share) * quick)


def test_share_and_memory_of_the_persistent_error_are_found() -> None:
    found = persistence([scores(0.5, seed) for seed in range(12)])
    assert found.memory == pytest.approx(0.985, abs=0.003)
    assert found.share == pytest.approx(0.5, abs=0.06)


def test_each_basin_has_a_share_of_its_own_weighed_by_its_days() -> None:
    many = [scores(share, seed) for seed, share in enumerate([0.2, 0.2, 0.2, 0.7, 0.7, 0.7])]
    short = many[-1].copy()
    short[40:] = np.nan
    found = persistence([*many, short])
    assert found.shares[:3].max() < 0.35 < 0.5 < found.shares[3:6].min()
    assert found.shares[-1] == pytest.approx(found.share, abs=0.05)


def test_errors_that_are_forgotten_within_days_have_no_persistent_part() -> None:
    found = persistence([autoregression(0.7, seed) for seed in range(12)])
    assert found.share < 0.05
    assert found.shares.max() < 0.1


@pytest.mark.parametrize("of_basins", [[], [np.full(300, np.nan)], [np.zeros(300)]])
def test_without_errors_there_is_no_persistent_part(of_basins: list[Array]) -> None:
    found = persistence(of_basins)
    assert (found.share, found.memory) == (0.0, 0.0)
    assert not found.shares.any()


def test_what_lasts_of_an_error_is_stored_with_a_fit() -> None:
    model = fit({f"basin {seed}": synthetic_pairs(seed) for seed in range(4)})
    basin = replace(model.basins["basin 0"], lasting_share=0.4, lasting_memory=0.98)
    shape = replace(model.shape, lasting_share=0.5, lasting_memory=0.98)
    stored, stored_shape = BasinErrors.from_arrays(basin.arrays(), days=basin.days), Shape.from_arrays(shape.arrays())
    assert (stored.lasting_share, stored.lasting_memory) == pytest.approx((0.4, 0.98))
    assert (stored_shape.lasting_share, stored_shape.lasting_memory) == pytest.approx((0.5, 0.98))
    unseen = shape.of_basin(synthetic_pairs(0).simulated)
    assert (unseen.lasting_share, unseen.lasting_memory) == (0.5, 0.98)


def test_sums_of_paths_spread_by_the_persistent_error_and_single_days_do_not() -> None:
    model = fit({f"basin {seed}": synthetic_pairs(seed) for seed in range(4)})
    forgotten = replace(model.basins["basin 0"], lasting_share=0.0, lasting_memory=0.0)
    lasting = replace(forgotten, lasting_share=0.6, lasting_memory=0.985)
    simulated = np.full((1, 120), 2.0)
    unknown = np.full(120, np.nan)
    quantiles = model.shape.flow_quantiles(forgotten, simulated[0], unknown, unknown)[None]
    short, long = (paths(errors, simulated, quantiles, quantiles[0]) for errors in (forgotten, lasting))
    np.testing.assert_allclose(np.sort(short, axis=0), np.sort(long, axis=0))
    assert long.sum(axis=1).std() > 1.5 * short.sum(axis=1).std()
    apart = [np.corrcoef(long[:, at], long[:, at + 60])[0, 1] for at in range(60)]
    assert np.mean(apart) == pytest.approx(0.6 * 0.985**60, abs=0.15)
