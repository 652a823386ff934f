"""Answers about levels of discharge."""

from datetime import datetime

from pydantic import ConfigDict, Field

from app.basins.schemas import Kind
from app.basins.thresholds.example import FIXED, THRESHOLDS
from app.forecasts.schemas import Area
from app.http.base_schema import DataCredit, Missing, Model, Period
from hydrology.base.units import Units
from hydrology.extremes import thresholds
from hydrology.uncertainty.exceedance import Direction


class RecordLevel(Model):
    """A level of the record."""

    name: str = Field(description="No other level of the basin has it.")
    return_period_years: int | None = Field(
        description="Once in so many years, on average, the year's extreme passes it."
    )
    exceeded_percent: int | None = Field(description="So many of the days have a higher flow.")
    discharge: float | None = Field(description="In `units`; null for the reason that `reason` gives.")
    low: float | None = Field(description="The lower end of its interval; null for the reason that `reason` gives.")
    high: float | None = Field(description="The upper end of its interval.")
    reason: str | None = Field(description="Why the discharge or its interval is null; null where neither is.")


class RecordStatistic(Model):
    """Levels of one kind, by one method."""

    kind: thresholds.Kind
    method: thresholds.Method = Field(
        description="`gev`: a generalized extreme value distribution by L-moments. `log-pearson-3`: by the moments of "
        "the logarithms, without outlier test, historical peaks or regional skew. `share-of-days`: counted."
    )
    direction: Direction = Field(description="Which way flow passes the levels.")
    what: str = Field(description="What they are levels of.")
    interval: str | None = Field(description="Which intervals these are.")
    years: int = Field(description="How many years have enough days: at most 10 % missing.")
    left_out_years: int = Field(description="How many years that the record touches have not.")
    dry_years: int = Field(description="In how many of the years the extreme is 0.")
    period: Period | None = Field(description="From the first day of the first of those years to the last of the last.")
    levels: list[RecordLevel]


class ModelLevels(Model):
    """The levels of what the basin's current model version simulates of past days with the weather that came: passed in
    its own world as often as their return periods say, whatever its bias."""

    version: str = Field(description="Another version has others.")
    period: Period = Field(description="The simulated days, without the first year, in which the store fills.")
    area: Area = Field(description="The drainage area that depths were converted with.")
    attributes_assumed: list[str] = Field(description="The attributes of the basin that were assumed.")
    computed_at: datetime
    levels: list[RecordStatistic] = Field(
        description="Of the members' mean. Their names are those of the record's with `model-` before them."
    )


class FixedThreshold(Model):
    """A level that somebody set."""

    model_config = ConfigDict(json_schema_extra={"examples": [FIXED]})

    name: str
    discharge: float = Field(description="m³/s; among all of a basin, in `units`.")
    direction: Direction = Field(description="Which way flow passes it.")
    set_at: datetime = Field(description="When it was last set to something else, by the service's clock.")


class Thresholds(Model):
    """The levels of a basin's discharge."""

    model_config = ConfigDict(json_schema_extra={"examples": [THRESHOLDS]})

    basin: str
    basin_kind: Kind = Field(description="`synthetic`: made by computation, no real river.")
    product: str = Field(description="Where the record comes from: the basin's own gauge.")
    credit: DataCredit | None = Field(description="Whose the record is; null where no feed brought any of it.")
    units: Units = Field(description="Of every discharge here.")
    area: Area | None = Field(description="The drainage area that discharge was converted with; null where none was.")
    record: list[RecordStatistic]
    model: ModelLevels | None = Field(description="Null for the reason in `missing`.")
    fixed: list[FixedThreshold] = Field(description="Those that operators set, in the order of their names.")
    missing: Missing
