"""LSTM, the standard comparison: `torch.nn.LSTM` with the statics at every step.

Source: Kratzert et al. 2019 (regional LSTM on CAMELS); MC-LSTM, appendix B.4.3.
"""

import torch
from torch import Tensor, nn

from models.inputs import Inputs, State
from models.nets.products import linear
from models.nets.standardised import Standardised


class LSTM(Standardised):
    """An LSTM whose forget gate starts open, at `forget_bias`.

    `by_library`: whether torch's own LSTM runs all days at once, with gradients and on a card, one member alone.
    """

    architecture = "lstm"
    by_library = True

    def __init__(
        self, auxiliary: int, static: int, cells: int = 128, forget_bias: float = 3.0, dropout: float = 0.4
    ) -> None:
        super().__init__(auxiliary, static, cells, dropout)
        self.lstm = nn.LSTM(self.features, cells)
        forget = slice(cells, 2 * cells)  # the gates' order is input, forget, cell, output
        weights = dict(self.lstm.named_parameters())
        with torch.no_grad():
            weights["bias_ih_l0"][forget] = forget_bias
            weights["bias_hh_l0"][forget] = 0

    def empty_state(self, samples: int) -> State:
        """Return {"h", "c"}: zeros (B, K)."""
        zeros = self.head.weight.new_zeros(samples, self.cells)
        return {"h": zeros, "c": zeros.clone()}

    def recur(self, x: Tensor, inputs: Inputs, state: State) -> tuple[Tensor, State]:  # noqa: ARG002
        """Run the days from the state; without gradients on a processor so that a day's bits are its own."""
        if self.by_library and (torch.is_grad_enabled() or x.is_cuda):
            hidden, (h, c) = self.lstm(x, (state["h"].unsqueeze(0), state["c"].unsqueeze(0)))
            return hidden, {"h": h[0], "c": c[0]}
        W_x, W_h, b_x, b_h = self.lstm.all_weights[0]
        weight, bias, at_once = torch.cat([W_x, W_h], 1), b_x + b_h, torch.is_grad_enabled()
        h, c = state["h"], state["c"]
        steps = []
        for day in linear(x, W_x, bias).unbind() if at_once else x:
            gates = day + linear(h, W_h) if at_once else linear(torch.cat([day, h], -1), weight, bias)
            i, f, g, o = gates.chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            steps.append(h)
        return torch.stack(steps), {"h": h, "c": c}
