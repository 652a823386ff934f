"""Writes NetCDF files in memory, through xarray, which is imported where needed."""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from xarray import Variable

Format = Literal["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC"]
_library = Lock()  # HDF5 is not thread-safe, and xarray locks only the writing of values


def numeric_variable(
    dimensions: Sequence[str], values: npt.NDArray[Any], attributes: Mapping[str, Any], *, fill: float | None = None
) -> "Variable":
    """Return a variable of numbers; `fill`, its `_FillValue`, also replaces NaN."""
    from xarray import Variable

    return Variable(tuple(dimensions), values, dict(attributes), {"_FillValue": fill, "zlib": True})


def text_variable(dimension: str, length: str, values: Sequence[str], attributes: Mapping[str, Any]) -> "Variable":
    """Return a variable of UTF-8 characters, which every reader supports; `length` names their dimension."""
    from xarray import Variable

    encoded = [value.encode() for value in values]
    width = max([1, *map(len, encoded)])
    encoding = {"char_dim_name": length, "zlib": True}
    return Variable((dimension,), np.array(encoded, f"S{width}"), dict(attributes), encoding)


def encode(variables: Mapping[str, "Variable"], attributes: Mapping[str, str], file_format: Format) -> bytes:
    """Return variables as a file, compressed where the format can be."""
    from xarray import Dataset

    with _library:
        dataset = Dataset(dict(variables), attrs=dict(attributes))
        return bytes(dataset.to_netcdf(engine="netcdf4", format=file_format))
