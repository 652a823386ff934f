"""Arithmetic units that MC-LSTM is compared with: NAU and NALU.

Weights are stored as (features, outputs), so that an axis in front of them (`torch.func.stack_module_state`) only has
to broadcast: parameters (S, ...) go with values (S, ..., features).
"""

import torch
from torch import Tensor, nn

EPSILON = 1e-7  # of the NALU's logarithm
WIDEST_START = 0.5  # of the NAU's first weights


class Nau(nn.Module):
    """Neural addition unit: y = W x with W = min(max(W, -1), 1).

    The penalty that draws W to {-1, 0, 1} belongs to the loss and is not part of the unit. First weights: uniform in
    [-r, r], r = min(0.5, sqrt(6 / (features + outputs))).

    Source: Madsen and Johansen 2020, Neural Arithmetic Units, section 2.3.
    """

    def __init__(self, features: int, outputs: int) -> None:
        super().__init__()
        widest = min(WIDEST_START, (6 / (features + outputs)) ** 0.5)
        self.weight = nn.Parameter(torch.empty(features, outputs).uniform_(-widest, widest))

    def forward(self, x: Tensor) -> Tensor:
        """Return (..., outputs) for x (..., features)."""
        return x @ self.weight.clamp(-1.0, 1.0)


class Nalu(nn.Module):
    """Neural arithmetic logic unit: a gate between sums and products.

        W = tanh(What) sigma(Mhat)
        a = W x,   m = exp(W log(|x| + eps)),   g = sigma(G x)
        y = g a + (1 - g) m

    First weights: Glorot's uniform.

    Source: Trask et al. 2018, Neural Arithmetic Logic Units, section 3.
    """

    def __init__(self, features: int, outputs: int) -> None:
        super().__init__()
        self.w_hat, self.m_hat, self.gate = (
            nn.Parameter(nn.init.xavier_uniform_(torch.empty(features, outputs))) for _ in range(3)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return (..., outputs) for x (..., features)."""
        weight = self.w_hat.tanh() * self.m_hat.sigmoid()
        added = x @ weight
        multiplied = ((x.abs() + EPSILON).log() @ weight).exp()
        return torch.lerp(multiplied, added, (x @ self.gate).sigmoid())
