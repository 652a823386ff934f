"""Networks run forward in whole blocks of samples; the members of a version, run together; and their water balance.

A block always has BLOCK samples, padded with dry ones, and each day is computed separately. So a basin gets the same
bits whatever its neighbours in the block, and a run split in two with the state carried on gives the bits of the whole
run (same machine, same library versions; on a graphics card an MC-LSTM only).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.water.ledger import Sums, close, close_since_empty, negative_water
from jobspec.training import TrainingConfig
from models.checkpoint import Tensors
from models.contract import DAILY, Inputs, Network, State
from models.devices import gpu_programs
from models.forcing import Forcing, Scaler, energy, with_energy
from models.nets.layers import BLOCK
from models.networks import build

GROUP = 4 * BLOCK  # basins per call, so that the fixed cost of a call is small
GROUP_DAYS = 64  # of a group per call: over fewer days as many more groups are run together

ArrayMap = dict[str, npt.NDArray[np.float32] | npt.NDArray[np.float64]]


def simulate(
    network: Network, inputs: Inputs, state: ArrayMap | None, wanted: Sequence[str]
) -> tuple[ArrayMap, ArrayMap]:
    """Run a network over T days of B samples from a state: named arrays (B, ...); None for an empty store.

    Return the `wanted` outputs (`discharge`, `loss`, `storage`, `outflow`), each (B, T, ...), and the last state.
    """
    samples, was_training = inputs.mass.shape[1], network.training
    if was_training:
        network.eval()
    groups = max(1, GROUP_DAYS // max(1, len(inputs.mass)))
    size = groups * GROUP if network.computes_blocks_alone else BLOCK
    try:
        blocks = [
            _run_blocks(network, inputs, state, slice(first, min(first + size, samples)), wanted)
            for first in range(0, samples, size)
        ]
    finally:
        if was_training:
            network.train()
    outputs = {name: np.concatenate([block[name] for block, _ in blocks]) for name in wanted}
    last = {name: np.concatenate([block[name] for _, block in blocks]) for name in blocks[0][1]}
    return outputs, last


@torch.inference_mode()
def _run_blocks(
    network: Network, inputs: Inputs, state: ArrayMap | None, samples: slice, wanted: Sequence[str]
) -> tuple[ArrayMap, ArrayMap]:
    count = samples.stop - samples.start

    def whole(values: Tensor | None, axis: int) -> Any:
        if values is None:
            return None
        part = values[(slice(None),) * axis + (samples,)]
        return functional.pad(part, (0, 0) * (part.dim() - 1 - axis) + (0, -count % BLOCK))

    block = replace(
        inputs,
        **{name: whole(getattr(inputs, name), 1) for name in DAILY},
        **{name: whole(getattr(inputs, name), 0) for name in ("static", "basin")},
    )
    start: State | None = None
    if state is not None:
        start = {name: whole(torch.as_tensor(values).to(block.mass), 0) for name, values in state.items()}
    outputs, last = network(block, start)
    return (
        {name: outputs[name][:, :count].swapaxes(0, 1).cpu().numpy() for name in wanted},
        {name: values[:count].cpu().numpy() for name, values in last.items()},
    )


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Networks that share inputs and scaler, one per label, and the ids of the basins that they learnt from."""

    config: TrainingConfig
    scaler: Scaler
    labels: tuple[int, ...]
    networks: tuple[Network, ...]
    learnt_from: tuple[str, ...]

    @classmethod
    def load(
        cls,
        config: TrainingConfig,
        scaler: Scaler,
        members: dict[int, Tensors],
        learnt_from: Sequence[str],
        device: str = "cpu",
    ) -> Self:
        """Build the members' networks from their weights, on a device."""
        networks = []
        for tensors in members.values():
            module = build(config.network, config.inputs, seed=0, basins=len(learnt_from))
            module.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
            module.eval().to(device)
            networks.append(module)
        return cls(config, scaler, tuple(members), tuple(networks), tuple(learnt_from))

    @property
    def conserving(self) -> bool:
        """Whether water is conserved, so that storage and ledger are meaningful."""
        return all(network.conserving for network in self.networks)

    @property
    def device(self) -> torch.device:
        return next(self.networks[0].parameters()).device if self.networks else torch.device("cpu")

    def simulate(
        self, forcing: Forcing, states: Sequence[ArrayMap] | None, wanted: Sequence[str]
    ) -> tuple[ArrayMap, list[ArrayMap]]:
        """Run every member over the days of `forcing`, B basins over T days in their own units.

        States are named arrays (B, ...), one map per member; None for empty stores. Return the `wanted` outputs
        (members, B, T, ...), and the states after the last day.
        """
        outputs, last = zip(*self.each(forcing, states, wanted), strict=True)
        return {name: np.stack([of_member[name] for of_member in outputs]) for name in wanted}, list(last)

    def each(
        self,
        forcing: Forcing,
        states: Sequence[ArrayMap] | None,
        wanted: Sequence[str],
        tag: npt.NDArray[np.int64] | None = None,
    ) -> Iterator[tuple[ArrayMap, ArrayMap]]:
        """Do what `simulate` does, member by member, to hold the outputs of only one in memory.

        `tag`, (T,), is of the water that falls on each day, where the states have tags.
        """
        inputs = self.scaler.inputs(forcing, torch.float32, self.device, self.learnt_from)
        if any(network.sees_energy for network in self.networks):
            inputs = with_energy(inputs, *energy(forcing, self.config.inputs))
        if tag is not None:
            inputs = replace(inputs, tag=torch.as_tensor(tag, device=self.device))
        gpu = gpu_programs()
        if gpu is not None and self.networks and all(gpu.runs(network) for network in self.networks):
            yield from gpu.simulate(self.networks, inputs, states, wanted)
            return
        for index, network in enumerate(self.networks):
            yield simulate(network, inputs, None if states is None else states[index], wanted)


def balance_fault(
    rain: npt.NDArray[np.float32],
    outputs: ArrayMap,
    start: list[ArrayMap] | None,
    last: list[ArrayMap],
    sums: Sums | None,
    at: int,
) -> Absent | None:
    """Describe the first fault of a member, an open ledger or negative water; None without one.

    Args:
        rain: precipitation on the basin, (days,) in mm/day.
        outputs: `discharge` and `loss`, (members, basins, days) in mm/day.
        start, last: each member's states before and after the days, basins first; None for empty stores.
        sums: of the flows since the empty store; None where unknown.
    """
    members, now = len(last), stored_water(last, at)
    discharge, loss = outputs["discharge"][:, at], outputs["loss"][:, at]
    before = np.zeros(members) if start is None else stored_water(start, at)
    rain_of_each = np.broadcast_to(rain, discharge.shape)
    for member, ledger in enumerate(close(rain_of_each, discharge, loss, before, now, dtype=np.float32).each()):
        if not ledger.closes:
            return absent(Reason.MEMBER_LEDGER_OPEN, member=member, residual=ledger.residual_mm)
    cells = np.stack([state["c"][at] for state in last])
    for member, negative in negative_water(discharge, loss, cells).items():
        return absent(Reason.MEMBER_LEDGER_WRONG, member=member, fault=negative)
    for member, ledger in enumerate(() if sums is None else close_since_empty(sums, now)):
        if not ledger.closes:
            residual, fallen = ledger.residual_mm, ledger.scale_mm
            return absent(Reason.MEMBER_LEAKS, member=member, residual=residual, fallen=fallen)
    return None


def stored_water(state: list[ArrayMap], at: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the water stored by each member in one basin, (members,) in mm."""
    return np.array([member["c"][at].sum(dtype=np.float64) for member in state])
