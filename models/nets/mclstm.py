"""MC-LSTM, hydrology variant: cells that hold water, in mm, and conserve it.

Source: Hoedt et al., MC-LSTM: Mass-Conserving LSTM (ICML 2021); equation numbers are those of the ICLR 2021
submission.

    m_tot(t) = R(t) c(t-1) + i(t) x(t)      (10)
    c(t)     = (1 - o(t)) m_tot(t)          (11)
    h(t)     = o(t) m_tot(t)                (12)
    q(t)     = sum over k >= 2 of h_k(t)    (13)  the first cell is the trash cell: its outflow is water lost

Every gate sees x(t), the auxiliaries, the statics and c(t-1) / (|c(t-1)|_1 + eps), normalised per sample; with an
`Embedding`, which is not the paper's, its values too. R's pre-activations may be of a low rank, which is not the
paper's either: U (V u) + b, with u all that the gates see. Nor is it the paper's that a cell's own water may open its
output gate: o_k = sigma(z_k + log(1 + kappa_k m_k)), with kappa_k >= 0 learnt. The outflow o_k m_k then rises with m_k,
and never faster than m_k itself. So where no other gate sees rain or water, additional rain leaves no cell with less
water, and lowers neither discharge nor loss on any day.
"""

from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from jobspec.network import Unseen
from models.contract import BasinVectors, Inputs, Network, Outputs, State, check_tags
from models.devices import gpu_programs
from models.nets import scan
from models.nets.compiled import recurrence as compiled
from models.nets.layers import RAIN_SCALE, AntecedentWeather, Embedding, aligned
from models.nets.scan import FIRST_WETNESS_MM, Gates, Tags

TRASH_CELL = 0
PROGRAMS: dict[str, Any] = {"torch": scan}
"""Modules that run the days beside the compiled one. Tests add the equations as written (`plain`)."""


