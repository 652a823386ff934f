"""`torch.nn.LSTM` whose bits, without gradients, are a sample's and a day's own."""

import torch
from torch import Tensor, nn

from models.contract import State
from models.nets.products import BLOCK, linear


def lstm(features: int, cells: int, forget_bias: float) -> nn.LSTM:
    """Return an LSTM of so many features and cells, with the first bias of its forget gate."""
    layer = nn.LSTM(features, cells)
    forget = slice(cells, 2 * cells)  # the gates' order is input, forget, cell, output
    weights = dict(layer.named_parameters())
    with torch.no_grad():
        weights["bias_ih_l0"][forget] = forget_bias
        weights["bias_hh_l0"][forget] = 0
    return layer


def empty_state(layer: nn.LSTM, samples: int) -> State:
    """Return {"h", "c"}: zeros (B, K)."""
    zeros = layer.all_weights[0][0].new_zeros(samples, layer.hidden_size)
    return {"h": zeros, "c": zeros.clone()}


def run(layer: nn.LSTM, x: Tensor, state: State) -> tuple[Tensor, State]:
    """Return the hidden values (T, B, K) of inputs x (T, B, features), and the last state.

    All days at once where there are gradients; a day and a block of samples by itself otherwise.
    """
    if torch.is_grad_enabled():
        hidden, (h, c) = layer(x, (state["h"].unsqueeze(0), state["c"].unsqueeze(0)))
        return hidden, {"h": h[0], "c": c[0]}
    parts = zip(x.split(BLOCK, 1), state["h"].split(BLOCK), state["c"].split(BLOCK), strict=True)
    blocks = [_by_day(layer, *part) for part in parts]
    hidden, h, c = (torch.cat([block[n] for block in blocks], axis) for n, axis in enumerate((1, 0, 0)))
    return hidden, {"h": h, "c": c}


def _by_day(layer: nn.LSTM, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    W_x, W_h, b_x, b_h = layer.all_weights[0]
    weight, bias = torch.cat([W_x, W_h], 1), b_x + b_h
    steps = []
    for day in x:
        i, f, g, o = linear(torch.cat([day, h], -1), weight, bias).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        steps.append(h)
    return torch.stack(steps), h, c
