"""A state as a NetCDF file: each array with its own axes, the members' first."""

from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

from app.forecasts.states.schemas import StateDetail
from runtime.netcdf import encode, numeric_variable, text_variable

if TYPE_CHECKING:
    from xarray import Variable


def of_state(state: StateDetail) -> bytes:
    """Return a state as a file."""
    variables: dict[str, Variable] = {
        "member": text_variable("member_number", "member_length", state.members, {"long_name": "name of the member"})
    }
    for name, array in state.arrays.items():
        axes = ["member_number", *(f"{name}_axis_{axis}" for axis in range(1, len(array.shape)))]
        units = {"units": "mm", "long_name": "water in each cell"} if name == "c" and state.storage_mm else {}
        variables[name] = numeric_variable(axes, np.array(array.values, array.dtype).reshape(array.shape), units)
    program = f"Freshet {metadata.version('freshet')}"
    named = {"basin": state.basin, "version": state.version, "day": str(state.day), "sha256": state.sha256}
    return encode(variables, {"title": f"Model state of {state.basin}", **named, "source": program}, "NETCDF4")
