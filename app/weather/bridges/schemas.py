"""Answers about bridges."""

from datetime import date, datetime

from pydantic import Field

from app.http.base_schema import Missing, Model


class BridgeUsed(Model):
    """The bridge that corrected the weather of a forecast."""

    id: str
    name: str
    from_product: str = Field(description="The product it converts.")
    to_product: str = Field(description="The product it converts to.")
    model: str | None = Field(description="The weather model whose forecasts it corrects; null for observed weather.")
    pooled_from: list[str] = Field(
        description="The similar basins that its corrections are the mean of; empty if fitted on this basin."
    )
    note: str = Field(description="Its skill, in a sentence.")
    hash: str = Field(description="Hash of its corrections, a part of the run's inputs hash.")


class Likeness(Model):
    """Agreement of a variable with the other product's."""

    bias: float = Field(description="Of the mean: relative (0.1 is 10 % too much); for temperatures in °C.")
    correlation: float | None = Field(description="Of the daily values; null where one side is constant.")


class VariableSkill(Model):
    """Agreement of a variable on days not used in fitting."""

    as_it_is: Likeness
    bridged: Likeness


class HeldOut(Model):
    """Skill of a bridge by cross-validation over water years."""

    days: int
    variables: dict[str, VariableSkill]


class BridgedBasin(Model):
    """A bridge's corrections for a basin."""

    basin: str
    pooled_from: list[str] = Field(
        description="The similar basins that its corrections are the mean of; empty if fitted here."
    )
    pooled_reason: str | None = Field(description="Why it was not fitted here; null where it was.")
    day_offset: float = Field(
        description="How much earlier the source product's days begin, in days: at 0.8 a day's "
        "precipitation is 20 % of that product's value for the day and 80 % of its value for the next. If it is "
        "above 0, the last day waits for the next."
    )
    factors: dict[str, list[float]] = Field(
        description="Factors of precipitation, radiation and vapour pressure, by month."
    )
    steps: dict[str, list[float]] = Field(description="Additive correction of temperatures, °C, by month.")
    limited: list[str] = Field(description="Variables whose correction reached its limit in some month.")
    held_out: HeldOut | None
    applied_at: datetime | None = Field(description="When it was last applied; null where it has not been.")
    hash: str = Field(description="Hash of its corrections.")
    missing: Missing


class Bridge(Model):
    """A fit of a bridge."""

    id: str
    name: str = Field(description="The bridge's name, also the product that its weather is stored under.")
    from_product: str = Field(description="The product it converts.")
    to_product: str = Field(description="The product it converts to.")
    model: str | None = Field(description="The weather model whose forecasts it corrects.")
    first_day: date | None = Field(description="The first day of the fitting period.")
    last_day: date | None
    created_at: datetime
    missing: Missing


class BridgeDetail(Bridge):
    """A fit of a bridge with its corrections for each basin."""

    basins: list[BridgedBasin] = Field(description="In the order of their identifiers.")
    refused: dict[str, str] = Field(description="Why other basins have no corrections.")


class Bridges(Model):
    """The newest fit of each bridge, in the order of their names."""

    bridges: list[Bridge]
