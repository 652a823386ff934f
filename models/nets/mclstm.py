"""MC-LSTM, hydrology variant: cells that hold water, in mm, and neither make nor lose any.

Source: Hoedt et al., MC-LSTM: Mass-Conserving LSTM (ICML 2021); equation numbers are those of the ICLR 2021
submission.

    m_tot(t) = R(t) c(t-1) + i(t) x(t)      (10)
    c(t)     = (1 - o(t)) m_tot(t)          (11)
    h(t)     = o(t) m_tot(t)                (12)
    q(t)     = sum over k >= 2 of h_k(t)    (13)  the first cell is the trash cell: its outflow is water lost

Every gate sees x(t), the auxiliaries, the statics and c(t-1) / (|c(t-1)|_1 + eps), normalised per sample.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.contract import Inputs, Network, Outputs, State
from models.nets.normalisers import normalised_logistic, normalised_relu
from models.nets.products import ROW_ALIGNMENT
from models.nets.scan import EPSILON, scan

TRASH_CELL = 0


class MCLSTM(Network):
    """A mass-conserving LSTM with one mass input, a normalised-ReLU R and a normalised-logistic i.

    Args:
        auxiliary: L, the number of standardised dynamic inputs.
        static: S, the number of standardised static attributes.
        cells: K, the trash cell included.
        output_gate_bias: the first bias of o; -3 keeps the water in at the start (0.05 of it leaves a day).
        fast: False runs the equations as written (`plain_scan`), for checks.
    """

    architecture = "mclstm"
    conserving = True
    skips_gaps = False
    state_version = 1

    def __init__(
        self, auxiliary: int, static: int, cells: int = 64, output_gate_bias: float = -3.0, fast: bool = True
    ) -> None:
        super().__init__()
        self.auxiliary, self.static, self.cells = auxiliary, static, cells
        features = 1 + auxiliary + static + cells
        self.redistribution = nn.Linear(features, cells * cells)
        self.input_gate = nn.Linear(features, cells)
        self.output_gate = nn.Linear(features, cells)
        self._recurrence = scan if fast else plain_scan
        self._reset(output_gate_bias)

    def _reset(self, output_gate_bias: float) -> None:
        for gate in (self.redistribution, self.input_gate, self.output_gate):
            nn.init.orthogonal_(gate.weight)
            nn.init.zeros_(gate.bias)
        nn.init.constant_(self.output_gate.bias, output_gate_bias)

    def empty_state(self, samples: int) -> State:
        """Return empty cells: {"c": zeros (B, K)}, in mm."""
        return {"c": self.output_gate.bias.new_zeros(samples, self.cells)}

    def forward(self, inputs: Inputs, state: State | None = None) -> tuple[Outputs, State]:
        """Run T days for B samples from the water in `state["c"]` (B, K), in mm."""
        if inputs.mask is not None:
            raise ValueError("MC-LSTM cannot skip a day: it would lose the day's water")
        if inputs.mass.shape[0] == 0:
            raise ValueError("MC-LSTM needs at least one day of forcing")
        cells = (state or self.empty_state(inputs.mass.shape[1]))["c"]
        weight, bias = self._stacked_gates()
        from_drivers, from_static, from_cells = weight.split([1 + self.auxiliary, self.static, self.cells], 1)
        fixed = functional.linear(inputs.static, from_static, bias)
        drivers = torch.cat([inputs.mass, inputs.auxiliary], -1)
        storage, outflow = self._recurrence(
            torch.cat([from_cells, from_drivers], 1), fixed, drivers, inputs.mass[..., 0], cells
        )
        outputs = {
            "discharge": outflow[..., TRASH_CELL + 1 :].sum(-1),
            "loss": outflow[..., TRASH_CELL],
            "outflow": outflow,
            "storage": storage,
        }
        return outputs, {"c": storage[-1]}

    def _stacked_gates(self) -> tuple[Tensor, Tensor]:
        """Return weight and bias of all gates as `scan` wants them: K + 2 groups of K rows, padded with 0."""
        K = self.cells
        gates = (self.redistribution, self.input_gate, self.output_gate)
        weight = torch.cat([gate.weight for gate in gates]).unflatten(0, (K + 2, K))
        bias = torch.cat([gate.bias for gate in gates]).unflatten(0, (K + 2, K))
        padding = -K % ROW_ALIGNMENT
        weight, bias = functional.pad(weight, (0, 0, 0, padding)), functional.pad(bias, (0, padding))
        return weight.flatten(0, 1), bias.flatten()


def plain_scan(weight: Tensor, fixed: Tensor, drivers: Tensor, mass: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """Run the recurrence as the equations say it, under autograd: the meaning of `scan.scan`.

    Takes and returns what `scan.scan` does. It keeps every R: some 8 GB for a year of 256 basins.
    """
    K = cells.shape[-1]
    storage, outflow = [], []
    for d, x in zip(drivers, mass, strict=True):
        normalised = cells / (cells.sum(-1, keepdim=True) + EPSILON)
        z = functional.linear(torch.cat([normalised, d], -1), weight) + fixed
        z_R, z_i, z_o = z.unflatten(-1, (K + 2, -1))[..., :K].tensor_split([K, K + 1], 1)
        i = normalised_logistic(z_i.squeeze(1))  # (17)
        o = torch.sigmoid(z_o.squeeze(1))  # (15)
        R = normalised_relu(z_R)  # (18)
        m_tot = (cells.unsqueeze(-2) @ R).squeeze(-2) + i * x.unsqueeze(-1)  # (10)
        h = o * m_tot  # (12)
        cells = m_tot - h  # (11)
        storage.append(cells)
        outflow.append(h)
    return torch.stack(storage), torch.stack(outflow)
