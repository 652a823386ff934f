"""Answers about forecasts."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from app.basins.schemas import BasinKind
from app.forecasts.calibration_schemas import Calibration
from app.http.base_schema import Area, DataCredit, Missing, Model, OfBasin, Period, Program, column
from app.weather.bridges.schemas import BridgeUsed
from app.weather.schemas import WeatherUsed
from hydrology.base.staleness import STALE_AFTER_DAYS
from hydrology.water.spin_up import SPIN_UP_DAYS
from hydrology.weather.forcing_kinds import DESCRIBED, ForcingKind
from jobspec.changes import Where
from records.runs.filled_weather import WeatherSource
from records.runs.run_summary import MappingKind
from records.runs.runs import QUANTILES_NOTE, BasinStatus, Purpose, QuantilesOf

Column = list[float]
Columns = dict[str, Column]
GappyColumns = dict[str, list[float | None]]
Units = Annotated[dict[str, str], Field(description="The unit of each field with values.")]
Days = Annotated[list[date], Field(description="The valid days.")]
LeadDays = Annotated[list[int], Field(description=column("Days since T0"))]

T0_AGE = "How many days T0 lay before the service's clock at issue."
T0_NOTE = f"A warning where T0 was not named and lay more than {STALE_AFTER_DAYS} days before the clock: data are old."


class Superseded(Model):
    """A newer run that cannot become the basin's latest forecast."""

    run: str
    status: BasinStatus
    reason: str


class KnownSnowSkill(Model):
    """Skill of snow cells of this kind on days (and, where `basins` is given, in basins) not used to choose them."""

    version: str = Field(description="The version whose cells were scored: the run's model version, or its twin.")
    products: list[str] = Field(description="The reference snow.")
    period: Period = Field(description="The days.")
    basins: int | None = Field(
        description="Number of other basins with similar snow behind these medians; null where they are of this basin."
    )
    r: float = Field(description="Pearson's correlation with the reference.")
    bias_pct: float = Field(description="In %; above 0: too much snow.")
    where_none_mm: float | None = Field(
        description="Mean snow read, mm, on days on which the reference has none: snow of that "
        "size may be noise. Null where there are no such days, or where it was not scored."
    )


class SnowReference(Model):
    """Reference snow of T0 by a stored product, mm."""

    product: str
    mm: float
    normal: float | None = Field(description="The mean of that day in the product's other years.")
    percent_of_normal: float | None = Field(description="The reference in % of it.")


class SnowAtT0(Model):
    """The snow of T0, mm."""

    mean: float = Field(description="Of the members.")
    p05: float = Field(description="Their 5 % quantile.")
    p95: float = Field(description="Their 95 % quantile.")
    normal: float | None = Field(description="The mean of that day in other years, as the model version simulates it.")
    percent_of_normal: float | None = Field(description="The mean in % of it.")
    snow17: float | None = Field(
        default=None,
        description="Snow water of the Snow-17 model, driven by the basin's own weather, for comparison. Only where "
        "the mapping is `regional`.",
    )
    snow17_percent_of_normal: float | None = Field(
        default=None, description="The same in % of what Snow-17 has in other years. Only where `snow17` is."
    )
    reference: SnowReference | None = Field(description="The basin's stored reference of T0.")
    uncertain: bool = Field(
        description="Whether `reference` or `snow17` lies outside the range of the members, `p05` to `p95`: compared "
        "in % of their own normals, in mm where one has none."
    )
    uncertain_reason: str | None = Field(description="The estimates that differ; null where it is not uncertain.")
    in_words: str = Field(description="In % of normal, or what is uncertain.", examples=["85 % of normal"])


class SnowRead(Model):
    """Origin and spread of the snow, read from cells that follow it: the model was not trained on snow."""

    mapping: MappingKind = Field(
        description="Choice of the cells: `basin`, against reference snow of this basin; `regional`, over many "
        "other basins; `store`, the model's own snow stores."
    )
    mapping_note: str = Field(description="The same in a sentence, with the reason where it is `regional`.")
    p05: Column = Field(description=column("The 5 % quantile of the members (and traces), mm"))
    p95: Column = Field(description=column("The 95 % quantile of the members (and traces), mm"))
    volume_m3: Column | None = Field(description=column("The mean over the basin's area, m3"))
    at_t0: SnowAtT0
    skill: KnownSnowSkill | None


