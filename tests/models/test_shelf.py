"""What ships with Freshet is whole, and keeps its water."""

from pathlib import Path

import pytest
import torch

from models import checkpoint
from models.contract import Inputs
from models.ensemble import Ensemble
from models.nets.mclstm import MCLSTM
from models.pretrained import SHELF, form
from models.scaling import Scaler
from tests.models.test_mclstm import worst_residual

SHIPPED = [SHELF / name for name in form.names(SHELF)]
DAYS, SAMPLES = 400, 4


def test_something_is_shipped() -> None:
    assert [folder.name for folder in SHIPPED] == [
        "mclstm-maurer-447",
        "mclstm-maurer-447-today",
        "mclstm-maurer-447-twin",
    ]


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_every_member_is_whole_and_closes_the_balance(folder: Path) -> None:
    shipped = form.read(folder)
    said = shipped.description
    weights = {label: checkpoint.parse(blob)[0] for label, blob in shipped.weights.items()}
    ensemble = Ensemble.load(said.config, Scaler.from_json(said.scaler), weights, said.basins)
    generator = torch.Generator().manual_seed(0)
    rain = torch.rand(DAYS, SAMPLES, 1, generator=generator).sub(0.6).clamp_min(0) * 60
    auxiliary = torch.randn(DAYS, SAMPLES, len(said.config.inputs.auxiliary), generator=generator)
    drive = Inputs(rain, auxiliary, torch.randn(SAMPLES, len(said.config.inputs.static), generator=generator))
    for network in ensemble.networks:
        assert isinstance(network, MCLSTM)
        assert worst_residual(network, drive, network.empty_state(SAMPLES)["c"]) <= 1e-5
