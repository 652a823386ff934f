"""The members of an MC-LSTM ensemble run at once: networks of one structure, each with its own weights.

It is `MCLSTM.forward` with a member as the first axis. Nothing in it depends on the number of members or samples, so a
member gives the same bits alone and among others. Shapes: M members, B samples, T days, K cells, G tags; an input has
one row for all members, or one for each (I is 1 or M).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

from extensions.gpu.nets.antecedent import accumulate
from extensions.gpu.nets.products import add_to_rows, product
from extensions.gpu.nets.recurrence import MemberGates, MemberTags, scan, tagged_scan
from models.contract import Inputs, Network, State, check_tags
from models.nets.layers import RAIN_SCALE
from models.nets.mclstm import MCLSTM
from models.nets.scan import FIRST_WETNESS_MM

OPTIONAL = ("mask", "temperature", "pet")
"""Inputs of every day that a network may do without."""
Parameters = Mapping[str, Tensor]
"""The weights of all members by their names in the network, a member first."""


@dataclass(frozen=True, slots=True)
class MemberInputs:
    """The inputs of the members.

    Attributes:
        mass: (I, B, T), in mm/day.
        auxiliary, static: (I, B, T, L) and (I, B, S), standardised.
        basin: (I, B, N), 1 at the place of a sample's basin among the N that the members learnt from, else 0; or None.
        tag: (T,), the tag of each day's precipitation; None without tags.
        mask: (I, B, T), False where a day's forcing is missing; None where none is, and for an MC-LSTM.
        temperature, pet: (I, B, T), of buckets, in degC and mm/day.
    """

    mass: Tensor
    auxiliary: Tensor
    static: Tensor
    basin: Tensor | None = None
    tag: Tensor | None = None
    mask: Tensor | None = None
    temperature: Tensor | None = None
    pet: Tensor | None = None


@dataclass(frozen=True, slots=True)
class MemberState:
    """What days carry on: cells (M, B, K) and tags (M, B, K, G) in mm, means of past weather (I, B, values)."""

    cells: Tensor
    weather: Tensor | None = None
    tags: Tensor | None = None


def stack(networks: Sequence[MCLSTM]) -> dict[str, Tensor]:
    """Return the weights of networks of one structure, a member first."""
    of_members = [dict(network.named_parameters()) for network in networks]
    return {name: torch.stack([weights[name] for weights in of_members]) for name in of_members[0]}


def run(
    network: MCLSTM, weights: Parameters, inputs: MemberInputs, state: MemberState
) -> tuple[dict[str, Tensor], MemberState]:
    """Run T days of every sample of every member, with the structure of `network`, not its weights.

    Returns:
        `discharge`, `loss` (M, B, T) in mm/day, `outflow`, `storage` (M, B, T, K), with tags `discharge_by_tag` and
            `loss_by_tag` (M, B, T, G), and the state after the last day.
    """
    if inputs.mass.is_cuda:
        torch.cuda.set_device(inputs.mass.device)  # Triton uses the current card
    days, means = _days(network, inputs, state)
    rows = _rows(network, weights, days, _basin(network, weights, inputs))
    mass = inputs.mass.expand(len(state.cells), -1, -1)
    gates = _gates(network, weights)
    tags = None
    if state.tags is None:
        flow = scan(gates, rows, mass, state.cells)
        outputs = {}
    else:
        assert inputs.tag is not None
        falling = mass.unsqueeze(-1) * functional.one_hot(inputs.tag, state.tags.shape[-1]).to(mass)
        flow, tagged = tagged_scan(gates, rows, mass, state.cells, MemberTags(falling, state.tags.mT))
        outputs = {"discharge_by_tag": tagged.discharge, "loss_by_tag": tagged.loss}
        tags = tagged.cells.mT
    outputs |= {
        "discharge": flow.discharge, "loss": flow.outflow[..., 0], "outflow": flow.outflow, "storage": flow.storage
    }  # fmt: skip
    last = None if means is None else means[:, :, -1]
    return outputs, MemberState(flow.storage[:, :, -1], last, tags)


def _days(network: MCLSTM, inputs: MemberInputs, state: MemberState) -> tuple[Tensor, Tensor | None]:
    """Return what changes daily and is not learnt, (I, B, T, values), and the means of the past weather in it."""
    mass = inputs.mass.unsqueeze(-1)
    weather = torch.cat([mass * RAIN_SCALE, inputs.auxiliary], -1)
    if network.antecedent is None:
        return weather, None
    assert state.weather is not None
    weather = weather.expand(max(len(weather), len(state.weather)), -1, -1, -1)
    means = accumulate(weather, network.antecedent.retention, state.weather)
    return torch.cat([weather, means], -1), means


def _basin(network: MCLSTM, weights: Parameters, inputs: MemberInputs) -> Tensor:
    """Return attributes, basin vectors and a 1 for the biases, (I or M, B, values)."""
    static = [inputs.static]
    if network.vectors is not None:
        assert inputs.basin is not None
        vectors = product(inputs.basin, weights["vectors.table"].mT)
        static = [inputs.static.expand(len(vectors), -1, -1), vectors]
    return functional.pad(torch.cat(static, -1), (0, 1), value=1.0)


def _rows(network: MCLSTM, weights: Parameters, days: Tensor, basin: Tensor) -> Tensor:
    """Return what days and basin give to the pre-activations of all gates, (M, B, T, rows)."""
    values, embedded = days.shape[-1], network.embedding.values if network.embedding else 0
    parts = [_gate_weights(network, weights, name) for name in ("weight", "bias")]
    of_drivers, of_basin, _ = parts[0].split([network.drivers, network.static, network.cells], 2)
    # The gates see rain in mm, the embedding and the means in cm.
    of_days = of_drivers[:, :, :values].clone()
    of_days[:, :, 0] = of_days[:, :, 0] / RAIN_SCALE
    rows = product(days, of_days)
    if network.embedding is not None:
        first = weights["embedding.first.weight"]
        of_basins = torch.cat([first[:, :, values:], weights["embedding.first.bias"].unsqueeze(2)], 2)
        hidden = torch.tanh(_with_basin(product(days, first[:, :, :values]), product(basin, of_basins)))
        second = product(hidden, weights["embedding.second.weight"]).flatten(1, 2)
        second = add_to_rows(second, weights["embedding.second.bias"]).unflatten(1, hidden.shape[1:3])
        rows = rows + product(torch.tanh(second), of_drivers[:, :, -embedded:])
    return _with_basin(rows, product(basin, torch.cat([of_basin, parts[1].unsqueeze(2)], 2)))


def _with_basin(rows: Tensor, of_basin: Tensor) -> Tensor:
    """Return rows (M, B, T, O) + of_basin (M, B, O)."""
    both: Tensor = add_to_rows(rows.flatten(0, 1), of_basin.flatten(0, 1)).unflatten(0, rows.shape[:2])
    return both


def _gate_weights(network: MCLSTM, weights: Parameters, name: str) -> Tensor:
    """Return weights or biases of the rows of all gates: mixtures, or R itself, input gate, output gate."""
    of_R = "mixing" if network.mixing is not None else "redistribution"
    gates = [weights[f"{gate}.{name}"] for gate in ("input_gate", "output_gate")]
    if name == "bias" and network.mixing is not None:
        return torch.cat([gates[0].new_zeros(len(gates[0]), len(network.mixing.weight)), *gates], 1)
    return torch.cat([weights[f"{of_R}.{name}"], *gates], 1)


def _gates(network: MCLSTM, weights: Parameters) -> MemberGates:
    K = network.cells
    of_cells = _gate_weights(network, weights, "weight")[:, :, -K:]
    bias = None
    if network.mixing is None:
        of_R, of_cells = of_cells.split([K * K, 2 * K], 1)
    else:
        of_R, bias = weights["redistribution.weight"], weights["redistribution.bias"].unflatten(1, (K, K))
    wetness = None if network.wetness is None else weights["wetness"].exp() / FIRST_WETNESS_MM
    return MemberGates(of_R.unflatten(1, (K, K)).permute(0, 3, 1, 2), bias, of_cells, wetness)


def run_alone(network: MCLSTM, inputs: Inputs, state: State) -> tuple[dict[str, Tensor], State]:
    """Do what `MCLSTM.forward` does, as the only member."""
    if "tags" in state:
        check_tags(inputs, state["c"], state["tags"])
    weights = {name: parameter.unsqueeze(0) for name, parameter in network.named_parameters()}
    given = member_inputs(network, inputs)
    before = {name: values.unsqueeze(0) for name, values in state.items()}
    outputs, last = run(network, weights, given, MemberState(before["c"], before.get("weather"), before.get("tags")))
    by_day = {name: values[0].swapaxes(0, 1) for name, values in outputs.items()}
    after = {"c": last.cells, "weather": last.weather, "tags": last.tags}
    return by_day, {name: values[0] for name, values in after.items() if values is not None}


def one_hot(basin: Tensor | None, seen: Tensor, basins: int) -> Tensor:
    """Return (..., basins): 1 at each sample's place (...), if any, where its basin is seen, (...)."""
    if basin is None or not basins:
        return seen.new_zeros(*seen.shape, basins, dtype=torch.int64)
    return functional.one_hot(basin.clamp_min(0), basins) * seen.unsqueeze(-1)


def member_inputs(network: Network, inputs: Inputs) -> MemberInputs:
    """Return the inputs of all members, (1, B, T, ...), from those of a network, (T, B, ...)."""
    basin, vectors = None, network.basin_vectors
    if vectors is not None:
        seen = vectors.seen(inputs.basin, len(inputs.static))
        basin = one_hot(inputs.basin, seen, len(vectors.table)).to(inputs.static).unsqueeze(0)
    by_day = {name: getattr(inputs, name) for name in OPTIONAL}
    return MemberInputs(
        inputs.mass[..., 0].t().unsqueeze(0), inputs.auxiliary.swapaxes(0, 1).unsqueeze(0), inputs.static.unsqueeze(0),
        basin, inputs.tag, **{name: values.t().unsqueeze(0) for name, values in by_day.items() if values is not None},
    )  # fmt: skip


def between(inputs: MemberInputs, days: slice) -> MemberInputs:
    """Return the inputs of some of the days."""
    names = ("mass", "auxiliary", *OPTIONAL)
    by_day = {name: values[:, :, days] for name in names if (values := getattr(inputs, name)) is not None}
    return replace(inputs, tag=None if inputs.tag is None else inputs.tag[days], **by_day)
