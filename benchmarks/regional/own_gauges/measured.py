"""The skill in gauges of one's own, by the documented way: `docs/do/own-basin.md`, typed for 19 real gauges.

Each has place, area, weather and flow of every day, as tables; nothing else is known of it, so the climate is computed
and the land assumed. `own-gauges` prints their scores in the test years, beside those with all published attributes.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from benchmarks.regional.data import PRODUCT, TEST, basins, opened
from hydrology.base.calendar import Period
from hydrology.base.products import DISCHARGE
from hydrology.weather.climate import CLIMATE
from jobspec.training import STATIC_ATTRIBUTES
from records.basins import basins as stored_basins
from records.series import series

EVERY = 24  # of the 447: 19 gauges
OWN = "own"
COLUMNS = {
    "precipitation": "precipitation_mm_per_day",
    "tmax": "tmax_degC",
    "tmin": "tmin_degC",
    "srad": "srad_W_per_m2",
    "vp": "vp_Pa",
}
LAND = tuple(name for name in STATIC_ATTRIBUTES if name not in CLIMATE)


def measure() -> dict[str, Any]:
    """Return the median NSE of the gauges over the test years, and of each, with nothing and with all known of land."""
    gauges = basins()[::EVERY]
    return {"gauges": len(gauges), "period": TEST} | {
        name: _scored(gauges, attributes)
        for name, attributes in {"documented way": (), "all attributes": (*CLIMATE, *LAND)}.items()
    }


def _scored(gauges: Sequence[str], attributes: Sequence[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        names = _write_tables(Path(folder), gauges, attributes)
        environment = os.environ | {"FRESHET_DATA": f"{folder}/data"}

        def freshet(*arguments: str) -> str:
            command = [str(Path(sys.executable).with_name("freshet")), *arguments]
            done = subprocess.run(command, env=environment, cwd=folder, check=True, stdout=subprocess.PIPE)
            return done.stdout.decode()

        freshet("ingest", "tables", "--product", OWN, "--basins", "basins.csv", "--observations", "days.csv")
        for name in () if attributes else names:
            freshet("basins", "climate", name)
            freshet("basins", "add", name, "--assume-attributes")
        freshet("models", "install-pretrained", "--product", OWN, "--promote")
        chosen = [part for name in names for part in ("--basin", name)]
        return dict(json.loads(freshet("evaluate", "--period", TEST, *chosen, "--json")))


def _write_tables(folder: Path, gauges: Sequence[str], attributes: Sequence[str]) -> list[str]:
    """Write the tables of the gauges, and return the names that they have there."""
    names = {gauge: f"OWN-{gauge.removeprefix('USGS-')}" for gauge in gauges}
    database = opened()
    with database.reading() as session:
        with (folder / "basins.csv").open("w") as file:
            table = csv.writer(file)
            table.writerow(["id", "latitude", "longitude", "area_km2", *attributes])
            for gauge, name in names.items():
                basin = stored_basins.get(session, gauge)
                (values,) = stored_basins.attributes_of(session, [gauge], attributes)
                table.writerow([name, basin.latitude, basin.longitude, basin.areas[PRODUCT] / 1e6, *values])
        with (folder / "days.csv").open("w") as file:
            table = csv.writer(file)
            table.writerow(["basin", "date", *COLUMNS.values(), "discharge_cfs"])
            for gauge, name in names.items():
                table.writerows([name, *day] for day in _days(session, gauge))
    database.close()
    return [*names.values()]


def _days(session: Session, gauge: str) -> Iterator[list[object]]:
    """Yield the date, the weather and the flow of each day, empty where missing."""
    extents = series.extent(session, [gauge], PRODUCT, [*COLUMNS])
    whole = Period(max(part.first for part in extents.values()), min(part.last for part in extents.values()))
    stored = [series.read(session, gauge, PRODUCT, variable, whole) for variable in COLUMNS]
    stored.append(series.read(session, gauge, "usgs", DISCHARGE, whole))
    columns = [["" if value != value else f"{value:g}" for value in one.values] for one in stored if one is not None]
    return (list(row) for row in zip(whole.days.astype(str), *columns, strict=True))
