"""Forecasts as a table: a row for each basin and day, a column for each quantile."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Protocol

from app.exports.series import NOWHERE, basin_columns
from app.exports.table import RIVER_FLOW, AxisPosition, Column, Kind, Table, constant, numbers, stacked
from app.forecasts.discharge import ANSWER_LEVELS, level_name
from app.forecasts.forecast import BasinForecast, BasinForecasts, WithoutForecast
from app.forecasts.schemas import Columns, RunOfBasin
from app.forecasts.stored_water import SnowRead
from records.basins.basins import Site
from records.runs.run_types import QUANTILES

PUBLISHED = "published discharge: as a forecaster adjusted it, else calibrated, else of the members (and traces)"
CALIBRATED = "discharge as issued, corrected by past errors and the last observed flow"
UNCALIBRATED = "discharge of the members (and traces), not calibrated"

_OF_RUN: tuple[tuple[str, Kind, str, str | None], ...] = (
    ("run", "text", "identifier of the run", None),
    ("version", "text", "identifier of the model version", None),
    ("awaited_version", "text", "promoted version that has issued no such forecast yet", None),
    ("status", "text", "whether the forecast was issued", None),
    ("reason", "text", "why there are no values", None),
    ("t0", "day", "last day of weather in the initial state", "forecast_reference_time"),
    ("issued_at", "instant", "when the forecast was issued", None),
    ("age_days", "integer", "days that t0 lies behind the service's clock", None),
    ("stale", "truth", "whether a newer forecast is overdue", None),
    ("product", "text", "weather product that drove the model", None),
)
"""Name, kind, meaning and standard name of fields that identify a run."""


def of_one(forecast: BasinForecast, sites: Mapping[str, Site]) -> Table:
    """Return the forecast of one basin."""
    return stacked(f"{forecast.basin}_forecast_{forecast.t0}", f"Forecast of {forecast.basin}", [_of(forecast, sites)])


def of_many(answer: BasinForecasts, sites: Mapping[str, Site], unit: str) -> Table:
    """Return the forecasts of many basins; one without any has one row with the reason.

    Args:
        unit: of discharge: where no basin has a forecast, the table has its columns all the same.
    """
    parts = [_of(forecast, sites) for forecast in answer.forecasts] or [empty_columns(unit)]
    return stacked("forecasts", "Latest forecasts", [*parts, *(_without(basin, sites) for basin in answer.without)])


def empty_columns(unit: str) -> list[Column]:
    """Return the columns of any forecast, without rows and members."""
    fields: dict[str, Any] = dict.fromkeys(BasinForecast.model_fields)
    fields |= {"time": [], "lead_days": [], "members": {}, "units": {"discharge": unit}}
    return _of(BasinForecast.model_construct(**fields), {})


def run_columns(answer: RunOfBasin, sites: Mapping[str, Site], rows: int) -> list[Column]:
    """Return columns that identify the run and the basin."""
    credit = answer.product_credit
    return [
        *basin_columns(answer.basin, sites.get(answer.basin, NOWHERE), rows),
        *(
            constant(name, meaning, kind, getattr(answer, name), rows, standard_name=standard_name)
            for name, kind, meaning, standard_name in _OF_RUN
        ),
        constant("credit", "provider of the product", "text", credit and credit.credit, rows),
        constant("licence", "licence of the product", "text", credit and credit.licence, rows),
        constant("forcing_kind", "kind of weather after t0", "text", answer.forcing_kind, rows),
    ]


def _of(forecast: BasinForecast, sites: Mapping[str, Site]) -> list[Column]:
    rows, unit = len(forecast.time), forecast.units["discharge"]
    area, storage = forecast.area, forecast.storage
    return [
        *run_columns(forecast, sites, rows),
        constant("area", "drainage area that depths are taken over", "number", area and area.km2, rows, unit="km2"),
        *day_columns(forecast.time, forecast.lead_days),
        *quantile_columns("published", PUBLISHED, forecast.published, ANSWER_LEVELS, unit, rows),
        *quantile_columns("calibrated", CALIBRATED, forecast.calibrated, ANSWER_LEVELS, unit, rows),
        *quantile_columns("discharge", UNCALIBRATED, forecast.discharge, QUANTILES, unit, rows),
        *_members(forecast.members, unit),
        *water_columns(storage, rows),
        numbers(
            "precipitation",
            "rain and snow, the mean of the traces",
            forecast.precipitation,
            rows,
            "mm/day",
            standard_name="lwe_precipitation_rate",
            cell_methods="time: mean",
        ),
        numbers(
            "loss",
            "water that leaves other than through the river, the mean of the members",
            forecast.loss,
            rows,
            "mm/day",
            cell_methods="time: mean",
        ),
    ]


def _without(basin: WithoutForecast, sites: Mapping[str, Site]) -> list[Column]:
    return [
        *basin_columns(basin.basin, sites.get(basin.basin, NOWHERE), 1),
        constant("reason", "why there are no values", "text", basin.reason, 1),
    ]


def day_columns(days: Sequence[date], leads: Sequence[int]) -> list[Column]:
    """Return the columns of the valid day and its lead time."""
    return [
        Column("time", "valid day", "day", days),
        Column("lead_days", "days since t0", "integer", leads, "day", standard_name="forecast_period"),
    ]


class HeldWater(Protocol):
    """Water in the basin at the end of each day, as in answers."""

    @property
    def total(self) -> Sequence[float] | None:
        """All of it."""

    @property
    def snow(self) -> Sequence[float] | None:
        """The part read as snow."""

    @property
    def snow_read(self) -> SnowRead | None:
        """Origin and spread of the snow."""


def water_columns(held: HeldWater | None, rows: int) -> list[Column]:
    """Return the water in the basin at the end of each day."""
    total, snow, read = (None, None, None) if held is None else (held.total, held.snow, held.snow_read)
    low, high = (None, None) if read is None else (read.p05, read.p95)
    columns = [
        numbers(name, meaning, values, rows, "mm")
        for name, meaning, values in (
            ("storage_total", "all water in the model's store at the end of the day", total),
            ("storage_snow", "water in the cells read as snow; the model was not trained on snow", snow),
            ("storage_snow_p05", "5 % quantile of the members (and traces) of it", low),
            ("storage_snow_p95", "95 % quantile of the members (and traces) of it", high),
        )
    ]
    meaning = "choice of the snow cells: in this basin, or over others (regional)"
    return [*columns, constant("snow_mapping", meaning, "text", read and read.mapping, rows)]


def quantile_columns(
    variable: str,
    meaning: str,
    columns: Mapping[str, Sequence[float | None]] | None,
    levels: Sequence[float],
    unit: str,
    rows: int,
) -> list[Column]:
    """Return the quantiles of discharge on each day."""
    by_level = {level_name(level): level for level in levels}
    return [
        _flow(
            f"{variable}_{name}",
            f"{name} of {meaning}",
            columns[name] if columns else [None] * rows,
            unit,
            AxisPosition(variable, meaning, "quantile", level),
        )
        for name, level in by_level.items()
    ]


def _members(members: Columns, unit: str) -> list[Column]:
    return [
        _flow(
            f"member_{label.replace('/', '_')}",
            f"discharge of member {label}",
            values,
            unit,
            AxisPosition("members", "discharge of each member", "member", label),
        )
        for label, values in members.items()
    ]


def _flow(name: str, meaning: str, values: Sequence[float | None], unit: str, along: AxisPosition) -> Column:
    return Column(
        name,
        meaning,
        "number",
        values,
        unit,
        along=along,
        standard_name=None if unit == "mm/day" else RIVER_FLOW,
        cell_methods="time: mean",
    )
