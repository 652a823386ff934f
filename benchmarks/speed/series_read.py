"""Reading the forcing of many basins from the database into one array, beside NetCDF files of the same numbers.

100 synthetic basins x 29 years x 6 variables. The files are one a basin, float32 and uncompressed, as xarray writes
them; they are read with xarray, which neuralhydrology reads its own with, and with netCDF4 alone, which is the fastest
that this format can be read here. All fill an array (basins, days, variables), which must come out the same to the bit.
In turn, after a first time each, so that the files are in the system's cache; one thread, CPU seconds; the ratios
are the medians of the paired ratios.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import numpy.typing as npt
import xarray

from benchmarks.speed.country import PERIOD, PRODUCT, UNITS, SyntheticCountry
from operations.basin_data.ingest import ingest
from records.database.engine import Database
from records.series import series
from runtime.clock import Clock
from testing.work import work_of

BASINS, PAIRS = 100, 9
VARIABLES = tuple(UNITS)

Array = npt.NDArray[np.float32]


def measure() -> dict[str, Any]:
    """Return CPU seconds and ratios."""
    country = SyntheticCountry(BASINS)
    names = country.basins()
    with tempfile.TemporaryDirectory() as temporary:
        folder, database = Path(temporary), Database(f"sqlite:///{temporary}/freshet.sqlite")
        database.migrate()
        ingest(work_of(database, Clock()), country)
        files = [folder / f"{name}.nc" for name in names]
        for name, file in zip(names, files, strict=True):
            _write(country, name, file)
        readers: dict[str, Callable[[], Array]] = {
            "ours": partial(_ours, database, names),
            "netcdf": partial(_filled, files, _with_netcdf4),
            "xarray": partial(_filled, files, _with_xarray),
        }
        stored = readers["ours"]()
        if not all(np.array_equal(stored, read()) for read in readers.values()):
            raise SystemExit("The readers do not return the same numbers.")
        taken: dict[str, list[float]] = {name: [] for name in readers}
        for _ in range(PAIRS):
            for name, read in readers.items():
                taken[name].append(_seconds(read))
        database.close()
    paired = {
        f"{name}_over_ours": [peer / own for own, peer in zip(taken["ours"], taken[name], strict=True)]
        for name in ("netcdf", "xarray")
    }
    return {
        "shape": f"{BASINS} basins x {len(PERIOD)} days x {len(VARIABLES)} variables, 1 thread",
        "cpu_seconds": {name: statistics.median(found) for name, found in taken.items()},
        "ratios": {name: statistics.median(found) for name, found in paired.items()},
        "spread": {name: [min(found), max(found)] for name, found in paired.items()} | {"pairs": PAIRS},
    }


def _write(country: SyntheticCountry, basin: str, file: Path) -> None:
    columns = {one.variable: one.series.values for one in country.read(basin).series if one.product == PRODUCT}
    data = {name: ("date", columns[name]) for name in VARIABLES}
    dates = PERIOD.days.astype("datetime64[ns]")
    xarray.Dataset(data, coords={"date": dates}).to_netcdf(file, engine="netcdf4")


def _ours(database: Database, names: list[str]) -> Array:
    with database.reading() as session:
        return series.read_many(session, names, PRODUCT, VARIABLES, PERIOD)


def _filled(files: list[Path], read: Callable[[Path, Array], None]) -> Array:
    out = np.empty((len(files), len(PERIOD), len(VARIABLES)), np.float32)
    for file, part in zip(files, out, strict=True):
        read(file, part)
    return out


def _with_netcdf4(file: Path, out: Array) -> None:
    with netCDF4.Dataset(file) as dataset:
        dataset.set_auto_mask(False)
        for at, name in enumerate(VARIABLES):
            out[:, at] = dataset[name][:]


def _with_xarray(file: Path, out: Array) -> None:
    with xarray.open_dataset(file, engine="netcdf4") as dataset:
        for at, name in enumerate(VARIABLES):
            out[:, at] = dataset[name].to_numpy()


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