class MCLSTM(Network):
    """A mass-conserving LSTM with one mass input, a normalised-ReLU R and a normalised-logistic i.

    Args:
        auxiliary, static: L and S, the numbers of standardised dynamic inputs and attributes.
        rank: r, rows of V, columns of U. This and all others as in `jobspec.network.MCLSTMConfig`, but the defaults are
            those of the published network.
        recurrence: the program that runs the days: `fastest` is the compiled one on a CPU, an extension's on a GPU,
            torch's elsewhere; others, `triton` or of `PROGRAMS`, are for checks.
    """

    architecture = "mclstm"
    conserving = True
    skips_gaps = False
    trash_cells = (TRASH_CELL,)

    def __init__(
        self,
        auxiliary: int,
        static: int,
        cells: int = 64,
        embedding: int = 0,
        rank: int = 0,
        basin_vector: int = 0,
        vector_dropout: float = 0.0,
        antecedent_days: Sequence[float] = (),
        output_gate_bias: float = -3.0,
        wetness: bool = False,
        recurrence: str = "fastest",
    ) -> None:
        super().__init__()
        self.antecedent = AntecedentWeather(antecedent_days, 1 + auxiliary) if antecedent_days else None
        weather = (1 + auxiliary) * (1 + len(antecedent_days))
        self.drivers, self.static, self.cells = weather + embedding, static + basin_vector, cells
        self.embedding = Embedding(weather + self.static, embedding) if embedding else None
        features = self.drivers + self.static + cells
        self.mixing = nn.Linear(features, rank, bias=False) if rank else None  # V
        self.redistribution = nn.Linear(rank or features, cells * cells)  # U and b
        self.input_gate = nn.Linear(features, cells)
        self.output_gate = nn.Linear(features, cells)
        self.wetness = nn.Parameter(torch.zeros(cells)) if wetness else None  # log of kappa FIRST_WETNESS_MM
        self.vectors = BasinVectors(basin_vector, vector_dropout) if basin_vector else None
        self.recurrence = recurrence
        self._cached: tuple[object, Gates] | None = None
        self._reset(output_gate_bias)

    def _reset(self, output_gate_bias: float) -> None:
        for gate in (self.redistribution, self.input_gate, self.output_gate):
            nn.init.orthogonal_(gate.weight)
            nn.init.zeros_(gate.bias)
        if self.mixing is not None:
            nn.init.orthogonal_(self.mixing.weight)
        nn.init.constant_(self.output_gate.bias, output_gate_bias)

    @property
    def computes_blocks_alone(self) -> bool:
        return self.recurrence == "fastest" and compiled.available(self.output_gate.weight.device)

    @property
    def basin_vectors(self) -> BasinVectors | None:
        return self.vectors

    def hide(self, unseen: Collection[Unseen]) -> None:
        """Hide inputs from gates and embedding. Their weights are 0, and stay so in training."""
        vector = self.vectors.size if self.vectors else 0
        embedded = self.embedding.values if self.embedding else 0
        rain, past = "rain" not in unseen, "past_weather" not in unseen
        scales = len(self.antecedent.retention) if self.antecedent else 0
        auxiliary = (self.drivers - embedded) // (1 + scales) - 1
        weather = [(1, rain), (auxiliary, True)] + scales * [(1, rain and past), (auxiliary, past)]
        basin = [(self.static - vector, True), (vector, "basin_vector" not in unseen)]
        embedding = [(embedded, "embedding" not in unseen)]
        for gate in (self.input_gate, self.output_gate, self.mixing or self.redistribution):
            hold_at_zero(gate.weight, [*weather, *embedding, *basin, (self.cells, "water" not in unseen)])
        if self.embedding is not None:
            hold_at_zero(self.embedding.first.weight, [*weather, *basin])

    def empty_state(self, samples: int) -> State:
        """Return {"c"}: zeros (B, K) in mm, and {"weather"}, the antecedent means, if the gates see them."""
        cells = self.output_gate.bias.new_zeros(samples, self.cells)
        if self.antecedent is None:
            return {"c": cells}
        return {"c": cells, "weather": self.antecedent.empty_state(cells)}

    def forward(self, inputs: Inputs, state: State | None = None) -> tuple[Outputs, State]:
        """Run T days for B samples from the water in `state["c"]` (B, K), in mm.

        Where the state has tags, `state["tags"]` (B, K, G), precipitation has the tag `inputs.tag`, and
        `discharge_by_tag` and `loss_by_tag`, (T, B, G) in mm/day, are returned too; without gradients.
        """
        check_days(inputs)
        state = state or self.empty_state(inputs.mass.shape[1])
        if not self.computes_blocks_alone and (gpu := gpu_programs()) is not None and gpu.runs(self):
            return gpu.run(self, inputs, state)
        cells = state["c"]
        static = inputs.static if self.vectors is None else self.vectors(inputs)
        weather = torch.cat([inputs.mass * RAIN_SCALE, inputs.auxiliary], -1)
        means = None if self.antecedent is None else self.antecedent(weather, state["weather"])
        before = [] if means is None else [means]
        drivers = [inputs.mass, inputs.auxiliary, *before]
        if self.embedding is not None:
            drivers.append(self.embedding(torch.cat([weather, *before], -1), static))
        days = (self._gates(), torch.cat(drivers, -1), static, inputs.mass[..., 0], cells)
        outputs, last = dict[str, Tensor](), {} if means is None else {"weather": means[-1]}
        if "tags" in state:
            with torch.no_grad():
                (storage, outflow, discharge), tagged = self._program().tagged_scan(
                    *days, _tags(inputs, cells, state["tags"])
                )
            outputs |= {"discharge_by_tag": tagged.discharge, "loss_by_tag": tagged.loss}
            last["tags"] = tagged.cells
        else:
            storage, outflow, discharge = self._program().scan(*days)
        loss = outflow[..., TRASH_CELL]
        outputs |= {"discharge": discharge, "loss": loss, "outflow": outflow, "storage": storage}
        return outputs, last | {"c": storage[-1]}

    def _program(self) -> Any:
        if self.computes_blocks_alone:
            return compiled
        return PROGRAMS["torch" if self.recurrence == "fastest" else self.recurrence]

    def _gates(self) -> Gates:
        """Return the gates; without gradients they are cached while the weights are the same."""
        if torch.is_grad_enabled() or self.output_gate.weight.is_inference():  # such weights have no version
            return self._stacked()
        now = (self.half_products, *((parameter.data_ptr(), parameter._version) for parameter in self.parameters()))
        if self._cached is None or self._cached[0] != now:
            self._cached = now, self._stacked()
        return self._cached[1]

    def _stacked(self) -> Gates:
        K, R, V = self.cells, self.redistribution, self.mixing
        i, o = ((aligned(gate.weight, K), aligned(gate.bias, K)) for gate in (self.input_gate, self.output_gate))
        factor = factor_bias = None
        if V is None:
            weight, bias = aligned(R.weight, K), aligned(R.bias, K)
        else:
            weight = aligned(V.weight, len(V.weight))
            bias = weight.new_zeros(len(weight))
            factor, factor_bias = aligned(R.weight, K), aligned(R.bias, K)
            factor = functional.pad(factor, (0, len(weight) - len(V.weight)))
        weight, bias = torch.cat([weight, i[0], o[0]]), torch.cat([bias, i[1], o[1]])
        of_drivers, of_static, of_cells = weight.split([self.drivers, self.static, K], 1)
        wetness = None if self.wetness is None else self.wetness.exp() / FIRST_WETNESS_MM
        varying, static = torch.cat([of_cells, of_drivers], 1), of_static.contiguous()
        return Gates(varying, static, bias, factor, factor_bias, wetness, half_products=self.half_products)


def check_days(inputs: Inputs) -> None:
    """Raise ValueError unless there are days, all with weather."""
    if inputs.mask is not None:
        raise ValueError("MC-LSTM cannot skip a day: it would lose the day's water")
    if inputs.mass.shape[0] == 0:
        raise ValueError("MC-LSTM needs at least one day of forcing")


def _tags(inputs: Inputs, water: Tensor, tagged: Tensor) -> Tags:
    """Return the precipitation (T, B, G) under the tag of its day, and the tagged water of the cells."""
    tag = check_tags(inputs, water, tagged)
    falling = inputs.mass * functional.one_hot(tag, tagged.shape[-1]).to(inputs.mass).unsqueeze(1)
    return Tags(falling, tagged)


def hold_at_zero(weight: Tensor, columns: Sequence[tuple[int, bool]]) -> None:
    """Set the columns that are not seen, by runs (number, seen), to 0 in a parameter and in its gradients."""
    seen = torch.cat([torch.full((count,), float(visible)) for count, visible in columns])
    with torch.no_grad():
        weight *= seen
    weight.register_hook(lambda gradient: gradient * seen.to(gradient))
