"""MC-FC: a layer that distributes mass, MC-LSTM without time.

Source: Hoedt et al., MC-LSTM, the static arithmetic experiment (Table B.2). Weights may have further axes in front, as
in `benchmarks.papers.massconserving`.
"""

import torch
from torch import Tensor, nn

from testing.plain_recurrence import softmax


class MCFC(nn.Module):
    """y = diag(o) I x, I = softmax(B_I), o = sigma(b_o). Outputs and retained mass sum to the inputs.

    Args:
        mass: M, the number of inputs.
        outputs: K.
        output_gate_bias: the first b_o.
    """

    def __init__(self, mass: int, outputs: int, output_gate_bias: float = 0.0) -> None:
        super().__init__()
        self.shares = nn.Parameter(nn.init.orthogonal_(torch.empty(mass, outputs)))
        self.output_gate = nn.Parameter(torch.full((1, outputs), output_gate_bias))

    def weight(self) -> Tensor:
        """Return diag(o) I transposed, (..., M, K). Each row sums to at most 1."""
        return softmax(self.shares) * torch.sigmoid(self.output_gate)

    def forward(self, x: Tensor) -> Tensor:
        """Distribute x (..., B, M), not negative, to (..., B, K)."""
        return x @ self.weight()


class MultiplicativeMCFC(nn.Module):
    """y = exp(MC-FC(log x) + alpha). Products of powers of the inputs, each power between 0 and 1.

    The MC-FC has one output more than is used, for logs that no product needs.
    """

    def __init__(self, mass: int, outputs: int) -> None:
        super().__init__()
        self.logarithmic = MCFC(mass, outputs + 1)
        self.alpha = nn.Parameter(torch.zeros(1, outputs))

    def forward(self, x: Tensor) -> Tensor:
        """Multiply x (..., B, M), above 0, to (..., B, K)."""
        return torch.exp(self.logarithmic(x.log())[..., :-1] + self.alpha)
