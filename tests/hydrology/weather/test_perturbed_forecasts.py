"""Perturbed observations are weather that could have been forecast, the farther ahead the less like the truth."""

import numpy as np

from hydrology.weather.forecast_errors import perturbed

DAYS = 10
OBSERVED = {
    "precipitation": np.where(np.arange(DAYS) % 2, 8.0, 0.0),
    "tmax": np.full(DAYS, 12.0),
    "tmin": np.full(DAYS, 3.0),
    "srad": np.full(DAYS, 180.0),
    "vp": np.full(DAYS, 700.0),
}


def test_perturbed_weather_is_possible_weather() -> None:
    weather = perturbed(OBSERVED, 200, np.random.default_rng(1))
    assert {name: values.shape for name, values in weather.items()} == dict.fromkeys(OBSERVED, (200, DAYS))
    assert ((weather["precipitation"] == 0) == (OBSERVED["precipitation"] == 0)).all()
    assert (weather["precipitation"] >= 0).all()
    np.testing.assert_allclose(weather["tmax"] - weather["tmin"], 9.0)
    assert (weather["srad"] > 0).all()
    assert (weather["vp"] > 0).all()


def test_errors_grow_with_the_lead_and_last_from_day_to_day() -> None:
    off = perturbed(OBSERVED, 2000, np.random.default_rng(2))["tmax"] - OBSERVED["tmax"]
    spread = off.std(axis=0)
    np.testing.assert_allclose(spread / spread[0], np.sqrt(np.arange(1, DAYS + 1)), rtol=0.1)
    assert np.corrcoef(off[:, 4], off[:, 5])[0, 1] > 0.7


def test_the_same_seed_gives_the_same_weather() -> None:
    one, other = (perturbed(OBSERVED, 3, np.random.default_rng(7)) for _ in range(2))
    assert all(np.array_equal(one[name], other[name]) for name in OBSERVED)
