"""Signatures of a river, and estimates without a gauge whose ranges hold what they state."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import genextreme

from hydrology.base.calendar import Days, Period
from hydrology.extremes.signatures import DRY, EXCEEDED, NAMES, RUNOFF_RATIO, SignatureErrors, Signatures, signatures

DAYS: Days = Period.parse("1980-10-01..2010-09-30").days


def rivers(count: int, spread: float, seed: int) -> tuple[list[Signatures], list[Signatures]]:
    """Return signatures of rivers, and of simulations that err by a factor of 1.2 in the mean, the more the drier."""
    chance = np.random.default_rng(seed)
    ratios = chance.uniform(0.1, 0.8, count)
    simulated: list[Signatures] = [
        {name: ratio * (at + 1) if name != RUNOFF_RATIO else ratio for at, name in enumerate(NAMES)}
        for ratio in ratios.tolist()
    ]
    factors = np.exp(np.log(1.2) + chance.normal(0, spread, count) / (0.5 + ratios))
    observed: list[Signatures] = [
        {name: factor * of[name] for name in NAMES} for of, factor in zip(simulated, factors, strict=True)
    ]
    return simulated, observed


def test_signatures_are_those_of_the_record() -> None:
    flow = np.random.default_rng(3).gamma(0.7, 2.0, len(DAYS))
    flow[100:130] = np.nan
    found, known = signatures(flow, DAYS, precipitation=4.0), np.sort(flow[np.isfinite(flow)])
    assert list(found) == list(NAMES)
    assert found["mean"] == pytest.approx(known.mean())
    assert found["runoff-ratio"] == pytest.approx(known.mean() / 4.0)
    assert np.mean(known > found["exceeded-95"]) == pytest.approx(0.95, abs=1e-3)
    years = np.array([np.nanmax(flow[at : at + 365]) for at in range(0, len(DAYS) - 365, 365)])
    shape, place, scale = genextreme.fit(years)
    assert found["flood-10"] == pytest.approx(genextreme.ppf(0.9, shape, place, scale), rel=0.1)
    assert "flood-2" not in signatures(flow[:1000], DAYS[:1000], precipitation=4.0)
    assert RUNOFF_RATIO not in signatures(flow, DAYS, precipitation=0.0)


def test_ranges_hold_nine_in_ten_rivers_that_were_left_out_dry_and_wet() -> None:
    fitted = SignatureErrors.fit(*rivers(300, spread=0.2, seed=1))
    simulated, observed = rivers(3000, spread=0.2, seed=2)
    ranges = [fitted.estimates(of)["mean"] for of in simulated]
    held = np.array([of.low <= river["mean"] <= of.high for of, river in zip(ranges, observed, strict=True)])
    dry = np.array([of[RUNOFF_RATIO] < 0.3 for of in simulated])
    assert held[dry].mean() == pytest.approx(0.9, abs=0.07)
    assert held[~dry].mean() == pytest.approx(0.9, abs=0.07)
    errors = [abs(of.value / river["mean"] - 1) for of, river in zip(ranges, observed, strict=True)]
    assert np.median(errors) == pytest.approx(np.mean([of.typical_error for of in ranges]), rel=0.2)
    assert np.median(errors) < np.median(
        [abs(of["mean"] / by["mean"] - 1) for of, by in zip(simulated, observed, strict=True)]
    )


@given(st.lists(st.floats(0, 50), min_size=len(EXCEEDED), max_size=len(EXCEEDED)), st.floats(0, 2))
def test_estimates_are_in_order_whatever_is_simulated(flows: list[float], ratio: float) -> None:
    falling = sorted(flows, reverse=True)
    simulated = {"mean": 1.0, RUNOFF_RATIO: ratio, **dict(zip(EXCEEDED, falling, strict=True))}
    simulated |= {"flood-2": falling[0], "flood-10": falling[0] + 1}
    found = ERRATIC.estimates(simulated)
    assert found.keys() == simulated.keys()
    for part in ("value", "low", "high"):
        curve = [getattr(found[name], part) for name in EXCEEDED]
        assert curve == sorted(curve, reverse=True)
        assert getattr(found["flood-2"], part) <= getattr(found["flood-10"], part)
    for of in found.values():
        assert of.low <= of.value <= of.high
        assert of.low == 0 or of.low > DRY


def erratic() -> SignatureErrors:
    """Return errors whose factors are in no order among signatures."""
    chance = np.random.default_rng(4)
    simulated, observed = rivers(60, spread=0.5, seed=3)
    shaken = [{name: value * chance.uniform(0.2, 5) for name, value in of.items()} for of in observed]
    return SignatureErrors.fit(simulated, shaken)


ERRATIC = erratic()


def test_without_a_runoff_ratio_nothing_is_estimated() -> None:
    assert ERRATIC.estimates({"mean": 1.0}) == {}
