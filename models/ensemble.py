"""An ensemble: the members of a version, run together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import torch

from jobspec.training import TrainingConfig
from models.arrays import Forcing
from models.checkpoint import Tensors
from models.contract import Network
from models.devices import gpu_programs
from models.energy import energy, with_energy
from models.inference import ArrayMap, simulate
from models.networks import build
from models.scaling import Scaler


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

        Args:
            states: one per member, named arrays (B, ...); None for empty stores.

        Returns:
            the `wanted` outputs (members, B, T, ...), and the states after the last day, one per member.
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
