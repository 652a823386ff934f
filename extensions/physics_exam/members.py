"""The members of an ensemble that conserves mass, as an exam asks them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extensions.physics_exam.exam import OUTPUTS, Numbers
from jobspec.training import InputsConfig
from models.ensemble import ArrayMap, Ensemble
from models.forcing import Forcing
from operations.basin_data.dataset import stacked


@dataclass(frozen=True, slots=True)
class Members:
    """The members of an ensemble; only networks with snow stores have snow."""

    ensemble: Ensemble

    @property
    def inputs(self) -> InputsConfig:
        return self.ensemble.config.inputs

    @property
    def outputs(self) -> frozenset[str]:
        stores_snow = all(network.snow_cells for network in self.ensemble.networks)
        return frozenset(name for name in OUTPUTS if name != "snow" or stores_snow)

    def fill(self, before: Forcing) -> list[ArrayMap]:
        return [state for _, state in self.ensemble.each(before, None, ())]

    def run(
        self, forcing: Forcing, state: Sequence[ArrayMap], names: Sequence[str]
    ) -> tuple[dict[str, Numbers], list[ArrayMap]]:
        networks = self.ensemble.networks
        stored_as = {"snow": "storage", "evapotranspiration": networks[0].evaporates}
        wanted = tuple(dict.fromkeys(stored_as.get(name, name) for name in names))
        found: dict[str, list[Numbers]] = {name: [] for name in names}
        last = list[ArrayMap]()
        for network, (outputs, after) in zip(networks, self.ensemble.each(forcing, state, wanted), strict=True):
            for name, of_members in found.items():
                values = outputs[stored_as.get(name, name)]
                if name in ("storage", "snow"):
                    cells = network.snow_cells if name == "snow" else range(values.shape[-1])
                    values = values[..., list(cells)].sum(axis=-1, dtype=np.float64)
                of_members.append(values.astype(np.float64))
            last.append(after)
        return {name: np.stack(of_members) for name, of_members in found.items()}, last

    def run_each(
        self, forcings: Sequence[Forcing], state: Sequence[ArrayMap], names: Sequence[str]
    ) -> list[dict[str, Numbers]]:
        """Run all together, so that few basins fill the blocks that networks compute."""
        repeated = [
            {name: np.concatenate([values] * len(forcings)) for name, values in of_member.items()}
            for of_member in state
        ]
        found, _ = self.run(stacked(forcings), repeated, names)
        parts = {name: np.split(values, len(forcings), axis=1) for name, values in found.items()}
        return [{name: of_name[at] for name, of_name in parts.items()} for at in range(len(forcings))]
