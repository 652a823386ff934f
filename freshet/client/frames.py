"""Answers as pandas tables and xarray datasets; neither library is imported before it is needed."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from app.basins.observations.schemas import Observations
from app.forecasts.schemas import BasinForecast

if TYPE_CHECKING:
    import pandas
    import xarray


def to_pandas(answer: BasinForecast | Observations) -> "pandas.DataFrame":
    """Return a table with a row for each day.

    Of a forecast there are `discharge_median`, `discharge_p10`, ..., `calibrated_p10`, ..., `precipitation`, `loss`,
    `storage_total` and `storage_snow`, as far as it has them; of observations each variable and its flags
    (`discharge_flag`). `attrs` holds the units, the basin and the run.
    """
    import pandas

    days = pandas.DatetimeIndex(answer.time, name="time")
    columns = _columns(answer) if isinstance(answer, Observations) else _columns_of_forecast(answer)
    table = pandas.DataFrame(dict(columns), index=days)
    table.attrs = _attributes(answer)
    return table


def to_xarray(answer: BasinForecast | Observations) -> "xarray.Dataset":
    """Return a dataset with the variables of `to_pandas` along `time`, each with its unit."""
    import xarray

    table = to_pandas(answer)
    dataset = xarray.Dataset.from_dataframe(table)
    dataset.attrs = {name: value for name, value in table.attrs.items() if name != "units"}
    for name, variable in dataset.data_vars.items():
        unit = _unit(str(name), answer.units)
        if unit is not None:
            variable.attrs["units"] = unit
    return dataset


def _unit(column: str, units: Mapping[str, str]) -> str | None:
    if column == "lead_days":
        return "days"
    if column.endswith("_flag"):
        return None
    prefix = column.partition("_")[0]
    return units.get(column) or units.get("members" if prefix == "member" else prefix)


def _columns(answer: Observations) -> Iterator[tuple[str, list[Any]]]:
    for name, values in answer.values.items():
        yield name, [float("nan") if value is None else value for value in values]
        yield f"{name}_flag", answer.flags[name]


def _columns_of_forecast(answer: BasinForecast) -> Iterator[tuple[str, list[Any]]]:
    yield "lead_days", answer.lead_days
    for name, quantiles in (("calibrated", answer.calibrated), ("discharge", answer.discharge)):
        for label, values in (quantiles or {}).items():
            yield f"{name}_{label}", values
    for label, values in answer.members.items():
        yield f"member_{label}", values
    for name, column in (("precipitation", answer.precipitation), ("loss", answer.loss)):
        if column is not None:
            yield name, column
    if answer.storage is not None:
        yield "storage_total", answer.storage.total
        if answer.storage.snow is not None:
            yield "storage_snow", answer.storage.snow


def _attributes(answer: BasinForecast | Observations) -> dict[str, Any]:
    result: dict[str, Any] = {"basin": answer.basin, "units": dict(answer.units)}
    if isinstance(answer, BasinForecast):
        result |= {"run": answer.run, "version": answer.version, "t0": answer.t0.isoformat(), "status": answer.status}
    else:
        result |= {"product": answer.product}
    return result
