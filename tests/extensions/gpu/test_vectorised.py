"""Networks without storage that are run at once are those that run alone."""

import pytest
import torch

from extensions.gpu.nets import vectorised
from extensions.gpu.nets.members import Parameters, member_inputs
from jobspec.network import sized
from models.contract import Inputs
from models.nets.comparison_networks import Standardised
from models.networks import build
from testing.networks import config
from testing.networks import inputs as draw

pytestmark = pytest.mark.extended

EVERY = ["lstm", "ealstm", "gru", "eins", "mmrnn"]


def members(architecture: str, count: int = 3) -> list[Standardised]:
    """Return networks in evaluation mode that differ in their weights."""
    settings = config(network=sized(architecture, 6))
    networks = [build(settings.network, settings.inputs, seed).double().eval() for seed in range(count)]
    return [network for network in networks if isinstance(network, Standardised)]


def stacked(networks: list[Standardised]) -> Parameters:
    of_members = [dict(network.named_parameters()) for network in networks]
    return {name: torch.stack([of[name].detach() for of in of_members]) for name in of_members[0]}


def drive(architecture: str, days: int = 9, samples: int = 4) -> Inputs:
    """Return inputs; with gaps for a network that skips them."""
    drawn = draw(days, samples)
    mask = torch.arange(days * samples).reshape(days, samples) % 5 > 0 if architecture == "mmrnn" else None
    return Inputs(drawn.mass, drawn.auxiliary, drawn.static, mask=mask)


@pytest.mark.parametrize("architecture", EVERY)
@pytest.mark.parametrize("numbers", [vectorised.NUMBERS, 1])
def test_members_simulate_what_each_does_alone(
    architecture: str, numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectorised, "NUMBERS", numbers)  # 1: a day a launch
    networks, given = members(architecture), drive(architecture)
    together = vectorised.discharge_of(networks[0], stacked(networks), member_inputs(networks[0], given))
    with torch.no_grad():
        alone = torch.stack([network(given)[0]["discharge"].t() for network in networks])
    torch.testing.assert_close(together, alone, equal_nan=True)
    assert not together.requires_grad


@pytest.mark.parametrize("architecture", EVERY)
def test_each_member_drops_values_of_its_own(architecture: str) -> None:
    (network,) = members(architecture, 1)
    weights, given = stacked([network, network]), member_inputs(network, drive(architecture))
    first, second = vectorised.run(network, weights, given)[0]
    torch.testing.assert_close(first, second, rtol=0, atol=0, equal_nan=True)
    first, second = vectorised.run(network.train(), weights, given)[0]
    assert not torch.allclose(first, second, equal_nan=True)
