"""Wherever an architecture is chosen, the same ones can be."""

from typing import get_args

from freshet.cli.train import Architecture
from jobspec.network import NetworkConfig
from jobspec.training import RATES
from models.networks import ARCHITECTURES


def test_every_list_of_architectures_has_the_same() -> None:
    networks = [get_args(network)[0] for network in get_args(get_args(NetworkConfig)[0])]
    names = {get_args(network.model_fields["architecture"].annotation)[0] for network in networks}
    assert names == set(Architecture) == set(RATES) == set(ARCHITECTURES)