class Storage(Model):
    """Water in the basin at the end of each day, mm, the mean of the members."""

    at_t0: float | None = Field(
        description="All water in the model's store at the end of T0, mm, before the first day ahead. Null where "
        "the run did not store it."
    )
    total: Column = Field(description=column("All water in the model's store, mm"))
    snow: Column | None = Field(
        description=column("Water in the cells read as snow, mm. The model was not trained on snow")
    )
    snow_read: SnowRead | None = Field(description="Origin and spread of `snow`.")


class NormalFlow(Model):
    """Normal flow of the gauge at this time of the year, and the forecast in percent of it."""

    discharge: Column = Field(description=column("The mean over the other years, in the requested unit"))
    percent_of_normal: float | None = Field(
        description="The median of `discharge`, summed over the days ahead, in % of the same sum of the normal."
    )
    calibrated_percent_of_normal: float | None = Field(description="The same of `calibrated`.")


class Scale(Model):
    """The reference amount of a residual."""

    name: str
    formula: str
    unit: Literal["mm"]
    tolerance: float = Field(description="Largest absolute residual, relative to the scale, of a closed balance.")


class MemberBalance(Model):
    """The water balance of one member over the horizon, mm: with traces of weather, of the trace with the largest
    error."""

    trace: str | None = Field(default=None, description="The trace. Only where there are traces.")
    terms: dict[str, float] = Field(description="Signed: what comes in is positive, what leaves or is stored negative.")
    residual: float = Field(description="The sum of the terms: unaccounted water.")
    scale: float = Field(description="The reference amount of the residual, mm: see `scale` of the balance.")
    tolerance: float = Field(description="Largest absolute residual of a closed balance, mm.")
    closes: bool


class MemberSinceEmpty(Model):
    """The residual of one member since its store was empty."""

    residual: float = Field(description="Precipitation - discharge - loss - storage at T0, mm.")
    scale: float = Field(description="Precipitation since the store was empty, mm, the reference amount.")
    relative: float = Field(description="Residual divided by scale; 0 where no rain has fallen.")


class SinceEmpty(Model):
    """The residual from the empty store to T0, which reveals leaks too small to show over a horizon. A basin with a
    larger one than the tolerance is withheld."""

    days: int | None = Field(description="Days since the empty store, T0 included.")
    scale: Scale
    members: dict[str, MemberSinceEmpty]


class WaterBalance(Model):
    """The water balance from T0 to the end of the horizon, mm. It closes for each member and their mean; quantiles of
    discharge do not add up."""

    closes: bool = Field(description="Whether every member closes.")
    scale: Scale = Field(
        description="The reference amount of residuals; the span is from T0 to the end of the horizon."
    )
    mean: dict[str, float] = Field(
        description="The mean of each term over the members. Of a version that combines others it is weighted, and the "
        "precipitation of each of its weather products is a term of its own."
    )
    members: dict[str, MemberBalance]
    since_empty_store: SinceEmpty


class ParentState(Model):
    """The stored state that the run started from."""

    day: date = Field(description="The last day of weather in it.")
    hash: str


