"""mmRNN: a memory cell and a continuous-time state, so that days without forcing are skipped.

Source: the mixed-memory RNN paper, Algorithm 1; the recurrence is `models.nets.mixedmemory`.
"""

import torch
from torch import Tensor

from models.inputs import Inputs, State
from models.nets.mixedmemory import MixedMemory
from models.nets.standardised import Standardised

DAYS_A_UNIT = 365.0  # the paper scales a whole sequence to one unit of time; a gap counts as one unit at most


class MMRNN(Standardised):
    """The mixed-memory recurrence over forcing and attributes.

    A day whose mask is False is skipped: the state stays, the day's discharge is NaN, and the next step takes the time
    that has passed since the last one. At the start the cells retain sigma(`forget_bias`) of themselves per step.
    """

    architecture = "mmrnn"
    skips_gaps = True

    def __init__(
        self, auxiliary: int, static: int, cells: int = 64, forget_bias: float = 3.0, dropout: float = 0.4
    ) -> None:
        super().__init__(auxiliary, static, cells, dropout)
        self.recurrence = MixedMemory(self.features, cells, forget_bias=forget_bias)

    def empty_state(self, samples: int) -> State:
        """Return {"c", "h"}: zeros (B, K), and {"waited"}: zeros (B,), the days skipped since the last step."""
        zeros = self.head.weight.new_zeros(samples, self.cells)
        return {"c": zeros, "h": zeros.clone(), "waited": zeros.new_zeros(samples)}

    def recur(self, x: Tensor, inputs: Inputs, state: State) -> tuple[Tensor, State]:
        days = torch.ones_like(inputs.mass[..., 0]) if inputs.elapsed is None else inputs.elapsed
        passed, waited = _since_last_step(days, inputs.mask, state["waited"])
        units = (passed / DAYS_A_UNIT).clamp_max(1.0)
        hidden, (c, h) = self.recurrence(x, units, inputs.mask, (state["c"], state["h"]))
        return hidden, {"c": c, "h": h, "waited": waited}


def _since_last_step(days: Tensor, mask: Tensor | None, waited: Tensor) -> tuple[Tensor, Tensor]:
    """Return the days (T, B) that each step covers, including skipped days before it, and those skipped at the end."""
    if mask is None:
        return torch.cat([(days[0] + waited).unsqueeze(0), days[1:]]), torch.zeros_like(waited)
    covered = []
    for day, taken in zip(days, mask, strict=True):
        covered.append(day + waited)
        waited = torch.where(taken, 0.0, covered[-1])
    return torch.stack(covered), waited
