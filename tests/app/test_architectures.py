"""Wherever an architecture is chosen, the same ones can be."""

from typing import get_args

from app.jobs.params import Network
from freshet.cli.train import Architecture
from models.config import PEAKS, STAIRCASES
from models.networks import ARCHITECTURES


def test_every_list_of_architectures_has_the_same() -> None:
    of_jobs = [get_args(one)[0].model_fields["architecture"].annotation for one in get_args(get_args(Network)[0])]
    named = {get_args(literal)[0] for literal in of_jobs}
    assert named == set(Architecture) == set(PEAKS) == set(STAIRCASES) == set(ARCHITECTURES)
