"""A weather forecast on a grid as the means of basins: an ensemble in the shape of GEFS, over basins with outlines.

31 members, 0.25 degrees over the contiguous United States, every 3 hours of 10 days, four variables (precipitation and
radiation accumulated, temperature, dew point): NetCDF (compressed), Zarr (in chunks of places, as the archives of GEFS
have it) and GRIB2; `--only` chooses of `nc`, `zarr`, `grib`. `cpu_seconds` and `peak_mib` are of the process that reads
the file, from its start to the daily weather of all basins: `first`, when the weights are computed, and `again`.
`largest_difference` is that of the mean of a field over a basin from the mean by shapely's intersections, relative to
the field's mean. Synthetic weather and outlines; `--basins` makes it smaller.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.python_path import with_benchmarks
from extensions.grid.cells import Axes, basin_weights, mean_of
from extensions.grid.reading import GridReader
from ingestion.base import ANY_FILES
from ingestion.feeds.base import Site
from runtime.child_processes import python_command
from testing.files.grids import GridRun, outline, shares
from testing.processes import peak_mib

BASINS, MEMBERS = 2_000, 31
HOURS = tuple(range(0, 241, 3))
LATITUDES, LONGITUDES = np.arange(50, 24.9, -0.25), np.arange(-125, -66.9, 0.25)
_FORMATS = ("nc", "zarr", "grib")
_COMPRESSED = {"zlib": True, "complevel": 1, "shuffle": True}


def sites(count: int) -> list[Site]:
    """Return basins of 100 to 20 000 km2 over the grid."""
    generator = np.random.default_rng(1)
    places = zip(generator.uniform(27, 48, count), generator.uniform(-122, -70, count), strict=True)
    sizes = np.exp(generator.uniform(np.log(0.06), np.log(0.9), count))
    return [
        Site(f"GRID-{at}", latitude, longitude, outline=outline(latitude, longitude, size, at), elevation=800.0)
        for at, ((latitude, longitude), size) in enumerate(zip(places, sizes, strict=True))
    ]


def measure(basins: int = BASINS, only: str = ",".join(_FORMATS)) -> dict[str, Any]:
    """Return CPU seconds and memory by format, and the largest difference from shapely's means."""
    result: dict[str, Any] = {
        "basins": basins,
        "members": MEMBERS,
        "steps": len(HOURS),
        "cells": len(LATITUDES) * len(LONGITUDES),
    }
    with tempfile.TemporaryDirectory() as folder:
        for kind in only.split(","):
            path = Path(folder) / f"run.{kind}"
            subprocess.run(_command("write", kind, str(path)), env=with_benchmarks(), check=True)
            for name in ("first", "again"):
                command = _command("read", kind, str(path), str(basins))
                done = subprocess.run(command, env=with_benchmarks(), check=True, capture_output=True, text=True)
                result[f"{kind} {name}"] = json.loads(done.stdout.splitlines()[-1])
    return result | {"largest_difference": _largest_difference(sites(basins))}


def _command(*arguments: str) -> list[str]:
    return python_command("benchmarks.weather.grid", *arguments)


def _largest_difference(of: list[Site]) -> float:
    field = np.random.default_rng(3).gamma(0.5, 4, (len(LATITUDES), len(LONGITUDES)))
    means = mean_of(*basin_weights(Axes.of("grid", LATITUDES, LONGITUDES), of, None).sums(field.reshape(-1, 1)))[:, 0]
    expected = np.array([np.sum(field * shares(LATITUDES, LONGITUDES, site.outline)) for site in of])
    return float(np.abs(means - expected).max() / field.mean())


def _write(kind: str, path: Path) -> None:
    """Write a run; its members are the first one's by a factor, so that it is written soon."""
    one = GridRun(LATITUDES, LONGITUDES, HOURS, members=1)
    for name, digits in (("tp", 2), ("ssrd", -3), ("t2m", 2), ("d2m", 2)):
        factors = 1 + 0.001 * np.arange(MEMBERS)[:, None, None, None]
        one.values[name] = np.round((one.values[name] * factors).astype(np.float32), digits)
    one.members = MEMBERS
    if kind == "grib":
        one.grib(path, bits=16)
    elif kind == "zarr":
        one.zarr(path, chunks=(MEMBERS, 64, 17, 16))
    else:
        chunks = {"chunksizes": (1, 1, len(LATITUDES), len(LONGITUDES))}
        one.dataset().to_netcdf(path, encoding=dict.fromkeys(one.values, _COMPRESSED | chunks))


def _read(kind: str, path: Path, basins: int) -> dict[str, Any]:
    weather = GridReader([path], sites(basins), None, path.parent / f"weights-{kind}", ANY_FILES).read()
    assert weather.notes == []
    assert len(weather.basins) == basins
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu_seconds": round(used.ru_utime + used.ru_stime, 1), "peak_mib": round(peak_mib())}


if __name__ == "__main__":
    if sys.argv[1] == "write":
        _write(sys.argv[2], Path(sys.argv[3]))
    else:
        print(json.dumps(_read(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))))
