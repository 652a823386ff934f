"""A small weather forecast, laid out in each way that is read."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

BASINS = ("USGS-01013500", "USGS-01022500")
DAYS = ("2026-11-22", "2026-11-23", "2026-11-24")
REALIZATIONS = (0, 1)
REFERENCE = datetime(2026, 11, 22, tzinfo=UTC)
UNITS = {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC"}
RECEIVED = datetime(2026, 11, 22, 7, tzinfo=UTC)


def value(variable: str, basin: int, trace: int, day: int) -> float:
    """Return a value that no other variable, basin, trace or day has."""
    base = {"precipitation": 0.5, "tmax": 20.0, "tmin": -20.0}[variable]
    return base + basin + trace / 4 + day / 16


def document() -> dict[str, Any]:
    """Return it as JSON."""
    return {
        "source": "our-own",
        "model": "two-guesses",
        "reference_time": "2026-11-22T00:00:00Z",
        "available_time": "2026-11-22T06:00:00+00:00",
        "licence": "CC BY 4.0",
        "credit": "Weather guessed by the river office",
        "units": dict(UNITS),
        "basins": {
            basin: {
                "time": list(DAYS),
                "traces": {
                    str(trace): {name: [value(name, at, trace, day) for day in range(len(DAYS))] for name in UNITS}
                    for trace in REALIZATIONS
                },
            }
            for at, basin in enumerate(BASINS)
        },
    }


def written_json(where: Path, result: dict[str, Any] | None = None) -> Path:
    """Write it as JSON."""
    path = where / "weather.json"
    path.write_text(json.dumps(document() if result is None else result))
    return path


def lines() -> list[str]:
    """Return it as the lines of a CSV."""
    header = (
        "source,model,reference_time,available_time,licence,credit,basin,trace,date,"
        "precipitation_mm_per_day,tmax_degC,tmin_degC"
    )
    result = (
        "our-own,two-guesses,2026-11-22T00:00:00Z,2026-11-22T06:00:00Z,CC BY 4.0,Weather guessed by the river office"
    )
    rows = [
        ",".join([result, basin, str(trace), text, *(str(value(name, at, trace, day)) for name in UNITS)])
        for at, basin in enumerate(BASINS)
        for trace in REALIZATIONS
        for day, text in enumerate(DAYS)
    ]
    return [header, *rows]


def written_csv(where: Path, rows: list[str] | None = None) -> Path:
    """Write it as CSV."""
    path = where / "weather.csv"
    path.write_text("\n".join(lines() if rows is None else rows) + "\n")
    return path


def written_netcdf(where: Path, *, order: tuple[str, ...] = ("time", "station", "realization"), hour: int = 0) -> Path:
    """Write it as NetCDF-CF.

    Args:
        order: of the dimensions of its variables.
        hour: of the local day at which its times stand; their bounds are midnights.
    """
    path = where / "weather.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.setncatts(
            {
                "Conventions": "CF-1.8",
                "featureType": "timeSeries",
                "institution": "our-own",
                "source": "two-guesses",
                "license": "CC BY 4.0",
                "acknowledgement": "Weather guessed by the river office",
                "date_issued": "2026-11-22T06:00:00Z",
            }
        )
        sizes = {"station": len(BASINS), "time": len(DAYS), "realization": len(REALIZATIONS), "strlen": 16, "nv": 2}
        for name, size in sizes.items():
            dataset.createDimension(name, size)
        station = dataset.createVariable("station_id", "S1", ("station", "strlen"))
        station.cf_role = "timeseries_id"
        station[:] = netCDF4.stringtochar(np.array(BASINS, dtype="S16"))
        hours = 24.0 * (np.array(DAYS, "datetime64[D]") - np.datetime64("1970-01-01")).astype(int)
        time = dataset.createVariable("time", "f8", ("time",))
        time.setncatts({"standard_name": "time", "units": "hours since 1970-01-01 00:00:00", "bounds": "time_bnds"})
        time[:] = hours + hour
        dataset.createVariable("time_bnds", "f8", ("time", "nv"))[:] = np.stack([hours, hours + 24], axis=1)
        reference = dataset.createVariable("forecast_reference_time", "f8")
        reference.setncatts({"standard_name": "forecast_reference_time", "units": "hours since 1970-01-01 00:00:00"})
        reference[...] = REFERENCE.timestamp() / 3600
        realization = dataset.createVariable("realization", "i4", ("realization",))
        realization.standard_name = "realization"
        realization[:] = REALIZATIONS
        places = {"station": range(len(BASINS)), "realization": REALIZATIONS, "time": range(len(DAYS))}
        for name, unit in UNITS.items():
            variable = dataset.createVariable(name, "f4", order, fill_value=9.96921e36)
            variable.units = {"mm/day": "mm day-1", "degC": "degree_Celsius"}[unit]
            values = np.empty([sizes[axis] for axis in order])
            for index in np.ndindex(values.shape):
                at = {axis: places[axis][place] for axis, place in zip(order, index, strict=True)}
                values[index] = value(name, at["station"], at["realization"], at["time"])
            variable[:] = values
    return path
