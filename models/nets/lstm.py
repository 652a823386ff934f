"""LSTM, the standard comparison: `torch.nn.LSTM` with the statics at every step.

Source: Kratzert et al. 2019 (regional LSTM on CAMELS); MC-LSTM, appendix B.4.3.
"""

from torch import Tensor

from models.contract import Inputs, State
from models.nets import recurrent
from models.nets.standardised import Standardised


class LSTM(Standardised):
    """An LSTM whose forget gate starts open.

    Args:
        forget_bias: the first bias of the forget gate.
    """

    architecture = "lstm"

    def __init__(
        self, auxiliary: int, static: int, cells: int = 128, forget_bias: float = 3.0, dropout: float = 0.4
    ) -> None:
        super().__init__(auxiliary, static, cells, dropout)
        self.lstm = recurrent.lstm(self.features, cells, forget_bias)

    def empty_state(self, samples: int) -> State:
        """Return {"h", "c"}: zeros (B, K)."""
        return recurrent.empty_state(self.lstm, samples)

    def recur(self, x: Tensor, inputs: Inputs, state: State) -> tuple[Tensor, State]:  # noqa: ARG002
        """Run all days at once where there are gradients; day by day otherwise."""
        return recurrent.run(self.lstm, x, state)
