"""Wherever an architecture is chosen, the same ones can be."""

from jobspec import network, training
from models import networks


def test_every_list_of_architectures_has_the_same() -> None:
    assert set(network.ARCHITECTURES) == set(training.RATES) == set(networks.ARCHITECTURES)
