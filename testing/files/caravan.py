"""Small Caravan file sets, as its publishers write them."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

import netCDF4
import numpy as np

GAUGE = "camels_01022500"
BASIN = f"CARAVAN-{GAUGE}"
FIRST = date(2000, 2, 27)
NAN = float("nan")

# Hundredths, as published.
COLUMNS: dict[str, Sequence[float]] = {
    "snow_depth_water_equivalent_mean": (2.99, 2.23, 0.91, 0.0),
    "surface_net_solar_radiation_mean": (20.0, 15.41, 9.59, 11.97),
    "surface_pressure_mean": (99.54, 99.3, 98.62, 98.76),
    "temperature_2m_mean": (3.65, 2.25, 5.01, -1.33),
    "temperature_2m_min": (2.15, 0.83, 2.74, -3.63),
    "temperature_2m_max": (5.45, 3.96, 6.79, 0.68),
    "volumetric_soil_water_layer_1_mean": (0.41, 0.4, 0.4, 0.4),
    "total_precipitation_sum": (0.18, 0.11, 2.78, 0.0),
    "potential_evaporation_sum": (0.21, -0.07, 0.36, 0.22),
    "streamflow": (NAN, 0.5, NAN, 0.7),
}
UNITS = (
    "snow_depth_water_equivalent: ERA5-Land Snow-Water-Equivalent [mm]\n"
    "surface_net_solar_radiation: Surface net solar radiation [W/m2]\n"
    "surface_pressure: Surface pressure [kPa]\n"
    "temperature_2m: 2m air temperature [°C]\n"
    "volumetric_soil_water_layer_1: ERA5-Land volumetric soil water layer 1 (0-7cm) [m3/m3]\n"
    "total_precipitation: Total precipitation [mm]\n"
    "streamflow: Observed streamflow [mm/d]\n"
)

OTHER = (
    "gauge_id,gauge_lat,gauge_lon,gauge_name,country,area\n"
    f'{GAUGE},44.60797,-67.93524,"NARRAGUAGUS RIVER, CHERRYFIELD",United States of America,573.6\n'
    "camels_2,45.0,-68.0,Other,United States of America,10\n"
)
CLIMATE = f"gauge_id,p_mean,frac_snow\n{GAUGE},3.1,\n"
HYDROATLAS = f"gauge_id,ele_mt_sav,slp_dg_sav\n{GAUGE},92.7,NaN\n"


def days(count: int, first: date = FIRST) -> list[date]:
    """Consecutive days."""
    return [first + timedelta(days=n) for n in range(count)]


def csv(columns: Mapping[str, Sequence[float]] = COLUMNS, at: Sequence[date] | None = None) -> bytes:
    """A time series as CSV; a missing value is empty."""
    at = at or days(len(next(iter(columns.values()))))
    lines = [",".join(("date", *columns))]
    for day, *values in zip(at, *columns.values(), strict=True):
        lines.append(",".join([str(day), *("" if np.isnan(value) else str(value) for value in values)]))
    return ("\n".join(lines) + "\n").encode()


def netcdf(
    columns: Mapping[str, Sequence[float]] = COLUMNS,
    offsets: Sequence[float] | None = None,
    units: str | None = UNITS,
    counted: str = f"days since {FIRST} 00:00:00",
    calendar: str = "proleptic_gregorian",
) -> bytes:
    """A time series as NetCDF: single precision, missing values NaN."""
    count = len(next(iter(columns.values())))
    dataset = netCDF4.Dataset("invented", mode="w", memory=1024)
    dataset.createDimension("date", count)
    date_of = dataset.createVariable("date", "i8" if offsets is None else "f8", ("date",))
    date_of.units, date_of.calendar = counted, calendar
    date_of[:] = np.arange(count) if offsets is None else np.array(offsets)
    for name, values in columns.items():
        dataset.createVariable(name, "f4", ("date",), fill_value=np.float32(NAN))[:] = np.array(values, np.float32)
    if units is not None:
        dataset.Units = units
    return bytes(dataset.close())


def files(kind: str = "csv", content: bytes | None = None) -> dict[str, bytes]:
    """The paths and contents of a set of one gauge, of kind csv or netcdf."""
    created = content if content is not None else csv() if kind == "csv" else netcdf()
    suffix = "csv" if kind == "csv" else "nc"
    return {
        f"timeseries/{kind}/camels/{GAUGE}.{suffix}": created,
        "attributes/camels/attributes_other_camels.csv": OTHER.encode(),
        "attributes/camels/attributes_caravan_camels.csv": CLIMATE.encode(),
        "attributes/camels/attributes_hydroatlas_camels.csv": HYDROATLAS.encode(),
        "licenses/camels/license.csv": b"not of data",
    }


def folder(where: Path, contents: Mapping[str, bytes]) -> Path:
    """Write files below a folder."""
    for name, content in contents.items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return where
