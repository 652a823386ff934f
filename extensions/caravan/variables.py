"""The daily variables of Caravan: `<band>_<mean|min|max|sum>` of ERA5-Land, and `streamflow`."""

import re

from hydrology.base.products import Quantity

PRODUCT = "era5_land"
STREAMFLOW = "streamflow"

_OURS = {
    "total_precipitation_sum": "precipitation",
    "temperature_2m_min": "tmin",
    "temperature_2m_mean": "tmean",
    "temperature_2m_max": "tmax",
    # The net flux at the surface; the forcing products of CAMELS have the incoming flux.
    "surface_net_solar_radiation_mean": "srad",
    "snow_depth_water_equivalent_mean": "swe",
    STREAMFLOW: "discharge",
}


_STATES = {
    "temperature_2m": ("degC", -100, 70),
    "dewpoint_temperature_2m": ("degC", -110, 60),
    "surface_net_solar_radiation": ("W/m2", -50, 1_500),
    "surface_net_thermal_radiation": ("W/m2", -1_000, 1_000),
    "surface_pressure": ("kPa", 30, 120),
    "snow_depth_water_equivalent": ("mm", 0, 20_000),
    "u_component_of_wind_10m": ("m/s", -150, 150),
    "v_component_of_wind_10m": ("m/s", -150, 150),
    **{f"volumetric_soil_water_layer_{n}": ("m3/m3", -0.01, 1.01) for n in range(1, 5)},
}
# Dew makes potential evaporation negative on some days. It has one name before version 1.5 and two after.
_SUMS = {
    "total_precipitation_sum": ("mm/day", 0, 2_000),
    "potential_evaporation_sum": ("mm/day", -100, 1_000),
    "potential_evaporation_sum_ERA5_LAND": ("mm/day", -100, 1_000),
    "potential_evaporation_sum_FAO_PENMAN_MONTEITH": ("mm/day", -100, 1_000),
    STREAMFLOW: ("mm/day", 0, 10_000),
}
_BANDS = {f"{band}_{kind}": what for band, what in _STATES.items() for kind in ("mean", "min", "max")} | _SUMS

QUANTITIES = {column: Quantity(_OURS.get(column, column), *band) for column, band in _BANDS.items()}
"""Every possible column of a time series, by name."""

# Spellings of our units, without blanks and in lower case. A daily sum may be given in mm.
_SPELLINGS = {
    "degC": {"degc", "°c", "c", "celsius"},
    "W/m2": {"w/m2", "w/m²", "wm-2", "w/m^2"},
    "kPa": {"kpa"},
    "mm": {"mm"},
    "m/s": {"m/s", "ms-1"},
    "m3/m3": {"m3/m3", "m³/m³", "m3m-3"},
    "mm/day": {"mm", "mm/d", "mm/day", "mmd-1", "mmday-1"},
}
_STATED = re.compile(r"^\s*(\w+)\s*:.*?\[([^\]]*)\]", re.MULTILINE)


def stated_units(text: str) -> dict[str, str]:
    """Parse units by column from lines such as `temperature_2m: 2m air temperature [°C]`, which name bands."""
    by_band = dict(_STATED.findall(text))
    bands = {column: (column.rpartition("_")[0], column) for column in QUANTITIES}
    return {column: by_band[band] for column, names in bands.items() for band in names if band in by_band}


def same_unit(stated: str, unit: str) -> bool:
    """Return whether a unit in a file is the same as one of ours."""
    return "".join(stated.split()).lower() in _SPELLINGS[unit]
