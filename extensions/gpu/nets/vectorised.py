"""The members of an ensemble of buckets, or of networks without storage, run at once: one operation for all, by vmap.

A card waits for the launches of small operations, so that ten members take little longer than one.
"""

import torch
from torch import Tensor
from torch.func import functional_call

from extensions.gpu.nets.members import OPTIONAL, MemberInputs, Parameters, between
from models.contract import Inputs, Network, State
from models.nets.bucket_scan import Drivers
from models.nets.buckets import Buckets
from models.nets.comparison_networks import LSTM, Standardised

NUMBERS = 2**28
"""Pre-activations, or drivers, of all members, samples and days of a launch of `discharge_of`: 1 GB."""


def run(
    network: Network, weights: Parameters, inputs: MemberInputs, state: State | None = None
) -> tuple[Tensor, State]:
    """Run T days of B samples of each of M members, with the structure of `network`, not its weights.

    The state has a member first; None for empty. Discharge is (M, B, T) in mm/day.
    """
    if isinstance(network, LSTM):
        network.by_library = False
    if isinstance(network, Buckets):
        network.recurrence = "triton"
    members = len(next(iter(weights.values())))
    given = {"mass": inputs.mass.mT.unsqueeze(-1), "auxiliary": inputs.auxiliary.swapaxes(1, 2)}
    given |= {"static": inputs.static} | ({} if inputs.basin is None else {"basin": inputs.basin})
    given |= {name: values.mT for name in OPTIONAL if (values := getattr(inputs, name)) is not None}
    given = {name: values.expand(members, *values.shape[1:]) for name, values in given.items()}

    def run_one(own: dict[str, Tensor], of_member: dict[str, Tensor], before: State) -> tuple[Tensor, State]:
        outputs, last = functional_call(network, own, (Inputs(**of_member), before))
        return outputs["discharge"], last

    run_all = torch.vmap(run_one, randomness="different")  # a member's dropout is its own
    discharge, last = run_all(dict(weights), given, state or {})
    return discharge.mT, last


def discharge_of(network: Network, weights: Parameters, inputs: MemberInputs) -> Tensor:
    """Return the discharge (M, B, T) of all members from empty states, in mm/day, without gradients."""
    members, (samples, days) = len(next(iter(weights.values()))), inputs.mass.shape[1:]
    size = max(1, NUMBERS // (members * samples * _numbers_of_day(network)))
    state: State | None = None
    parts = []
    with torch.enable_grad():  # networks then compute the products of all days at once; no weight asks for a gradient
        for first in range(0, days, size):
            discharge, state = run(network, weights, between(inputs, slice(first, first + size)), state)
            parts.append(discharge)
    return torch.cat(parts, -1)


def _numbers_of_day(network: Network) -> int:
    if isinstance(network, Buckets):
        return len(Drivers._fields) * network.components
    assert isinstance(network, Standardised)
    return 4 * network.cells
