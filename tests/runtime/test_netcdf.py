"""Files of NetCDF that are written in memory hold what they were given, and no more."""

import numpy as np
import pytest
from netCDF4 import Dataset

from runtime.netcdf import Format, encode, numeric_variable, text_variable

FILL = 9.96921e36


@pytest.mark.parametrize("file_format", ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC"])
def test_a_file_holds_the_values_attributes_and_fill_values_that_it_was_given(file_format: Format) -> None:
    variables = {
        "time": numeric_variable(["time"], np.array([0.0, 86_400.0]), {"units": "seconds since 1970-01-01"}),
        "flow": numeric_variable(["time"], np.array([1.5, np.nan], "f4"), {"units": "m3 s-1"}, fill=FILL),
        "reference": numeric_variable([], np.array(7, "i4"), {}),
        "name": text_variable("station", "letters", ["Älv", ""], {"cf_role": "timeseries_id"}),
    }
    content = encode(variables, {"Conventions": "CF-1.8"}, file_format)
    with Dataset("memory", memory=content) as dataset:
        dataset.set_auto_mask(False)
        assert (dataset.data_model, dataset.Conventions, dataset.ncattrs()) == (file_format, "CF-1.8", ["Conventions"])
        shown = {name: (one.dtype.str[1:], one.dimensions, one.ncattrs()) for name, one in dataset.variables.items()}
        assert shown == {
            "time": ("f8", ("time",), ["units"]),
            "flow": ("f4", ("time",), ["_FillValue", "units"]),
            "reference": ("i4", (), []),
            "name": ("S1", ("station", "letters"), ["cf_role"]),
        }
        assert dataset["time"][:].tolist() == [0.0, 86_400.0]
        assert dataset["flow"][:].tolist() == [1.5, np.float32(FILL)]
        assert dataset["reference"][...] == 7
        assert b"".join(dataset["name"][0]).decode() == "Älv"
        assert not any(dataset["name"][1])
        assert [len(one) for one in dataset.dimensions.values()] == [2, 2, 4]
