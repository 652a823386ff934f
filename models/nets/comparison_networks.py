"""LSTM, EA-LSTM, GRU, EINS and mmRNN, for comparison: they do not conserve water.

Standardised water in, linear head, mm/day out.
"""

from abc import abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from models.contract import Inputs, Network, Outputs, State, WaterScales
from models.nets.layers import Linear, linear
from models.nets.mixedmemory import MixedMemory


class Standardised(Network):
    """A recurrence over standardised inputs, read by a linear head behind dropout [K19].

    Every step of the recurrence, K wide, sees the precipitation, the L auxiliaries and the S statics, all standardised.
    The scales of the water are buffers, so they are stored with the weights. `carried` names the values (B, K) of the
    state, zeros at first.
    """

    conserving = False
    skips_gaps = False
    carried: tuple[str, ...]
    precipitation: Tensor
    streamflow: Tensor

    def __init__(self, auxiliary: int, static: int, cells: int, forget_bias: float = 3.0, dropout: float = 0.4) -> None:
        super().__init__()
        self.weather, self.features, self.cells = 1 + auxiliary, 1 + auxiliary + static, cells
        self.dropout = nn.Dropout(dropout)
        self.head = Linear(cells, 1)
        self.register_buffer("precipitation", torch.tensor([0.0, 1.0]))  # mean and standard deviation, mm/day
        self.register_buffer("streamflow", torch.tensor([0.0, 1.0]))
        self.build(forget_bias)

    @abstractmethod
    def build(self, forget_bias: float) -> None:
        """Create the weights of the recurrence, whose forget gate starts at a bias."""

    def scale_to(self, water: WaterScales) -> None:
        with torch.no_grad():
            self.precipitation.copy_(torch.tensor([water.mass_mean, water.mass_sd]))
            self.streamflow.copy_(torch.tensor([water.discharge_mean, water.discharge_sd]))

    def empty_state(self, samples: int) -> State:
        return {name: self.head.weight.new_zeros(samples, self.cells) for name in self.carried}

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


class LSTM(Standardised):
    """LSTM, the standard comparison, with the statics at every step; its forget gate starts open, at `forget_bias`.

    Source: Kratzert et al. 2019 (regional LSTM on CAMELS); MC-LSTM, appendix B.4.3.

    `by_library`: whether torch's own LSTM runs all days at once, with gradients and on a card, one member alone.
    """

    architecture = "lstm"
    carried = ("h", "c")
    by_library = True

    def build(self, forget_bias: float) -> None:
        self.lstm = nn.LSTM(self.features, self.cells)
        forget = slice(self.cells, 2 * self.cells)  # the gates' order is input, forget, cell, output
        weights = dict(self.lstm.named_parameters())
        with torch.no_grad():
            weights["bias_ih_l0"][forget] = forget_bias
            weights["bias_hh_l0"][forget] = 0

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


class EALSTM(Standardised):
    """LSTM whose input gate sees the statics alone, once, and the rest of it the weather alone.

    Source: Kratzert et al. 2019, equations 7 to 12; its input gate chooses the cells that a basin uses.
    """

    architecture = "ealstm"
    carried = ("h", "c")

    def build(self, forget_bias: float) -> None:
        self.input_gate = Linear(self.features - self.weather, self.cells)
        self.gates = Linear(self.weather, 3 * self.cells)  # forget, cell, output
        self.feedback = Linear(self.cells, 3 * self.cells, bias=False)
        with torch.no_grad():
            self.gates.bias[: self.cells] = forget_bias

    def recur(self, x: Tensor, inputs: Inputs, state: State) -> tuple[Tensor, State]:  # noqa: ARG002
        i = torch.sigmoid(self.input_gate(x[0, :, self.weather :]))
        h, c = state["h"], state["c"]
        steps = []
        for day in _by_day(self.gates, x[..., : self.weather]):
            f, g, o = (day + self.feedback(h)).chunk(3, -1)
            c = torch.sigmoid(f) * c + i * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            steps.append(h)
        return torch.stack(steps), {"h": h, "c": c}


class GRU(Standardised):
    """GRU, with the statics at every step; its update gate retains most of h at first, by `forget_bias`.

    Source: Cho et al. 2014, with the reset gate behind the product, as torch has it.
    """

    architecture = "gru"
    carried = ("h",)

    def build(self, forget_bias: float) -> None:
        self.gates = Linear(self.features, 3 * self.cells)  # reset, update, new
        self.feedback = Linear(self.cells, 3 * self.cells)
        with torch.no_grad():
            self.gates.bias[self.cells : 2 * self.cells] = forget_bias

    def recur(self, x: Tensor, inputs: Inputs, state: State) -> tuple[Tensor, State]:  # noqa: ARG002
        h = state["h"]
        steps = []
        for day in _by_day(self.gates, x):
            (r, z, n), (back_r, back_z, back_n) = day.chunk(3, -1), self.feedback(h).chunk(3, -1)
            new = torch.tanh(n + torch.sigmoid(r + back_r) * back_n)
            h = torch.lerp(new, h, torch.sigmoid(z + back_z))
            steps.append(h)
        return torch.stack(steps), {"h": h}


def _by_day(project: nn.Module, x: Tensor) -> Iterator[Tensor]:
    """Yield the product of each day. Without gradients one by one: its bits must not depend on the number of days."""
    return iter(project(x)) if torch.is_grad_enabled() else map(project, x)


class EINSRecurrence(nn.Module):
    """EINS: an LSTM that diagnoses its own input and extrapolates doubtful values.

    Source: the EINS paper, System 4.1 (equation numbers are its own), for inputs x of size xi (`features`) and cells of
    size theta (`cells`); 2 xi^2 + 5 xi theta + xi parameters:

        d = sigma(W_D x + W_Omega q(t-1) + b_D)     (14)
        v = (1 - d) x + d W_rho x                   (13)
        f, i, o = sigma(W_F v), sigma(W_I v), sigma(W_O v)     (12)  no bias, no recurrent term
        a = W_A v                                   (11)  no tanh, no bias
        s = f s(t-1) + i a ;  q = o tanh(s)

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
        doubts, extrapolations = _by_day(self.diagnosis, x), _by_day(self.extrapolation, x)
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
    carried = ("s", "q")

    def build(self, forget_bias: float) -> None:
        self.recurrence = EINSRecurrence(self.features, self.cells, forget_bias)

    def recur(self, x: Tensor, inputs: Inputs, state: State) -> tuple[Tensor, State]:  # noqa: ARG002
        hidden, s, q = self.recurrence(x, state["s"], state["q"])
        return hidden, {"s": s, "q": q}


DAYS_A_UNIT = 365.0  # the paper scales a whole sequence to one unit of time; a gap counts as one unit at most


class MMRNN(Standardised):
    """mmRNN: the mixed-memory recurrence over forcing and attributes. Source: the mixed-memory RNN paper, Algorithm 1.

    A day whose mask is False is skipped: the state stays, the day's discharge is NaN, and the next step takes the time
    that has passed since the last one. At the start the cells retain sigma(`forget_bias`) of themselves per step.
    """

    architecture = "mmrnn"
    carried = ("c", "h")
    skips_gaps = True

    def build(self, forget_bias: float) -> None:
        self.recurrence = MixedMemory(self.features, self.cells, forget_bias=forget_bias)

    def empty_state(self, samples: int) -> State:
        """Return c and h, and `waited` (B,): the days skipped since the last step."""
        return super().empty_state(samples) | {"waited": self.head.weight.new_zeros(samples)}

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
