"""Answers as pandas tables and xarray datasets; neither library is imported before it is needed."""

from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas
    import xarray


def to_pandas(parquet: bytes) -> "pandas.DataFrame":
    """Return a table by day, where it has days, with the units of its columns in `attrs`.

    Args:
        parquet: an answer with `format="parquet"`.
    """
    from pyarrow import parquet as files

    table = files.read_table(BytesIO(parquet))
    frame: pandas.DataFrame = table.to_pandas(date_as_object=False)
    metadata = {field.name: field.metadata or {} for field in table.schema}
    frame.attrs["units"] = {name: about[b"unit"].decode() for name, about in metadata.items() if b"unit" in about}
    return frame.set_index("time") if "time" in frame else frame


def to_xarray(netcdf: bytes) -> "xarray.Dataset":
    """Return a dataset with the attributes of the CF conventions.

    Args:
        netcdf: an answer with `format="netcdf"`.
    """
    import netCDF4
    import xarray
    from xarray.backends import NetCDF4DataStore

    store = NetCDF4DataStore(netCDF4.Dataset("answer", memory=netcdf))  # type: ignore[no-untyped-call]
    with xarray.open_dataset(store) as dataset:
        return dataset.load()
