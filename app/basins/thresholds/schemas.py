"""Answers about levels of discharge."""

from datetime import datetime

from pydantic import Field

from app.basins.schemas import BasinKind
from app.http.base_schema import Area, DataCredit, Missing, Model, Period
from hydrology.base.units import Units
from hydrology.extremes import thresholds
from hydrology.uncertainty.exceedance import Direction


class RecordLevel(Model):
    """A level of the record."""

    name: str = Field(description="The level's name, unique within the basin.")
    return_period_years: int | None = Field(
        description="Return period: mean number of years between annual extremes beyond the level."
    )
    exceeded_percent: int | None = Field(description="Percentage of days with a higher flow.")
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
    direction: Direction = Field(description="Direction in which flow crosses the levels.")
    what: str = Field(description="The quantity behind the levels.")
    interval: str | None = Field(description="How the intervals were computed.")
    years: int = Field(description="Number of years with at most 10 % of the days missing.")
    left_out_years: int = Field(
        description="Number of other years within the record, left out because more days are missing."
    )
    dry_years: int = Field(description="Number of years whose extreme is 0.")
    period: Period | None = Field(description="From the first day of the first of those years to the last of the last.")
    levels: list[RecordLevel]


class ModelLevels(Model):
    """The levels of past flow as simulated by the basin's current model version, driven by observed weather. Simulated
    flow exceeds them as often as their return periods state, whatever the model's bias."""

    version: str = Field(description="The model version; another version has other levels.")
    period: Period = Field(description="The simulated days, without the first year (warm-up).")
    area: Area = Field(description="The drainage area used to convert depths.")
    attributes_assumed: list[str] = Field(description="The attributes of the basin that were assumed.")
    computed_at: datetime
    levels: list[RecordStatistic] = Field(
        description="Levels of the members' mean. Their names are those of the record with the prefix `model-`."
    )


class FixedThreshold(Model):
    """A level set by an operator."""

    name: str
    discharge: float = Field(description="m³/s; among all of a basin, in `units`.")
    direction: Direction = Field(description="Direction in which flow crosses the level.")
    set_at: datetime = Field(description="When it was last changed, by the service's clock.")


class Thresholds(Model):
    """The levels of a basin's discharge."""

    basin: str
    basin_kind: BasinKind
    product: str = Field(description="The source of the record: the basin's own gauge.")
    credit: DataCredit | None = Field(description="Provider of the record; null where no feed brought any of it.")
    units: Units = Field(description="Unit of every discharge in the answer.")
    area: Area | None = Field(description="The drainage area used to convert discharge; null where none was.")
    record: list[RecordStatistic]
    model: ModelLevels | None = Field(description="Null for the reason in `missing`.")
    fixed: list[FixedThreshold] = Field(description="Levels set by operators, in the order of their names.")
    missing: Missing
