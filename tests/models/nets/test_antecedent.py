"""The gates may see means of the weather of the days before: they follow from it alone."""

import numpy as np
import pytest
import torch
from scipy.signal import lfilter

from models.nets.layers import AntecedentWeather, by_doubling
from testing.networks import inputs, network

DAYS = (3.0, 60.0)


def test_the_means_are_exponential_filters_of_the_weather() -> None:
    weather = torch.randn(200, 4, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    antecedent = AntecedentWeather(DAYS, 2).double()
    means = antecedent(weather, antecedent.empty_state(weather[0]))
    decay = np.exp(-1 / np.array(DAYS))
    expected = [lfilter([1 - share], [1, -share], weather.numpy(), axis=0) for share in decay]
    # Time scales are stored in single precision, as weights are.
    np.testing.assert_allclose(means.numpy(), np.concatenate(expected, axis=-1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("days", [1, 2, 63, 64, 200])
def test_by_doubling_they_are_the_same(days: int) -> None:
    weather = torch.randn(days, 4, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    antecedent = AntecedentWeather(DAYS, 2).double()
    stored, first = antecedent.retention.double().repeat_interleave(2), torch.ones(4, 4, dtype=torch.float64)
    doubled = by_doubling(weather.repeat(1, 1, 2) * (1 - stored), stored, first)
    torch.testing.assert_close(doubled, antecedent(weather, first), rtol=1e-12, atol=1e-12)


def test_weather_that_stays_becomes_its_own_mean() -> None:
    antecedent = AntecedentWeather(DAYS, 2)
    weather = torch.tensor([1.5, -2.0]).expand(900, 1, 2)
    means = antecedent(weather, antecedent.empty_state(weather[0]))
    assert torch.allclose(means[-1, 0], torch.tensor([1.5, -2.0] * 2), atol=1e-4)


def test_past_weather_turns_the_gates_and_makes_no_water() -> None:
    net = network(5, antecedent_days=DAYS)
    drive = inputs(40, 3)
    stored = {"c": torch.full((3, 5), 10.0, dtype=torch.float64)}
    means = net.empty_state(3)["weather"]
    with torch.no_grad():
        after_ordinary, _ = net(drive, stored | {"weather": means})
        after_heat, _ = net(drive, stored | {"weather": means + 2.0})
    assert not torch.allclose(after_ordinary["discharge"], after_heat["discharge"])
    for outputs in (after_ordinary, after_heat):
        left = outputs["discharge"].sum(0) + outputs["loss"].sum(0) + outputs["storage"][-1].sum(-1)
        torch.testing.assert_close(left, 50.0 + drive.mass.sum((0, 2)))
