"""EA-LSTM and GRU are those of other libraries, with the same weights."""

import pytest
import torch
from neuralhydrology.modelzoo import ealstm
from neuralhydrology.utils.config import Config

from models.nets.comparison_networks import EALSTM, GRU
from testing.networks import inputs as draw

CELLS, DAYS, SAMPLES = 7, 12, 5


def drive() -> tuple[torch.Tensor, torch.Tensor]:
    """Return inputs of each day (T, B, features) and of each basin (B, S)."""
    drawn = draw(DAYS, SAMPLES)
    return torch.cat([drawn.mass, drawn.auxiliary], -1), drawn.static


def hidden_of(network: EALSTM | GRU, weather: torch.Tensor, static: torch.Tensor) -> torch.Tensor:
    x = torch.cat([weather, static.expand(DAYS, *static.shape)], -1)
    hidden, last = network.recur(x, draw(DAYS, SAMPLES), network.empty_state(SAMPLES))
    torch.testing.assert_close(hidden[-1], last["h"])
    return hidden


@pytest.mark.parametrize("with_gradients", [True, False])
def test_a_gru_is_that_of_torch(with_gradients: bool) -> None:
    weather, static = drive()
    ours = GRU(weather.shape[-1] - 1, static.shape[-1], CELLS).double()
    peer = torch.nn.GRU(ours.features, CELLS).double()
    with torch.no_grad():
        for name, layer in (("ih", ours.gates), ("hh", ours.feedback)):
            getattr(peer, f"weight_{name}_l0").copy_(layer.weight)
            getattr(peer, f"bias_{name}_l0").copy_(layer.bias)
    with torch.set_grad_enabled(with_gradients):
        expected, _ = peer(torch.cat([weather, static.expand(DAYS, *static.shape)], -1))
        torch.testing.assert_close(hidden_of(ours, weather, static), expected)


@pytest.mark.parametrize("with_gradients", [True, False])
def test_an_ealstm_is_that_of_neuralhydrology(with_gradients: bool) -> None:
    weather, static = drive()
    ours = EALSTM(weather.shape[-1] - 1, static.shape[-1], CELLS).double()
    dynamic = [str(number) for number in range(weather.shape[-1])]
    settings = {
        "hidden_size": CELLS,
        "head": "regression",
        "dynamic_inputs": dynamic,
        "static_attributes": [str(number) for number in range(static.shape[-1])],
        "target_variables": ["flow"],
        "output_dropout": 0.0,
        "model": "ealstm",
    }
    peer = ealstm.EALSTM(Config(settings)).double()
    forget, cell, output = range(3)
    with torch.no_grad():
        peer.input_gate.weight.copy_(ours.input_gate.weight)
        peer.input_gate.bias.copy_(ours.input_gate.bias)
        order = [forget, output, cell]
        gates = peer.dynamic_gates
        gates.weight_ih.copy_(torch.cat([ours.gates.weight.chunk(3)[part] for part in order]).t())
        gates.weight_hh.copy_(torch.cat([ours.feedback.weight.chunk(3)[part] for part in order]).t())
        gates.bias.copy_(torch.cat([ours.gates.bias.chunk(3)[part] for part in order]))
    data = {"x_d": {name: weather[..., [int(name)]].transpose(0, 1) for name in dynamic}}
    with torch.set_grad_enabled(with_gradients):
        expected = peer(data | {"x_s": static})["h_n"].transpose(0, 1)
        torch.testing.assert_close(hidden_of(ours, weather, static), expected)
