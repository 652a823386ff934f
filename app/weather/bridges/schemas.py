"""Answers about bridges."""

from datetime import date, datetime

from pydantic import ConfigDict, Field

from app.http.base_schema import Missing, Model
from app.weather.bridges.example import BRIDGE, BRIDGE_DETAIL


class BridgeUsed(Model):
    """A bridge that the weather of a forecast went over."""

    id: str
    name: str
    from_product: str = Field(description="Whose weather it takes.")
    to_product: str = Field(description="Whose weather it makes of that.")
    model: str | None = Field(
        description="The model whose weather forecasts it is for; null where it is for observed weather."
    )
    pooled_from: list[str] = Field(
        description="The basins like this one that it is the middle of; none where it was fitted on this basin."
    )
    note: str = Field(description="What it is worth, in a sentence.")
    hash: str = Field(description="Of its corrections: a part of the hash of the run's inputs.")


class Likeness(Model):
    """How near a variable comes to the other product's."""

    bias: float = Field(description="Of the mean: relative (0.1 is 10 % too much); for temperatures in °C.")
    correlation: float | None = Field(description="Of the daily values; null where one side is constant.")


class VariableSkill(Model):
    """How near a variable comes on days that the bridge was not fitted on."""

    as_it_is: Likeness
    bridged: Likeness


class HeldOut(Model):
    """What a bridge is worth on water years that were held out of its fit in turn."""

    days: int
    variables: dict[str, VariableSkill]


class BridgedBasin(Model):
    """What a bridge says of a basin."""

    basin: str
    pooled_from: list[str] = Field(
        description="The basins like this one that it is the middle of; none where it was fitted here."
    )
    pooled_reason: str | None = Field(description="Why it was not fitted here; null where it was.")
    day_offset: float = Field(
        description="How much later the days of the product that it is from begin, in days: at 0.8 a day's "
        "precipitation is 20 % of what that product writes to it and 80 % of what it writes to the next. Where it is "
        "above 0, the last day waits for the next."
    )
    factors: dict[str, list[float]] = Field(description="Of precipitation, radiation and vapour pressure, by month.")
    steps: dict[str, list[float]] = Field(description="What is added to temperatures, °C, by month.")
    limited: list[str] = Field(description="Variables of which a month reached the limit of what is corrected.")
    held_out: HeldOut | None
    applied_at: datetime | None = Field(description="When it was last applied; null where it has not been.")
    hash: str = Field(description="Of its corrections.")
    missing: Missing


class Bridge(Model):
    """A fit of a bridge."""

    model_config = ConfigDict(json_schema_extra={"examples": [BRIDGE]})

    id: str
    name: str = Field(description="Also the product that the weather that it makes is kept under.")
    from_product: str = Field(description="Whose weather it takes.")
    to_product: str = Field(description="Whose weather it makes of that.")
    model: str | None = Field(description="The model whose weather forecasts it is for.")
    first_day: date | None = Field(description="Of the days that it was fitted on at most.")
    last_day: date | None
    created_at: datetime
    missing: Missing


class BridgeDetail(Bridge):
    """A fit of a bridge and what it says of each basin."""

    model_config = ConfigDict(json_schema_extra={"examples": [BRIDGE_DETAIL]})

    basins: list[BridgedBasin] = Field(description="In the order of their identifiers.")
    refused: dict[str, str] = Field(description="Why other basins have none.")


class Bridges(Model):
    """The bridges in the order of their names, of each the newest fit."""

    bridges: list[Bridge]
