"""Answers about forecasts."""

from datetime import date, datetime
from typing import Annotated

from pydantic import Field

from app.basins.schemas import BasinKind
from app.http.base_schema import DataCredit, Model, OfBasin, Series, column
from app.weather.bridges import BridgeUsed
from app.weather.weather import WeatherUsed
from hydrology.base.calendar import STALE_AFTER_DAYS
from hydrology.water.storage import SPIN_UP_DAYS
from hydrology.weather.forcing_kinds import DESCRIBED, ForcingKind
from jobspec.changes import Where
from records.runs.run_types import BasinStatus, Purpose
from records.runs.run_weather import WeatherSource

Columns = dict[str, list[float]]
GappyColumns = dict[str, list[float | None]]
FieldUnits = Annotated[dict[str, str], Field(description="The unit of each field with values.")]
Days = Annotated[list[date], Field(description="The valid days."), Series("valid day")]
LeadDays = Annotated[
    list[int],
    Field(description=column("Days since T0")),
    Series("days since t0", "day", standard_name="forecast_period"),
]

T0_AGE = "How many days T0 lay before the service's clock at issue."
T0_NOTE = f"A warning where T0 was not named and lay more than {STALE_AFTER_DAYS} days before the clock: data are old."


class Superseded(Model):
    """A newer run that cannot become the basin's latest forecast."""

    run: str
    status: BasinStatus
    reason: str


class StormOfRun(Model):
    """Additional precipitation on one day."""

    mm: float
    lead: int = Field(description="The day, as the number of days after T0.")


class IncrementOfRun(Model):
    """Water added to the basin at T0, or removed: the `increment` of the water balance."""

    mm: float = Field(description="Negative where water is removed.")
    where: Where = Field(description="The cells concerned: those read as snow, the other ones, or both.")


class WhatIf(Model):
    """The changes of a what-if run."""

    in_words: str
    degrees: float = Field(description="Added to the temperatures of every day after T0, °C.")
    precipitation_percent: float = Field(description="Change in daily precipitation after T0, in percent.")
    storm: StormOfRun | None = Field(description="Null where there is none.")
    increment: IncrementOfRun | None = Field(description="Null where there is none.")
    assimilate: bool = Field(
        description="Whether the water at T0 was adjusted to observed discharge: the `assimilation` of the water "
        "balance."
    )
    note: str | None = Field(description="The public reason for the run; null where none was given.")
    base: str | None = Field(
        description="The run without changes, for comparison; null where it changes nothing itself."
    )


class FilledDays(Model):
    """The source of weather that was not observed in time or not forecast."""

    first: date = Field(description="The first of consecutive days with this source.")
    last: date = Field(description="The last of them.")
    source: WeatherSource = Field(
        description="`product`: observed, in the version's product. `bridge`: observed, in another product through its "
        "bridge. `forecast`: a weather forecast. `climatology`: other years."
    )
    id: str | None = Field(description="Of the weather forecast or of the bridge; null for the others.")
    name: str | None = Field(description="The product, or the weather model; null for other years.")
    reference_day: date | None = Field(description="Of the weather forecast; null for the others.")
    correlations: dict[str, list[float]] = Field(
        description="Expected skill: the correlation of normal scores with the weather that comes, by variable, for "
        "each of the days."
    )


class PartOfRun(Model):
    """A part of a combined version: a version that runs on a weather product of its own."""

    name: str = Field(description="The beginning of its members' names.", examples=["daymet"])
    version: str
    product: str = Field(examples=["daymet"])
    weight: float = Field(description="Its share of the flow here; all shares add up to 1.", examples=[0.3])
    parent_day: date | None = Field(description="The day of the state that it started from; null: the empty store.")
    parent_hash: str | None
    state_hash: str = Field(description="Hash of its state at T0.")
    inputs_hash: str = Field(description="Hash of the weather and attributes that it used.")
    filled_weather: list[FilledDays] | None = Field(
        default=None, description="Where its weather came from that was not observed in time. Only where there is any."
    )


class SubsetOfRun(Model):
    """A combined version without some of its weather products, with the skill to expect."""

    products: list[str] = Field(
        description="The products that took part; where another part on a product did not, the name of the part.",
        examples=[["daymet"]],
    )
    missing: dict[str, str] = Field(
        description="Why other parts did not, by their names: the product, where one part alone takes it."
    )
    nse: float | None = Field(description="The NSE with these products alone, in the evaluation of the version.")
    nse_of_all: float | None = Field(description="The NSE with all of its products there.")
    period: str | None = Field(description="The days of that evaluation.", examples=["1989-10-01..1999-09-30"])


