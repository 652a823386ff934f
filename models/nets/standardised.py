"""The base of networks that do not conserve water. Standardised water in, linear head, discharge in mm/day out."""

from abc import abstractmethod

import torch
from torch import Tensor, nn

from models.contract import Network
from models.inputs import Inputs, Outputs, State, WaterScales
from models.nets.products import Linear


class Standardised(Network):
    """A recurrence over standardised inputs, read by a linear head behind dropout [K19].

    Every step of the recurrence, K wide, sees the precipitation, the L auxiliaries and the S statics, all standardised.
    The scales of the water are buffers, so they are stored with the weights.
    """

    conserving = False
    skips_gaps = False
    state_version = 1
    precipitation: Tensor
    streamflow: Tensor

    def __init__(self, auxiliary: int, static: int, cells: int, dropout: float) -> None:
        super().__init__()
        self.features, self.cells = 1 + auxiliary + static, cells
        self.dropout = nn.Dropout(dropout)
        self.head = Linear(cells, 1)
        self.register_buffer("precipitation", torch.tensor([0.0, 1.0]))  # mean and standard deviation, mm/day
        self.register_buffer("streamflow", torch.tensor([0.0, 1.0]))

    def scale_to(self, water: WaterScales) -> None:
        with torch.no_grad():
            self.precipitation.copy_(torch.tensor([water.mass_mean, water.mass_sd]))
            self.streamflow.copy_(torch.tensor([water.discharge_mean, water.discharge_sd]))

    def forward(self, inputs: Inputs, state: State | None = None) -> tuple[Outputs, State]:
        """Run T days for B samples. Outside training, a discharge below zero is zero."""
        if inputs.mask is not None and not self.skips_gaps:
            raise ValueError(f"{self.architecture} cannot skip a day: give it forcing without gaps")
        if inputs.mass.shape[0] == 0:
            raise ValueError(f"{self.architecture} needs at least one day of forcing")
        mean, sd = self.precipitation
        statics = inputs.static.expand(len(inputs.mass), *inputs.static.shape)
        x = torch.cat([(inputs.mass - mean) / sd, inputs.auxiliary, statics], -1)
        hidden, last = self.recur(x, inputs, state or self.empty_state(x.shape[1]))
        mean, sd = self.streamflow
        discharge = self._read(hidden) * sd + mean
        if not self.training:
            discharge = discharge.clamp_min(0)
        if inputs.mask is not None:
            discharge = torch.where(inputs.mask, discharge, torch.nan)
        return {"discharge": discharge}, last

    @abstractmethod
    def recur(self, x: Tensor, inputs: Inputs, state: State) -> tuple[Tensor, State]:
        """Return the hidden values (T, B, K) of inputs x (T, B, features), and the last state."""

    def _read(self, hidden: Tensor) -> Tensor:
        # Without gradients each day's product is separate, so that its bits do not depend on the number of days.
        steps = [self.dropout(hidden)] if torch.is_grad_enabled() else list(hidden.split(1))
        return torch.cat([self.head(step) for step in steps]).squeeze(-1)
