"""EINS: an LSTM that diagnoses its own input and extrapolates doubtful values.

Source: the EINS paper, System 4.1 (equation numbers are its own), for inputs x of size xi and cells of size theta:

    d = sigma(W_D x + W_Omega q(t-1) + b_D)     (14)
    v = (1 - d) x + d W_rho x                   (13)
    f, i, o = sigma(W_F v), sigma(W_I v), sigma(W_O v)     (12)  no bias, no recurrent term
    a = W_A v                                   (11)  no tanh, no bias
    s = f s(t-1) + i a ;  q = o tanh(s)
"""

import torch
from torch import Tensor, nn

from models.inputs import Inputs, State
from models.nets.products import Linear
from models.nets.standardised import Standardised


class EINSRecurrence(nn.Module):
    """System 4.1 alone: 2 xi^2 + 5 xi theta + xi parameters, for xi `features` and theta `cells`.

    `forget_bias` is added to W_F v, not a parameter; the paper's image task needs 1.
    """

    def __init__(self, features: int, cells: int, forget_bias: float = 0.0) -> None:
        super().__init__()
        self.cells, self.forget_bias = cells, forget_bias
        self.diagnosis = Linear(features, features)  # W_D, b_D
        self.feedback = Linear(cells, features, bias=False)  # W_Omega
        self.extrapolation = Linear(features, features, bias=False)  # W_rho
        self.gates = Linear(features, 4 * cells, bias=False)  # W_F, W_I, W_O, W_A

    def forward(self, x: Tensor, s: Tensor, q: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Run T steps of x (T, B, xi) from s and q (B, theta); return q (T, B, theta), and the last s and q."""
        # Without gradients step by step: the bits of a step must not depend on the number of steps run together.
        doubts, extrapolations = (
            iter(project(x)) if torch.is_grad_enabled() else map(project, x)
            for project in (self.diagnosis, self.extrapolation)
        )
        steps: list[Tensor] = []
        for x_t, doubt, extrapolated in zip(x, doubts, extrapolations, strict=True):
            d = torch.sigmoid(doubt + self.feedback(q))  # (14)
            v = torch.lerp(x_t, extrapolated, d)  # (13)
            f, i, o, a = self.gates(v).chunk(4, -1)  # (11), (12)
            s = torch.sigmoid(f + self.forget_bias) * s + torch.sigmoid(i) * a
            q = torch.sigmoid(o) * torch.tanh(s)
            steps.append(q)
        return torch.stack(steps), s, q


class EINS(Standardised):
    """The EINS recurrence over forcing and attributes."""

    architecture = "eins"

    def __init__(
        self, auxiliary: int, static: int, cells: int = 128, forget_bias: float = 0.0, dropout: float = 0.4
    ) -> None:
        super().__init__(auxiliary, static, cells, dropout)
        self.recurrence = EINSRecurrence(self.features, cells, forget_bias)

    def empty_state(self, samples: int) -> State:
        """Return {"s", "q"}: zeros (B, theta)."""
        zeros = self.head.weight.new_zeros(samples, self.cells)
        return {"s": zeros, "q": zeros.clone()}

    def recur(self, x: Tensor, inputs: Inputs, state: State) -> tuple[Tensor, State]:  # noqa: ARG002
        hidden, s, q = self.recurrence(x, state["s"], state["q"])
        return hidden, {"s": s, "q": q}