class RunOfBasin(OfBasin):
    """The run behind an answer about a basin."""

    basin_kind: BasinKind
    run: Annotated[str, Series("identifier of the run")]
    version: Annotated[str, Series("identifier of the model version")] = Field(description="The model version.")
    awaited_version: Annotated[str | None, Series("promoted version that has issued no such forecast yet")] = Field(
        default=None,
        description="The version that was promoted for the basin and has issued no such forecast yet: until then, that "
        "of the version before it stays the latest. Only there.",
    )
    version_note: str | None = Field(default=None, description="The same in a sentence. Only there.")
    purpose: Purpose = Field(
        description="`operational`: by a schedule, an admin or the service's owner; it may become the latest. "
        "`on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. "
        "`reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. "
        "`what-if`: a run with changed weather or initial water; it never becomes the latest either."
    )
    official: bool | None = Field(
        default=None,
        description="False for a run of an operator's key and for an unofficial basin, which are not the service's own "
        "forecasts. Only there.",
    )
    what_if: WhatIf | None = Field(
        default=None,
        description="Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was "
        "asked to change something, and where others that were are compared with it.",
    )
    status: Annotated[BasinStatus, Series("whether the forecast was issued")] = Field(
        description="Unless it is `issued`, there are no values and `reason` is given."
    )
    reason: Annotated[str | None, Series("why there are no values")]
    superseded_by: Superseded | None = Field(
        description="A newer run that was withheld or failed, or started from an empty store less than a year before, "
        "so that this one is still the latest. Null for a run requested by its id."
    )
    t0: Annotated[date, Series("last day of weather in the initial state", standard_name="forecast_reference_time")] = (
        Field(description="The last day of weather in the initial state.")
    )
    issued_at: Annotated[datetime, Series("when the forecast was issued")] = Field(
        description="When it was issued, by the service's clock."
    )
    available_at: datetime = Field(description="Readable since this instant.")
    horizon_days: int
    product: Annotated[str, Series("weather product that drove the model")] = Field(
        description="The weather product that drives the model; several are joined by `+`, that of the largest share "
        "first."
    )
    product_credit: Annotated[DataCredit | None, Series("{}", column="{}")] = Field(
        default=None, description="Providers of these products. Only where feeds brought some of them."
    )
    forcing_kind: Annotated[ForcingKind, Series("kind of weather after t0")] = Field(description=DESCRIBED)
    forcing_note: str = Field(description="The same in a sentence.")
    forcing_cutoff: date | None = Field(default=None, description="The last day of observed weather used.")
    weather: WeatherUsed | None = Field(
        default=None, description="The weather forecast behind it. Only where `forcing_kind` is `supplied`."
    )
    filled_days: int | None = Field(
        default=None,
        description="Number of days after T0 that had ended when the run was issued, without weather that was observed "
        "as a whole. The horizon includes them; peaks and chances do not. Only where there are any.",
    )
    filled_weather: list[FilledDays] | None = Field(
        default=None,
        description="Where the weather of these days came from, and that of days that no weather forecast holds. Only "
        "where weather was filled.",
    )
    weather_note: str | None = Field(
        default=None,
        description="The same in a sentence, with the products that are missing, and the age of the weather forecast "
        "if that is old.",
    )
    version_parts: list[PartOfRun] | None = Field(
        default=None,
        description="The versions that took part, the largest share first. Only for a version that combines others.",
    )
    subset: SubsetOfRun | None = Field(default=None, description="What was missing of it. Only where something was.")
    traces: int | None = Field(
        default=None,
        description="Number of weather traces that drive each member after T0. Only where there are traces: in a "
        "weather forecast, and in that of other years.",
    )
    bridges: list[BridgeUsed] = Field(
        description="The steps that turned the weather into the version's product, in order; none where it was used "
        "unchanged."
    )
    seen_in_training: bool | None = Field(
        description="Whether the model version learnt from this basin; if not, its skill elsewhere is little guide "
        "here."
    )
    outside_training: list[str] | None = Field(
        description="The attributes of the basin outside the range of the training basins: "
        "there the model extrapolates."
    )
    trained_on: str | None = Field(description="The weather product that the version learnt from.")
    training_note: str | None = Field(description="The same in a sentence.")
    attributes_assumed: list[str] | None = Field(
        description="Unknown attributes of the basin that an operator lets stand at the mean of the training basins."
    )
    spin_up_days: int | None = Field(description="Days of warm-up: from the empty store to T0.")
    spin_up_note: str | None = Field(
        default=None, description=f"Its effect on the flow. Only where it is {SPIN_UP_DAYS} days or fewer."
    )
    t0_age_days: int = Field(description=T0_AGE)
    t0_note: str | None = Field(default=None, description=T0_NOTE)
    age_days: Annotated[int | None, Series("days that t0 lies behind the service's clock", after="issued_at")] = Field(
        default=None, description="Days from T0 to the service's clock. Only in the latest answers."
    )
    stale: Annotated[bool | None, Series("whether a newer forecast is overdue", after="age_days")] = Field(
        default=None,
        description=f"Whether that is more than {STALE_AFTER_DAYS} days, without past days whose weather was filled: "
        "newer data or a newer run is overdue. Only in the latest answers.",
    )


class DaysOfRun(RunOfBasin):
    """The run and the days behind an answer about a basin."""

    units: FieldUnits
    time: Days
    lead_days: LeadDays
