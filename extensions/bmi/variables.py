"""The names and units that a coupling framework sees: CSDMS names where they fit, as NOAA-OWP/lstm uses them."""

from collections.abc import Mapping
from dataclasses import dataclass

BASIN_GRID, CELL_GRID = 0, 1


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: the unit of its values (UDUNITS), and the grid that they lie on."""

    name: str
    units: str
    grid: int = BASIN_GRID


INPUTS: Mapping[str, Variable] = {
    "precipitation": Variable("atmosphere_water__liquid_equivalent_precipitation_rate", "mm d-1"),
    "srad": Variable("land_surface_radiation~incoming~shortwave~daylight__energy_flux", "W m-2"),
    "tmax": Variable("land_surface_air__time_max_of_temperature", "degC"),
    "tmin": Variable("land_surface_air__time_min_of_temperature", "degC"),
    "vp": Variable("land_surface_air_water~vapor__partial_pressure", "Pa"),
}
"""Possible inputs of a network, by our name. Their units are ours (`hydrology.base.variables`) in another spelling."""

FLOW = Variable("land_surface_water__runoff_volume_flux", "m3 s-1")
DEPTH = Variable("land_surface_water__runoff_depth", "m")
LOSS = Variable("land_water__loss_depth", "mm")
STORAGE = Variable("land_water__storage_depth", "mm")
CELLS = Variable("land_water~cells__storage_depth", "mm", CELL_GRID)
RESIDUAL = Variable("land_water__mass_residual_depth", "mm")

OUTPUTS = (FLOW, DEPTH)
WATER = (LOSS, STORAGE, CELLS, RESIDUAL)
"""Additional outputs of networks that conserve mass."""
