"""Answers about forecasts."""

from datetime import date, datetime
from typing import Literal

from pydantic import ConfigDict, Field

from app.basins.schemas import Kind
from app.forecasts.example import FORECAST, FORECASTS
from app.http.base_schema import DataCredit, Missing, Model, Period, Program, column
from app.weather.bridges.schemas import BridgeUsed
from app.weather.schemas import WeatherUsed
from hydrology.base.staleness import STALE_AFTER_DAYS
from hydrology.water.spin_up import SPIN_UP_DAYS
from hydrology.weather.forcing import ForcingKind
from jobspec.changes import Where
from records.runs.runs import QUANTILES_NOTE, BasinStatus, Purpose, QuantilesOf
from records.runs.snow_summary import MappingKind

Column = list[float]
Columns = dict[str, Column]


T0_AGE = "How many days T0 lay before the service's clock at issue."
T0_NOTE = f"A warning where T0 was not named and lay more than {STALE_AFTER_DAYS} days before the clock: data are old."


class Superseded(Model):
    """A newer run that cannot be the latest of the basin, so that an older one still is."""

    run: str
    status: BasinStatus
    reason: str


class Area(Model):
    """The drainage area that depths and flows are converted with."""

    name: str = Field(description="Its source.")
    km2: float


class KnownSnowSkill(Model):
    """How well snow is read by such cells, on days, and where `basins` says so in other basins, that took no part in
    their choice."""

    version: str = Field(description="Whose cells were judged: the run's model version, or its twin.")
    products: list[str] = Field(description="The reference snow.")
    period: Period = Field(description="The days.")
    basins: int | None = Field(
        description="How many other basins, with about as much snow, these are the medians of; null where they are of "
        "this basin."
    )
    r: float = Field(description="Pearson's correlation with the reference.")
    bias_pct: float = Field(description="In %; above 0: too much snow.")
    where_none_mm: float | None = Field(
        description="What reads as snow, mm, in the mean of the days on which the reference has none: a snow of that "
        "size may be none. Null where there are no such days, or where it was not judged."
    )


class SnowAtT0(Model):
    """The snow of T0, mm."""

    mean: float = Field(description="Of the members.")
    p05: float = Field(description="Their 5 % quantile.")
    p95: float = Field(description="Their 95 % quantile.")
    normal: float | None = Field(description="The mean of that day in other years, as the model version simulates it.")
    percent_of_normal: float | None = Field(description="The mean in % of it.")
    snow17: float | None = Field(
        default=None,
        description="What Snow-17, a snow model, has by the basin's own weather: a second opinion. Only where the "
        "mapping is `regional`.",
    )


class SnowRead(Model):
    """What stands behind the snow: the model was not trained on it, it is read from cells that follow it."""

    mapping: MappingKind = Field(
        description="Whose cells: `basin`, chosen against reference snow of this basin; `regional`, chosen over many "
        "other basins."
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
        "the run did not keep it."
    )
    total: Column = Field(description=column("All water in the model's store, mm"))
    snow: Column | None = Field(
        description=column("Water in the cells that read as snow, mm. The model was not trained on snow")
    )
    snow_read: SnowRead | None = Field(description="What stands behind `snow`.")


class NormalFlow(Model):
    """What the gauge has measured in other years at the same time of the year, and the forecast beside it."""

    discharge: Column = Field(description=column("The mean over the other years, in the unit asked for"))
    percent_of_normal: float | None = Field(
        description="The median of `discharge`, summed over the days ahead, in % of the same sum of the normal."
    )
    calibrated_percent_of_normal: float | None = Field(description="The same of `calibrated`.")


class Scale(Model):
    """What a residual is held against."""

    name: str
    formula: str
    unit: Literal["mm"]
    tolerance: float = Field(description="The largest residual over it, up or down, that closes.")


class MemberBalance(Model):
    """The water balance of one member over the horizon, mm: with traces of weather, of the trace that closes least."""

    trace: str | None = Field(default=None, description="That trace. Only where there are traces.")
    terms: dict[str, float] = Field(description="Signed: what comes in is positive, what leaves or is stored negative.")
    residual: float = Field(description="The sum of the terms: water that they do not account for.")
    scale: float = Field(description="The water that the residual is held against, mm: see `scale` of the balance.")
    tolerance: float = Field(description="The largest residual, up or down, that closes, mm: the scale's share of it.")
    closes: bool


class MemberSinceEmpty(Model):
    """What one member leaves unexplained since its store was empty."""

    residual: float = Field(description="Precipitation - discharge - loss - storage at T0, mm.")
    scale: float = Field(description="Precipitation since the store was empty, mm: the residual is held against it.")
    relative: float = Field(description="The residual over the scale; 0 where no rain has fallen.")