class Provenance(Model):
    """Identifiers of the run's inputs: equal hashes give equal numbers, to the last digit if the program is the
    same."""

    weights_hash: str
    code_version: str
    program: Program
    parent_state: ParentState | None
    state_hash: str | None = Field(description="Hash of the state at T0.")
    inputs_hash: str | None = Field(description="Hash of the weather and attributes used.")
    created_at: datetime = Field(description="When it was computed, by the machine's clock.")


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
    run: str
    version: str = Field(description="The model version.")
    awaited_version: str | None = Field(
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
    status: BasinStatus = Field(description="Unless it is `issued`, there are no values and `reason` is given.")
    reason: str | None
    superseded_by: Superseded | None = Field(
        description="A newer run that was withheld or failed, or started from an empty store less than a year before, "
        "so that this one is still the latest. Null for a run requested by its id."
    )
    t0: date = Field(description="The last day of weather in the initial state.")
    issued_at: datetime = Field(description="When it was issued, by the service's clock.")
    available_at: datetime = Field(description="Readable since this instant.")
    horizon_days: int
    product: str = Field(
        description="The weather product that drives the model; several are joined by `+`, that of the largest share "
        "first."
    )
    product_credit: DataCredit | None = Field(
        default=None, description="Providers of these products. Only where feeds brought some of them."
    )
    forcing_kind: ForcingKind = Field(description=DESCRIBED)
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
    age_days: int | None = Field(
        default=None, description="Days from T0 to the service's clock. Only in the latest answers."
    )
    stale: bool | None = Field(
        default=None,
        description=f"Whether that is more than {STALE_AFTER_DAYS} days, without past days whose weather was filled: "
        "newer data or a newer run is overdue. Only in the latest answers.",
    )


class DaysOfRun(RunOfBasin):
    """The run and the days behind an answer about a basin."""

    units: Units
    time: Days
    lead_days: LeadDays


class BasinForecast(RunOfBasin):
    """The result of a run for a basin."""

    filled_forcing: dict[str, int] = Field(
        description="Number of missing weather values interpolated, or filled by the stated rule of their source "
        "(Daymet lacks 31 December of leap years), by variable; of all products together."
    )
    skipped_days: int = Field(
        description="Number of days without weather that the network skipped; 0 for a network that skips none. Of a "
        "version that combines others, the largest number of one of them."
    )
    area: Area | None
    units: Units
    time: Days
    lead_days: LeadDays
    in_words: str | None = Field(description="A summary of the published forecast in a few sentences.")
    published: GappyColumns | None = Field(
        description=column(
            "In the requested unit, the flow to use, as in `/v1/basins/{basin}/outlook`: as a forecaster adjusted it, "
            "else `calibrated`, else the members'. Null on days that had ended at issue, and on those that an "
            "adjustment moves no flow to"
        )
    )
    adjustment: str | None = Field(
        default=None, description="The published adjustment that `published` and `in_words` follow. Only there."
    )
    calibrated: Columns | None = Field(
        description=column(
            "In the requested unit, as issued: discharge corrected by the errors of past forecasts and the last "
            "observed flow. `p10`: lower with a chance of 10 %. The correction adds or removes water, so no balance "
            "closes"
        )
    )
    calibration: Calibration | None = Field(description="The basis of `calibrated`.")
    quantiles_of: QuantilesOf = Field(
        description="Origin of the quantiles of `discharge`, not calibrated. `members`: the spread of the "
        "ensemble's members. `members and traces`: of every member with every trace of weather."
    )
    discharge: Columns | None = Field(
        description=column(
            "In the requested unit: `median`, and quantiles of the members named by the percentage at "
            f"or below (`p10`: a tenth of the members). {QUANTILES_NOTE}"
        )
    )
    normal: NormalFlow | None = Field(
        description="Normal flow for these days, as known when the run was issued "
        "(`/v1/basins/{basin}/normals` has the method and quantiles)."
    )
    members: Columns = Field(
        default={},
        description=column(
            "Discharge of each member, or of each member with each trace as `MEMBER/TRACE`. Only with `members=true`"
        ),
    )
    storage: Storage | None = Field(description="Water in the basin.")
    cells_at_t0: Columns = Field(
        default={}, description="Water in each cell of each member at T0, mm. Only with `members=true`."
    )
    precipitation: Column | None = Field(description=column("Rain and snow, mm/day, the mean of the traces"))
    loss: Column | None = Field(
        description=column("Water lost other than through the river, mm/day, mean of the members")
    )
    water_balance: WaterBalance | None
    provenance: Provenance
    missing: Missing


class WithoutForecast(Model):
    """A requested basin that has no forecast."""

    basin: str
    type: str = Field(description="The type of the problem that the basin's own latest forecast would return.")
    reason: str


class BasinForecasts(Model):
    """The latest forecasts of many basins: every basin asked for is in `forecasts` or in `without`."""

    forecasts: list[BasinForecast] = Field(description="In the requested order.")
    without: list[WithoutForecast] = Field(description="Basins without a forecast, and why.")
