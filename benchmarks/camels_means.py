"""Compares the stored means of CAMELS-US with those of its files.

Means over 1999-10-01..2008-09-30 of every basin's forcing and discharge, from the database of the settings, against
those taken straight from the zips in FRESHET_CAMELS with a reader of its own (float64 sums).
"""

import io
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from hydrology.base.basins import basin_id
from hydrology.base.calendar import Period
from records.database.engine import Database
from records.series import series
from runtime.settings import Settings

PERIOD = Period.parse("1999-10-01..2008-09-30")
FIRST, LAST = date(1999, 10, 1).toordinal(), date(2008, 9, 30).toordinal()
COLUMNS = {"daylength": 4, "precipitation": 5, "srad": 6, "swe": 7, "tmax": 8, "tmin": 9, "vp": 10}


def measure() -> dict[str, Any]:
    """Return the largest relative difference, and how many means were held against each other."""
    settings = Settings.load()
    if settings.camels is None:
        raise SystemExit("Set FRESHET_CAMELS to the folder of real CAMELS-US data.")
    expected = _forcing(settings.camels) | _discharge(settings.camels)
    database = Database(settings.database_url)
    worst, at = 0.0, None
    with database.reading() as session:
        for (basin, product, variable), mean in expected.items():
            stored = series.read(session, basin, product, variable, PERIOD)
            saved = np.nan if stored is None else float(np.nanmean(stored.values, dtype=np.float64))
            difference = abs(saved - mean) / max(abs(mean), 1e-300) if saved != mean else 0.0
            if not difference <= worst:
                worst, at = difference, f"{basin} {product} {variable}"
    database.close()
    basins = len({basin for basin, _, _ in expected})
    return {"database": database.shown, "basins": basins, "means": len(expected), "worst_relative": worst, "at": at}


def _forcing(camels: Path) -> dict[tuple[str, str, str], float]:
    means = {}
    with zipfile.ZipFile(camels / "maurer_extended.zip") as archive:
        for name in archive.namelist():
            if not name.endswith("_forcing_leap.txt"):
                continue
            table = np.loadtxt(io.BytesIO(archive.read(name)), skiprows=4)
            inside = _inside(table[:, 0], table[:, 1], table[:, 2])
            basin = basin_id(Path(name).name[:8])
            for variable, column in COLUMNS.items():
                means[basin, "maurer_extended", variable] = float(table[inside, column].mean(dtype=np.float64))
    return means


def _discharge(camels: Path) -> dict[tuple[str, str, str], float]:
    means = {}
    with zipfile.ZipFile(camels / "basin_timeseries_v1p2_metForcing_obsFlow.zip") as archive:
        for name in archive.namelist():
            if not name.endswith("_streamflow_qc.txt"):
                continue
            table = np.loadtxt(io.BytesIO(archive.read(name)), usecols=(1, 2, 3, 4))
            known = _inside(table[:, 0], table[:, 1], table[:, 2]) & (table[:, 3] != -999)
            means[basin_id(Path(name).name[:8]), "usgs", "discharge"] = float(table[known, 3].mean(dtype=np.float64))
    return means


def _inside(years: Any, months: Any, days: Any) -> Any:
    at = [date(int(y), int(m), int(d)).toordinal() for y, m, d in zip(years, months, days, strict=True)]
    return (np.array(at) >= FIRST) & (np.array(at) <= LAST)
