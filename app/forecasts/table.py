"""Forecasts as a table: a row for each basin and day, a column for each quantile."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from app.exports.table import NOWHERE, Column, Table, basin_columns, columns_of, constant, stacked
from app.forecasts.forecast import BasinForecast, BasinForecasts, WithoutForecast
from app.forecasts.header import run_table
from records.basins.basins import Site

of_one = run_table("forecast", "Forecast of {}")


def of_many(answer: BasinForecasts, sites: Mapping[str, Site], unit: str) -> Table:
    """Return the forecasts of many basins; one without any has one row with the reason."""
    parts = [columns_of(forecast, sites) for forecast in answer.forecasts] or [empty_columns(unit)]
    return stacked("forecasts", "Latest forecasts", [*parts, *(_without(basin, sites) for basin in answer.without)])


def empty_columns(unit: str) -> list[Column]:
    """Return the columns of any forecast, without rows and members."""
    fields: dict[str, Any] = dict.fromkeys(BasinForecast.model_fields)
    fields |= {"time": [], "lead_days": [], "members": {}, "units": {"discharge": unit}}
    return columns_of(BasinForecast.model_construct(**fields), {})


def day_columns(days: Sequence[date], leads: Sequence[int]) -> list[Column]:
    """Return the columns of the valid day and its lead time."""
    return [
        Column("time", "valid day", "day", days),
        Column("lead_days", "days since t0", "integer", leads, "day", standard_name="forecast_period"),
    ]


def _without(basin: WithoutForecast, sites: Mapping[str, Site]) -> list[Column]:
    return [
        *basin_columns(basin.basin, sites.get(basin.basin, NOWHERE), 1),
        constant("reason", "why there are no values", "text", basin.reason, 1),
    ]