class SinceEmpty(Model):
    """The residual from the empty store to T0: a leak too small to show over a horizon adds up in it. A basin with a
    larger one than the tolerance is withheld."""

    days: int | None = Field(description="Days since the empty store, T0 included.")
    scale: Scale
    members: dict[str, MemberSinceEmpty]


class WaterBalance(Model):
    """The water balance from T0 to the end of the horizon, mm. Members close, and so does their mean; quantiles of
    discharge do not."""

    closes: bool = Field(description="Whether every member closes.")
    scale: Scale = Field(description="What residuals are held against; the span is that from T0 to the horizon's end.")
    mean: dict[str, float] = Field(description="The mean of each term over the members.")
    members: dict[str, MemberBalance]
    since_empty_store: SinceEmpty


class ParentState(Model):
    """The stored state that the run began from."""

    day: date = Field(description="The last day that it has consumed.")
    hash: str


class Provenance(Model):
    """What the numbers follow from: the same hashes give the same numbers, to the last digit where the program is the
    same."""

    weights_hash: str
    code_version: str
    program: Program
    parent_state: ParentState | None
    state_hash: str | None = Field(description="Of the state at T0.")
    inputs_hash: str | None = Field(description="Of the weather and attributes that the run consumed.")
    created_at: datetime = Field(description="When it was computed, by the machine's clock.")


class Calibration(Model):
    """The error model that made calibrated quantiles, and the flow that it started from."""

    hash: str = Field(description="Of the error model.")
    weather: str = Field(
        description="What drove the flow that it was fitted to: `observed`, or a weather forecast's source and model."
    )
    fitted_on: str = Field(description="The days that it was fitted on at most.", examples=["1980-10-01..1989-09-30"])
    own_days: int = Field(
        description="How many observed days of this basin it rests on; 0 where it is that of all basins together."
    )
    last_observed_day: date | None = Field(description="The day of the last observed flow that it carries on.")
    last_observed: float | None = Field(description="That flow, in the unit of `discharge`.")


class StormOfRun(Model):
    """Precipitation on one day beside what falls on it."""

    mm: float
    lead: int = Field(description="On which day: so many days after T0.")


class IncrementOfRun(Model):
    """Water that was added to the basin at T0, or taken from it: the `increment` of the water balance."""

    mm: float = Field(description="Negative where it was taken away.")
    where: Where = Field(description="Into which cells: those that read as snow, the other ones, or both.")


class WhatIf(Model):
    """What a what-if run changes."""

    in_words: str
    degrees: float = Field(description="Added to the temperatures of every day after T0, °C.")
    precipitation_percent: float = Field(description="So much more precipitation on every day after T0, in % of it.")
    storm: StormOfRun | None = Field(description="Null where there is none.")
    increment: IncrementOfRun | None = Field(description="Null where there is none.")
    assimilate: bool = Field(
        description="Whether the water at T0 is what the observed discharge asks for: the `assimilation` of the water "
        "balance."
    )
    note: str | None = Field(description="Why it was asked, which is public; null where nobody gave a reason.")
    base: str | None = Field(
        description="The run without changes that it is to be compared with; null where it changes nothing itself."
    )


