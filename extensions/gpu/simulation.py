"""Simulations by all members of an MC-LSTM ensemble at once, a number of days a launch."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from extensions.gpu.nets.members import MemberState, Parameters, between, member_inputs, run
from models.contract import Inputs, check_tags
from models.ensemble import ArrayMap
from models.nets.mclstm import MCLSTM, check_days

ROW_NUMBERS = 2**26
"""Numbers of all members a launch that weather gives to the gates: 0.3 GB, and several times as much beside them."""


@torch.no_grad()
def simulate_together(
    network: MCLSTM, weights: Parameters, inputs: Inputs, states: Sequence[ArrayMap] | None, wanted: Sequence[str]
) -> tuple[dict[str, Tensor], list[ArrayMap]]:
    """Run all members over T days of B samples, from standardised inputs on the card.

    The outputs, (M, B, T, ...), are on the processor. A state per member has named arrays, B first; None: empty stores.

    Raises:
        ValueError: a day lacks its weather, or there is none; or a state does not fit the networks.
        torch.OutOfMemoryError: not even one day of all members and samples fits in the card's memory.
    """
    check_days(inputs)
    given = member_inputs(network, inputs)
    members, (samples, days) = len(next(iter(weights.values()))), given.mass.shape[1:]
    state = _first_state(network, inputs, states, members)
    outputs: dict[str, Tensor] = {}
    width = sum(gate.out_features for gate in (network.mixing or network.redistribution, *2 * [network.input_gate]))
    first, size = 0, max(1, ROW_NUMBERS // (members * samples * width))
    while first < days:
        some = slice(first, min(first + size, days))
        try:
            flow, state = run(network, weights, between(given, some), state)
        except torch.OutOfMemoryError:
            if size == 1:
                raise
            size = max(1, size // 2)
            torch.cuda.empty_cache()
            continue
        for name in wanted:
            part = flow[name]
            if name not in outputs:
                outputs[name] = part.new_empty(*part.shape[:2], days, *part.shape[3:], device="cpu")
            outputs[name][:, :, some] = part.cpu()
        first = some.stop
    return outputs, _arrays_of(state, members)


def _first_state(network: MCLSTM, inputs: Inputs, states: Sequence[ArrayMap] | None, members: int) -> MemberState:
    if states is None:
        empty = network.empty_state(inputs.mass.shape[1])
        stacked = {name: values.unsqueeze(0).expand(members, *values.shape) for name, values in empty.items()}
    else:
        stacked = {
            name: torch.as_tensor(np.stack([state[name] for state in states])).to(inputs.mass) for name in states[0]
        }
    samples = inputs.mass.shape[1]
    for member in range(members):
        network.check_state({name: values[member] for name, values in stacked.items()}, samples)
    tags = stacked.get("tags")
    if tags is not None:
        for water, tagged in zip(stacked["c"], tags, strict=True):
            check_tags(inputs, water, tagged)
    weather = stacked.get("weather")
    if weather is not None and torch.equal(weather, weather[:1].expand_as(weather)):
        weather = weather[:1]  # all members saw the same: its means are computed once
    return MemberState(stacked["c"], weather, tags)


def _arrays_of(state: MemberState, members: int) -> list[ArrayMap]:
    tensors = {"c": state.cells, "weather": state.weather, "tags": state.tags}
    known = {
        name: values.expand(members, *values.shape[1:]).cpu().numpy()
        for name, values in tensors.items()
        if values is not None
    }
    return [{name: values[member] for name, values in known.items()} for member in range(members)]
