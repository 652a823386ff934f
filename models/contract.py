"""The interface of networks. `forward(inputs, state) -> outputs, state`, for all days or day by day.

Shapes: T days, B samples (basins or windows), M mass inputs, L auxiliary inputs, S static attributes, K cells.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import TYPE_CHECKING

from torch import nn

from models.basin_vectors import BasinVectors
from models.inputs import Inputs, Outputs, State, WaterScales

if TYPE_CHECKING:
    from jobspec.network import Unseen


class Network(nn.Module, ABC):
    """A rainfall-runoff network.

    Running all days at once gives the same result as running them one by one with the state carried on.

    Attributes:
        conserving: whether its cells hold water, in mm, and conserve it.
        skips_gaps: whether it accepts a mask, and skips the days with missing forcing.
        state_version: version of the meaning of its state.
        sees_energy: whether it needs temperature and potential evapotranspiration.
        trash_cells: the cells whose water is lost, never discharge.
        evaporates: name of the output that the air takes up; all `loss` unless leakage is separate.
        half_products: whether it may multiply in bfloat16 where the processor has a unit for that. Training sets it;
            water is never rounded so.
    """

    architecture: str
    conserving: bool
    skips_gaps: bool
    state_version: int
    half_products = False
    sees_energy = False
    trash_cells: tuple[int, ...] = ()
    evaporates = "loss"

    @property
    def snow_cells(self) -> tuple[int, ...]:
        """The cells that hold snow by construction; none where snow has to be found in the cells."""
        return ()

    @property
    def computes_blocks_alone(self) -> bool:
        """Whether a block of samples gives the same bits alone as among several blocks."""
        return False

    def scale_to(self, water: WaterScales) -> None:
        """Set the scales of water before a training. A conserving network never scales it."""

    def learn_from(self, basins: int) -> None:
        """Allocate a vector for each basin, if vectors are used."""
        if (vectors := self.basin_vectors) is not None:
            vectors.learn_from(basins)

    def hide(self, unseen: Collection["Unseen"]) -> None:
        """Hide some inputs from the gates, if the network has gates that see them."""

    @property
    def basin_vectors(self) -> BasinVectors | None:
        """The parameters learnt for each basin, if any."""
        return None

    @abstractmethod
    def empty_state(self, samples: int) -> State:
        """Return the state before any water has fallen, for `samples` samples."""

    @abstractmethod
    def forward(self, inputs: Inputs, state: State | None = None) -> tuple[Outputs, State]:
        """Run the days of `inputs` from `state` (None: an empty store). Return outputs and the last state."""

    def check_state(self, state: State, samples: int) -> None:
        """Raise ValueError unless a state has the names, the shapes and the dtype of this network's."""
        for name, wanted in self.empty_state(samples).items():
            given = state.get(name)
            if given is None or given.shape != wanted.shape or given.dtype != wanted.dtype:
                found = "is missing" if given is None else f"has the shape {tuple(given.shape)} and {given.dtype}"
                raise ValueError(
                    f"The state's {name} {found}: {self.architecture} needs {tuple(wanted.shape)} and {wanted.dtype}"
                )

    def __call__(self, inputs: Inputs, state: State | None = None) -> tuple[Outputs, State]:
        """Run `forward` from a checked state."""
        if state:
            self.check_state(state, inputs.mass.shape[1])
        outputs, last = super().__call__(inputs, state)
        return outputs, last