class RunOfBasin(Model):
    """The run that an answer about a basin comes from."""

    basin: str
    basin_kind: Kind = Field(description="`synthetic`: made by computation, no real river.")
    run: str
    version: str = Field(description="The model version.")
    purpose: Purpose = Field(
        description="`operational`: by a schedule, an admin or the service's owner; it may become the latest. "
        "`on-request`: an operator's key asked for it, or it is of a season's volume, and it never does. `what-if`: "
        "somebody asked what would be with other weather, or with other water at T0, and it never does, either."
    )
    official: bool | None = Field(
        default=None,
        description="False where an operator's key asked for the run, which then stands for nobody but that operator. "
        "Only there.",
    )
    what_if: WhatIf | None = Field(
        default=None,
        description="What it changes of its weather and of the water at T0: it is no forecast. Only where it was asked "
        "to change something, and where others that were are compared with it.",
    )
    status: BasinStatus = Field(description="Where it is not `issued`, there are no values and `reason` says why.")
    reason: str | None
    superseded_by: Superseded | None = Field(
        description="A newer run that was withheld or failed, or began less than a year before from an empty store, so "
        "that this one is still the latest. A run asked for by its id does not say it."
    )
    t0: date = Field(description="The last day that the model's state has consumed.")
    issued_at: datetime = Field(description="When it was issued, by the service's clock.")
    available_at: datetime = Field(description="Since when it may be read.")
    horizon_days: int
    product: str = Field(description="The weather product that drove it.")
    product_credit: DataCredit | None = Field(
        default=None, description="Whose that product is. Only where a feed brought some of it."
    )
    forcing_kind: ForcingKind = Field(
        description="The weather after T0. `observed`: a hindcast, driven by the weather that was observed. "
        "`supplied`: a weather forecast. `climatology`: the weather of other years. `dry`: no precipitation, which "
        "nobody expects."
    )
    forcing_note: str = Field(description="The same in a sentence.")
    forcing_cutoff: date | None = Field(default=None, description="The last day of observed weather that it used.")
    weather: WeatherUsed | None = Field(
        default=None, description="The weather forecast that it used. Only where `forcing_kind` is `supplied`."
    )
    traces: int | None = Field(
        default=None,
        description="How many traces of weather drive each member after T0. Only where it has traces: in a weather "
        "forecast, and in that of other years.",
    )
    bridges: list[BridgeUsed] = Field(
        description="What turned the weather into that of the product which the version takes, in their order; none "
        "where it was taken as it is."
    )
    seen_in_training: bool | None = Field(
        description="Whether the model version learnt from this basin; where it did not, its skill elsewhere says "
        "little of this one."
    )
    outside_training: list[str] | None = Field(
        description="The attributes of the basin that lie outside the range of the basins that the version learnt "
        "from: there it extrapolates."
    )
    trained_on: str | None = Field(description="The weather product that the version learnt from.")
    training_note: str | None = Field(description="The same in a sentence.")
    attributes_assumed: list[str] | None = Field(
        description="The attributes of the basin that are not known, and that an operator let stand at the mean of the "
        "basins that the version learnt from."
    )
    spin_up_days: int | None = Field(description="How many days after its empty store the state of T0 is.")
    spin_up_note: str | None = Field(
        default=None, description=f"What that means for the flow. Only where it is {SPIN_UP_DAYS} days or fewer."
    )
    t0_age_days: int = Field(description=T0_AGE)
    t0_note: str | None = Field(default=None, description=T0_NOTE)
    age_days: int | None = Field(
        default=None, description="How many days T0 lies behind the service's clock. Only in the latest answers."
    )
    stale: bool | None = Field(
        default=None,
        description=f"Whether that is more than {STALE_AFTER_DAYS} days: newer data or a newer run are overdue. "
        "Only in the latest answers.",
    )


class BasinForecast(RunOfBasin):
    """What a run says of a basin."""

    model_config = ConfigDict(json_schema_extra={"examples": [FORECAST]})

    filled_forcing: dict[str, int] = Field(
        description="How many missing weather values were interpolated, or filled by the stated rule of their source "
        "(Daymet lacks 31 December of leap years), by variable."
    )
    skipped_days: int = Field(
        description="How many days without weather the network skipped; 0 for a network that skips none."
    )
    area: Area | None
    units: dict[str, str] = Field(description="The unit of each field with values.")
    time: list[date] = Field(description="The valid days.")
    lead_days: list[int] = Field(description=column("Days since T0"))
    in_words: str | None = Field(description="What this forecast says, in a few sentences made of its numbers.")
    calibrated: Columns | None = Field(
        description=column(
            "In the unit asked for: discharge as the errors of past forecasts and the last observed flow let expect "
            "it. `p10`: with a chance of one in ten it is less. It corrects the members' flow, and closes no balance"
        )
    )
    calibration: Calibration | None = Field(description="What `calibrated` rests on.")
    quantiles_of: QuantilesOf = Field(
        description="What the quantiles of `discharge` are of, which is not calibrated. `members`: the spread of the "
        "ensemble's members. `members and traces`: of every member with every trace of weather."
    )
    discharge: Columns | None = Field(
        description=column(
            "In the unit asked for: `median`, and quantiles of the members named by the share of them in % that is at "
            f"or below (`p10`: a tenth of the members). {QUANTILES_NOTE}"
        )
    )
    normal: NormalFlow | None = Field(
        description="What is usual for these days, as it was known when the run was issued "
        "(`/v1/basins/{basin}/normals` says how, with quantiles)."
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
        description=column("Water that leaves other than through the river, mm/day, the mean of the members")
    )
    water_balance: WaterBalance | None
    provenance: Provenance
    missing: Missing


class WithoutForecast(Model):
    """A basin without a forecast in the answer."""

    basin: str
    type: str = Field(description="The kind of problem, as the basin's own latest forecast would give it.")
    reason: str


class BasinForecasts(Model):
    """The latest forecasts of many basins: every basin asked for is in `forecasts` or in `without`."""

    model_config = ConfigDict(json_schema_extra={"examples": [FORECASTS]})

    forecasts: list[BasinForecast] = Field(description="In the order asked for.")
    without: list[WithoutForecast] = Field(description="Those that have none, and why.")
