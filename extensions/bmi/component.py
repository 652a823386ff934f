"""The 41 functions of the Basic Model Interface 2.0 (Hutton et al. 2020, doi:10.21105/joss.02317) over a `Basin`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from extensions.bmi.basin import Basin
from extensions.bmi.inputs import (
    CELL_GRID,
    CELLS,
    DEPTH,
    FLOW,
    INPUTS,
    LOSS,
    OUTPUTS,
    RESIDUAL,
    STORAGE,
    WATER,
    Configuration,
    Variable,
    read_configuration,
)
from hydrology.base.errors import InvalidInput
from hydrology.base.units import M2_PER_KM2, MM_PER_M, SECONDS_PER_DAY, Area, mm_per_day_to_m3s

try:
    from bmipy import Bmi
except ImportError as error:
    raise ImportError("The Basic Model Interface needs the package bmipy: pip install bmipy.") from error

Values = npt.NDArray[Any]


class Freshet(Bmi):
    """One basin, a day an update. Fluxes are of the day that the last update computed, the mean of the members.

    All errors that a user can mend are `hydrology.base.errors.Problem`.
    """

    _basin: Basin
    _configuration: Configuration
    _area: Area
    _days: int
    _our_names: dict[str, str]
    _variables: dict[str, Variable]
    _shapes: dict[int, tuple[int, ...]]
    _values: dict[str, Values]

    def __getattr__(self, name: str) -> NoReturn:
        """Explain that there is no basin: before `initialize` and after `finalize`."""
        if name in Freshet.__annotations__:
            raise InvalidInput("There is no basin: it was finalized, or never initialized. Call initialize first.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def initialize(self, config_file: str) -> None:
        """Build the basin that a configuration names (`extensions.bmi.inputs`)."""
        self._configuration = read_configuration(Path(config_file))
        self._basin = Basin(self._configuration)
        self._area = Area("configuration", self._configuration.area_km2 * M2_PER_KM2)
        self._days = 0
        self._our_names = {INPUTS[name].name: name for name in self._basin.inputs}
        water = WATER if self._basin.conserving else ()
        variables: Sequence[Variable] = (*(INPUTS[name] for name in self._basin.inputs), *OUTPUTS, *water)
        self._variables = {variable.name: variable for variable in variables}
        cells = self._basin.cells
        self._shapes = {0: (1,), CELL_GRID: (0, 0) if cells is None else cells.shape}
        self._values = {
            variable.name: np.full(int(np.prod(self._shapes[variable.grid])), np.nan) for variable in variables
        }
        self._update_values()

    def update(self) -> None:
        """Compute a day from the inputs as they are set."""
        self._basin.step({ours: float(self._values[name][0]) for name, ours in self._our_names.items()})
        self._days += 1
        self._update_values()

    def update_until(self, time: float) -> None:
        """Compute whole days with the inputs as set, until the end of one to come."""
        days, rest = divmod(time, SECONDS_PER_DAY)
        if rest or days < self._days:
            raise InvalidInput(f"{time:g} s is not the end of a day from {self.get_current_time():g} s on.")
        while self._days < days:
            self.update()

    def finalize(self) -> None:
        """Write the state to the configured file, if any, and release the basin."""
        if self._configuration.final_state is not None:
            self.save_state(self._configuration.final_state)
        vars(self).clear()

    def save_state(self, file: str | Path) -> None:
        """Write the state at the end of the day before: the file for `state` of a configuration. Not of the BMI."""
        self._basin.save(Path(file))

    def _update_values(self) -> None:
        basin, values = self._basin, self._values
        depth = basin.discharge.mean(dtype=np.float64)
        values[DEPTH.name][:] = depth / MM_PER_M
        values[FLOW.name][:] = mm_per_day_to_m3s(depth, area=self._area)
        if (cells := basin.cells) is not None:
            values[LOSS.name][:] = basin.loss.mean(dtype=np.float64)
            values[STORAGE.name][:] = cells.sum(axis=1, dtype=np.float64).mean()
            values[CELLS.name][:] = cells.ravel()
            values[RESIDUAL.name][:] = basin.residual_mm

    def get_component_name(self) -> str:
        return "Freshet"

    def get_input_item_count(self) -> int:
        return len(self._our_names)

    def get_output_item_count(self) -> int:
        return len(self._variables) - len(self._our_names)

    def get_input_var_names(self) -> tuple[str, ...]:  # type: ignore[override] # bmipy means one or more
        return tuple(self._our_names)

    def get_output_var_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(name for name in self._variables if name not in self._our_names)

    def get_var_grid(self, name: str) -> int:
        return self._variables[self._known(name)].grid

    def get_var_type(self, name: str) -> str:
        return str(self.get_value_ptr(name).dtype)

    def get_var_units(self, name: str) -> str:
        return self._variables[self._known(name)].units

    def get_var_itemsize(self, name: str) -> int:
        return self.get_value_ptr(name).itemsize

    def get_var_nbytes(self, name: str) -> int:
        return self.get_value_ptr(name).nbytes

    def get_var_location(self, name: str) -> str:
        self._known(name)
        return "node"

    def get_current_time(self) -> float:
        """Return the seconds computed so far."""
        return float(self._days * SECONDS_PER_DAY)

    def get_start_time(self) -> float:
        """Return 0: the beginning of `first_day`."""
        return 0.0

    def get_end_time(self) -> float:
        """Return the largest number: it runs as long as it gets weather."""
        return sys.float_info.max

    def get_time_units(self) -> str:
        return "s"

    def get_time_step(self) -> float:
        return float(SECONDS_PER_DAY)

    def get_value(self, name: str, dest: Values) -> Values:
        dest[:] = self.get_value_ptr(name)
        return dest

    def get_value_ptr(self, name: str) -> Values:
        """Return the array that a variable's values stay in."""
        return self._values[self._known(name)]

    def get_value_at_indices(self, name: str, dest: Values, inds: Values) -> Values:
        dest[:] = self.get_value_ptr(name)[inds]
        return dest

    def set_value(self, name: str, src: Values) -> None:
        self._input(name)[:] = src

    def set_value_at_indices(self, name: str, inds: Values, src: Values) -> None:
        self._input(name)[inds] = src

    def get_grid_rank(self, grid: int) -> int:
        """Return 0 of the basin, 2 of the cells (members, cells)."""
        return 2 if grid == CELL_GRID else 0

    def get_grid_size(self, grid: int) -> int:
        return int(np.prod(self._shapes[grid]))

    def get_grid_type(self, grid: int) -> str:
        """Return `scalar` of the basin; the cells are numbered by members and cells."""
        return "uniform_rectilinear" if grid == CELL_GRID else "scalar"

    def get_grid_shape(self, grid: int, shape: Values) -> Values:
        """Return members and cells."""
        shape[:] = self._of_cells(grid)
        return shape

    def get_grid_spacing(self, grid: int, spacing: Values) -> Values:
        """Return 1: cells have no place."""
        self._of_cells(grid)
        spacing[:] = 1.0
        return spacing

    def get_grid_origin(self, grid: int, origin: Values) -> Values:
        """Return 0: cells have no place."""
        self._of_cells(grid)
        origin[:] = 0.0
        return origin

    def get_grid_node_count(self, grid: int) -> int:
        return self.get_grid_size(grid)

    def _known(self, name: str) -> str:
        if name not in self._variables:
            raise InvalidInput(f"There is no variable {name!r}: choose of {', '.join(self._variables)}.")
        return name

    def _input(self, name: str) -> Values:
        if name not in self._our_names:
            raise InvalidInput(f"{name!r} cannot be set: the inputs are {', '.join(self._our_names)}.")
        return self._values[name]

    def _of_cells(self, grid: int) -> Sequence[int]:
        if grid != CELL_GRID:
            self._refuse(grid)
        return self._shapes[grid]

    def _refuse(self, grid: int, *_arrays: Any, **_named: Any) -> NoReturn:
        """Refuse: no grid here has coordinates, edges or faces."""
        raise NotImplementedError(f"Grid {grid} is of type {self.get_grid_type(grid)}, and has nothing of the kind.")

    get_grid_x = get_grid_y = get_grid_z = _refuse
    get_grid_edge_count = get_grid_edge_nodes = _refuse
    get_grid_face_count = get_grid_face_edges = get_grid_face_nodes = get_grid_nodes_per_face = _refuse
