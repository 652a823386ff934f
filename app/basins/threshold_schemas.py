"""Answers about levels of discharge."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from app.basins.run_levels import Stage
from app.basins.schemas import NO_FEED, AreaUsed, BasinKind
from app.http.base_schema import EXPLAINED, Area, DataCredit, Missing, Model, Period
from app.http.shown import As, model_of
from hydrology.alerts import IMPACT, INSTRUCTION
from hydrology.base.units import Units
from hydrology.extremes import levels
from hydrology.extremes.annual import Trend
from hydrology.uncertainty.exceedance import Direction
from jobspec.levels import CategoryName
from records.levels.basin_levels import StoredFloodFrequency


class RecordLevel(Model):
    """A level of the record."""

    name: str = Field(description="The level's name, unique within the basin.")
    return_period_years: float | None = Field(
        description="Return period: mean number of years between annual extremes beyond the level; of a frequent "
        "flood, between independent floods."
    )
    exceeded_percent: int | None = Field(description="Percentage of days with a higher flow.")
    discharge: float | None = Field(description="In `units`; null for the reason that `reason` gives.")
    low: float | None = Field(description="The lower end of its interval; null for the reason that `reason` gives.")
    high: float | None = Field(description="The upper end of its interval.")
    reason: str | None = Field(description="Why the discharge or its interval is null; null where neither is.")
    stage: Stage = Field(description="The stage of the discharge, by the basin's rating of the day.")


class FloodFrequency(model_of(StoredFloodFrequency, As(missing=True))):  # type: ignore[misc]
    """How the floods of a basin's record are analysed."""


class RecordStatistic(Model):
    """Levels of one kind, by one method."""

    kind: levels.Kind
    method: levels.Method = Field(
        description="`generalized-pareto`: of the heights of independent floods above a threshold, by L-moments. "
        "`gev`: a generalized extreme value distribution by L-moments. `bulletin-17c`: log-Pearson III by "
        "the expected moments of the logarithms, without the low outliers of the multiple Grubbs-Beck test. "
        "`log-pearson-3`: by the moments of the logarithms. `share-of-days`: counted."
    )
    comparison: bool = Field(
        description="Whether these floods stand beside those of the basin's method for comparison alone: without "
        "chances and without alerts."
    )
    direction: Direction = Field(description="Direction in which flow crosses the levels.")
    what: str = Field(description="The quantity behind the levels.")
    interval: str | None = Field(description="How the intervals were computed.")
    years: int = Field(description="Number of years with at most 10 % of the days missing.")
    left_out_years: int = Field(
        description="Number of other years within the record, left out because more days are missing."
    )
    dry_years: int = Field(description="Number of years whose extreme is 0.")
    low_outliers: int | None = Field(
        description="Number of years whose flood counts only as smaller than the others, dry years included; null "
        "where the method tests for none."
    )
    trend: Annotated[Trend, As(exact=True)] | None = Field(
        description="The trend of annual floods; null for other levels."
    )
    period: Period | None = Field(description="From the first day of the first of those years to the last of the last.")
    levels: list[RecordLevel]


class Signature(Model):
    """A signature of the river: as simulated, and as estimated where there is no gauge."""

    name: str
    what: str
    units: Units | Literal["1"] = Field(description="Unit of its values; `1` for a ratio.")
    simulated: float | None = Field(description="That of the simulation as it is.")
    estimate: float | None = Field(
        description="The estimate without a gauge: the simulation, corrected by what such simulations miss in basins "
        "that their members had not learnt from; null where that is not known."
    )
    low: float | None = Field(description="Lower end of the range that holds nine in ten such rivers.")
    high: float | None = Field(description="Upper end of it.")
    typical_error_percent: float | None = Field(
        description="Median absolute error of such estimates in basins left out, % of what was observed."
    )


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
    signatures: list[Signature] = Field(
        description="Mean flow, flow duration and floods of the river without a gauge, from its outline and weather "
        "alone; empty until the levels are computed again, where they are older."
    )
    signatures_tested_in: int | None = Field(
        description="Number of basins that the ranges and errors are of, each unseen by the members that simulated "
        "it; null where none are known for this version."
    )


class FixedThreshold(Model):
    """A level set by an operator."""

    name: str
    discharge: float = Field(description="m³/s; among all of a basin, in `units`.")
    direction: Direction = Field(description="Direction in which flow crosses the level.")
    set_at: datetime = Field(description="When it was last changed, by the service's clock.")
    stage: Stage = Field(description="Its stage, by the basin's rating of the day.")
    category: CategoryName | None = Field(description="The official flood category; null for other levels.")
    source: str | None = Field(description="Who declared the category.")
    source_day: date | None = Field(description="The day that the category is from.")
    official_stage_ft: float | None = Field(description="The category's own stage.")
    discharge_by: Literal["rating", "source"] | None = Field(
        description="Whether a category's discharge is its own stage by the rating, or its source's."
    )
    impact: str | None = Field(description=IMPACT)
    instruction: str | None = Field(description=INSTRUCTION)
    in_doubt: str | None = Field(
        description="Why its unit, datum or order seems wrong: its alerts wait until somebody confirms it. Null where "
        "nothing seems wrong, and once it is confirmed."
    )


class FloodCategories(Model):
    """The official flood categories of a basin, as levels."""

    basin: str
    levels: list[FixedThreshold]
    left_out: dict[str, str] = Field(description="Categories without a discharge, and why.")
    missing: Missing


class Thresholds(Model):
    """The levels of a basin's discharge."""

    basin: str
    basin_kind: BasinKind
    product: str = Field(description="The source of the record: the basin's own gauge.")
    credit: Annotated[DataCredit | None, NO_FEED] = Field(
        description="Provider of the record; null where no feed brought any of it."
    )
    units: Units = Field(description="Unit of every discharge in the answer.")
    area: AreaUsed
    flood_frequency: FloodFrequency
    record: list[RecordStatistic]
    model: ModelLevels | None = Field(description="Null for the reason in `missing`.")
    fixed: list[FixedThreshold] = Field(description="Levels set by operators, in the order of their names.")
    missing: Missing = EXPLAINED
