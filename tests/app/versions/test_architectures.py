"""Wherever an architecture is chosen, the same ones can be."""

from jobspec import network
from models import networks


def test_every_list_of_architectures_has_the_same() -> None:
    assert set(network.ARCHITECTURES) == set(networks.ARCHITECTURES)
