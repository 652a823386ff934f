"""One basin, run day by day: the computation behind the Basic Model Interface."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from extensions.bmi.inputs import INPUTS, Configuration, RecentWeather
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.products import WEATHER
from hydrology.water.ledger import Sums, sums_after
from hydrology.weather.runoff import unit_hint
from models import saved_state
from models.ensemble import ArrayMap, Ensemble, balance_fault
from models.forcing import Forcing
from models.pretrained import form
from models.pretrained.form import load, owner
from models.saved_state import Owner, SavedState, UnusableState
from runtime.stored_files import replace_file

Array = npt.NDArray[np.float32] | npt.NDArray[np.float64]
ONE_DAY = np.timedelta64(1, "D")


class Unbalanced(DataProblem):
    """The water balance of the networks does not close."""


class Basin:
    """A basin and the state of its networks.

    Attributes:
        day: the day that the next step computes.
        discharge, loss: what the members computed of the day before, (members,) in mm/day; NaN before the first step.
            Without networks that conserve mass there is no loss.
        cells: the water in the members' cells, (members, cells) in mm; None where they hold none.
    """

    def __init__(self, configuration: Configuration) -> None:
        """Build it; its state must be of the day before the first."""
        torch.set_num_threads(1)  # of this process: `runtime.process` has why; nothing is set for its children
        self._id, self.day = configuration.basin, configuration.first_day
        self._ensemble, self._owner = _loaded(Path(configuration.ensemble))
        inputs = self._ensemble.config.inputs
        self.inputs = (inputs.mass, *inputs.auxiliary)
        if unknown := [name for name in self.inputs if name not in INPUTS]:
            raise InvalidInput(
                f"{configuration.ensemble} takes {', '.join(unknown)}, which have no name here: "
                f"use an ensemble that takes only {', '.join(INPUTS)}."
            )
        self._static = _static(configuration.attributes, inputs.static)
        self._states: list[ArrayMap] | None = None
        self._spin_up_days = 0
        if configuration.state is not None:
            self._begin_from(configuration.state)
        self._stored_first = self._stored
        self._sums: Sums | None = None
        self._recent = RecentWeather(configuration.attributes)
        self.discharge: Array = np.full(len(self._ensemble.networks), np.nan, np.float32)
        self.loss: Array = self.discharge

    @property
    def conserving(self) -> bool:
        return self._ensemble.conserving

    @property
    def cells(self) -> Array | None:
        if not self.conserving:
            return None
        states = self._states or [
            {name: values.numpy() for name, values in network.empty_state(1).items()}
            for network in self._ensemble.networks
        ]
        return np.stack([state["c"][0] for state in states])

    @property
    def residual_mm(self) -> float:
        """The water unaccounted for since the first step: precipitation - discharge - loss - growth of the store, of
        the member where it is largest, up or down."""
        if self._sums is None:
            return 0.0
        flows = self._sums["precipitation"] - self._sums["discharge"] - self._sums["loss"]
        residual = flows - (self._stored - self._stored_first)
        return float(residual[np.abs(residual).argmax()])

    def step(self, weather: Mapping[str, float]) -> None:
        """Compute a day.

        Args:
            weather: the mean of the day, by our names and in our units (`hydrology.base.products.WEATHER`).

        Raises:
            Unbalanced: a member created or lost water; the basin stays at the end of the day before.
        """
        for name in self.inputs:
            quantity = WEATHER[name]
            if not quantity.lowest <= weather[name] <= quantity.highest:  # also where it is NaN
                raise InvalidInput(
                    f"{name} of {self.day} is {weather[name]:g} {quantity.unit}: set {INPUTS[name].name} to a value "
                    f"between {quantity.lowest:g} and {quantity.highest:g} {quantity.unit} before the update"
                    f"{unit_hint(name, weather[name])}."
                )
        self._recent.check(self.day, {name: weather[name] for name in self.inputs})
        values = np.array([weather[name] for name in self.inputs], np.float32)
        forcing = Forcing(self.day, values[None, :1], values[None, None, 1:], self._static, (self._id,))
        wanted = ("discharge", "loss") if self.conserving else ("discharge",)
        outputs, last = self._ensemble.simulate(forcing, self._states, wanted)
        if self.conserving:
            if fault := balance_fault(forcing.mass[0], outputs, self._states, last, None, 0):
                raise Unbalanced(f"{self._id}: on {self.day} {fault}")
            rain = np.broadcast_to(forcing.mass[0], outputs["discharge"][:, 0].shape)
            self._sums = sums_after(self._sums, rain, outputs["discharge"][:, 0], outputs["loss"][:, 0])
            self.loss = outputs["loss"][:, 0, 0]
        self.discharge, self._states = outputs["discharge"][:, 0, 0], last
        self.day += ONE_DAY
        self._spin_up_days += 1

    def save(self, file: Path) -> None:
        """Write the state at the end of the day before."""
        if self._states is None:
            raise InvalidInput(f"{self._id} has no state yet: update it first.")
        last = self.day - ONE_DAY
        state = SavedState(self._owner, (self._id,), last, (self._spin_up_days,), self._states)
        replace_file(file, saved_state.dump(state))

    def _begin_from(self, file: Path) -> None:
        try:
            content = file.read_bytes()
        except OSError as error:
            raise InvalidInput(f"The state {file} cannot be read ({error.strerror}): name one that can.") from None
        state = saved_state.parse(content, self._owner, self._ensemble).of([self._id])
        if state.day != self.day - ONE_DAY:
            raise UnusableState(
                f"The state {file} is of the end of {state.day}: with it, first_day is {state.day + ONE_DAY}."
            )
        self._states, (self._spin_up_days,) = list(state.members), state.spin_up_days

    @property
    def _stored(self) -> npt.NDArray[np.float64]:
        cells = self.cells
        return np.zeros(0) if cells is None else cells.sum(axis=1, dtype=np.float64)


@cache
def _loaded(folder: Path) -> tuple[Ensemble, Owner]:
    """Return an ensemble; all basins of a process share it."""
    shipped = form.read(folder)
    return load(shipped), owner(shipped)


def _static(attributes: Mapping[str, float], names: tuple[str, ...]) -> npt.NDArray[np.float32]:
    missing, unknown = [name for name in names if name not in attributes], sorted(attributes.keys() - set(names))
    if missing or unknown:
        more = f" It takes no {', '.join(unknown)}." if unknown else ""
        raise InvalidInput(
            f"attributes: the ensemble takes {len(names)}, of which {', '.join(missing) or 'none'} is missing.{more}"
        )
    return np.array([[attributes[name] for name in names]], np.float32)
