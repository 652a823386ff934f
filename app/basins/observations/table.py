"""Observations as a table: a row for each day; for each variable its values and flags."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.basins.observations.schemas import Observations
from app.exports.basins import NOWHERE, basin_columns
from app.exports.table import RIVER_FLOW, Column, Table, constant
from records.basins.basins import Site


@dataclass(frozen=True, slots=True)
class _Standard:
    """CF metadata of a variable: standard name, cell methods, and the unit that fits both."""

    name: str
    cell_methods: str


_STANDARDS: Mapping[tuple[str, str], _Standard] = {
    ("discharge", "m3/s"): _Standard(RIVER_FLOW, "time: mean"),
    ("discharge", "cfs"): _Standard(RIVER_FLOW, "time: mean"),
    ("precipitation", "mm/day"): _Standard("lwe_precipitation_rate", "time: mean"),
    ("tmax", "degC"): _Standard("air_temperature", "time: maximum"),
    ("tmin", "degC"): _Standard("air_temperature", "time: minimum"),
    ("tmean", "degC"): _Standard("air_temperature", "time: mean"),
    ("vp", "Pa"): _Standard("water_vapor_partial_pressure_in_air", "time: mean"),
    ("swe", "mm"): _Standard("lwe_thickness_of_surface_snow_amount", "time: mean"),
}

_LONG_NAMES = {"srad": "downwelling shortwave radiation, mean over daylight"}
"""Of variables for which CF has no standard name: a mean over a day would be half of that over daylight."""


def of_observations(answer: Observations, sites: Mapping[str, Site]) -> Table:
    """Return the daily series of a product in a basin."""
    rows, credit = len(answer.time), answer.credit
    columns = [
        *basin_columns(answer.basin, sites.get(answer.basin, NOWHERE), rows),
        constant("product", "source of the series", "text", answer.product, rows),
        constant("credit", "provider of the product", "text", credit and credit.credit, rows),
        constant("licence", "licence of the product", "text", credit and credit.licence, rows),
        constant("known_at", "the values are as known at this instant", "instant", answer.known_at, rows),
        Column("time", "day", "day", answer.time),
    ]
    legend = {int(bit): words for bit, words in answer.flag_legend.items()}
    for variable, values in answer.values.items():
        columns += variable_columns(variable, values, answer.flags[variable], answer.units[variable], legend)
    name = f"{answer.basin}_{answer.product}_{answer.time[0]}_{answer.time[-1]}"
    return Table(name, f"{answer.product} in {answer.basin}", columns)


def variable_columns(
    variable: str, values: list[float | None], flags: list[int], unit: str, legend: Mapping[int, str]
) -> list[Column]:
    """Return the values of a variable and their flags."""
    return [
        _values(variable, values, unit),
        Column(f"{variable}_flags", f"flags of {variable}", "integer", flags, flags=legend),
    ]


def _values(variable: str, values: list[float | None], unit: str) -> Column:
    standard = _STANDARDS.get((variable, unit))
    known: dict[str, Any] = (
        {} if standard is None else {"standard_name": standard.name, "cell_methods": standard.cell_methods}
    )
    return Column(variable, _LONG_NAMES.get(variable, variable), "number", values, unit, **known)
