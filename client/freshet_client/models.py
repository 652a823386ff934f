"""The models of the API, generated from its OpenAPI document."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from freshet_client.model_base import Model
from pydantic import AwareDatetime, ConfigDict, Field


class AddedBasin(Model):
    """A basin to add, or further facts about one. Omitted fields stay as they are."""

    basin: str
    name: str | None = None
    """By default the name that USGS gives its gauge."""

    latitude: float | None = None
    longitude: float | None = None
    area_km2: float | None = None
    """Drainage area. By default USGS's area of its gauge."""

    outline: dict[str, Any] | None = None
    accept_outline_area: bool = False
    """
    Whether to accept an outline whose area differs from the basin's by more than 30 %; the basin then states this in its text `outline_area`.
    """

    attributes: dict[str, float] = {}
    """Climate, land and soil, by the names that a model version uses."""

    assume_attributes: bool | None = None
    """
    Whether missing attributes of soil, geology, vegetation and terrain may be assumed: as they are around, in the conterminous USA, else at the mean of the basins that a version learnt from. Every answer names those that are. Never climate and area.
    """

    adopt: bool = False
    """
    Whether basins of an agency that an operator registered become the service's; otherwise they are refused. What the operator stated of them (name, levels, rating, attributes, version) is dropped. Only an administrator may.
    """


class AdjustedLevel(Model):
    """The chance of passing a level within the alerts' window."""

    level: str
    direction: Literal["rising", "falling"]
    discharge: float
    """m³/s."""

    issued: float
    """As computed."""

    adjusted: float
    """By the adjusted flow, or as the forecaster set it."""


class Adjustment(Model):
    """What a forecaster or a measured flow changes of an issued forecast of a basin."""

    id: str
    run: str
    basin: str
    factor: float
    """Multiplies the flow of every day and of every quantile."""

    shift_days: int
    """Moves the flow to this many days later; earlier where negative."""

    words: str
    """The reason, in the forecaster's own words."""

    author: str
    """Who drafted it: the name of a key."""

    created_at: AwareDatetime
    published_at: AwareDatetime | None
    publisher: str | None
    """Who published it."""

    note: str | None
    """The publisher's."""

    measured_at: AwareDatetime | None
    """When the flow was measured."""

    measured_m3s: float | None
    """The measured flow, m³/s."""

    state: Literal["draft", "published"]
    """`draft`: only forecasters see it."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    t0: date
    chances: dict[str, float]
    """By level: the chance of passing it that the forecaster set."""


class AdjustmentPage(Model):
    """Adjustments, the newest draft first."""

    adjustments: list[Adjustment]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class Adoption(Model):
    """A basin that was adopted, and what became official with it."""

    basin: str
    owner: str
    """The operator's key that it belonged to, which can change none of it any more."""

    levels: list[str]
    """The names of the levels that were set."""

    ratings: list[str]
    """The sources of its rating tables."""

    version: str | None
    """The operator's version that serves it, now the service's."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class AlertNow(Model):
    """The most severe alert, as it stands, also while a change of it waits."""

    level: str
    title: str
    direction: Literal["rising", "falling"]
    severity: Literal["advisory", "watch", "warning"]
    since: AwareDatetime
    is_ending: bool
    """Whether the chance no longer holds it: it ends with further such runs."""

    waits: bool
    """Whether a change of the basin's alerts waits for approval."""

    chance: float
    """By the run that decided it."""

    run: str
    """The run that decided it."""

    t0: date
    """Its T0."""

    stale: bool
    """Whether that run is stale."""

    trend: Literal["rising", "steady", "falling"] | None
    """Of the chance since the run before."""

    impact: str | None


class AlertStep(Model):
    """A severity of a level: its thresholds and current state."""

    severity: Literal["advisory", "watch", "warning"]
    begins_at: float
    """The severity begins at this chance."""

    ends_below: float
    """The severity ends below this chance."""

    begins_after_runs: int
    """Number of consecutive runs at or above `begins_at`."""

    ends_after_runs: int
    """Number of consecutive runs below `ends_below`."""

    on: bool
    """Whether it, or a higher one, is reached."""

    runs: int
    """Number of consecutive runs, the latest included, that support the opposite state."""


class Alive(Model):
    """The process answers."""

    status: Literal["alive"] = "alive"


class AmountOfWater(Model):
    """An amount of water, mm."""

    mean: float
    """The mean of the members."""

    p05: float
    """Their 5 % quantile. Quantiles do not add up."""

    p95: float
    """Their 95 % quantile."""


class ArchiveParams(Model):
    """No parameters: all runs that the archive lacks are appended."""


class ArchiveStore(Model):
    """A store of the archive."""

    name: str
    href: str
    """Where it begins."""

    title: str
    issues: int
    """Number of runs in it."""

    basins: int
    """Number of basins in it."""

    has_members: bool
    """Whether it has every member, besides the quantiles."""


class Area(Model):
    """The drainage area used to convert depths and flows."""

    name: str
    """Its source."""

    km2: float


class BackfillParams(Model):
    """The past weather forecasts to fetch and reforecast."""

    feed: str | None = None
    """A feed of weather forecasts whose past issues to fetch: one of the adapter `open-meteo-forecast`."""

    weather: str | None = None
    """Instead of a feed, a weather model whose past issues are stored already, as `SOURCE/MODEL`."""

    days: int = 120
    """Number of days before today whose issues to use, one a day."""

    horizon: int = 10
    """Days after T0 of each reforecast."""


class BasinColumn(Model):
    """A metric of a version, one value for each basin of `basins`."""

    metric: str
    version: str
    values: list[float | None]
    """
    In the unit of the metric; null where it is not defined: `/v1/basins/{basin}/skill` gives the reason.
    """

    differences: list[float | None] | None
    """
    Difference to the first version; null for the first version itself, and where one of the two has no value.
    """


class BasinOfRun(Model):
    """Outcome of a run in a basin."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    status: Literal["issued", "withheld", "failed"]
    reason: str | None
    """Why nothing was issued; null where it was."""

    seen_in_training: bool | None
    """Whether the model version learnt from it; null where the run did not come so far."""

    attributes_assumed: list[str] | None
    """The attributes of the basin that were assumed because they are not known; null likewise."""


class BasinPromotion(Model):
    """A promotion in a basin: from then on it uses the version."""

    version: str
    promoted_at: AwareDatetime
    promoted_by: str
    reason: str


class BasinPromotions(Model):
    """
    The versions that a basin's forecasts have come from, the newest first: the first is the current one.
    """

    basin: str
    promotions: list[BasinPromotion]


class BasinSummary(Model):
    """A basin in a list."""

    id: str
    """The full identifier."""

    kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `usgs`: a USGS stream gauge. `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    name: str | None
    latitude: float | None
    """Of the gauge, degrees north."""

    longitude: float | None
    """Of the gauge, degrees east."""

    huc: str | None
    """Hydrologic unit code."""

    area: Area | None
    """
    The drainage area by which its flow is converted to a depth and back: that of the weather product that its current version learnt from; without a version, that of its weather product. Else, and where products differ, as an operator gave it, or its gauge's service.
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class BasinWeather(Model):
    """The forecast weather of a basin."""

    source: str
    """The provider."""

    model: str
    """The weather model."""

    reference_time: AwareDatetime
    """Reference time of the model run."""

    available_time: AwareDatetime
    """Readable since this instant."""

    licence: str | None
    """The source's licence; null where it names none."""

    credit: str | None
    """The attribution to show with the data; null where none is required."""

    id: str
    basin: str
    units: dict[str, str]
    """Unit of each variable."""

    time: list[date]
    """The valid days: calendar days at the gauge."""

    traces: dict[str, dict[str, list[float]]]
    """By the label of the trace, each variable's value on each day."""


class Bridge(Model):
    """A fit of a bridge."""

    name: str
    """The bridge's name, also the product that its weather is stored under."""

    from_product: str
    """The product it converts."""

    to_product: str
    """The product it converts to."""

    model: str | None
    """The weather model whose forecasts it corrects."""

    first_day: date | None
    """The first day of the fitting period."""

    last_day: date | None
    id: str
    created_at: AwareDatetime
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class BridgeFit(Model):
    """The products and days to fit a bridge on."""

    from_: Annotated[str, Field(alias="from")]
    """The product whose weather it takes."""

    to: str
    """
    The product that it imitates: the one a network learnt from, or the archive that weather forecasts continue.
    """

    period: str | None = None
    """The days to fit on; by default all that both products have, at least two years."""

    model: str | None = None
    """
    The weather model whose forecasts the bridge converts, with past forecasts in `from`. They are converted when they are used. Without it the bridge is for observed weather.
    """


class BridgeParams(Model):
    """The bridge to apply, or to fit and apply. The weather of the source product is not changed."""

    name: str
    """Its name, which is also the product of the resulting weather."""

    fit: BridgeFit | None = None
    """Without it, the newest fit of this name is applied."""

    basins: list[str] = []
    """By default all that have its source product."""


class BridgeUsed(Model):
    """The bridge that corrected the weather of a forecast."""

    id: str
    name: str
    from_product: str
    """The product it converts."""

    to_product: str
    """The product it converts to."""

    model: str | None
    """The weather model whose forecasts it corrects; null for observed weather."""

    pooled_from: list[str]
    """The similar basins that its corrections are the mean of; empty if fitted on this basin."""

    hash: str
    """Hash of its corrections, a part of the run's inputs hash."""

    note: str
    """Its skill, in a sentence."""


class Bridges(Model):
    """The newest fit of each bridge, in the order of their names."""

    bridges: list[Bridge]


class BucketsConfig(Model):
    """
    Parallel buckets of a conceptual model, with parameters from attributes and weather. They conserve mass.
    """

    architecture: Literal["buckets"] = "buckets"
    components: int = 8
    """Parallel components of a basin, each with all stores."""

    hidden: int = 32
    """Width of the network that gives the constant parameters."""

    embedding: int = 16
    """
    Size of the embedding of the day's weather except rain, which moves eleven of the parameters; 0: they stay the same.
    """

    antecedent_days: list[float] = [3.0, 15.0, 60.0, 365.0]
    """Time scales in days of means of the past weather that the embedding sees."""

    basin_vector: int = 32
    """Size of the vector learnt for each basin, zero in any other; 0: none."""

    vector_dropout: float = 0.3
    """The share of samples whose basin vector is left out in training."""


class CalibrationParams(Model):
    """The version whose error model to fit, and the days; or whose forecasts to recalibrate."""

    version: str | None = None
    """A model version; by default the newest."""

    period: str | None = None
    """Days that the weights were not fitted to; by default the version's validation period."""

    basins: list[str] = []
    """By default the stored basins that the version learnt from. Others have no calibrated forecasts."""

    forecasts: bool = False
    """
    Whether to recalibrate the version's forecasts with each weather model by the flow that came after those it issued, instead.
    """


class CategoriesSettings(Model):
    """Official flood categories and impacts of USGS gauges, from NOAA's National Water Prediction Service."""

    adapter: Literal["categories"] = "categories"
    basins: list[str] = []
    """By default all stored basins that the service may know."""


class Cause(Model):
    """The cause of a failed job."""

    kind: str
    """The kind of problem. It never changes: programs may rely on it."""

    detail: str | None
    """What is wrong, and how to mend it."""


class CellsOfBasin(Model):
    """The water in each cell of a member at the end of each day, mm."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    version: str
    """The model version."""

    member: str
    """The member: cells of different members have nothing to do with one another."""

    time: list[date]
    """The days, in order; days may lack between them."""

    total: list[float]
    """The water in all cells of the member, mm, one value for each day of `time`."""

    cells: dict[str, list[float]]
    """The water in each cell, mm, by the cell's number, one value for each day of `time`."""


class ChancesOfForecast(Model):
    """The chance of the level on each day, by one forecast."""

    run: str
    """Identifier of the forecast's run."""

    t0: date
    """Last day of weather in its initial state."""

    issued_at: AwareDatetime
    """When it was issued."""

    chance: list[float | None]
    """By day of `time`, 0 to 1; null on days that are not ahead of the forecast, or without a chance."""

    within: float | None
    """On any of its days."""

    reason: str | None
    """Why its chances are null; null where they are not."""


class Change(Model):
    """A change with its actor, time and origin."""

    seq: int
    """Grows with every change."""

    at: AwareDatetime
    who: str
    """The name of the key, `command line (unix user)`, or a schedule's name."""

    key: str | None
    """The id of the key."""

    address: str | None
    """Where the request came from."""

    action: Literal[
        "key created",
        "key revoked",
        "region set",
        "region removed",
        "job posted",
        "job run",
        "job cancelled",
        "observations posted",
        "weather posted",
        "weather added",
        "weather fused",
        "data ingested",
        "feed created",
        "feed fetched",
        "feed backfilled",
        "feed removed",
        "bridge fitted",
        "bridge applied",
        "schedule created",
        "schedule changed",
        "schedule deleted",
        "schedule skipped",
        "basin posted",
        "basin added",
        "climate computed",
        "basin registered",
        "basin changed",
        "basin adopted",
        "basin released",
        "shadow started",
        "shadow ended",
        "threshold set",
        "threshold confirmed",
        "threshold removed",
        "flood frequency set",
        "rating set",
        "categories set",
        "subscription created",
        "subscription changed",
        "subscription confirmed",
        "subscription resumed",
        "subscription deleted",
        "secret rotated",
        "recipient unsubscribed",
        "questions refused",
        "questions allowed",
        "delivery replayed",
        "forecast adjusted",
        "forecast updated",
        "adjustment published",
        "adjustment deleted",
        "alerts approved",
        "alerts dismissed",
        "alerts released",
        "alerts withdrawn",
        "rating approved",
        "rating dismissed",
        "model trained",
        "model evaluated",
        "error model fitted",
        "forecasts recalibrated",
        "forecasts verified",
        "levels computed",
        "rival added",
        "rival removed",
        "models compared",
        "forecast issued",
        "daily cycle",
        "archive replayed",
        "archive extended",
        "model promoted",
        "model rolled back",
        "model installed",
        "models combined",
        "store pruned",
    ]
    subject: str
    """The identifier of what was changed."""

    detail: dict[str, Any]
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class ChangeByCause(Model):
    """A change of discharge by its causes. Each column has one value for each day of `time`."""

    revised_data: list[float] | None
    """
    Revised weather before the previous T0: the state of that day, computed again, one value for each day of `time`.
    """

    observed_weather: list[float] | None
    """
    The weather from the previous T0 to this one, as observed and not as forecast, one value for each day of `time`.
    """

    weather_forecast: list[float] | None
    """
    The new weather forecast of the days ahead, in place of the previous one, one value for each day of `time`.
    """

    model_version: list[float] | None
    """
    Another model version, or other weather products of a version that combines others: one that came, or is missing now, one value for each day of `time`.
    """

    observed_flow: list[float] | None
    """
    The calibrated correction, which starts from the last observed flow: calibrated median less mean of the members. Null where not both runs are calibrated, one value for each day of `time`.
    """


class CheckParams(Model):
    """The records to check."""

    only_changed: bool = False
    """Leave out rows that an earlier check found whole and that have not changed since, on PostgreSQL."""


class ClimateParams(Model):
    """The basin and the weather to compute a climate from."""

    basin: str
    product: str | None = None
    """The stored weather to compute it from. By default the basin's only weather product."""

    period: str | None = None
    """Whole years, without a missing day. By default all whole calendar years that are stored."""


class Closure(Model):
    """Mass conservation of its simulations, measured in evaluation over all its basins."""

    worst_relative_residual: float
    """
    The largest amount of water unaccounted for, of all members, basins and days, relative to the water that came in.
    """

    tolerance: float
    """The largest that counts as closed."""

    closes: bool
    basins: int
    period: str


class ComparedQuartiles(Model):
    """Quartiles over the basins, in the unit of the metric; null where no basin has a value."""

    p25: float | None
    median: float | None
    p75: float | None


class ComparedVersion(Model):
    """A compared version and its cost."""

    id: str
    label: str | None
    """Its name for people."""

    architecture: str
    """`mclstm`: mass-conserving LSTM. `buckets`: conserving stores. The others hold no water."""

    conserving: bool
    """Whether the network conserves mass."""

    product: str
    """The weather product that it uses."""

    members: int
    """Number of networks behind the mean prediction that is scored."""

    parameters: int
    """Trained numbers of one member."""

    training_seconds: float | None
    """Of all its members together, s."""

    machines: list[str]
    """Where its members were trained; none where that was not recorded."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class ComparisonParams(Model):
    """The versions to compare with the first of them, and the days."""

    period: str
    """Days that took no part in the training of any of them."""

    versions: list[str]
    """The others are compared with the first."""

    basins: list[str] = []
    """By default those that every version was trained for."""


class Cosine(Model):
    """
    A schedule whose learning rate rises to `peak_learning_rate`, then falls along a cosine to
    `final_learning_rate`.
    """

    kind: Literal["cosine"] = "cosine"
    steps: int = 1500
    peak_learning_rate: float = 0.01
    """0.003 for networks without storage."""

    warmup_steps: int = 30
    final_learning_rate: float = 0.0001


class Counts(Model):
    """Numbers of stored things."""

    basins: int
    basins_with_model: int
    """Basins with a current model version."""

    model_versions: int
    runs: int
    """Operational runs that are readable and were issued for at least one basin."""


class CurvePoint(Model):
    """A step of a member's training."""

    member: int
    step: int
    loss: float | None
    """Loss of the step's samples; null where it was not recorded at this step."""

    learning_rate: float | None
    """Learning rate of the step; null where it was not recorded at this step."""

    gradient_norm: float | None
    """
    Norm of the gradient, before it is limited to `clip_norm`; null where it was not recorded at this step.
    """

    validation_nse: float | None
    """Median NSE of the averaged weights in the validation period; null at steps without a validation."""


class DailyParams(Model):
    """The feeds and the horizon of the daily cycle."""

    feeds: list[str] = []
    """Which feeds to ask, by name; by default all."""

    horizon: int = 10
    """Days after T0."""

    day: date | None = None
    """
    A past day that lacks forecasts: they are issued late, with the data that had arrived by its end, and never become the latest. No feed is asked. By default today.
    """


class DataCredit(Model):
    """Credit and licence of a data provider."""

    credit: str
    """The attribution to show with the data."""

    licence: str
    """The licence of the data."""


class DaymetSettings(Model):
    """Past weather at gauges, from single pixels of Daymet; published a year or more later."""

    adapter: Literal["daymet"] = "daymet"
    basins: list[str] = []
    """By default all stored basins that the service may know."""

    product: str
    """The product that the weather is stored as: a name that no published archive has."""

    days_back: int = 366
    """Number of past days that every fetch asks for again, to receive late and revised values."""


class Degraded(Model):
    """A degradation of the service."""

    code: Literal[
        "no-basins",
        "no-model",
        "no-forecast",
        "stale-forecast",
        "stale-basins",
        "stale-input",
        "not-issued",
        "levels-in-doubt",
        "ratings-held",
        "failed-deliveries",
        "mail-server",
        "paused-subscriptions",
        "no-worker",
        "queue-age",
        "failed-job",
        "failing-schedule",
        "schedule-skipped",
        "disk",
        "no-broker",
        "database-locked",
        "part-restarting",
        "clock",
        "job-stopped",
        "gpu-lost",
    ]
    sentence: str


class Delivery(Model):
    """
    An alert change or a message about an issue to be sent to a receiver, or the question whether the recipient of
    e-mail agrees.
    """

    id: str
    subscription: str
    event: str | None
    """Identifier of the change or the message: `webhook-id` of every attempt."""

    kind: (
        Literal["begins", "rises", "falls", "ends"]
        | Literal["level", "undecided", "decided", "promotion"]
        | Literal["issue", "confirmation"]
    )
    basin: str | None
    status: Literal["pending", "delivered", "failed"]
    """`failed`: after its last attempt. Replay it when the receiver is well."""

    tries: int
    """Attempts since creation or the last replay, without those that a fault of the mail server ended."""

    most_tries: int
    """Maximum of `tries`: after these it has failed."""

    next_at: AwareDatetime | None
    """Time of the next attempt; null: immediately."""

    ended_at: AwareDatetime | None
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class DeliveryAttempt(Model):
    """One sending."""

    number: int
    at: AwareDatetime
    ended_at: AwareDatetime | None
    status_code: int | None
    """The receiver's HTTP status, or the mail server's code."""

    failure: str | None
    """Why it does not count as delivered."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class DeliveryDetail(Model):
    """An alert change for a receiver, with every attempt to send it."""

    id: str
    subscription: str
    event: str | None
    """Identifier of the change or the message: `webhook-id` of every attempt."""

    kind: (
        Literal["begins", "rises", "falls", "ends"]
        | Literal["level", "undecided", "decided", "promotion"]
        | Literal["issue", "confirmation"]
    )
    basin: str | None
    status: Literal["pending", "delivered", "failed"]
    """`failed`: after its last attempt. Replay it when the receiver is well."""

    tries: int
    """Attempts since creation or the last replay, without those that a fault of the mail server ended."""

    most_tries: int
    """Maximum of `tries`: after these it has failed."""

    next_at: AwareDatetime | None
    """Time of the next attempt; null: immediately."""

    ended_at: AwareDatetime | None
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    attempts: list[DeliveryAttempt]
    """The oldest first."""


class DeliveryPage(Model):
    """Deliveries, the newest first."""

    deliveries: list[Delivery]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class Difference(Model):
    """The differences of a model to a first one, basin by basin."""

    n: int
    """Number of basins in which both have a value."""

    median: float | None
    """The median of (this one - the first version), in the unit of the metric; null without a basin."""

    better: int
    """Number of basins in which it is nearer to the perfect value than the first version."""

    worse: int
    """Number of basins in which it is farther from it."""

    p: float | None
    """
    p-value of the two-sided Wilcoxon signed-rank test: the probability of such differences if neither version is better.
    """

    reason: str | None
    """Why there is no p; null where there is one."""


class Digest(Model):
    """When a message with the changes of a day is sent."""

    at: str
    """The time of the day."""

    timezone: str = "UTC"
    """A name of the tz database, whose clock it is."""


class DrainedBy(Model):
    """Fate of the water stored at T0, by the end of a day."""

    day: date
    days: int
    """Days since T0."""

    runs_off: AmountOfWater
    """Water that has run off. With `lost` and `left`, its mean is the `ceiling`."""

    runs_off_volume: float | None
    """Its mean in million m³."""

    lost: AmountOfWater
    """Water lost other than through the river."""

    left: AmountOfWater
    """Water still stored."""


class EALSTMConfig(Model):
    """The LSTM whose input gate sees the attributes alone. It has no storage and no water balance."""

    dropout: float = 0.4
    """Before the head."""

    architecture: Literal["ealstm"] = "ealstm"
    cells: int = 128
    forget_bias: float = 3.0
    """Initial bias of the forget gate."""


class EINSConfig(Model):
    """The LSTM that diagnoses its own input. It has no storage and no water balance."""

    dropout: float = 0.4
    """Before the head."""

    architecture: Literal["eins"] = "eins"
    cells: int = 128
    forget_bias: float = 0.0
    """Bias of the forget gate; it is not trained."""


class EdrConformance(Model):
    """Conformance classes of the addresses below."""

    conformsTo: list[str]


class EdrLink(Model):
    """A link [RFC 8288]."""

    href: str
    """An address of this service."""

    rel: str
    type: str
    title: str


class EdrObservedProperty(Model):
    """The observed property of a parameter."""

    id: str | None = None
    """Its CF standard name, where it has one."""

    label: str


class EdrSpatial(Model):
    """
    West, south, east, north of a collection's gauges, degrees; west above east across the 180th meridian.
    """

    bbox: list[list[Any]]
    crs: str


class EdrTemporal(Model):
    """The first and last day of a collection, each given as its midnight."""

    interval: list[list[Any]]
    values: list[str]
    """The same interval in ISO 8601."""

    trs: str


class EdrUnit(Model):
    """A unit."""

    symbol: str


class EdrVariables(Model):
    """Form of a query and of its answer."""

    query_type: Literal["locations", "position", "area", "cube", "instances"]
    output_formats: list[str]
    default_output_format: str
    height_units: list[str] | None = None
    """Of `cube`: none, for nothing has a height."""


class ErrorParts(Model):
    """The error of a forecast in one number, and its parts, which add up to it."""

    observed: float
    """By the observed flow."""

    error: float
    """Forecast less observed."""

    weather: float
    """Of the weather after T0: the forecast less the same with observed weather."""

    initial_state: float
    """
    Of the state of T0: the same with observed weather, less that from the state by data as revised since.
    """

    network: float
    """The error that is left with observed weather from the revised state."""


class EvaluationParams(Model):
    """The version to score, and the days."""

    period: str
    """The days to score."""

    version: str | None = None
    """By default the newest."""

    basins: list[str] = []
    """By default the stored basins that the version learnt from."""


class EventDays(Model):
    """An event of a hydrograph."""

    start: date
    """The first day above the threshold."""

    peak: date
    end: date
    """The last day above the threshold."""

    height_mm_per_day: float
    """Mean flow on the day of the peak."""


class EventError(Model):
    """An error over the matched events."""

    mean: float
    """The bias."""

    absolute: float
    """The mean size."""

    median: float


class EventErrors(Model):
    """Errors of matched events, simulated against observed."""

    peak_time_days: EventError | None
    """Of the day of the peak; above 0 is late."""

    peak_height_percent: EventError | None
    """Of the peak; above 0 is too high."""

    volume_percent: EventError | None
    """Of the water over the days of either event."""

    onset_days: EventError | None
    """Of the first day above the threshold; above 0 is late."""


class EventRules(Model):
    """How events are cut and matched."""

    threshold_mm_per_day: float
    """Flow exceeded on 2 % of the observed days of the evaluation."""

    days_apart: int
    """Days between two independent peaks, at least."""

    valley_share: float
    """Between them flow falls below this share of the lower peak."""

    window_days: int
    """Days between the peaks of a match, at most."""


class EventSummary(Model):
    """The scores of events."""

    observed: int
    """Number of observed events."""

    simulated: int
    """Number of simulated events."""

    matched: int
    """Number of events that are both."""

    missed_share: float | None
    """Share of the observed events that were missed."""

    false_alarm_share: float | None
    """Share of the simulated events that did not occur."""

    errors: EventErrors


class Extent(Model):
    """The first and the last stored day of a series."""

    first_day: date
    last_day: date


class Fault(Model):
    """One field of the request that cannot be used."""

    location: str
    """Location of the field: `query`, `path`, `header` or `body`."""

    field: str
    """The field's name."""

    detail: str
    """What is wrong with it."""


class Feed(Model):
    """A feed and the outcome of its last fetch."""

    id: str
    name: str
    adapter: str
    """The adapter of the service it uses."""

    settings: dict[str, Any] | None
    """Its settings, without those left at their defaults."""

    product: str | None
    """The product that its weather is stored under."""

    created_at: AwareDatetime
    last_fetch_at: AwareDatetime | None
    """By the service's clock, as the other two."""

    last_success_at: AwareDatetime | None
    """Time of the last fetch without a failed basin."""

    last_error: str | None
    """Why it last failed, in total or for some basin."""

    last_error_at: AwareDatetime | None
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class Feeds(Model):
    """All feeds in the order of their names."""

    feeds: list[Feed]


class FetchParams(Model):
    """The feed to ask."""

    feed: str
    """Its name."""

    basins: list[str] = []
    """By default all of the feed's."""

    period: str | None = None
    """The days to ask for, to fill a gap or start a record; by default the feed's."""


class FilesSettings(Model):
    """Tables of observations in files, in the format of `freshet ingest tables`."""

    adapter: Literal["files"] = "files"
    basins: list[str] = []
    """By default all stored basins that the service may know."""

    from_: Annotated[list[str], Field(alias="from")]
    """
    Folders and files on the service's machine, within the folders that jobs may read, or URLs of public addresses.
    """

    product: str
    """The product that the weather is stored as: a name that no published archive has."""

    days_back: int = 366
    """Number of past days that every fetch asks for again, to receive late and revised values."""


class FilledDays(Model):
    """The source of weather that was not observed in time or not forecast."""

    source: Literal["product", "bridge", "forecast", "climatology"]
    """
    `product`: observed, in the version's product. `bridge`: observed, in another product through its bridge. `forecast`: a weather forecast. `climatology`: other years.
    """

    id: str | None
    """Of the weather forecast or of the bridge; null for the others."""

    name: str | None
    """The product, or the weather model; null for other years."""

    reference_day: date | None
    """Of the weather forecast; null for the others."""

    first: date
    """The first of consecutive days with this source."""

    last: date
    """The last of them."""

    correlations: dict[str, list[float]]
    """
    Expected skill: the correlation of normal scores with the weather that comes, by variable, for each of the days.
    """


class Finding(Model):
    """A data quality finding."""

    code: str
    severity: Literal["info", "warning", "error"]
    sentence: str
    detail: dict[str, Any]
    """The numbers behind the sentence."""


class FineTuningSchedule(Model):
    """A short schedule with a low learning rate, for weights that are already good."""

    kind: Literal["cosine"] = "cosine"
    steps: int = 100
    peak_learning_rate: float = 0.001
    warmup_steps: int = 10
    final_learning_rate: float = 1e-05


class FixedLevel(Model):
    """A threshold that an operator sets."""

    discharge: float
    """In `unit`."""

    unit: Literal["m3/s", "cfs", "ft", "m"] = "m3/s"
    """Of the discharge, or `ft` or `m` of stage, which the basin's rating turns into discharge."""

    direction: Literal["rising", "falling"] = "rising"
    """The direction in which flow passes it: `rising` for a flood, `falling` for a low flow."""

    impact: str | None = None
    """What happens from the level on, as its source states it."""

    instruction: str | None = None
    """What to do then, in the words of the agency that is responsible."""


class FloodFrequency(Model):
    """How the floods of a basin's record are analysed."""

    regional_skew: float | None
    """Null: the record's own skew alone."""

    regional_skew_error: float | None
    """Mean square error of the regional skew."""

    trend_adjusted: bool
    """Whether floods are adjusted where their trend is significant."""

    set_at: AwareDatetime | None
    """By the service's clock; null where it was never set."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class FloodFrequencySettings(Model):
    """How the floods of a basin's record are analysed."""

    regional_skew: float | None = None
    """Skew of the logarithms of floods in the region, from a published study; null to use the record's."""

    regional_skew_error: float | None = None
    """Mean square error of the regional skew; with it, and only with it."""

    trend_adjusted: bool = False
    """
    Whether floods are moved to the conditions of the record's last year where the test finds a trend (Mann-Kendall, 5 %), by its slope (Sen).
    """


class Flow(Model):
    """Discharge of the members, and of their traces of weather, in the requested unit, not calibrated."""

    mean: list[float]
    """Their mean, one value for each day of `time`."""

    p05: list[float]
    """Their 5 % quantile, one value for each day of `time`."""

    p95: list[float]
    """Their 95 % quantile, one value for each day of `time`."""


class FlowOfAge(Model):
    """The part of each day's discharge of one age, mm/day."""

    age: str
    """
    `older`; one of five meteorological seasons, named after the year in which they end, the last of them that of T0; or `yet_to_fall`, after T0.
    """

    first_day: date | None
    """The first day on which it fell; null for `older`."""

    last_day: date | None
    """The last day on which it fell; null for `yet_to_fall`."""

    mean: list[float]
    """The mean of the members, and of their traces of weather, mm/day, one value for each day of `time`."""

    p05: list[float]
    """Their 5 % quantile, mm/day. Quantiles do not add up, one value for each day of `time`."""

    p95: list[float]
    """Their 95 % quantile, mm/day, one value for each day of `time`."""


class FlowOfOrigin(Model):
    """The part of each day's discharge with one origin, mm/day."""

    mean: list[float]
    """The mean of the members, and of their traces of weather, mm/day, one value for each day of `time`."""

    p05: list[float]
    """Their 5 % quantile, mm/day. Quantiles do not add up, one value for each day of `time`."""

    p95: list[float]
    """Their 95 % quantile, mm/day, one value for each day of `time`."""


class ForecastParams(Model):
    """The forecasts to issue."""

    basins: list[str] = []
    """By default all that have a model version."""

    t0: date | None = None
    """The last day of the state; by default the newest that the data allow."""

    horizon: int = 10
    """Days after T0."""

    version: str | None = None
    """A model version; by default the current one of each basin."""

    product: str | None = None
    """The weather product that the version is expected to use."""

    weather: Literal["observed", "supplied", "climatology", "dry"] = "observed"
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    weather_id: str | None = None
    """The weather forecast to use; by default the newest known one of each basin."""

    age: bool = False
    """
    Whether to compute the season of origin of the discharge's water. This simulates the year before T0 again.
    """

    perturbed_states: int = 0
    """
    Number of perturbed initial states, from other past precipitation, used to split the spread into weights, weather and state; 0: no split.
    """


class FuseParams(Model):
    """The product of weather to define, and what it is the mean of."""

    name: str
    """The product of the resulting weather."""

    of: list[str]
    """
    The products that it is the mean of, day by day; where one has no value, of the others. The first gives the area.
    """


class GPU(Model):
    """The GPU of a worker, as last reported with its heartbeat."""

    device: str
    """Its name on the worker's machine."""

    name: str | None
    """Its model."""

    memory_bytes: int | None
    memory_used_bytes: int | None
    """By all processes of the machine."""

    utilisation: float | None
    """Share of the last moments in which it computed, 0 to 1."""

    usable: bool
    """Whether it takes trainings; if not, `degraded` gives the cause."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class GRUConfig(Model):
    """The gated recurrent unit, smaller than an LSTM. It has no storage and no water balance."""

    dropout: float = 0.4
    """Before the head."""

    architecture: Literal["gru"] = "gru"
    cells: int = 128
    forget_bias: float = 3.0
    """Initial bias of the update gate, which retains."""


class Gate(Model):
    """A gate: what is reached, and what is needed."""

    name: Literal["issues", "skill", "coverage", "inputs"]
    """
    `issues`: number of forecasts issued, of the basin with the fewest. `skill`: CRPS skill of calibrated forecasts against persistence, 1 day ahead. `coverage`: share of days on which observed flow lies in the 90 % range, 1 day ahead; both in the median basin. `inputs`: share of forecasts without a past day whose weather was filled.
    """

    value: float | None
    """What is reached."""

    least: float
    """Lower values are not enough."""

    most: float | None
    """Higher values are too high."""

    is_met: bool
    """Whether it is met."""


class GridForecastSettings(Model):
    """Weather forecasts on a grid, with their members: the newest run in NetCDF, Zarr or GRIB2."""

    adapter: Literal["grid-forecast"] = "grid-forecast"
    basins: list[str] = []
    """By default all stored basins that the service may know."""

    from_: Annotated[list[str], Field(alias="from")]
    """
    Files, Zarr stores and folders of them on the service's machine, within the folders that jobs may read; or URLs of files (NetCDF, GRIB2) at public addresses.
    """

    model: str
    """The name that the model's weather forecasts are stored under."""


class GridSettings(Model):
    """Observed weather on a grid: NetCDF, Zarr or GRIB2."""

    adapter: Literal["grid"] = "grid"
    basins: list[str] = []
    """By default all stored basins that the service may know."""

    from_: Annotated[list[str], Field(alias="from")]
    """
    Files, Zarr stores and folders of them on the service's machine, within the folders that jobs may read; or URLs of files (NetCDF, GRIB2) at public addresses.
    """

    product: str
    """The product that the weather is stored as: a name that no published archive has."""

    days_back: int = 366
    """Number of past days that every fetch asks for again, to receive late and revised values."""


class HeldRuling(Model):
    """A decision on the held alerts of a basin."""

    ruling: Literal["approve", "dismiss"]
    """`approve`: it changes as proposed. `dismiss`: it stays as it is."""

    note: str | None = None
    """Why. Needed to dismiss."""

    run: str
    """The run of the held alerts: a newer one may have taken its place."""


class Hole(Model):
    """Days inside a basin's record that have no value."""

    first: date
    last: date
    variables: list[str]
    """Variables that lack every one of these days."""

    fetch: str
    """The command that fetches them."""


class Increment(Model):
    """Water added to the basin at T0, or removed from it."""

    mm: float
    """Depth over the whole basin, mm; a negative depth is removed, at most the water that is there."""

    where: Literal["snow", "other", "all"] = "all"
    """
    The cells to change, in proportion to their water: those that read as snow, the others, or both. Never the cell whose outflow is lost.
    """


class IncrementOfRun(Model):
    """Water added to the basin at T0, or removed: the `increment` of the water balance."""

    mm: float
    """Negative where water is removed."""

    where: Literal["snow", "other", "all"]
    """The cells concerned: those read as snow, the other ones, or both."""


class IngestParams(Model):
    """The data to ingest."""

    source: Literal["camels", "caravan", "benchmarks"] = "camels"
    """Layout of the data. `benchmarks`: one file of published scores, of all its basins."""

    from_: Annotated[list[str], Field(alias="from")]
    """
    Folders and archives on the service's machine, within the folders that jobs may read, or URLs of public addresses; a URL may end in `#sha256=` and the checksum of its file.
    """

    product: str | None = None
    """The weather product; by default all that the source has."""

    basins: list[str] = []
    """By default all that the source has."""

    adopt: bool = False
    """
    Whether basins of an agency that an operator registered become the service's; otherwise they are refused. What the operator stated of them (name, levels, rating, attributes, version) is dropped. Only an administrator may.
    """


class InputStatus(Model):
    """The age of a product's newest day."""

    product: str
    newest_day: date
    """The newest stored day of any basin and variable, of those that have ended."""

    age_days: int
    """Days behind the service's clock; negative if ahead."""

    stale: bool
    """Whether that is more than 3 days."""

    used: bool
    """Whether a model version in use needs it."""


class InputsConfig(Model):
    """Series and attributes that the network takes. Each version has its own."""

    product: str
    """Forcing product; the version runs on no other."""

    mass: str = "precipitation"
    auxiliary: list[str] = ["srad", "tmax", "tmin", "vp"]
    """Series besides precipitation."""

    static: list[str] = [
        "p_mean",
        "pet_mean",
        "p_seasonality",
        "frac_snow",
        "aridity",
        "high_prec_freq",
        "high_prec_dur",
        "low_prec_freq",
        "low_prec_dur",
        "elev_mean",
        "slope_mean",
        "frac_forest",
        "lai_max",
        "lai_diff",
        "gvf_max",
        "gvf_diff",
        "soil_depth_pelletier",
        "soil_depth_statsgo",
        "soil_porosity",
        "soil_conductivity",
        "max_water_content",
        "sand_frac",
        "silt_frac",
        "clay_frac",
        "carbonate_rocks_frac",
        "geol_permeability",
    ]
    """Basin attributes: those of the MC-LSTM paper without the area, 26."""


class IssueBasin(Model):
    """A basin of an issue, and its outcome."""

    basin: str
    """Its identifier."""

    version: str
    """Its current model version when the issue began."""

    outcome: Literal["issued", "filled", "unchanged", "pending", "stale", "withheld", "failed"]
    """How it ended, or that it has not."""

    run: str | None
    """Its latest forecast."""

    reason: str | None
    """Why it has no new forecast."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class IssueTally(Model):
    """Numbers of the basins of an issue."""

    expected: int
    """Number of basins with a current model version when the first cycle began."""

    counts: dict[str, int]
    """Number of basins by outcome."""

    reasons: dict[str, int]
    """Number of missing basins by the code of their reason."""


class LSTMConfig(Model):
    """The standard comparison. It has no storage and no water balance."""

    dropout: float = 0.4
    """Before the head."""

    architecture: Literal["lstm"] = "lstm"
    cells: int = 128
    forget_bias: float = 3.0
    """Initial bias of the forget gate."""


class LevelAdvice(Model):
    """What is stated of a level that is likely or possibly passed, or was when its alert began."""

    impact: str | None
    """What happens from the level on, as its source states it."""

    instruction: str | None
    """What to do then, in the words of the agency that is responsible."""

    level: str
    chance: float
    """Of passing it, 0 to 1."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class LevelChances(Model):
    """Exceedance probability of one level."""

    name: str | None
    """The level's name in `/v1/basins/{basin}/thresholds`; null for a requested discharge."""

    discharge: float | None
    """In `units`; null where the record is too short to estimate it."""

    direction: Literal["rising", "falling"]
    """Whether flow passes it upwards (`rising`) or downwards."""

    flow: Literal["calibrated", "members"]
    """
    The flow behind the chance. `calibrated`: the error model's, as a forecaster adjusted it. `members`: the share of the members, by their weights and with every trace of weather, uncalibrated; the levels of the version's own simulation (`model-...`) are compared with these.
    """

    chance: list[float | None] | None
    """
    Chance that the day's mean flow is beyond the level, 0 to 1. Beyond the outer quantiles of calibrated flow, 0.5 and 99.5 percent, nothing is known, so a calibrated chance is at least 0.005 and at most 0.995. Null on days that a forecaster's adjustment moves no flow to, one value for each day of `time`.
    """

    within: float | None
    """
    Chance that the level is passed on any of the days: the share of equally likely, temporally consistent paths of flow that pass it; or as a forecaster set it.
    """

    in_words: str | None
    """The same in a sentence."""

    reason: str | None
    """Why the chances are null; null where they are not."""


class LevelsParams(Model):
    """The version to compute thresholds from, and the basins."""

    version: str | None = None
    """A model version; by default each that is current for a basin."""

    basins: list[str] = []
    """By default those that it is current for or learnt from."""


class Likeness(Model):
    """Agreement of a variable with the other product's."""

    bias: float
    """Of the mean: relative (0.1 is 10 % too much); for temperatures in °C."""

    correlation: float | None
    """Of the daily values; null where one side is constant."""


class LowFlow(Model):
    """The first day with flow below a level."""

    name: str
    """
    The level's name in `/v1/basins/{basin}/thresholds`. `model-...` comes from the version's own simulation and shares its bias; a model with too little water passes a level of the record too soon.
    """

    discharge: float | None
    """In the unit of `discharge`; null where the record is too short."""

    day: date | None
    """The first day by which flow has fallen below it in half of the members."""

    p05: date | None
    """The same for 5 % of the members."""

    p95: date | None
    """The same for 95 % of the members."""

    days: int | None
    """Days from T0 to `day`."""

    in_words: str | None
    """The same in a sentence."""

    reason: str | None
    """Why any of them is null; null where none is."""


class MCLSTMConfig(Model):
    """The mass-conserving LSTM."""

    architecture: Literal["mclstm"] = "mclstm"
    cells: int = 32
    """Memory cells, the trash cell included."""

    embedding: int = 16
    """Size of the embedding of weather and attributes for the gates; 0: none, as published."""

    rank: int = 16
    """Rank of the weights of R, the redistribution gate; 0: full, as published."""

    basin_vector: int = 32
    """Size of the vector learnt for each basin for the gates, zero in any other; 0: none, as published."""

    vector_dropout: float = 0.3
    """The share of samples whose basin vector is left out in training."""

    antecedent_days: list[float] = [3.0, 15.0, 60.0, 365.0]
    """Time scales in days of means of the past weather that the gates see; none, as published."""

    output_gate_bias: float = -3.0
    """Initial bias of the output gate."""

    wetness: bool = False
    """Whether a cell's own water opens its output gate; not so in the published network."""


class MMRNNConfig(Model):
    """The mixed-memory RNN, which skips days without weather. It has no storage and no water balance."""

    dropout: float = 0.4
    """Before the head."""

    architecture: Literal["mmrnn"] = "mmrnn"
    cells: int = 64
    forget_bias: float = 3.0
    """Initial bias of the forget gate."""


class MeanSizes(Model):
    """
    The mean size of an error and of its parts, over forecasts. Sizes do not add up: parts cancel each other.
    """

    error: float
    weather: float
    initial_state: float
    network: float


class Member(Model):
    """One network of a version."""

    label: int
    seed: int
    """Random seed of its training."""


class MemberBalance(Model):
    """
    The water balance of one member over the horizon, mm: with traces of weather, of the trace with the largest
    error.
    """

    terms: dict[str, float]
    """Signed: what comes in is positive, what leaves or is stored negative."""

    residual: float
    """The sum of the terms: unaccounted water."""

    tolerance: float
    """Largest absolute residual of a closed balance, mm."""

    trace: str | None = None
    """The trace. Only where there are traces."""

    closes: bool
    """Whether the residual is within the tolerance."""

    scale: float
    """The reference amount of the residual, mm: see `scale` of the balance."""


class MemberSinceEmpty(Model):
    """The residual of one member since its store was empty."""

    residual: float
    """Precipitation - discharge - loss - storage at T0, mm."""

    scale: float
    """Precipitation since the store was empty, mm, the reference amount."""

    relative: float
    """Residual divided by scale; 0 where no rain has fallen."""


class MessageTemplate(Model):
    """
    The body of a request to a gateway. A value is escaped as its content type needs, so that it stays a value.
    """

    content_type: Literal["application/json", "application/x-www-form-urlencoded", "text/plain"] = "application/json"
    """The `Content-Type` of the request."""

    body: str
    """
    Placeholders are `$headline`, `$why`, `$basin`, `$name`, `$level`, `$kind`, `$severity`, `$chance`, `$discharge`, `$at`, `$event`, `$link`; `$$` is a dollar sign. In JSON they stand within quotes.
    """


class ModelPart(Model):
    """A version that a combined version runs beside others, on a weather product of its own."""

    version: str
    name: str
    """The beginning of its members' names in forecasts."""

    product: str
    architecture: str
    weight: float
    """
    Its share of the flow, of all shares 1. In a basin without one of the products, or on days on which it has not come yet, the shares of the others are raised to add up to 1.
    """

    member_count: int
    basin_weights: dict[str, float]
    """Its share in the basins that have shares of their own; empty where all basins have the same."""


class ModelSummary(Model):
    """A model version in a list."""

    id: str
    label: str | None
    """Its name for people."""

    architecture: str
    """`mclstm`: mass-conserving LSTM. `buckets`: conserving stores. The others hold no water."""

    conserving: bool
    """Whether the network conserves mass."""

    product: str
    """The weather product that it uses; several are joined by `+`, that of the largest share first."""

    trained_on: str
    """The weather product that it learnt from; if it differs from `product`, check the skill."""

    status: Literal["ready", "withdrawn", "shadow"]
    """`shadow`: it is not public yet, and only administrators see it."""

    created_at: AwareDatetime
    """When it was created, by the machine's clock."""

    issued_at: AwareDatetime
    """When it was created, by the service's clock."""

    parent: str | None
    """The version that it was fine-tuned from; null for one from scratch."""

    member_count: int
    basin_count: int
    """Number of training basins."""

    current_for: int
    """Number of basins that use it for their forecasts."""

    official: bool
    """
    Whether it is the service's own. One that was trained with an operator's key is not: it serves only basins that were registered with that key.
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class MonthHeadline(Model):
    """Until which day ahead forecasts of a month are skilful."""

    month: int
    """Calendar month of the forecast day, 1 to 12."""

    skilful_to_day: int | None
    """
    The last day ahead up to which, from the first on, the whole 95 % interval of the skill against climatology is above 0; 0 where the first day has none. Null where it cannot be decided.
    """

    verified_to_day: int | None
    """
    The last day ahead that was verified with enough independent forecasts, from the first on: skill may last longer if it is equal.
    """

    independent_issues: int | None
    """
    At `skilful_to_day`, or at the first day. Number of forecasts that share no day with one another: the largest number whose days after T0, up to this lead, do not overlap. Null where it was verified before they were counted.
    """


class MonthSkill(Model):
    """Skill against climatology on the forecast days of a calendar month."""

    month: int
    n: int
    """Number of forecasts."""

    years: int
    """Number of their water years."""

    crpss: float | None
    """1 less the CRPS over that of climatology; 1 is perfect, 0 no better. Null without a forecast."""

    low: float | None
    """The lower end of its 95 % interval; null with too few water years."""

    high: float | None
    """The upper end."""

    independent_issues: int | None
    """
    Number of forecasts that share no day with one another: the largest number whose days after T0, up to this lead, do not overlap. Null where it was verified before they were counted.
    """


class NewAdjustment(Model):
    """What a forecaster changes of an issued forecast of a basin."""

    run: str
    """The run that is adjusted."""

    factor: float = 1.0
    """Multiplies the flow of every day and of every quantile."""

    shift_days: int = 0
    """
    Moves the flow to this many days later; earlier where negative. Days that no flow is moved to have none.
    """

    chances: dict[str, float] | None = None
    """
    By level: the chance of passing it within the alerts' window, in place of the computed one. It decides the level's alert at once, without waiting for further runs.
    """

    words: str
    """The reason, in the forecaster's own words. Readers see it."""


class NewCategories(Model):
    """Official flood categories of a basin's gauge."""

    document: dict[str, Any]
    """The JSON of a gauge of NOAA's National Water Prediction Service, with `flood.categories`."""

    source: str
    """Who declared them."""

    day: date | None = None
    """The day that they are from; by default today."""

    instructions: dict[str, str] = {}
    """What to do from a category on, in the words of the agency that is responsible; by category."""


class NewFlow(Model):
    """A flow that was measured within the day."""

    at: AwareDatetime
    """When it was measured (RFC 3339, with its offset): within the last 24 hours."""

    discharge: float
    """m³/s."""


class NewPromotion(Model):
    """A request to use the version in some basins."""

    reason: str
    """The reason, stored permanently."""

    basins: list[str] | None = None
    """Any basins with its weather product and attributes; by default all stored training basins."""


class NewRating(Model):
    """A rating table of a basin's gauge."""

    table: str
    """
    The file as it is: RDB of the USGS (type `exsa` or `base`), or CSV with the columns `stage_ft` or `stage_m`, and `discharge_cfs` or `discharge_m3_per_s`.
    """

    source: str
    """Where the table is from."""

    datum: str | None = None
    """What the gauge's zero refers to."""

    valid_from: date | None = None
    """The first day that it holds for; by default today."""


class NewRatingTable(Model):
    """A rating table as it was stored, and its effect on the official flood categories."""

    basin: str
    version: int
    """Its number among those of the gauge."""

    valid_from: date
    """The first day that it holds for."""

    source: str
    datum: str | None
    """What the gauge's zero refers to."""

    site: str | None
    """The gauge's number, as the file has it."""

    number: str | None
    """The rating's number, as the file has it."""

    shifted: str | None
    """Time of the shifts, as the file has it."""

    set_at: AwareDatetime
    """By the service's clock."""

    in_force: AwareDatetime | None
    """Since when it converts."""

    held: str | None
    """Why it waits, or waited, for a forecaster."""

    ruling: Literal["approve", "dismiss"] | None
    ruled_by: str | None
    note: str | None
    largest_shift_ft: float
    """The largest shift that the table includes, with its sign."""

    expansion: Literal["logarithmic", "linear"]
    """How points are joined: straight, or by logarithms."""

    stage_ft: list[float]
    """Stages of the points, ft: the range that is converted."""

    stage_m: list[float]
    """The same in metres."""

    discharge_m3s: list[float]
    """Discharges of the points, m³/s."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    left_out: dict[str, str]
    """Official flood categories without a discharge, and why."""

    in_doubt: dict[str, str]
    """Levels that seem wrong, and why: their alerts wait."""


class NewRegion(Model):
    """A region to be stored: its rule, which is one of `huc`, `agency` and `basins`, and its limits."""

    huc: str | None = None
    """What the hydrologic unit codes of its basins begin with."""

    agency: str | None = None
    """What its basins' identifiers have before the hyphen."""

    basins: list[str] | None = None
    """Its basins. They need not be stored yet."""

    unfinished_jobs: int | None = None
    """Limit of unfinished jobs of its keys together; null: none."""

    subscriptions: int | None = None
    """Limit of subscriptions of its keys together; null: none."""


class NewRollback(Model):
    """A request to return all basins of the version to their previous one."""

    reason: str
    """The reason, stored permanently."""


class NewSubscription(Model):
    """A receiver of alert changes, or of messages about the issues of days."""

    url: str | None = None
    email: str | None = None
    basins: list[str] | None = None
    """The basins whose changes are sent; null for all basins."""

    region: str | None = None
    """
    The region whose basins' changes are sent, also of those that it gets later; null for all. Without `basins`.
    """

    least_severity: Literal["advisory", "watch", "warning"] = "advisory"
    """Changes of alerts that stay below this severity are not sent."""

    template: MessageTemplate | None = None
    """The body of each request, for a gateway of text messages or chat; null: the change as JSON."""

    digest: Digest | None = None
    """One message a day, with its changes, instead of one for each change; for e-mail only."""

    about: Literal["alerts", "issues"] = "alerts"
    """
    `alerts`: changes of alerts. `issues`: that the forecasts of a day are not complete at the stated time (FRESHET_ISSUES_COMPLETE_BY), one message for each cause, and that they have become so; and alarms of the service (a silent feed, a disk that fills, a version worse than persistence), one message when each begins and one when it ends. Without `basins`, `region` and `digest`.
    """


class NormalFlow(Model):
    """Normal flow of the gauge at this time of the year, and the forecast in percent of it."""

    discharge: list[float]
    """The mean over the other years, in the requested unit, one value for each day of `time`."""

    percent_of_normal: float | None
    """The median of `discharge`, summed over the days ahead, in % of the same sum of the normal."""

    calibrated_percent_of_normal: float | None
    """The same of `calibrated`."""


class NormalVolume(Model):
    """The volume of the season in other years with complete observations."""

    mean_depth: float
    """mm."""

    median_depth: float
    """mm."""

    mean_volume: float | None
    """Million m³."""

    median_volume: float | None
    """Million m³."""

    years: int
    """Number of years; the season's own year is not included."""

    first_year: int
    """The year in which the first season begins."""

    last_year: int


class NormalWater(Model):
    """Water on the same days of other years, and the run in percent of it."""

    water: list[float]
    """
    Mean over other years of the version's simulation with observed weather, mm, one value for each day of `time`.
    """

    percent_of_normal: list[float | None]
    """The water of the run in % of it, one value for each day of `time`."""


class Observations(Model):
    """Daily series of a product in a basin, a column each."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    product: str
    """The source of the series."""

    credit: DataCredit | None
    """Provider of the product; null where no feed brought any of it."""

    units: dict[str, str]
    """The unit of each variable's values."""

    area: Area | None
    """The drainage area used to convert discharge; null where none was."""

    known_at: AwareDatetime | None
    """The answer is as known at this instant; null: as known now."""

    kept: dict[str, Extent]
    """First and last stored day of each variable at that time; the answer is a part of it."""

    time: list[date]
    """Every day of the requested period."""

    values: dict[str, list[float | None]]
    """By variable, null where there is no value, which `flags` explain, one value for each day of `time`."""

    flags: dict[str, list[int]]
    """By variable, the sum of the bits in `flag_legend` that hold, one value for each day of `time`."""

    flag_legend: dict[str, str]
    """The meaning of each bit of a flag."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class ObservedRunoff(Model):
    """Observed runoff of the river."""

    runoff: float
    """
    Annual mean of whole water years (at least 355 days observed), mm/year. Where it exceeds the precipitation, the basin's quality report contains `runoff-above-precipitation`.
    """

    days: int
    """Number of observed days behind the mean."""


class OpenMeteoArchiveSettings(Model):
    """Past weather at gauges, from Open-Meteo's archive of reanalyses."""

    adapter: Literal["open-meteo-archive"] = "open-meteo-archive"
    basins: list[str] = []
    """By default all stored basins that the service may know."""

    product: str
    """The product that the weather is stored as: a name that no published archive has."""

    model: str
    """Open-Meteo's name of the model."""

    days_back: int = 30
    """Number of past days that every fetch asks for again, to receive late and revised values."""


class OpenMeteoEnsembleSettings(Model):
    """Weather forecasts of an ensemble, from Open-Meteo."""

    adapter: Literal["open-meteo-ensemble"] = "open-meteo-ensemble"
    basins: list[str] = []
    """By default all stored basins that the service may know."""

    model: str
    """Open-Meteo's name of the model."""

    members: int
    """Members of the model with its control."""

    days_ahead: int = 10
    """Days of each forecast, today included."""


class OpenMeteoForecastSettings(Model):
    """Weather forecasts of one trace, from Open-Meteo."""

    adapter: Literal["open-meteo-forecast"] = "open-meteo-forecast"
    basins: list[str] = []
    """By default all stored basins that the service may know."""

    model: str
    """Open-Meteo's name of the model."""

    days_ahead: int = 10
    """Days of each forecast, today included."""

    days_behind: int = 3
    """
    Days before today that each forecast begins with, from the model's own earlier runs, to bridge a late archive.
    """


class OutlookDays(Model):
    """The published distribution of flow by day, after the last past day."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    mean: list[float | None]
    """The mean; null on days that an adjustment moves no flow to, one value for each day of `time`."""

    quantiles: dict[str, list[float | None]]
    """The quantiles, `median` among them, one value for each day of `time`."""

    issued: dict[str, list[float | None]] | None
    """The quantiles as issued; null where the forecast was not adjusted, one value for each day of `time`."""

    percent_of_normal: float | None
    """The sum of the medians in % of the normal of the same days."""


class OutlookPeak(Model):
    """The highest day ahead, over the paths of the distribution."""

    return_period_years: float | None
    """
    Return period of the peak's median height: from the flood of two years on, the mean number of years between years with a higher flood, below that between independent floods.
    """

    return_period_bound: Literal["more", "less"] | None
    """
    Whether it is `more` than the number, twice the record's length, or `less` than the number, the most frequent flood's; null where it is the number.
    """

    discharge: float
    """The median of the highest daily mean."""

    p05: float
    """Exceeded with a chance of 95 %."""

    p95: float
    """Exceeded with a chance of 5 %."""

    day: date
    """The median of its day."""

    day_p05: date
    """It is earlier with a chance of 5 % at most."""

    day_p95: date
    """It is later with a chance of 5 % at most."""


class OwnBasin(Model):
    """A basin of your own."""

    name: str
    latitude: float
    """Of the gauge, degrees north."""

    longitude: float
    """Of the gauge, degrees east."""

    huc: str | None = None
    """Hydrologic unit code."""

    area_km2: float
    """Drainage area in km2, by which flow and depth are converted."""

    product: str = "own"
    """The product that its weather and area are stored under."""

    attributes: dict[str, float] = {}
    """Climate, land and soil, by the names that a model version uses."""


class ParentState(Model):
    """The stored state that the run started from."""

    day: date
    """The last day of weather in it."""

    hash: str


class PartOfRun(Model):
    """A part of a combined version: a version that runs on a weather product of its own."""

    name: str
    """The beginning of its members' names."""

    version: str
    product: str
    """Its weather product."""

    weight: float
    """Its share of the flow here; all shares add up to 1."""

    parent_day: date | None
    """The day of the state that it started from; null: the empty store."""

    parent_hash: str | None
    state_hash: str
    """Hash of its state at T0."""

    inputs_hash: str
    """Hash of the weather and attributes that it used."""

    filled_weather: list[FilledDays] | None
    """Where its weather came from that was not observed in time. Only where there is any."""


class PartShare(Model):
    """A version to combine, with its weight."""

    version: str
    weight: float
    """Its share of the flow, relative to the others'."""


class PartialPage(Model):
    """A page whose items have only the fields that `fields=` names."""

    model_config = ConfigDict(
        extra="allow",
    )
    next: str | None = None
    """Where the next page is, if the list has pages."""


class PastWater(Model):
    """Water in the basin on the days up to T0, mm, the mean of the members."""

    time: list[date]
    """The days, T0 the last."""

    total: list[float | None]
    """
    All water in the model's store at the end of the day, mm; null on days without a state, one value for each day of `time`.
    """

    snow: list[float | None] | None
    """
    The part in the cells that read as snow, mm, one value for each day of `time`. Null where no cells read as snow.
    """


class PeakOfRun(Model):
    """The highest day ahead, over equally likely paths of the published flow: its height and its day."""

    return_period_years: float | None
    """
    Return period of the peak's median height: from the flood of two years on, the mean number of years between years with a higher flood, below that between independent floods.
    """

    return_period_bound: Literal["more", "less"] | None
    """
    Whether it is `more` than the number, twice the record's length, or `less` than the number, the most frequent flood's; null where it is the number.
    """

    p05: float
    """Height exceeded with a chance of 95 %, in `units`."""

    median: float
    """Median height, in `units`."""

    p95: float
    """Height exceeded with a chance of 5 %, in `units`."""

    day_p05: date
    """The peak is earlier than this day with a chance of 5 % at most."""

    day_median: date
    """The median day of the peak."""

    day_p95: date
    """The peak is later than this day with a chance of 5 % at most."""


class Period(Model):
    """Days from the first to the last, both included."""

    first_day: date
    last_day: date


class Persistence(Model):
    """The chances of one level by the newest forecasts, the newest first."""

    basin: str
    level: str
    """Its name in `/v1/basins/{basin}/thresholds`."""

    discharge: float | None
    """In `units`; null where the record is too short to estimate it."""

    units: Literal["m3/s", "mm/day", "cfs"]
    levels: list[str]
    """The levels to choose from."""

    time: list[date]
    """The days ahead of the newest forecast."""

    forecasts: list[ChancesOfForecast]
    """At most 10, of one version and horizon; one for each T0."""


class PooledScore(Model):
    """A score over the basins; null where no basin has a value."""

    n: int
    """Number of basins with a value."""

    p25: float | None
    median: float | None
    p75: float | None


class Pretrained(Model):
    """The ensemble, trained elsewhere, that came with Freshet."""

    name: str
    content: str
    """Hash of the shipped files."""


class PretrainedParams(Model):
    """The shipped ensemble, or combination of some, to install, and the basins to serve."""

    name: str | None = None
    """
    By default `freshet-us` where all its weather products are stored, else `mclstm-maurer-447`, or the only one in the configured folder.
    """

    product: str | None = None
    """
    The weather product for it to use, and for every part of a combination; by default the one that each learnt from. If it is another, every forecast states this.
    """

    promote: bool = False
    """Whether it becomes current for every basin with its weather and attributes that has no version yet."""


class PreviousRun(Model):
    """The run that a forecast is compared with."""

    run: str
    version: str
    """Its model version."""

    t0: date


class ProbeResult(Model):
    """Result of a physics probe; a version that fails a `binding` one is not promoted."""

    name: str
    asks: str
    """The measured quantity: the worst of all members."""

    unit: str
    """Unit of `value` and `limit`; `1` for a share."""

    limit: float
    """The largest value that passes."""

    value: float | None
    """Null where the network gave no finite number: that fails."""

    reason: str | None
    """Why a larger value is against physics; null where `asks` shows it."""

    failing: float | None
    """The share of members x basins beyond the limit; null for a probe on artificial weather."""

    binding: bool
    """False where the network's design does not rule out a failure: it is only reported, and 1 % may fail."""

    passes: bool
    """Whether it passes."""


class ProblemDetails(Model):
    """An error and its remedy (RFC 9457)."""

    type: str
    """The kind of problem. It never changes: programs may rely on it."""

    title: str
    """The kind in words."""

    status: int
    """The HTTP status."""

    detail: str
    """What is wrong in this case, and how to mend it."""

    instance: str
    """The requested path."""

    errors: Annotated[list[Fault], Field(validate_default=True)] = []
    """The invalid fields, where the request has any."""


class Processes(Model):
    """Schedulers and workers with a heartbeat in the last two minutes."""

    schedulers: int
    """One is enough; another takes over if it ends."""

    workers: dict[str, int]
    """Number of workers by queue."""

    gpus: list[GPU]
    """The GPU of each worker that takes whole trainings."""


class Progress(Model):
    """The progress of a job."""

    done: int
    total: int
    detail: str | None = ""
    """The current step."""


class Promotion(Model):
    """A promotion: from then on some basins use the version."""

    promoted_at: AwareDatetime
    promoted_by: str
    reason: str
    basins: list[str]


class PromotionRule(Model):
    """
    How the new version is compared with the current ones. It is better where the 95 % interval of the median
    difference in NSE, paired by basin, lies above the margin. Two of every three water years decide; the third only
    reports. A fine-tuned version is decided on basin by basin, and against its parent where a basin has no version.
    """

    margin: float = 0.0
    """Minimum of the interval's lower end, in NSE."""

    promote: bool = False
    """Whether a better version becomes current automatically."""

    period: str
    """
    Days that took no part in the training, nor in that of its ancestors: four or more whole water years (October to September).
    """


class Promotions(Model):
    """The promotions of a version, the newest first."""

    version: str
    promotions: list[Promotion]
    current_basins: list[str]
    """The basins that it is still current for."""


class Provenance(Model):
    """
    Identifiers of the run's inputs: equal hashes give equal numbers, to the last digit if the program is the
    same.
    """

    weights_hash: str
    code_version: str
    program: str
    """
    What computed it: torch's version and vector unit, and the library that ran MC-LSTM. Another one gives the same numbers but for the last digits.
    """

    parent_state: ParentState | None
    state_hash: str | None
    """Hash of the state at T0."""

    inputs_hash: str | None
    """Hash of the weather and attributes used."""

    created_at: AwareDatetime
    """When it was computed, by the machine's clock."""


class PruneParams(Model):
    """No parameters: the retention rules are settings of the service."""


class Publication(Model):
    """The publication of an adjustment."""

    note: str | None = None
    """What readers should know beside the reason."""


class PublishedMedian(Model):
    """A median over the basins as published; one for each source of a metric."""

    metric: str
    median: float
    """For single networks the mean of ten medians."""

    p25: float | None
    """Null where it is not printed."""

    p75: float | None
    """Null where it is not printed."""

    sd: float | None
    """The standard deviation of those ten medians; null for all else."""

    source: str
    """The publication and its table."""


class PublishedScore(Model):
    """A metric of a published model in the same basins and days as the first version."""

    p25: float | None
    median: float | None
    p75: float | None
    metric: str
    n: int
    """Number of basins in which both have a value."""

    first: ComparedQuartiles
    """The first version in these basins."""

    difference: Difference


class Quartiles(Model):
    """Quartiles of a score over the basins in which the days had the same use."""

    metric: str
    """`nse`, `kge`, `fhv` and so on; biases are in %."""

    member: str
    """
    A member's number, or `mean` for the members' mean, or `draws` for the mean over draws of the calibrated flow, of which the scores that compare distributions are computed where the error model is fitted to other days. Of a version that combines others also the names of some of its weather products, joined by `+`: the mean with these alone.
    """

    lead: str
    """Days after T0; `all` for the score of a simulation."""

    season: str
    threshold: str
    forcing_kind: str
    """The weather that drove the simulation."""

    reference: str
    """The reference data."""

    period: Period
    period_use: Literal["held out", "validation", "training", "mixed", "unknown"]
    """
    How the training of the scored version used the days of the period: `held out` not at all, or it has not learnt from this basin; `validation` to choose its weights; `training` to fit them; `mixed` some of the days, or by some of the versions that it combines, or in some of the basins; `unknown` where the version does not state its days. Only a score on days that are held out is its skill: others flatter it.
    """

    n: int
    """Number of basins with a value."""

    lacking: int
    """Number of basins without a value, with a reason."""

    shipped: int
    """Number of values that came with the shipped ensemble, computed elsewhere."""

    p25: float | None
    median: float | None
    p75: float | None


class Rain(Model):
    """Precipitation behind a change, mm, the mean of the traces."""

    observed: float
    """From the previous T0 to this one, as observed."""

    expected: float
    """The same days, as the previous forecast expected."""

    ahead: float
    """On the days of `time`, by this forecast."""

    ahead_before: float
    """The same days, by the previous forecast."""


class RatingRuling(Model):
    """A decision on the held rating of a basin's gauge."""

    ruling: Literal["approve", "dismiss"]
    """`approve`: it changes as proposed. `dismiss`: it stays as it is."""

    note: str | None = None
    """Why. Needed to dismiss."""

    version: int
    """The version of the held rating: a newer one may have taken its place."""


class RatingTable(Model):
    """A rating table of a basin's gauge."""

    basin: str
    version: int
    """Its number among those of the gauge."""

    valid_from: date
    """The first day that it holds for."""

    source: str
    datum: str | None
    """What the gauge's zero refers to."""

    site: str | None
    """The gauge's number, as the file has it."""

    number: str | None
    """The rating's number, as the file has it."""

    shifted: str | None
    """Time of the shifts, as the file has it."""

    set_at: AwareDatetime
    """By the service's clock."""

    in_force: AwareDatetime | None
    """Since when it converts."""

    held: str | None
    """Why it waits, or waited, for a forecaster."""

    ruling: Literal["approve", "dismiss"] | None
    ruled_by: str | None
    note: str | None
    largest_shift_ft: float
    """The largest shift that the table includes, with its sign."""

    expansion: Literal["logarithmic", "linear"]
    """How points are joined: straight, or by logarithms."""

    stage_ft: list[float]
    """Stages of the points, ft: the range that is converted."""

    stage_m: list[float]
    """The same in metres."""

    discharge_m3s: list[float]
    """Discharges of the points, m³/s."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class RatingVersion(Model):
    """A version of the rating table of a basin's gauge, without its points."""

    basin: str
    version: int
    """Its number among those of the gauge."""

    valid_from: date
    """The first day that it holds for."""

    source: str
    datum: str | None
    """What the gauge's zero refers to."""

    site: str | None
    """The gauge's number, as the file has it."""

    number: str | None
    """The rating's number, as the file has it."""

    shifted: str | None
    """Time of the shifts, as the file has it."""

    set_at: AwareDatetime
    """By the service's clock."""

    in_force: AwareDatetime | None
    """Since when it converts."""

    held: str | None
    """Why it waits, or waited, for a forecaster."""

    ruling: Literal["approve", "dismiss"] | None
    ruled_by: str | None
    note: str | None
    largest_shift_ft: float
    """The largest shift that the table includes, with its sign."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class RatingVersions(Model):
    """Versions of rating tables."""

    ratings: list[RatingVersion]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class RatingsSettings(Model):
    """
    Rating tables of USGS gauges, from its catalogue (STAC): stage and discharge, with the shifts of the day.
    """

    adapter: Literal["ratings"] = "ratings"
    basins: list[str] = []
    """By default all stored basins that the service may know."""


class Ready(Model):
    """The database can be used."""

    status: Literal["ready"] = "ready"
    revision: str
    """The revision of the database's tables."""

    degraded: list[str]
    """Degradations of the service, by the codes of `/v1/status`, which has the descriptions."""


class Recalibration(Model):
    """
    How the distribution is recalibrated by the flow that came after past forecasts with the weather model.
    """

    fitted_on: str | None
    """The period of the T0 it was fitted to. Null where too few have been observed: it is assumed."""

    issue_days: int
    """Number of those T0."""

    reforecast_days: int
    """Number of them without an issued forecast: computed later, with a past weather forecast."""

    centre: list[float]
    """
    By lead, how far what came lay from the middle of the forecasts, as a value of a standard normal distribution: above 0, forecasts are raised.
    """

    spread: list[float]
    """By lead, the width that the distribution is multiplied by, between such values."""

    weight: float
    """From 0 to 1: the weight of what came after them, against what is assumed."""


class ReforecastParams(Model):
    """The past forecasts to compute and verify."""

    period: str
    """Days that neither the weights nor the error model of the version were fitted to."""

    version: str | None = None
    """A model version; by default the newest."""

    basins: list[str] = []
    """By default the stored basins that the version learnt from."""

    every: int = 5
    """Days from one forecast to the next."""

    horizon: int = 10
    """Days after T0."""


class RegionDetail(Model):
    """A region, and how many of its basins are stored."""

    id: str
    """Its name."""

    huc: str | None
    """What the hydrologic unit codes of its basins begin with."""

    agency: str | None
    """What its basins' identifiers have before the hyphen."""

    basins: list[str] | None
    """Its basins. They need not be stored yet."""

    unfinished_jobs: int | None
    """Limit of unfinished jobs of its keys together."""

    subscriptions: int | None
    """Limit of subscriptions of its keys together."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    stored_basins: int
    """Number of its basins that are stored."""


class RegionList(Model):
    """All regions, by name."""

    regions: list[RegionDetail]


class Reliability(Model):
    """Reliability of the chance of passing the threshold, by tenths of the forecast chance."""

    forecast: list[float]
    """The mean chance in each tenth."""

    observed: list[float]
    """Share of these days on which the threshold was passed."""

    days: list[int]
    """Number of these days."""


class ReplayParams(Model):
    """The issue days to replay, and what is known on each."""

    basins: list[str] = []
    """By default all that have a model version."""

    period: str
    """The issue days: forecasts are issued on each as if it were today."""

    latency_days: int = 1
    """Number of days until a past day's weather becomes known."""

    horizon: int = 10
    """Days after T0."""

    traces: int = 11
    """Traces of each day's forecast: perturbed observations."""


class RetrainingParams(Model):
    """
    The version to train again on today's record, and the consequence of the comparison.

    Two ensembles are trained: the candidate on every day of the record, and its twin on all but the judged years. There
    the twin is compared with the version in use, or its twin, by the rule of a training's `compare`.
    """

    margin: float = 0.0
    """Minimum of the interval's lower end, in NSE."""

    promote: bool = False
    """Whether a better version becomes current automatically."""

    version: str | None = None
    """By default the version in use in the most basins."""

    judge_on: str | None = None
    """
    Four or more whole water years (October to September). By default the longest series of them that the version in use, or its twin, has not learnt from.
    """

    label: str | None = None
    """A name for the candidate."""


class RivalDetail(Model):
    """Another model or service, whose forecasts or simulation are judged beside the own ones."""

    id: str
    """Its name."""

    kind: Literal["forecasts", "simulation"]
    """Whether it gives issued forecasts, or one simulation of past days."""

    source: str
    """Whom its flows come from and on which terms, as whoever added it wrote."""

    added_at: AwareDatetime
    """When flows of it were last added, by the machine's clock."""


class RivalFlow(Model):
    """Flow that a rival forecast, or simulated, in a basin."""

    basin: str
    rival: str
    source: str
    """Whom it comes from and on which terms."""

    issued: date
    """The day of its issue; of a simulation its first."""

    time: list[date]
    """The days."""

    discharge: dict[str, list[float | None]]
    """
    Flow, m³/s: `median` where there is one value a day; else quantiles of its members, one value for each day of `time`.
    """


class RivalList(Model):
    """The stored rivals, by name."""

    rivals: list[RivalDetail]


class RivalScore(Model):
    """A score of a rival's forecasts and of the own ones, on the same days in the same basins."""

    rival: str
    weather: str
    """The own weather after T0: a weather forecast's source and model, or `climatology`."""

    lead: int
    """Days after the own T0, which is the last day with known weather."""

    metric: str
    """`crps_mm_per_day` or `nse_of_median`."""

    forecasts: int
    """Number of forecasts of all basins that both have, with observed flow."""

    theirs: PooledScore
    """Of the rival, over basins."""

    own: PooledScore
    """Of the version's forecasts, calibrated where they can be."""

    difference: Difference
    """Of the rival to the own forecasts by basin; `better` counts basins in which the rival is."""


class Rollback(Model):
    """The result of a rollback."""

    version: str
    """The version rolled back."""

    restored: dict[str, str]
    """Restored version of each basin that had another before."""

    current_basins: list[str]
    """Basins that still use it because they had none before."""


class Scale(Model):
    """The reference amount of a residual."""

    name: str
    formula: str
    tolerance: float
    """Largest absolute residual, relative to the scale, of a closed balance."""

    unit: Literal["mm"] = "mm"
    """Its unit."""


class ScheduledJob(Model):
    """The job that a schedule posts."""

    kind: str
    params: dict[str, Any] | None
    """Null except for an admin's key: they may name files."""


class Score(Model):
    """One score of a model version in a basin."""

    metric: str
    """`nse`, `kge`, `fhv` and so on; biases are in %."""

    member: str
    """
    A member's number, or `mean` for the members' mean, or `draws` for the mean over draws of the calibrated flow, of which the scores that compare distributions are computed where the error model is fitted to other days. Of a version that combines others also the names of some of its weather products, joined by `+`: the mean with these alone.
    """

    lead: str
    """Days after T0; `all` for the score of a simulation."""

    season: str
    threshold: str
    forcing_kind: str
    """The weather that drove the simulation."""

    reference: str
    """The reference data."""

    period: Period
    period_use: Literal["held out", "validation", "training", "mixed", "unknown"]
    """
    How the training of the scored version used the days of the period: `held out` not at all, or it has not learnt from this basin; `validation` to choose its weights; `training` to fit them; `mixed` some of the days, or by some of the versions that it combines, or in some of the basins; `unknown` where the version does not state its days. Only a score on days that are held out is its skill: others flatter it.
    """

    n: int
    """Number of days with both values."""

    value: float | None
    low: float | None
    """The lower end of its interval; null where none was computed."""

    high: float | None
    """The upper end of its interval; null where none was computed."""

    reason: str | None
    """Why there is no value; null where there is one."""

    attributes_assumed: list[str]
    """The attributes of the basin that were assumed in the simulation, for they were not known."""

    shipped: bool
    """Whether it came with the shipped ensemble, computed elsewhere; an evaluation here takes its place."""

    evaluated_at: AwareDatetime


class SeasonNow(Model):
    """The volume of the season, by the newest run that holds it."""

    run: str
    t0: date
    stale: bool
    season: str
    period: Period
    calibrated: bool
    exceeded_percent: list[int]
    """Chances of exceeding the values beside, %."""

    percent_of_normal: list[float] | None


class Series(Model):
    """A stored daily series."""

    product: str
    """The source of the series."""

    variable: str
    unit: str
    first_day: date
    last_day: date
    updated_at: AwareDatetime
    """When it last changed."""


class Shadow(Model):
    """A basin or a version that is operated and not public yet."""

    subject: Literal["basin", "version"]
    id: str
    name: str | None
    """Its name for people."""

    version: str | None
    """The version whose forecasts count: of a basin its current one."""

    gates: list[Gate]
    """What is reached, and what is needed."""

    is_ready: bool
    """Whether all gates are met: an administrator may end it."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class ShadowList(Model):
    """All that is in the shadow: basins, then versions."""

    shadow: list[Shadow]


class Signature(Model):
    """A signature of the river: as simulated, and as estimated where there is no gauge."""

    name: str
    what: str
    units: Literal["m3/s", "mm/day", "cfs"] | Literal["1"]
    """Unit of its values; `1` for a ratio."""

    simulated: float | None
    """That of the simulation as it is."""

    estimate: float | None
    """
    The estimate without a gauge: the simulation, corrected by what such simulations miss in basins that their members had not learnt from; null where that is not known.
    """

    low: float | None
    """Lower end of the range that holds nine in ten such rivers."""

    high: float | None
    """Upper end of it."""

    typical_error_percent: float | None
    """Median absolute error of such estimates in basins left out, % of what was observed."""


class SimulatedWater(Model):
    """Mean annual water of the members, mm/year."""

    precipitation: float
    discharge: float
    loss: float
    stored: float
    """The remainder of the precipitation, in the basin at T0."""


class Simulation(Model):
    """Simulated and observed flow of a basin, from which its scores are computed."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    version: str
    """The model version."""

    scored: str
    """
    The version whose scores these are: the same, or its twin, the same recipe trained on fewer years, where it has none of its own because it has learnt from every year.
    """

    period: Period
    """The days of the evaluation."""

    period_use: Literal["held out", "validation", "training", "mixed", "unknown"]
    """
    How the training of the scored version used the days of the period: `held out` not at all, or it has not learnt from this basin; `validation` to choose its weights; `training` to fit them; `mixed` some of the days, or by some of the versions that it combines, or in some of the basins; `unknown` where the version does not state its days. Only a score on days that are held out is its skill: others flatter it.
    """

    evaluated_at: AwareDatetime
    units: Literal["m3/s", "mm/day", "cfs"]
    """The unit of both series."""

    area: Area | None
    """The drainage area used to convert them; null in mm/day."""

    time: list[date]
    """The requested days of the period, by default all."""

    simulated: list[float]
    """The mean of the members, driven by observed weather, one value for each day of `time`."""

    observed: list[float | None]
    """
    The observation that the scores compare it with, null where there is none, one value for each day of `time`.
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class SinceEmpty(Model):
    """
    The residual from the empty store to T0, which reveals leaks too small to show over a horizon. A basin with a
    larger one than the tolerance is withheld.
    """

    days: int | None
    """Days since the empty store, T0 included."""

    scale: Scale
    members: dict[str, MemberSinceEmpty]


class SnowNow(Model):
    """The snow of T0, mm."""

    mean: float
    p05: float
    p95: float
    normal: float | None
    percent_of_normal: float | None
    uncertain: bool
    """As in `/v1/basins/{basin}/forecasts/latest`."""

    in_words: str
    """In % of normal, or what is uncertain."""

    reference: float | None
    """The basin's reference snow."""

    mapping: Literal["basin", "regional", "store"]
    """Choice of its cells, as in `/v1/basins/{basin}/storage`."""

    correlation: float | None
    """Pearson's, with reference snow on days not used to choose them."""


class SnowReference(Model):
    """Reference snow of T0 by a stored product, mm."""

    product: str
    mm: float
    normal: float | None
    """The mean of that day in the product's other years."""

    percent_of_normal: float | None
    """The reference in % of it."""


class SpreadShares(Model):
    """Shares of the variance of discharge by source; null where the variance is 0."""

    weights: list[float | None]
    """The network's weights: its members differ, one value for each day of `time`."""

    weather: list[float | None]
    """The weather after T0: its traces differ, one value for each day of `time`."""

    state: list[float | None]
    """The water in the basin at T0: past precipitation is uncertain, one value for each day of `time`."""


class Stage(Model):
    """The stage of a discharge, by the basin's rating of the day."""

    ft: float | None
    """Above the gauge's datum; null for the reason that `reason` gives."""

    m: float | None
    """The same in metres."""

    rating_version: int | None
    """The version of the rating that it rests on, in `/v1/basins/{basin}/ratings`; null without one."""

    reason: str | None
    """Why it is null; null where it is not."""


class Staircase(Model):
    """Epochs over all samples, with the learning rate changing at stated epochs (counted from 0)."""

    kind: Literal["staircase"] = "staircase"
    epochs: int = 30
    rates: list[list[Any]] = [[0, 0.01], [20, 0.005], [25, 0.001]]
    """Pairs of epoch and learning rate; by default those of the network's paper."""


class StandingLevel(Model):
    """A level with an alert, in brief."""

    level: str
    severity: Literal["advisory", "watch", "warning"]
    chance: float
    discharge_m3s: float


class StateArray(Model):
    """One array of a state."""

    dtype: str
    shape: list[int]
    """Members first."""

    values: list[Any]
    """Nested lists, exact: the fingerprint can be computed again from them."""


class StateDetail(Model):
    """A state with its arrays."""

    day: date
    """The last day of weather in it."""

    product: str
    """The weather that it was driven with."""

    parent_day: date | None
    """The day of the state it was advanced from."""

    parent_sha256: str | None
    """The fingerprint of that state."""

    inputs_hash: str
    """The fingerprint of the weather and attributes since then."""

    spin_up_days: int
    """Days since the empty store."""

    sha256: str
    """The fingerprint of the arrays of all members."""

    created_at: AwareDatetime
    invalid_at: AwareDatetime | None
    """Since when it may not be used; null while it is valid."""

    invalid_reason: str | None
    storage_mm: list[float] | None
    """The water in the basin, mm, of each member in their order."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    version: str
    """The model version."""

    members: list[str]
    """The members' names, in the order of the arrays."""

    member_sha256: list[str]
    """The fingerprint of the arrays of each member."""

    arrays: dict[str, StateArray]
    """By name: `c` holds the water in each cell, mm, in networks that conserve mass."""


class StateSummary(Model):
    """The state of a basin at the end of a day: what the model's cells hold, of all members."""

    day: date
    """The last day of weather in it."""

    product: str
    """The weather that it was driven with."""

    parent_day: date | None
    """The day of the state it was advanced from."""

    parent_sha256: str | None
    """The fingerprint of that state."""

    inputs_hash: str
    """The fingerprint of the weather and attributes since then."""

    spin_up_days: int
    """Days since the empty store."""

    sha256: str
    """The fingerprint of the arrays of all members."""

    created_at: AwareDatetime
    invalid_at: AwareDatetime | None
    """Since when it may not be used; null while it is valid."""

    invalid_reason: str | None
    storage_mm: list[float] | None
    """The water in the basin, mm, of each member in their order."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class StorageUse(Model):
    """The room that a kind of data takes in the database."""

    kind: str
    """The kind of data."""

    size_bytes: int
    """With indexes, as last measured."""

    bytes_a_day: float | None
    """How much was added a day, in the mean of at most 30 days; negative after a prune."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class Storm(Model):
    """Additional precipitation on one day."""

    mm: float
    """Depth over the whole basin, mm."""

    lead: int = 1
    """Number of days after T0 on which it falls."""


class StormOfRun(Model):
    """Additional precipitation on one day."""

    mm: float
    lead: int
    """The day, as the number of days after T0."""


class Subscription(Model):
    """A receiver of alert changes, or of messages about issues: a webhook, a gateway or a person."""

    id: str
    about: Literal["alerts", "issues"]
    """
    `alerts`: changes of alerts; `issues`: that a day's forecasts are not complete, and alarms of the service.
    """

    url: str | None
    """Address that changes are posted to."""

    email: str | None
    """Address that changes are sent to by e-mail."""

    template: MessageTemplate | None
    """Body of the requests; null: the change as JSON."""

    digest: Digest | None
    """When the changes of a day are sent in one message."""

    basins: list[str] | None
    """Basins whose changes are sent."""

    region: str | None
    """Region whose basins' changes are sent."""

    least_severity: Literal["advisory", "watch", "warning"]
    """Changes below this severity, before and after, are not sent."""

    feed: str | None
    """Address of an Atom feed of the same changes."""

    created_at: AwareDatetime
    confirmed_at: AwareDatetime | None
    """When the recipient of e-mail agreed. Before, nothing is sent."""

    paused_at: AwareDatetime | None
    """Since when nothing is sent."""

    paused_because: str | None
    """Why nothing is sent."""

    rotated_at: AwareDatetime | None
    """When the secret was last replaced."""

    old_secret_until: AwareDatetime | None
    """Until then deliveries are signed with the old secret too."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class SubscriptionPatch(Model):
    """Changes to a subscription; an omitted field stays."""

    url: str | None = None
    """Null: unchanged."""

    basins: list[str] | None = None
    """The basins whose changes are sent; null for all basins."""

    region: str | None = None
    """
    The region whose basins' changes are sent, also of those that it gets later; null for all. Without `basins`.
    """

    least_severity: Literal["advisory", "watch", "warning"] | None = None
    """Changes of alerts that stay below this severity are not sent. Null: unchanged."""

    template: MessageTemplate | None = None
    """The body of each request, for a gateway of text messages or chat; null: the change as JSON."""

    digest: Digest | None = None
    """One message a day, with its changes, instead of one for each change; for e-mail only."""


class SubscriptionWithSecret(Model):
    """A receiver of alert changes and its secret, which is shown this once."""

    id: str
    about: Literal["alerts", "issues"]
    """
    `alerts`: changes of alerts; `issues`: that a day's forecasts are not complete, and alarms of the service.
    """

    url: str | None
    """Address that changes are posted to."""

    email: str | None
    """Address that changes are sent to by e-mail."""

    template: MessageTemplate | None
    """Body of the requests; null: the change as JSON."""

    digest: Digest | None
    """When the changes of a day are sent in one message."""

    basins: list[str] | None
    """Basins whose changes are sent."""

    region: str | None
    """Region whose basins' changes are sent."""

    least_severity: Literal["advisory", "watch", "warning"]
    """Changes below this severity, before and after, are not sent."""

    feed: str | None
    """Address of an Atom feed of the same changes."""

    created_at: AwareDatetime
    confirmed_at: AwareDatetime | None
    """When the recipient of e-mail agreed. Before, nothing is sent."""

    paused_at: AwareDatetime | None
    """Since when nothing is sent."""

    paused_because: str | None
    """Why nothing is sent."""

    rotated_at: AwareDatetime | None
    """When the secret was last replaced."""

    old_secret_until: AwareDatetime | None
    """Until then deliveries are signed with the old secret too."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    secret: str | None
    """
    Secret for verifying signatures by Standard Webhooks. It is shown only this once: store it. Null for e-mail.
    """


class Subscriptions(Model):
    """The key's own subscriptions (for an admin's key, all), oldest first."""

    subscriptions: list[Subscription]


class SubsetOfRun(Model):
    """A combined version without some of its weather products, with the skill to expect."""

    products: list[str]
    """The products that took part; where another part on a product did not, the name of the part."""

    missing: dict[str, str]
    """Why other parts did not, by their names: the product, where one part alone takes it."""

    nse: float | None
    """The NSE with these products alone, in the evaluation of the version."""

    nse_of_all: float | None
    """The NSE with all of its products there."""

    period: str | None
    """The days of that evaluation."""


class Superseded(Model):
    """A newer run that cannot become the basin's latest forecast."""

    run: str
    status: Literal["issued", "withheld", "failed"]
    reason: str


class ThreatLevel(Model):
    """A level and the chance that flow passes it."""

    level: str
    """Its name in `/v1/basins/{basin}/thresholds`."""

    title: str
    """The same for a reader."""

    direction: Literal["rising", "falling"]
    return_period_years: float | None
    discharge: float
    stage: Stage
    chance: float
    """Of passing it on any day of the window, by the published distribution."""

    impact: str | None
    """What happens from it on, as its source states it."""


class TrainingCurves(Model):
    """The training of a model version, step by step."""

    version: str
    loss_name: str
    """The loss that was minimised."""

    units: dict[str, str]
    """The unit of the `loss`, by that name; `1` for a number without one."""

    points: list[CurvePoint]
    """By member and step: at most about 1000 steps of each member, and those that were validated."""


class Trend(Model):
    """The trend of annual floods: Mann-Kendall's test and Sen's slope."""

    tau: float
    """Kendall's rank correlation of floods with years, from -1 to 1."""

    p_value: float
    """Chance of as strong a trend among independent years."""

    percent_per_year: float
    """Median growth between pairs of years."""

    adjusted: bool
    """
    Whether the levels are for the conditions of the last year: where that is set for the basin (`flood_frequency`) and the chance is below 0.05.
    """

    last_year: int
    """Water year."""


class UsgsNowSettings(Model):
    """
    The newest measured discharge of USGS gauges, which updates latest forecasts within the day. A schedule fetches
    it every few minutes.
    """

    adapter: Literal["usgs-now"] = "usgs-now"
    basins: list[str] = []
    """By default all stored basins that the service may know."""

    series: dict[str, str] = {}
    """The series to take, by basin, if a gauge has several; series are never merged."""


class UsgsSettings(Model):
    """Daily mean discharge of USGS gauges, from the Water Data OGC API."""

    adapter: Literal["usgs"] = "usgs"
    basins: list[str] = []
    """By default all stored basins that the service may know."""

    series: dict[str, str] = {}
    """The series to take, by basin, if a gauge has several; series are never merged."""

    days_back: int = 30
    """Number of past days that every fetch asks for again, to receive late and revised values."""


class VariableSkill(Model):
    """Agreement of a variable on days not used in fitting."""

    as_it_is: Likeness
    bridged: Likeness


class VerificationParams(Model):
    """The version whose issued forecasts to verify."""

    version: str | None = None
    """A model version; by default each that is current for a basin."""


class VersionDifference(Model):
    """The differences of a version to the first one."""

    n: int
    """Number of basins in which both have a value."""

    median: float | None
    """The median of (this one - the first version), in the unit of the metric; null without a basin."""

    better: int
    """Number of basins in which it is nearer to the perfect value than the first version."""

    worse: int
    """Number of basins in which it is farther from it."""

    p: float | None
    """
    p-value of the two-sided Wilcoxon signed-rank test: the probability of such differences if neither version is better.
    """

    reason: str | None
    """Why there is no p; null where there is one."""

    version: str


class VersionQuartiles(Model):
    """The quartiles of a version."""

    p25: float | None
    median: float | None
    p75: float | None
    version: str


class VersionStatus(Model):
    """The newest forecasts of a model version in use."""

    version: str
    product: str
    """The weather product that it uses."""

    current_for: int
    """Number of basins that use it for their forecasts."""

    runs: int
    newest_t0: date | None
    """Null where it has issued nothing yet."""

    newest_issue: AwareDatetime | None
    """Null where it has issued nothing yet."""

    age_days: int | None
    """Of the newest T0. Days behind the service's clock; negative if ahead."""

    stale: bool | None
    """
    Whether the last past day of its newest forecasts, T0 or filled after it, is more than 3 days behind.
    """


class Volume(Model):
    """Outflow over the horizon, mean of the members and their traces."""

    depth: float
    """mm over the basin."""

    volume: float | None
    """m³."""


class VolumeQuantiles(Model):
    """Volumes exceeded with given chances: of the whole season, and of its days after T0."""

    depth: list[float] | None
    """Of the whole season, mm, one value for each of `exceeded_percent`: the observed part included."""

    volume: list[float] | None
    """The same in million m³, one value for each of `exceeded_percent`."""

    percent_of_normal: list[float] | None
    """The same in % of the normal mean, one value for each of `exceeded_percent`."""

    ahead_depth: list[float]
    """Of the days after T0, mm, one value for each of `exceeded_percent`."""

    ahead_volume: list[float] | None
    """The same in million m³, one value for each of `exceeded_percent`."""


class VolumesParams(Model):
    """The seasons whose volume to forecast."""

    basins: list[str] = []
    """By default all that have a model version."""

    t0: date | None = None
    """The last day of the state; by default the newest that the data allow."""

    season: str | None = None
    """
    The same days of every year; of those the first that have not ended at T0. By default April to July where half or more of the precipitation is snow, elsewhere the month of the first day after T0 and the two after it.
    """

    version: str | None = None
    """A model version; by default the current one of each basin."""


class WaterBalance(Model):
    """
    The water balance from T0 to the end of the horizon, mm. It closes for each member and their mean; quantiles of
    discharge do not add up.
    """

    closes: bool
    """Whether every member closes."""

    scale: Scale
    """The reference amount of residuals; the span is from T0 to the end of the horizon."""

    mean: dict[str, float]
    """
    The mean of each term over the members. Of a version that combines others it is weighted, and the precipitation of each of its weather products is a term of its own.
    """

    members: dict[str, MemberBalance]
    since_empty_store: SinceEmpty


class WeatherIssue(Model):
    """A weather forecast in a list."""

    id: str
    """Its identifier."""

    source: str
    """The provider."""

    model: str
    """The weather model."""

    reference_time: AwareDatetime
    """Reference time of the model run."""

    operational: bool
    """
    Whether forecasts use it by default: it came from a feed, an admin or the command line. One that was sent with an operator's key is used only by forecasts that name it.
    """

    licence: str | None
    """The source's licence; null where it names none."""

    credit: str | None
    """The attribution to show with the data; null where none is required."""

    created_at: AwareDatetime
    """When its first basin was stored, by the machine's clock."""


class WeatherOfBasin(Model):
    """Contents of a weather forecast for a basin."""

    basin: str
    available_time: AwareDatetime
    """Readable since this instant."""

    first_day: date
    last_day: date
    variables: list[str]
    traces: int
    """Number of traces."""


class WeatherPage(Model):
    """Weather forecasts, the latest stored first."""

    weather: list[WeatherIssue]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class WeatherShare(Model):
    """The share of a weather model in a forecast that mixes several."""

    name: str
    """Its source and model."""

    id: str | None
    """Its weather forecast; null where it was missing."""

    credit: str | None
    """The attribution to show; null where none is required."""

    issues: int
    """Number of past days T0 on which it was compared with others."""

    by_lead: list[float]
    """Its share by day after the last past day; those of all add up to 1."""

    reason: str | None
    """Why it is missing, its share left to the others; else null."""


class WeatherSkill(Model):
    """How well the forecasts of a weather model agree with the weather that came."""

    issues: int
    """Number of its past issues that were compared; 0: the skill is assumed."""

    correlations: dict[str, list[float]]
    """
    Correlation of the normal scores of forecast and observed weather, by variable: on the reference day, and on each day after it.
    """


class WeatherUsed(Model):
    """The weather forecast used by a run."""

    id: str
    """Its identifier."""

    source: str
    """The provider."""

    model: str
    """The weather model."""

    reference_time: AwareDatetime
    """Reference time of the model run."""

    available_time: AwareDatetime
    """Readable since this instant, for all basins of the run."""

    licence: str | None
    """The source's licence; null where it names none."""

    credit: str | None
    """The attribution to show with the data; null where none is required."""

    skill: WeatherSkill


class WhatIf(Model):
    """The changes of a what-if run."""

    in_words: str
    degrees: float
    """Added to the temperatures of every day after T0, °C."""

    precipitation_percent: float
    """Change in daily precipitation after T0, in percent."""

    storm: StormOfRun | None
    """Null where there is none."""

    increment: IncrementOfRun | None
    """Null where there is none."""

    assimilate: bool
    """Whether the water at T0 was adjusted to observed discharge: the `assimilation` of the water balance."""

    note: str | None
    """The public reason for the run; null where none was given."""

    base: str | None
    """The run without changes, for comparison; null where it changes nothing itself."""


class WindowMargin(Model):
    """
    The rain in one window that takes flow to a level, mm. The highest flow is looked for until `response_days` after
    the window.
    """

    first_day: date
    """The first day of the rain."""

    days: int
    """Number of days over which it falls."""

    status: Literal["needs-rain", "already-above", "not-reached"]
    """
    By the median: `needs-rain`; `already-above`, where flow is above the level without rain; `not-reached`, where 300 mm do not suffice.
    """

    median: float | None
    """The rain that suffices in half of the members; 0 where none is needed."""

    p05: float | None
    """The rain that suffices in 5 % of them."""

    p95: float | None
    """The rain that suffices in 95 % of them."""

    reason: str | None
    """Why any of them is null; null where none is."""


class WindowsConfig(Model):
    """
    The samples: `spinup_days` without loss, then `loss_days` with it.

    364 + 1 is the MC-LSTM paper's sequence-to-one; 365 + 365 has some 180 times as many loss days for the same compute.
    """

    spinup_days: int = 365
    """Days before the loss days, in which the state builds up."""

    loss_days: int = 365
    """Days whose discharge enters the loss."""

    batch: int = 32
    """Windows per step."""


class WithoutForecast(Model):
    """A requested basin that has no forecast."""

    basin: str
    type: str
    """The type of the problem that the basin's own latest forecast would return."""

    reason: str


class AdjustedForecast(Model):
    """A forecast as issued and as adjusted, side by side."""

    id: str
    run: str
    basin: str
    factor: float
    """Multiplies the flow of every day and of every quantile."""

    shift_days: int
    """Moves the flow to this many days later; earlier where negative."""

    words: str
    """The reason, in the forecaster's own words."""

    author: str
    """Who drafted it: the name of a key."""

    created_at: AwareDatetime
    published_at: AwareDatetime | None
    publisher: str | None
    """Who published it."""

    note: str | None
    """The publisher's."""

    measured_at: AwareDatetime | None
    """When the flow was measured."""

    measured_m3s: float | None
    """The measured flow, m³/s."""

    state: Literal["draft", "published"]
    """`draft`: only forecasters see it."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    t0: date
    chances: dict[str, float]
    """By level: the chance of passing it that the forecaster set."""

    units: dict[str, str]
    """The unit of each field with values."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    flow_of: Literal["calibrated", "discharge"]
    """What is adjusted: the calibrated quantiles, or without them those of the members."""

    issued: dict[str, list[float]]
    """The quantiles as issued, in the requested unit, one value for each day of `time`."""

    adjusted: dict[str, list[float | None]]
    """The same as adjusted; null on days that no flow is moved to, one value for each day of `time`."""

    window_days: int
    """Number of days after T0 that the chances cover."""

    levels: list[AdjustedLevel] | None
    """In the order of their names; null without a calibration."""


class AgeOfRun(Model):
    """The discharge of the days ahead by the season in which its water fell, mm/day."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    discharge: list[float] | None
    """
    The mean of the members, and of their traces, mm/day; the means of all ages add up to it, one value for each day of `time`.
    """

    ages: list[FlowOfAge] | None
    """The parts of it by age, the oldest first."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class Agreement(Model):
    """Agreement of the snow cells with the reference over a period."""

    period: Period
    r: float | None
    """Pearson's correlation; null for the reason that `reason` gives."""


class Alert(Model):
    """The current alert of one level."""

    basin: str
    level: str
    """The level's name in `/v1/basins/{basin}/thresholds`."""

    kind: Literal["frequent-flood", "flood", "low-flow", "flow-duration"] | None
    """Kind of level; null for a user-defined level."""

    return_period_years: float | None
    """Mean number of years between exceedances."""

    direction: Literal["rising", "falling"]
    """Whether it is passed upwards (`rising`) or downwards."""

    discharge: float
    """m³/s."""

    stage: Stage
    """Its stage, by the basin's rating of the day."""

    category: Literal["action", "minor", "moderate", "major"] | None
    """The official flood category; null for other levels."""

    impact: str | None
    """What happens from the level on, as its source states it."""

    chance: float
    """The calibrated chance of passing it on any day of the window, 0 to 1."""

    calibration: Literal["observed", "provisional", "backfilled", "fitted"]
    """
    What the chance rests on, as `calibration.kind` of the forecast: `provisional` where no forecasts with the weather model have been compared with observed flow, `backfilled` where most of those were computed later with its past issues.
    """

    trend: Literal["rising", "steady", "falling"] | None
    """Which way the chance has moved since the run before."""

    severity: Literal["advisory", "watch", "warning"] | None
    """Null: there is no alert."""

    since: AwareDatetime | None
    """When the severity was reached, by the service's clock."""

    why: str
    """The numbers and the rule behind the decision."""

    run: str
    """The run that decided it."""

    peak_return_period_years: float | None
    """
    Of that run's peak. Return period of the peak's median height: from the flood of two years on, the mean number of years between years with a higher flood, below that between independent floods.
    """

    peak_return_period_bound: Literal["more", "less"] | None
    """
    Whether it is `more` than the number, twice the record's length, or `less` than the number, the most frequent flood's; null where it is the number.
    """

    steps: list[AlertStep]
    """The rules of the level, the least severe first."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class AlertChange(Model):
    """A change of an alert; receivers get the same fields in `data`, without `missing`."""

    kind: Literal["begins", "rises", "falls", "ends"] | Literal["level", "undecided", "decided", "promotion"]
    """
    `begins`, `rises`, `falls`, `ends`: the severity of a level. `level`: somebody changed or removed a level with an alert. `undecided`, `decided`: the alerts of the basin can not, or again, be decided. `promotion`: its forecasts come from another model version; the river has not changed.
    """

    at: AwareDatetime
    """By the service's clock."""

    basin: str
    level: str | None
    direction: Literal["rising", "falling"] | None
    discharge_m3s: float | None
    stage_ft: float | None
    """The official stage of a flood category, otherwise that of the discharge by the basin's rating."""

    category: Literal["action", "minor", "moderate", "major"] | None
    """The official flood category; null for other levels."""

    impact: str | None
    """What happens from the level on, as its source states it."""

    severity: Literal["advisory", "watch", "warning"] | None
    """Now; of the whole basin, the highest."""

    severity_before: Literal["advisory", "watch", "warning"] | None
    trend: Literal["rising", "steady", "falling"] | None
    chance: float | None
    chance_before: float | None
    """By the run before."""

    window_days: int | None
    run: str | None
    """The run that caused it."""

    t0: date | None
    version: str
    """The model version that the forecasts come from."""

    why: str
    """The numbers and the rule, and what a forecaster contributed."""

    decided_by: str | None
    """Who approved it or published the adjustment behind it."""

    adjustment: str | None
    """The published adjustment behind it."""

    levels: list[StandingLevel] | None
    """
    Of the change that heads a message, after it. The levels of the river with an alert, the one that stands for it first: of the most severe, the furthest out that is likely to be passed (a chance from 0.5), otherwise the furthest out that is possible (from 0.1).
    """

    advice: list[LevelAdvice] | None
    """
    What happens and what to do, as the sources of levels state it: of the level furthest out that is likely, and of the one that is possible, among those of which anything is stated; in an outlook also of the alert's level, where its chance is lower.
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    event: str
    """Its id: `webhook-id` of every attempt to notify a receiver."""

    official: bool
    """
    Whether it is meant: false for an exercise, without an official sender, and for an unofficial basin, whose changes go to its owner's subscriptions alone.
    """

    message: str | None
    """
    The `event` of the change that heads its message: what a run changes at a river is one. Null where it is not sent.
    """


class AlertChanges(Model):
    """Changes of a basin's alerts, the newest first."""

    changes: list[AlertChange]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class Archive(Model):
    """The stores of the archive."""

    stores: list[ArchiveStore]


class ArchiveJob(Model):
    """
    Append issued forecasts and reforecasts to the archive that FRESHET_ARCHIVE names, as the daily cycle does.
    Repeating it appends nothing.
    """

    kind: Literal["archive"] = "archive"
    params: ArchiveParams


class AuditPage(Model):
    """Changes, the newest first."""

    changes: list[Change]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class BackfillJob(Model):
    """
    Fetch past weather forecasts of a feed, compute the forecasts of those days with them, and recalibrate
    forecasts by what came. Repeating it fetches and computes only what is missing.
    """

    kind: Literal["backfill"] = "backfill"
    params: BackfillParams


class BasinAlerts(Model):
    """The alerts of a basin by its newest forecast."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str | None
    """The latest run that was evaluated."""

    version: str | None
    """The model version that issued it."""

    t0: date | None
    issued_at: AwareDatetime | None
    window_days: int | None
    """Number of days after T0 that the chances cover."""

    decided_at: AwareDatetime | None
    """By the service's clock."""

    reason: str | None
    """Why the run could not decide: the levels stay as an earlier one left them."""

    levels: list[Alert]
    """In the order of their names."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class BasinDetail(Model):
    """A basin with its stored data."""

    id: str
    """The full identifier."""

    kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `usgs`: a USGS stream gauge. `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    name: str | None
    latitude: float | None
    """Of the gauge, degrees north."""

    longitude: float | None
    """Of the gauge, degrees east."""

    huc: str | None
    """Hydrologic unit code."""

    area: Area | None
    """
    The drainage area by which its flow is converted to a depth and back: that of the weather product that its current version learnt from; without a version, that of its weather product. Else, and where products differ, as an operator gave it, or its gauge's service.
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    areas_km2: dict[str, float]
    """
    Drainage area in km² by the name of each source. Sources differ, some by more than 10 %; `area` is the one that is used.
    """

    attributes: dict[str, float]
    """Numeric attributes (climate, land, soil) as their source gives them."""

    texts: dict[str, str]
    """Categorical attributes."""

    weather_points: list[list[Any]]
    """
    Latitude and longitude of each point that its weather is averaged over when a feed is asked; none: the gauge's alone.
    """

    assume_attributes: bool
    """
    Whether an operator allows unknown attributes to be assumed, as they are around or at the mean of the basins that a model version learnt from. Each answer names those that are.
    """

    series: list[Series]
    """The stored daily series, by product and variable."""

    current_version: str | None
    """The model version behind the basin's forecasts."""

    quality: dict[str, list[Finding]]
    """Data quality findings by product. A product that was never checked is absent."""


class BasinOfFeed(Model):
    """Outcome of the last fetch of a basin."""

    basin: str
    status: Literal["new", "revised", "unchanged", "failed"]
    new_days: int
    """Number of new days of any variable; for a weather forecast, its days."""

    revised_days: int
    """Number of days whose value or flag was replaced. A log retains the old ones."""

    reason: str | None
    """Why it failed, or why there were no data; null otherwise."""

    tried_at: AwareDatetime
    """Time of the last fetch, by the service's clock."""

    fetched_at: AwareDatetime | None
    """
    Time of the last successful fetch of the usual days, or else of the first of other days; null if there was none.
    """

    holes: list[Hole]
    """
    Days without a value inside its record, the newest spans first. Every fetch requests some of them again, however old.
    """

    warnings: list[str]
    """Doubtful points in the last fetched data."""


class BasinPage(Model):
    """Basins in the order of their identifiers."""

    basins: list[BasinSummary]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class BridgeJob(Model):
    """Convert the weather of one product into another. Repeating it stores nothing twice."""

    kind: Literal["bridge"] = "bridge"
    params: BridgeParams


class Calibration(Model):
    """The error model behind calibrated quantiles, and the observed flow it starts from."""

    kind: Literal["observed", "provisional", "backfilled", "fitted"]
    """
    What the distribution rests on. `observed`: the errors of simulations with observed weather. `provisional`: those, and the errors of the weather forecast. `fitted`: recalibrated by what came after the forecasts that were issued with the weather model. `backfilled`: the same, most of them reforecasts with its past issues.
    """

    hash: str
    """Hash of the error model of simulations."""

    weather: str
    """Weather that drives the run: `observed`, or a weather forecast's source and model."""

    weather_issues: int | None
    """
    Number of past issues of the weather model behind the errors of the weather forecast; 0: they are assumed. Null without a weather forecast.
    """

    recalibration: Recalibration | None
    """Null without a weather forecast."""

    fitted_on: str
    """The period of fitting."""

    own_days: int
    """Number of observed days of this basin used in fitting; 0 for the model of all basins together."""

    last_observed_day: date | None
    """The day of the last observed flow, which it starts from."""

    last_observed: float | None
    """That flow, in the unit of `discharge`."""

    last_simulated: float | None
    """The flow that the run has for that day, in the same unit."""

    weather_models: list[WeatherShare] | None = None
    """Shares of the weather models that it mixes. Only where the basin has several."""


class CalibrationJob(Model):
    """
    Fit the error model of a model version, replacing the last: forecasts then have calibrated quantiles.
    """

    kind: Literal["calibration"] = "calibration"
    params: CalibrationParams


class ChangeOfRun(Model):
    """Why a forecast differs from the previous one on the days that both hold."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    previous: PreviousRun | None
    """The newest operational run from an earlier T0, of at most 10 days before."""

    change_of: Literal["calibrated median", "mean of the members"] | None
    """The compared flow: calibrated where both runs are."""

    before: list[float] | None
    """Discharge by the previous forecast, one value for each day of `time`."""

    after: list[float] | None
    """Discharge by this forecast, one value for each day of `time`."""

    change: list[float] | None
    """`after` less `before`, one value for each day of `time`."""

    parts: ChangeByCause | None
    """
    The change by cause, from reruns of the previous forecast with one input after the other replaced, in the order of the fields. They add up to the change.
    """

    interaction: ChangeByCause | None
    """
    By how much the parts depend on that order: `parts` less the same in the opposite order. Over the causes it adds up to 0.
    """

    precipitation: Rain | None
    in_words: str | None
    """The largest change in a sentence."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class Changes(Model):
    """Changes of a what-if run; an omitted field changes nothing."""

    degrees: float = 0.0
    """
    Added to the temperatures of every day after T0, °C. The relative humidity stays: the vapour pressure changes with that of saturated air. Radiation and day length stay.
    """

    precipitation_percent: float = 0.0
    """Change in daily precipitation after T0, in percent; -100: none."""

    storm: Storm | None = None
    """Added after that change, which does not scale it."""

    increment: Increment | None = None
    assimilate: bool = False
    """
    Whether to change the water in the basin at T0 by the smallest amount that explains the discharge observed on the last ten days. An increment is added afterwards.
    """


class CheckJob(Model):
    """
    Check every page of the database, every reference and every row with a checksum. If something is damaged, the job
    fails and names it.
    """

    kind: Literal["check"] = "check"
    params: CheckParams


class ClimateJob(Model):
    """Compute the climate indices of a basin from its stored weather."""

    kind: Literal["climate"] = "climate"
    params: ClimateParams


class ComparedScore(Model):
    """One metric in the basins where every version has a value."""

    metric: str
    """`nse`, `kge`, `fhv` and so on."""

    unit: str
    """`1`, `%`, `mm/day` or `days`."""

    perfect: float
    """Its value where simulation and observation agree."""

    n: int
    """Number of basins."""

    lacking: int
    """Number of compared basins left out because a version has no value there."""

    versions: list[VersionQuartiles]
    differences: list[VersionDifference]
    """Of every version but the first."""


class ComparisonJob(Model):
    """Compare model versions."""

    kind: Literal["comparison"] = "comparison"
    params: ComparisonParams


class ComparisonSummary(Model):
    """A comparison in a list."""

    id: str
    created_at: AwareDatetime
    """When it was created, by the machine's clock."""

    period: Period
    """The days that were scored."""

    versions: list[str]
    """The model versions; the others are compared with the first."""

    basin_count: int
    """Number of basins in which every version was scored."""

    official: bool
    """Whether the service itself or an admin asked for it."""


class DailyJob(Model):
    """
    Ask the feeds, apply the bridges to their data, and forecast every basin from its newest day, with the newest
    weather forecast or, without one, with the weather of other years. Repeating it stores nothing new.
    """

    kind: Literal["daily"] = "daily"
    params: DailyParams


class DayNormals(Model):
    """Normals of one variable for each day; null on a day with too few years."""

    kind: Literal["observed", "simulated"]
    """
    `observed`: from a product's series. `simulated`: by the current model version, driven by observed weather, mean of its members.
    """

    source: str
    """The product or the model version."""

    units: str
    record: Period
    """The first and the last known day."""

    mean: list[float | None]
    """Mean over the other years, the normal, one value for each day of `time`."""

    p10: list[float | None]
    """10 % quantile of the other years, one value for each day of `time`."""

    p25: list[float | None]
    """25 % quantile of the other years, one value for each day of `time`."""

    median: list[float | None]
    """Median of the other years, one value for each day of `time`."""

    p75: list[float | None]
    """75 % quantile of the other years, one value for each day of `time`."""

    p90: list[float | None]
    """90 % quantile of the other years, one value for each day of `time`."""

    years: list[int]
    """Number of other years, one value for each day of `time`."""


class DrainDownOfRun(Model):
    """Recession of a basin without further rain."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    discharge: dict[str, list[float]] | None
    """The quantiles of the members, by name, not calibrated, one value for each day of `time`."""

    ceiling: float | None
    """All water stored at T0, mm, mean of the members: the upper limit of runoff, if none of it were lost."""

    runs_off: list[float] | None
    """Water that has run off since T0, mm, mean of the members, one value for each day of `time`."""

    lost: list[float] | None
    """
    Water lost other than through the river since T0, mm, mean of the members, one value for each day of `time`.
    """

    left: list[float] | None
    """Water still stored, mm, mean of the members, one value for each day of `time`."""

    totals: list[DrainedBy] | None
    """The same after 10, 30, 90 and 180 days, as far as the run reaches, and at its end."""

    low_flows: list[LowFlow] | None
    """
    For each low level: those set by operators, those of the basin's record, and those of the version's own simulation.
    """

    in_words: str | None
    """The fate of the water, in a sentence."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class EdrExtent(Model):
    """Spatial and temporal extent of the values."""

    spatial: EdrSpatial
    temporal: EdrTemporal | None = None


class EdrLanding(Model):
    """The landing page."""

    title: str
    description: str
    links: list[EdrLink]


class EdrParameter(Model):
    """A series that a collection has at each location."""

    type: Literal["Parameter"] = "Parameter"
    unit: EdrUnit | None = None
    observedProperty: EdrObservedProperty


class EdrQueryLink(Model):
    """The link of a query."""

    href: str
    """An address of this service."""

    rel: str
    type: str
    title: str
    variables: EdrVariables


class EvaluationJob(Model):
    """Score a model version."""

    kind: Literal["evaluation"] = "evaluation"
    params: EvaluationParams


class EventCase(Model):
    """
    An observed event and its simulation: a missed event has no simulated one, a false alarm no observed one.
    """

    observed: EventDays | None
    simulated: EventDays | None
    volume_observed_mm: float
    """Observed flow over the days of either event."""

    volume_simulated_mm: float
    """Simulated flow over these days."""

    errors: dict[str, float] | None
    """By the names of `scores.errors`; null without a match."""


class Events(Model):
    """The events of a basin as a model version simulates them with observed weather."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    version: str
    """The model version."""

    scored: str
    """
    The version whose scores these are: the same, or its twin, the same recipe trained on fewer years, where it has none of its own because it has learnt from every year.
    """

    period: Period
    """The days of the evaluation."""

    period_use: Literal["held out", "validation", "training", "mixed", "unknown"]
    """
    How the training of the scored version used the days of the period: `held out` not at all, or it has not learnt from this basin; `validation` to choose its weights; `training` to fit them; `mixed` some of the days, or by some of the versions that it combines, or in some of the basins; `unknown` where the version does not state its days. Only a score on days that are held out is its skill: others flatter it.
    """

    evaluated_at: AwareDatetime
    season: Literal["all", "DJF", "MAM", "JJA", "SON"]
    rules: EventRules
    scores: EventSummary
    events: list[EventCase]
    """By the day of the peak."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class ExceedanceOfRun(Model):
    """Exceedance probabilities of levels on the days ahead."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    levels: list[LevelChances]
    """
    The levels set by operators, the basin's floods and low flows, and those of the version's own simulation; or the requested discharge.
    """

    peak: PeakOfRun | None
    """
    The highest day ahead, with its uncertainty in height and time. Null where flow more likely falls from the last past day than rises.
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class FeedDetail(Model):
    """A feed and the outcome of its last fetch for each basin."""

    id: str
    name: str
    adapter: str
    """The adapter of the service it uses."""

    settings: dict[str, Any] | None
    """Its settings, without those left at their defaults."""

    product: str | None
    """The product that its weather is stored under."""

    created_at: AwareDatetime
    last_fetch_at: AwareDatetime | None
    """By the service's clock, as the other two."""

    last_success_at: AwareDatetime | None
    """Time of the last fetch without a failed basin."""

    last_error: str | None
    """Why it last failed, in total or for some basin."""

    last_error_at: AwareDatetime | None
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    basins: list[BasinOfFeed]
    """In the order of their identifiers."""


class FetchJob(Model):
    """Ask a feed for new data. Repeating it stores nothing twice."""

    kind: Literal["fetch"] = "fetch"
    params: FetchParams


class FineTuningConfig(Model):
    """
    A training that starts from the weights of a version, member for member, with its network, inputs and scaler. The
    parent's own weights are validated first, and are retained if training does not improve on them.
    """

    parent: str
    """The version to start from."""

    product: str | None = None
    """The forcing product that the parent is expected to use."""

    train_period: str
    """Days whose discharge is fitted."""

    fitted: Literal["network", "basin_vectors"] = "network"
    """
    The fitted weights: all weights of the network, or in a fine-tuning only the vectors of its basins (`basin_vectors`), which needs no validation period and changes no other basin.
    """

    validation_period: str | None = None
    """Days that select the best weights, outside the training period. Not needed for vectors alone."""

    windows: WindowsConfig | None = None
    """By default `{"spinup_days": 365, "loss_days": 365, "batch": 32}`."""

    schedule: FineTuningSchedule | None = None
    """
    By default `{"kind": "cosine", "steps": 100, "peak_learning_rate": 0.001, "warmup_steps": 10, "final_learning_rate": 1e-05}`.
    """

    validate_every: int = 10
    """Steps between validations."""

    checkpoint_every: int = 50
    """Steps between checkpoints."""

    members: int | None = None
    """Number of the parent's members to train, from the first; by default all."""

    seed: int = 0
    """Seed of the first member; each further member's is one higher."""


class FixedThreshold(Model):
    """A level set by an operator."""

    name: str
    discharge: float
    """m³/s; among all of a basin, in `units`."""

    direction: Literal["rising", "falling"]
    """Direction in which flow crosses the level."""

    set_at: AwareDatetime
    """When it was last changed, by the service's clock."""

    stage: Stage
    """Its stage, by the basin's rating of the day."""

    category: Literal["action", "minor", "moderate", "major"] | None
    """The official flood category; null for other levels."""

    source: str | None
    """Who declared the category."""

    source_day: date | None
    """The day that the category is from."""

    official_stage_ft: float | None
    """The category's own stage."""

    discharge_by: Literal["rating", "source"] | None
    """Whether a category's discharge is its own stage by the rating, or its source's."""

    impact: str | None
    """What happens from the level on, as its source states it."""

    instruction: str | None
    """What to do then, in the words of the agency that is responsible."""

    in_doubt: str | None
    """
    Why its unit, datum or order seems wrong: its alerts wait until somebody confirms it. Null where nothing seems wrong, and once it is confirmed.
    """


class FloodCategories(Model):
    """The official flood categories of a basin, as levels."""

    basin: str
    levels: list[FixedThreshold]
    left_out: dict[str, str]
    """Categories without a discharge, and why."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class ForecastError(Model):
    """The error of a run's forecast of a basin over its days ahead."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    t0: date
    days: Period
    """The days ahead."""

    weather: str
    """After T0: `observed`, `climatology`, or a weather forecast, by its source and model."""

    volume: ErrorParts
    """The volume of all days, mm over the basin."""

    peak: ErrorParts
    """The highest day of the mean of members and traces, mm/day."""

    in_words: str
    """The same in a sentence, of the measure asked for."""

    verified_at: AwareDatetime


class ForecastJob(Model):
    """
    Issue forecasts. 256 basins or more are forecast in parts, each with runs and, where none is named, a T0 of its
    own.
    """

    kind: Literal["forecast"] = "forecast"
    params: ForecastParams


class ForecastSkill(Model):
    """Skill of calibrated forecasts, on days that the version has not learnt from."""

    version: str
    """The version that was verified: the same, or its twin."""

    origin: Literal["reforecast", "issued"]
    """`reforecast` or `issued`, as in `/verification`."""

    weather: str
    """After T0, as in `/verification`."""

    period: Period
    month: int
    """Calendar month of the last day ahead."""

    skilful_to_day: int | None
    """Until which day ahead forecasts of the month beat climatology."""

    reliable_to_day: int | None
    """Until which day ahead forecasts of any month beat climatology and their 90 % range held."""

    evidence_day: int
    """The day of the first of these that is known, or the first day."""

    better_percent: float
    """
    By how much forecasts of any month are better than climatology on that day: the skill score of the CRPS, %.
    """

    independent_issues: int | None
    """Number of forecasts behind the headline that share no day."""


class ForecasterHeadline(Model):
    """The headline of one forecaster, `calibrated` or `raw`, and weather over a period."""

    origin: Literal["reforecast", "issued"]
    """
    `reforecast`: computed afterwards for past days. `issued`: as issued by the service day by day, verified with later observations.
    """

    weather: str
    """
    After T0. `observed`: observed weather. `climatology`: that of other years. Else a weather forecast, by its source and model.
    """

    scored: str
    """
    The version whose scores these are: the same, or its twin, the same recipe trained on fewer years, where it has none of its own because it has learnt from every year.
    """

    period: Period
    """T0 and the forecast days lie in it."""

    period_use: Literal["held out", "validation", "training", "mixed", "unknown"]
    """
    Of the verified days: those of the training are left out. How the training of the scored version used the days of the period: `held out` not at all, or it has not learnt from this basin; `validation` to choose its weights; `training` to fit them; `mixed` some of the days, or by some of the versions that it combines, or in some of the basins; `unknown` where the version does not state its days. Only a score on days that are held out is its skill: others flatter it.
    """

    forecaster: str
    """
    `calibrated`: the quantiles of the version's error model. `raw`: the uncalibrated members. `climatology`: the flow of other water years within a week of the day of the year. `persistence`: the last observed flow; `damped-persistence`: that on its way to the mean flow, by the correlation of flow at the lead. `rival NAME`: a rival's forecasts; `beside NAME`: the own ones of the same days. `adjusted`: the forecasts that a forecaster adjusted and published; `as-issued`: the same ones before that.
    """

    months: list[MonthHeadline]
    """January first."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class FuseJob(Model):
    """
    Derive weather that is the mean of several products, in basins with all of them, now and whenever they change.
    Repeating it stores nothing twice.
    """

    kind: Literal["fuse"] = "fuse"
    params: FuseParams


class HeldOut(Model):
    """Skill of a bridge by cross-validation over water years."""

    days: int
    variables: dict[str, VariableSkill]


class IngestJob(Model):
    """Ingest data."""

    kind: Literal["ingest"] = "ingest"
    params: IngestParams


class IssueDetail(Model):
    """An issue with the basins that lack a forecast."""

    day: date
    """The day of issue, in UTC by the service's clock."""

    opened_at: AwareDatetime
    """When its first cycle began."""

    closed_at: AwareDatetime | None
    """When its first cycle ended."""

    late: bool
    """Whether it was issued, or completed, after its day with what was known then."""

    job: str | None
    """The job of the first cycle."""

    renewed: int
    """Number of basins with a forecast of this day: `issued` or `filled`."""

    lacking: int
    """Number of basins that are `pending`, `stale`, `withheld` or `failed`."""

    basins: IssueTally
    """
    By outcome. `issued`: a forecast of this day; `filled`: one whose last past days are filled from other weather; `unchanged`: the forecast before already uses all known data; `pending`: not done yet, or lost; `stale`: its data stopped and its forecast is too old; `withheld` or `failed`: why is in `reason`.
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    without_forecast: list[IssueBasin]
    """The basins that are `pending`, `stale`, `withheld` or `failed`, in the order of their identifiers."""


class IssueSummary(Model):
    """An issue in a list."""

    day: date
    """The day of issue, in UTC by the service's clock."""

    opened_at: AwareDatetime
    """When its first cycle began."""

    closed_at: AwareDatetime | None
    """When its first cycle ended."""

    late: bool
    """Whether it was issued, or completed, after its day with what was known then."""

    job: str | None
    """The job of the first cycle."""

    renewed: int
    """Number of basins with a forecast of this day: `issued` or `filled`."""

    lacking: int
    """Number of basins that are `pending`, `stale`, `withheld` or `failed`."""

    basins: IssueTally
    """
    By outcome. `issued`: a forecast of this day; `filled`: one whose last past days are filled from other weather; `unchanged`: the forecast before already uses all known data; `pending`: not done yet, or lost; `stale`: its data stopped and its forecast is too old; `withheld` or `failed`: why is in `reason`.
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class Job(Model):
    """
    A job and its state.

    `params`, `result`, `progress.detail` and `problem.detail` may name files and addresses. They are shown to the key
    that posted the job and to an admin; for any other key they are null.
    """

    id: str
    kind: str
    """
    The kind of work. Only the service itself posts `upload`, `weather`, `basin`, `delivery`, `daily-part`, `member`, `members`.
    """

    params: dict[str, Any] | None
    """Its parameters, as posted."""

    status: Literal["queued", "running", "waiting", "succeeded", "failed", "cancelled"]
    """`waiting`: for jobs that it has posted itself."""

    attempt: int
    """Number of times a worker has started it."""

    max_attempts: int
    """Maximum number of starts if workers are lost."""

    progress: Progress | None
    result: dict[str, Any] | None
    """Its output: runs, a version, scores."""

    problem: Cause | None
    parent: str | None
    """The job that has posted it and waits for it."""

    schedule: str | None
    """The schedule that has posted it."""

    created_by: str | None
    """The name of the key that posted it."""

    created_at: AwareDatetime
    sent_at: AwareDatetime | None
    """When the workers were last notified of it."""

    started_at: AwareDatetime | None
    cancel_requested_at: AwareDatetime | None
    finished_at: AwareDatetime | None
    events: str
    """The address of its events."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class JobPage(Model):
    """Jobs, the newest first."""

    jobs: list[Job]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class KnownSnowSkill(Model):
    """
    Skill of snow cells of this kind on days (and, where `basins` is given, in basins) not used to choose them.
    """

    version: str
    """The version whose cells were scored: the run's model version, or its twin."""

    products: list[str]
    """The reference snow."""

    period: Period
    """The days."""

    basins: int | None
    """Number of other basins with similar snow behind these medians; null where they are of this basin."""

    r: float
    """Pearson's correlation with the reference."""

    bias_pct: float
    """In %; above 0: too much snow."""

    where_none_mm: float | None
    """
    Mean snow read, mm, on days on which the reference has none: snow of that size may be noise. Null where there are no such days, or where it was not scored.
    """


class LeadValue(Model):
    """The value of acting on the forecasts of one lead time."""

    origin: Literal["reforecast", "issued"]
    """
    `reforecast`: computed afterwards for past days. `issued`: as issued by the service day by day, verified with later observations.
    """

    weather: str
    """
    After T0. `observed`: observed weather. `climatology`: that of other years. Else a weather forecast, by its source and model.
    """

    scored: str
    """
    The version whose scores these are: the same, or its twin, the same recipe trained on fewer years, where it has none of its own because it has learnt from every year.
    """

    period: Period
    """T0 and the forecast days lie in it."""

    period_use: Literal["held out", "validation", "training", "mixed", "unknown"]
    """
    Of the verified days: those of the training are left out. How the training of the scored version used the days of the period: `held out` not at all, or it has not learnt from this basin; `validation` to choose its weights; `training` to fit them; `mixed` some of the days, or by some of the versions that it combines, or in some of the basins; `unknown` where the version does not state its days. Only a score on days that are held out is its skill: others flatter it.
    """

    forecaster: str
    """
    `calibrated`: the quantiles of the version's error model. `raw`: the uncalibrated members. `climatology`: the flow of other water years within a week of the day of the year. `persistence`: the last observed flow; `damped-persistence`: that on its way to the mean flow, by the correlation of flow at the lead. `rival NAME`: a rival's forecasts; `beside NAME`: the own ones of the same days. `adjusted`: the forecasts that a forecaster adjusted and published; `as-issued`: the same ones before that.
    """

    lead: int
    """Days after T0."""

    n: int
    """Number of forecasts."""

    threshold_mm_per_day: float | None
    """The threshold, as in `/verification`."""

    base_rate: float | None
    """Share of the days on which it was passed."""

    hit_rate: list[float] | None
    """Share of these days with action, for each of `act_at`."""

    false_alarm_rate: list[float] | None
    """Share of the other days with action, for each of `act_at`."""

    value: list[list[float]] | None
    """
    Relative economic value: a list for each of `act_at`, with a value for each of `cost_loss`. 1 is perfect; 0 is the better of always and never acting.
    """

    best_act_at: list[float] | None
    """The chance of the highest value, for each of `cost_loss`."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class LeadVerification(Model):
    """The scores of one forecaster at one lead."""

    origin: Literal["reforecast", "issued"]
    """
    `reforecast`: computed afterwards for past days. `issued`: as issued by the service day by day, verified with later observations.
    """

    weather: str
    """
    After T0. `observed`: observed weather. `climatology`: that of other years. Else a weather forecast, by its source and model.
    """

    scored: str
    """
    The version whose scores these are: the same, or its twin, the same recipe trained on fewer years, where it has none of its own because it has learnt from every year.
    """

    period: Period
    """T0 and the forecast days lie in it."""

    period_use: Literal["held out", "validation", "training", "mixed", "unknown"]
    """
    Of the verified days: those of the training are left out. How the training of the scored version used the days of the period: `held out` not at all, or it has not learnt from this basin; `validation` to choose its weights; `training` to fit them; `mixed` some of the days, or by some of the versions that it combines, or in some of the basins; `unknown` where the version does not state its days. Only a score on days that are held out is its skill: others flatter it.
    """

    forecaster: str
    """
    `calibrated`: the quantiles of the version's error model. `raw`: the uncalibrated members. `climatology`: the flow of other water years within a week of the day of the year. `persistence`: the last observed flow; `damped-persistence`: that on its way to the mean flow, by the correlation of flow at the lead. `rival NAME`: a rival's forecasts; `beside NAME`: the own ones of the same days. `adjusted`: the forecasts that a forecaster adjusted and published; `as-issued`: the same ones before that.
    """

    lead: int
    """Days after T0."""

    every_days: int | None
    """Days between successive T0; null for issued forecasts."""

    error_model: str | None
    """Hash of the error model, the newest where there were several; null where none was used."""

    attributes_assumed: list[str]
    """The attributes of the basin that were assumed."""

    n: int
    """Number of forecasts: those with observed flow on T0 and on the valid day."""

    years: int
    """Number of water years."""

    independent_issues: int | None
    """
    Number of forecasts that share no day with one another: the largest number whose days after T0, up to this lead, do not overlap. Null where it was verified before they were counted.
    """

    crps_mm_per_day: float | None
    """Mean continuous ranked probability score, mm/day; 0 is perfect."""

    crpss_climatology: float | None
    """1 less the CRPS over that of climatology; 1 is perfect, 0 no better."""

    crpss_climatology_low: float | None
    """The lower end of its 95 % interval, from resampled water years."""

    crpss_climatology_high: float | None
    """The upper end of its 95 % interval, from resampled water years."""

    crpss_persistence: float | None
    """1 less the CRPS over that of persistence; 1 is perfect, 0 no better."""

    crpss_persistence_low: float | None
    """The lower end of its 95 % interval, from resampled water years."""

    crpss_persistence_high: float | None
    """The upper end of its 95 % interval, from resampled water years."""

    coverage_90: float | None
    """Share of days within the interval from the 5 % to the 95 % quantile; 0.9 is right."""

    coverage_90_low: float | None
    """The lower end of its 95 % interval, from resampled water years."""

    coverage_90_high: float | None
    """The upper end of its 95 % interval, from resampled water years."""

    coverage_50: float | None
    """Share of days within the interval from the 25 % to the 75 % quantile; 0.5 is right."""

    width_90_mm_per_day: float | None
    """Mean width of the 90 % interval, mm/day."""

    width_50_mm_per_day: float | None
    """Mean width of the 50 % interval, mm/day."""

    nse_of_median: float | None
    """Nash-Sutcliffe efficiency of the median; 1 is perfect."""

    threshold_mm_per_day: float | None
    """
    The threshold: the flow exceeded on 2 % of the observed days, mm/day: in the period, or, for issued forecasts, in the whole record.
    """

    brier: float | None
    """Brier score, the mean squared error of the exceedance probability of the threshold; 0 is perfect."""

    pod: float | None
    """
    Probability of detection: of the days that passed the threshold, the share that was warned of, at a chance of 50 % or more.
    """

    far: float | None
    """False alarm ratio: of the days that were warned of, the share that did not pass the threshold."""

    csi: float | None
    """
    Critical success index: of the days that passed the threshold or were warned of, the share that is both.
    """

    pit: list[float] | None
    """
    Number of days in each tenth of the probability integral transform: equal if the forecasts are reliable. A day whose observation equals several quantiles is shared among their tenths.
    """

    reliability: Reliability | None
    months: list[MonthSkill] | None
    """By calendar month, January first; of the season `all` alone."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    verified_at: AwareDatetime


class LevelMargin(Model):
    """The rain that takes flow to one level."""

    name: str | None
    """The level's name in `/v1/basins/{basin}/thresholds`; null for a requested discharge."""

    discharge: float | None
    """In `units`; null where the record is too short to estimate it."""

    flow: Literal["corrected", "simulated"]
    """
    What is compared with the level: `corrected`, the members' flow moved by the error model from the last observed flow; `simulated`, the members' flow as it is: for levels of the version's own simulation, or without an error model.
    """

    windows: list[WindowMargin] | None
    """Margins by the window's length and first day, as far as the run's days reach."""

    in_words: str | None
    """The shortest and the longest window from the first day, in a sentence."""

    reason: str | None
    """Why the others are null; null where they are not."""


class LevelsJob(Model):
    """
    Simulate all past days with a model version, and store the floods and low flows of its own climatology,
    replacing earlier ones.
    """

    kind: Literal["levels"] = "levels"
    params: LevelsParams


class LongTermBalance(Model):
    """Water balance of all days from the empty store to T0."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    period: Period | None
    """From the first day after the empty store to T0."""

    simulated: SimulatedWater | None
    observed: ObservedRunoff | None
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class LossBesidePet(Model):
    """
    Mean annual loss of the model version over its simulated past, beside potential evapotranspiration. Loss is not
    measured, but evaporation cannot exceed its potential.
    """

    members: dict[str, float]
    """Each member's, mm a year."""

    pet: float | None
    """
    Potential evapotranspiration of the same days from temperature and latitude (Oudin et al. 2005), mm a year.
    """

    mean: float
    """The mean of the members, mm a year."""

    exceeding: list[str]
    """
    The members that lose more: a part of their loss is water that leaves the basin unseen, too much rain in the weather product, or an error. None where `pet` is not known.
    """

    period: Period
    """The simulated days."""


class MeanErrors(Model):
    """Mean sizes by measure."""

    volume: MeanSizes
    """mm."""

    peak: MeanSizes
    """mm/day."""


class ModelDetail(Model):
    """A model version with all its details."""

    id: str
    label: str | None
    """Its name for people."""

    architecture: str
    """`mclstm`: mass-conserving LSTM. `buckets`: conserving stores. The others hold no water."""

    conserving: bool
    """Whether the network conserves mass."""

    product: str
    """The weather product that it uses; several are joined by `+`, that of the largest share first."""

    trained_on: str
    """The weather product that it learnt from; if it differs from `product`, check the skill."""

    status: Literal["ready", "withdrawn", "shadow"]
    """`shadow`: it is not public yet, and only administrators see it."""

    created_at: AwareDatetime
    """When it was created, by the machine's clock."""

    issued_at: AwareDatetime
    """When it was created, by the service's clock."""

    parent: str | None
    """The version that it was fine-tuned from; null for one from scratch."""

    member_count: int
    basin_count: int
    """Number of training basins."""

    current_for: int
    """Number of basins that use it for their forecasts."""

    official: bool
    """
    Whether it is the service's own. One that was trained with an operator's key is not: it serves only basins that were registered with that key.
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    config: dict[str, Any]
    """Architecture and training configuration of the networks."""

    uses: Literal["best", "last"]
    """Choice of a member's weights: best validation or last step."""

    data_hash: str
    """Hash of the training data."""

    weights_hash: str
    """Hash of its weights."""

    code_version: str
    members: list[Member]
    """None for a version that combines others."""

    parts: list[ModelPart]
    """The versions that it combines, the largest share first; none for a version with members of its own."""

    basins: list[str]
    """Training basins, stored here or not."""

    tuned_on: list[str] | None
    """The training basins used in fine-tuning."""

    current_basins: list[str]
    """Basins that use it for their forecasts."""

    closure: Closure | None
    physics: list[ProbeResult] | None
    """
    Physics probes run at training or installation. A version that does not conserve mass skips those of its water.
    """

    pretrained: Pretrained | None
    """Which shipped ensemble it is."""

    twin: str | None
    """
    The version of the same recipe trained on fewer years, scored in its place on days that it has fitted itself.
    """


class ModelPage(Model):
    """Model versions, the newest first."""

    models: list[ModelSummary]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class ModelSkill(Model):
    """The scores of a model version over its basins."""

    version: str
    """The model version."""

    scored: str
    """
    The version whose scores these are: the same, or its twin, the same recipe trained on fewer years, where it has none of its own because it has learnt from every year.
    """

    scores: list[Quartiles]
    """Quartiles over the basins; null where no basin has a value."""


class NewCombination(Model):
    """
    A request to combine versions: each runs on its own weather product, and the flow is their weighted mean.
    """

    parts: list[PartShare]
    label: str | None = None
    """Its name for people."""


class NewFeed(Model):
    """A feed: its name and its settings."""

    name: str
    """A name that no other feed has."""

    settings: Annotated[
        UsgsSettings
        | RatingsSettings
        | UsgsNowSettings
        | OpenMeteoArchiveSettings
        | OpenMeteoForecastSettings
        | OpenMeteoEnsembleSettings
        | CategoriesSettings
        | GridSettings
        | GridForecastSettings
        | DaymetSettings
        | FilesSettings,
        Field(discriminator="adapter"),
    ]


class Normals(Model):
    """Normals for the requested days, by variable."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    product: str | None
    """The weather product."""

    credits: dict[str, DataCredit]
    """Providers of the products that came through feeds."""

    area: Area | None
    """The drainage area used to convert discharge; null where none was."""

    near_days: int
    """Half width of the window: days before and after the same day of other years."""

    least_years: int
    """Minimum number of other years for a normal."""

    time: list[date]
    """Every day of the requested period."""

    variables: dict[str, DayNormals | None]
    """
    By variable: `discharge` of the gauge, the series of the weather product, all water in the basin (`storage`) and the part read as snow (`snow`).
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class ObservedVolume(Model):
    """The part of the season observed until T0."""

    period: Period
    days: int
    """Number of observed days."""

    missing_days: int
    """Number of days without observation; their water is not included in any number."""

    depth: float
    """Of the observed days, mm."""

    volume: float | None
    """The same in million m³."""


class OriginOfRun(Model):
    """The discharge of the days ahead by where its water was at T0, mm/day."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    ceiling: float | None
    """
    All water stored at T0, mm, mean of the members: the upper limit of its runoff, if none of it were lost.
    """

    discharge: list[float] | None
    """
    The mean of the members, and of their traces, mm/day; `stored` and `yet_to_fall` add up to it, one value for each day of `time`.
    """

    stored: FlowOfOrigin | None
    """Water that was in the basin at T0; `snow` and `other` add up to it."""

    snow: FlowOfOrigin | None
    """The part of it that was in the cells that read as snow."""

    other: FlowOfOrigin | None
    """The rest of it."""

    yet_to_fall: FlowOfOrigin | None
    """Water that falls after T0, as rain or as snow."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class OutlookChange(Model):
    """The issue before, to compare with."""

    run: str
    t0: date
    peak: OutlookPeak | None
    likely: str | None
    """Its highest likely level."""

    level: str | None
    """The level that threatens now: the highest likely, else the highest possible, else the likeliest."""

    chance: float | None
    """The chance of that level by the issue before."""

    cause: str | None
    """The largest part of the change on the day of the peak."""


class OutlookFreshness(Model):
    """How current the forecast is."""

    state: Literal["fresh", "stale", "withheld", "missing"]
    """
    `stale`: its weather ends more than 3 days before the clock. `withheld`: the newest run was not issued, and there is none before. `missing`: there is no run.
    """

    reason: str | None
    """Why it is not fresh."""

    since: AwareDatetime | None
    """From when on it is so, by the service's clock."""

    newer: Superseded | None
    """A newer run that was withheld: the forecast is the one before."""

    awaited_version: str | None
    """The promoted version that has issued no forecast yet."""


class OutlookNow(Model):
    """The last observed flow."""

    day: date
    age_days: int
    """Days that it lies behind the service's clock."""

    discharge: float
    stage: Stage
    change: float | None
    """Since 2 days before."""

    trend: Literal["rising", "steady", "falling"] | None
    """Its direction; `steady` within 5% of the flow before."""

    level: str | None
    """The highest flood level that it is above."""


class PooledLead(Model):
    """The quartiles over the basins of each score of one forecaster at one lead."""

    origin: Literal["reforecast", "issued"]
    """
    `reforecast`: computed afterwards for past days. `issued`: as issued by the service day by day, verified with later observations.
    """

    weather: str
    """
    After T0. `observed`: observed weather. `climatology`: that of other years. Else a weather forecast, by its source and model.
    """

    scored: str
    """
    The version whose scores these are: the same, or its twin, the same recipe trained on fewer years, where it has none of its own because it has learnt from every year.
    """

    period: Period
    """T0 and the forecast days lie in it."""

    period_use: Literal["held out", "validation", "training", "mixed", "unknown"]
    """
    Of the verified days: those of the training are left out. How the training of the scored version used the days of the period: `held out` not at all, or it has not learnt from this basin; `validation` to choose its weights; `training` to fit them; `mixed` some of the days, or by some of the versions that it combines, or in some of the basins; `unknown` where the version does not state its days. Only a score on days that are held out is its skill: others flatter it.
    """

    forecaster: str
    """
    `calibrated`: the quantiles of the version's error model. `raw`: the uncalibrated members. `climatology`: the flow of other water years within a week of the day of the year. `persistence`: the last observed flow; `damped-persistence`: that on its way to the mean flow, by the correlation of flow at the lead. `rival NAME`: a rival's forecasts; `beside NAME`: the own ones of the same days. `adjusted`: the forecasts that a forecaster adjusted and published; `as-issued`: the same ones before that.
    """

    lead: int
    """Days after T0."""

    basins: int
    """Number of basins."""

    crps_mm_per_day: PooledScore
    """Mean continuous ranked probability score, mm/day; 0 is perfect."""

    crpss_climatology: PooledScore
    """1 less the CRPS over that of climatology; 1 is perfect, 0 no better."""

    crpss_persistence: PooledScore
    """1 less the CRPS over that of persistence; 1 is perfect, 0 no better."""

    coverage_90: PooledScore
    """Share of days within the interval from the 5 % to the 95 % quantile; 0.9 is right."""

    coverage_50: PooledScore
    """Share of days within the interval from the 25 % to the 75 % quantile; 0.5 is right."""

    width_90_mm_per_day: PooledScore
    """Mean width of the 90 % interval, mm/day."""

    width_50_mm_per_day: PooledScore
    """Mean width of the 50 % interval, mm/day."""

    nse_of_median: PooledScore
    """Nash-Sutcliffe efficiency of the median; 1 is perfect."""

    brier: PooledScore
    """Brier score, the mean squared error of the exceedance probability of the threshold; 0 is perfect."""

    pod: PooledScore
    """
    Probability of detection: of the days that passed the threshold, the share that was warned of, at a chance of 50 % or more.
    """

    far: PooledScore
    """False alarm ratio: of the days that were warned of, the share that did not pass the threshold."""

    csi: PooledScore
    """
    Critical success index: of the days that passed the threshold or were warned of, the share that is both.
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class PretrainedJob(Model):
    """
    Install a trained ensemble shipped with Freshet as a model version, and derive the means of stored products that
    it takes as weather. Repeating it changes nothing.
    """

    kind: Literal["pretrained"] = "pretrained"
    params: PretrainedParams


class PrintedModel(Model):
    """A model of the published table."""

    model: str
    medians: list[PublishedMedian]


class ProposedChange(Model):
    """A change of an alert that a run proposes."""

    kind: Literal["begins", "rises", "falls", "ends"] | Literal["level", "undecided", "decided", "promotion"]
    """
    `begins`, `rises`, `falls`, `ends`: the severity of a level. `level`: somebody changed or removed a level with an alert. `undecided`, `decided`: the alerts of the basin can not, or again, be decided. `promotion`: its forecasts come from another model version; the river has not changed.
    """

    at: AwareDatetime
    """By the service's clock."""

    basin: str
    level: str | None
    direction: Literal["rising", "falling"] | None
    discharge_m3s: float | None
    stage_ft: float | None
    """The official stage of a flood category, otherwise that of the discharge by the basin's rating."""

    category: Literal["action", "minor", "moderate", "major"] | None
    """The official flood category; null for other levels."""

    impact: str | None
    """What happens from the level on, as its source states it."""

    severity: Literal["advisory", "watch", "warning"] | None
    """Now; of the whole basin, the highest."""

    severity_before: Literal["advisory", "watch", "warning"] | None
    trend: Literal["rising", "steady", "falling"] | None
    chance: float | None
    chance_before: float | None
    """By the run before."""

    window_days: int | None
    run: str | None
    """The run that caused it."""

    t0: date | None
    version: str
    """The model version that the forecasts come from."""

    why: str
    """The numbers and the rule, and what a forecaster contributed."""

    decided_by: str | None
    """Who approved it or published the adjustment behind it."""

    adjustment: str | None
    """The published adjustment behind it."""

    levels: list[StandingLevel] | None
    """
    Of the change that heads a message, after it. The levels of the river with an alert, the one that stands for it first: of the most severe, the furthest out that is likely to be passed (a chance from 0.5), otherwise the furthest out that is possible (from 0.1).
    """

    advice: list[LevelAdvice] | None
    """
    What happens and what to do, as the sources of levels state it: of the level furthest out that is likely, and of the one that is possible, among those of which anything is stated; in an outlook also of the alert's level, where its chance is lower.
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class PruneJob(Model):
    """Delete records past their retention. Repeating it deletes nothing."""

    kind: Literal["prune"] = "prune"
    params: PruneParams


class PublishedModel(Model):
    """A published model with scores for each basin."""

    model: str
    source: str
    """The repository and its commit."""

    citation: str
    """Whom to cite."""

    scores: list[PublishedScore]


class PublishedTable(Model):
    """The medians that the literature prints for the 447 basins of CAMELS-US."""

    comparable: bool
    """Whether this comparison is of the same days and exactly the same basins."""

    note: str
    """The contents of the table, and whether it is comparable."""

    period: Period
    basins: int
    product: str
    """The weather product of the study."""

    models: list[PrintedModel]


class RainMarginOfRun(Model):
    """The rain that takes flow to each level, from the water in the basin at T0."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    response_days: int
    """Days after a window until which the highest flow is looked for."""

    levels: list[LevelMargin] | None
    """
    The rising levels set by operators, the basin's floods, and those of the version's own simulation; or the requested discharge.
    """

    not_monotone: float | None
    """
    Share of the members' responses in which flow falls although more rain fell, 0 to 1: a fault of the networks. A margin is then the smallest rain that suffices.
    """

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class RecordLevel(Model):
    """A level of the record."""

    name: str
    """The level's name, unique within the basin."""

    return_period_years: float | None
    """
    Return period: mean number of years between annual extremes beyond the level; of a frequent flood, between independent floods.
    """

    exceeded_percent: int | None
    """Percentage of days with a higher flow."""

    discharge: float | None
    """In `units`; null for the reason that `reason` gives."""

    low: float | None
    """The lower end of its interval; null for the reason that `reason` gives."""

    high: float | None
    """The upper end of its interval."""

    reason: str | None
    """Why the discharge or its interval is null; null where neither is."""

    stage: Stage
    """The stage of the discharge, by the basin's rating of the day."""


class RecordStatistic(Model):
    """Levels of one kind, by one method."""

    kind: Literal["frequent-flood", "flood", "low-flow", "flow-duration"]
    method: Literal["generalized-pareto", "gev", "bulletin-17c", "log-pearson-3", "share-of-days"]
    """
    `generalized-pareto`: of the heights of independent floods above a threshold, by L-moments. `gev`: a generalized extreme value distribution by L-moments. `bulletin-17c`: log-Pearson III by the expected moments of the logarithms, without the low outliers of the multiple Grubbs-Beck test. `log-pearson-3`: by the moments of the logarithms. `share-of-days`: counted.
    """

    comparison: bool
    """
    Whether these floods stand beside those of the basin's method for comparison alone: without chances and without alerts.
    """

    direction: Literal["rising", "falling"]
    """Direction in which flow crosses the levels."""

    what: str
    """The quantity behind the levels."""

    interval: str | None
    """How the intervals were computed."""

    years: int
    """Number of years with at most 10 % of the days missing."""

    left_out_years: int
    """Number of other years within the record, left out because more days are missing."""

    dry_years: int
    """Number of years whose extreme is 0."""

    low_outliers: int | None
    """
    Number of years whose flood counts only as smaller than the others, dry years included; null where the method tests for none.
    """

    trend: Trend | None
    """The trend of annual floods; null for other levels."""

    period: Period | None
    """From the first day of the first of those years to the last of the last."""

    levels: list[RecordLevel]


class ReforecastJob(Model):
    """Forecast past days with observed weather, and store forecast skill by lead time."""

    kind: Literal["reforecast"] = "reforecast"
    params: ReforecastParams


class ReplayJob(Model):
    """
    Replay an archive as daily operation, with perturbed observations as weather forecasts. Repeating it stores
    nothing new.
    """

    kind: Literal["replay"] = "replay"
    params: ReplayParams


class RetrainingJob(Model):
    """
    Train the version in use again on today's record, compare the result, and with `promote` put it in use where it
    is better. Without a new water year it does nothing, so a schedule can post it.
    """

    kind: Literal["retraining"] = "retraining"
    params: RetrainingParams


class RivalComparison(Model):
    """Scores of rivals beside those of a model version, on the same days and basins."""

    version: str
    """The model version."""

    season: Literal["all", "DJF", "MAM", "JJA", "SON"]
    scores: list[RivalScore]
    """By rival, weather, lead and metric, as last verified. Empty where no forecast of both is verified."""


class RiverAlert(Model):
    """The current alert of a river, a basin and a direction: that of the level that stands for it."""

    basin: str
    level: str
    """The level's name in `/v1/basins/{basin}/thresholds`."""

    kind: Literal["frequent-flood", "flood", "low-flow", "flow-duration"] | None
    """Kind of level; null for a user-defined level."""

    return_period_years: float | None
    """Mean number of years between exceedances."""

    direction: Literal["rising", "falling"]
    """Whether it is passed upwards (`rising`) or downwards."""

    discharge: float
    """m³/s."""

    stage: Stage
    """Its stage, by the basin's rating of the day."""

    category: Literal["action", "minor", "moderate", "major"] | None
    """The official flood category; null for other levels."""

    impact: str | None
    """What happens from the level on, as its source states it."""

    chance: float
    """The calibrated chance of passing it on any day of the window, 0 to 1."""

    calibration: Literal["observed", "provisional", "backfilled", "fitted"]
    """
    What the chance rests on, as `calibration.kind` of the forecast: `provisional` where no forecasts with the weather model have been compared with observed flow, `backfilled` where most of those were computed later with its past issues.
    """

    trend: Literal["rising", "steady", "falling"] | None
    """Which way the chance has moved since the run before."""

    severity: Literal["advisory", "watch", "warning"] | None
    """Null: there is no alert."""

    since: AwareDatetime | None
    """When the severity was reached, by the service's clock."""

    why: str
    """The numbers and the rule behind the decision."""

    run: str
    """The run that decided it."""

    peak_return_period_years: float | None
    """
    Of that run's peak. Return period of the peak's median height: from the flood of two years on, the mean number of years between years with a higher flood, below that between independent floods.
    """

    peak_return_period_bound: Literal["more", "less"] | None
    """
    Whether it is `more` than the number, twice the record's length, or `less` than the number, the most frequent flood's; null where it is the number.
    """

    steps: list[AlertStep]
    """The rules of the level, the least severe first."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    levels: list[StandingLevel]
    """
    The levels of the river with an alert, the one that stands for it first: of the most severe, the furthest out that is likely to be passed (a chance from 0.5), otherwise the furthest out that is possible (from 0.1).
    """


class RunDetail(Model):
    """A run and its outcome in each basin."""

    id: str
    t0: date
    """The last day that the model's states have consumed."""

    horizon_days: int
    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    created_at: AwareDatetime
    """When it was computed, by the machine's clock."""

    version: str
    """The model version."""

    product: str
    """The weather product that drives the model."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    weather: WeatherUsed | None
    """The weather forecast behind it; null where none was used."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    reason: str | None
    """Why it was not issued for every basin; null where it was."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    status: Literal["issued", "partial", "failed"]
    """`issued`: for every basin. `partial`: for some. `failed`: for none."""

    t0_note: str | None
    """
    A warning where T0 was not named and lay more than 3 days before the clock: data are old. Null elsewhere.
    """

    official: bool
    """Whether the service itself, an admin or a schedule of theirs asked for it."""

    members: int
    """Number of networks in the ensemble."""

    what_if: WhatIf | None
    """Its changes; null where its purpose is not `what-if`."""

    forcing_cutoff: date | None
    """The last day of observed weather used; null where none was."""

    weights_hash: str
    code_version: str
    program: str
    """
    What computed it: torch's version and vector unit, and the library that ran MC-LSTM. Another one gives the same numbers but for the last digits.
    """

    trained_on: str
    """The weather product that the model version learnt from."""

    basins: list[BasinOfRun]


class RunSummary(Model):
    """A forecast run in a list."""

    id: str
    t0: date
    """The last day that the model's states have consumed."""

    horizon_days: int
    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    created_at: AwareDatetime
    """When it was computed, by the machine's clock."""

    version: str
    """The model version."""

    product: str
    """The weather product that drives the model."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    weather: WeatherUsed | None
    """The weather forecast behind it; null where none was used."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    reason: str | None
    """Why it was not issued for every basin; null where it was."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    status: Literal["issued", "partial", "failed"]
    """`issued`: for every basin. `partial`: for some. `failed`: for none."""

    t0_note: str | None
    """
    A warning where T0 was not named and lay more than 3 days before the clock: data are old. Null elsewhere.
    """

    official: bool
    """Whether the service itself, an admin or a schedule of theirs asked for it."""

    members: int
    """Number of networks in the ensemble."""

    what_if: WhatIf | None
    """Its changes; null where its purpose is not `what-if`."""


class Schedule(Model):
    """A stored schedule and its times."""

    id: str
    name: str
    job: ScheduledJob
    cron: str
    timezone: str
    enabled: bool
    next_run_at: AwareDatetime | None
    """Next time, by the machine's clock."""

    last_run_at: AwareDatetime | None
    last_job: str | None
    """The last job that it posted."""

    key: str | None
    """Id of the key that created or last changed it: its jobs run with the permissions of that key."""

    revision: int
    """Grows with every change and every posted job; the basis of the `ETag`."""

    created_at: AwareDatetime
    updated_at: AwareDatetime
    """When its fields were last changed."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class Schedules(Model):
    """All schedules in the order of their names."""

    schedules: list[Schedule]


class Side(Model):
    """The result of one of the two runs."""

    run: str
    discharge: Flow
    volume: Volume
    water_balance: WaterBalance | None


class SkilfulDays(Model):
    """Until which day ahead forecasts of a basin are better than climatology, by month."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    version: str
    """The model version."""

    headlines: list[ForecasterHeadline]
    """By origin, weather, period and forecaster."""


class SkillNow(Model):
    """Skill on days that the version has not learnt from."""

    nse: float | None
    """Nash-Sutcliffe efficiency of its simulation."""

    nse_of: str | None
    """The version that was evaluated: the same, or its twin."""

    nse_period: Period | None
    """The first and the last of the days."""

    forecasts: ForecastSkill | None


class SnowAtT0(Model):
    """The snow of T0, mm."""

    mean: float
    """Of the members."""

    p05: float
    """Their 5 % quantile."""

    p95: float
    """Their 95 % quantile."""

    normal: float | None
    """The mean of that day in other years, as the model version simulates it."""

    percent_of_normal: float | None
    """The mean in % of it."""

    snow17: float | None = None
    """
    Snow water of the Snow-17 model, driven by the basin's own weather, for comparison. Only where the mapping is `regional`.
    """

    snow17_percent_of_normal: float | None = None
    """The same in % of what Snow-17 has in other years. Only where `snow17` is."""

    reference: SnowReference | None
    """The basin's stored reference of T0."""

    uncertain: bool
    """
    Whether `reference` or `snow17` lies outside the range of the members, `p05` to `p95`: compared in % of their own normals, in mm where one has none.
    """

    uncertain_reason: str | None
    """The estimates that differ; null where it is not uncertain."""

    in_words: str
    """In % of normal, or what is uncertain."""


class SnowRead(Model):
    """Origin and spread of the snow, read from cells that follow it: the model was not trained on snow."""

    mapping: Literal["basin", "regional", "store"]
    """
    Choice of the cells: `basin`, against reference snow of this basin; `regional`, over many other basins; `store`, the model's own snow stores.
    """

    mapping_note: str
    """The same in a sentence, with the reason where it is `regional`."""

    p05: list[float]
    """The 5 % quantile of the members (and traces), mm, one value for each day of `time`."""

    p95: list[float]
    """The 95 % quantile of the members (and traces), mm, one value for each day of `time`."""

    volume_m3: list[float] | None
    """The mean over the basin's area, m3, one value for each day of `time`."""

    at_t0: SnowAtT0
    skill: KnownSnowSkill | None


class SnowSkill(Model):
    """
    The snow cells, chosen on the training period against reference snow, with their skill.

    The model was not trained on snow: the cells that follow it were found afterwards.
    """

    label: str
    """Always `not trained on snow`."""

    product: str
    """The reference snow."""

    cells: dict[str, list[int]]
    """The chosen cells of each member."""

    training: Agreement
    """On the days used to choose the cells."""

    test: Agreement
    """On other days."""

    bias_pct: float | None
    """Bias on the test days, %."""

    where_none_mm: float | None
    """
    Mean snow read on test days on which the reference has none, mm. Null where there are no such days, or if it was scored before this field existed.
    """

    reason: str | None
    """Why a number is missing; null where none is."""

    evaluated_at: AwareDatetime


class SpreadOfRun(Model):
    """Spread of the members' discharge on each day ahead, and its sources."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    standard_deviation: list[float] | None
    """
    Standard deviation of discharge over all members, weather traces and perturbed states, mm/day. Errors common to all of them are not included; calibrated quantiles include those too, one value for each day of `time`.
    """

    shares: SpreadShares | None
    """Shares of the variance; they add up to 1."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class StageOfRun(Model):
    """The latest forecast as stage."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    rating_source: str | None
    """Where the rating table is from."""

    rating_valid_from: date | None
    """The first day that it holds for."""

    rating_version: int | None
    """Its version, in `/v1/basins/{basin}/ratings`."""

    stage_of: str | None
    """The origin of the published flow that is converted: `calibrated`, or `discharge` without it."""

    stage_ft: dict[str, list[float | None]] | None
    """Stages by quantile, ft above the gauge's datum; null where the flow is outside the rating or null."""

    stage_m: dict[str, list[float | None]] | None
    """The same in metres."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class StatePage(Model):
    """States of a basin, the newest day first."""

    basin: str
    version: str
    """The model version."""

    states: list[StateSummary]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class Status(Model):
    """The status of the service."""

    status: Literal["ok", "degraded"]
    degraded: list[Degraded]
    """Degradations; empty if there are none."""

    now: AwareDatetime
    """The service's clock."""

    replayed: bool
    """Whether the operator has set that clock (a replay)."""

    version: str
    """Of the software."""

    database_revision: str | None
    """Of the database's tables."""

    counts: Counts
    processes: Processes
    stale_after_days: int
    """Forecasts and inputs above this age are stale."""

    versions: list[VersionStatus]
    """The model versions in use."""

    inputs: list[InputStatus]
    """The stored products."""

    storage: list[StorageUse]
    """
    The kinds of data in the database, the largest first, as the last prune measured them; empty before the first.
    """

    storage_measured_on: date | None
    """The day of that."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class Storage(Model):
    """Water in the basin at the end of each day, mm, the mean of the members."""

    at_t0: float | None
    """
    All water in the model's store at the end of T0, mm, before the first day ahead. Null where the run did not store it.
    """

    total: list[float]
    """All water in the model's store, mm, one value for each day of `time`."""

    snow: list[float] | None
    """
    Water in the cells read as snow, mm. The model was not trained on snow, one value for each day of `time`.
    """

    snow_read: SnowRead | None
    """Origin and spread of `snow`."""


class StorageOfRun(Model):
    """Water in the basin on the days ahead, mm, the mean of the members."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    at_t0: float | None
    """All water in the model's store at the end of T0, before the first day ahead, mm."""

    total: list[float] | None
    """All water in the model's store at the end of the day, mm, one value for each day of `time`."""

    snow: list[float] | None
    """The part in the cells that read as snow, mm, one value for each day of `time`."""

    snow_read: SnowRead | None
    """Origin and spread of `snow`."""

    other: list[float] | None
    """The rest, mm, one value for each day of `time`."""

    past: PastWater | None = None
    """The water of the days up to T0. Only with `past_days`; null where none is known."""

    normal_total: NormalWater | None
    """Of `total`. It comes from the same model version, so both share its bias."""

    normal_snow: NormalWater | None
    """Of `snow`."""

    snow_skill: list[SnowSkill]
    """Skill of those cells against reference snow, by the latest evaluation."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class Threat(Model):
    """The levels of the basin that flow may pass."""

    window_days: int | None
    """Number of days after the last past day that the chances cover."""

    likely: ThreatLevel | None
    """The highest flood level with a chance of 50% or more."""

    possible: ThreatLevel | None
    """The highest with a chance of 10% or more."""

    levels: list[ThreatLevel] | None
    """Every level that can have an alert."""

    alert: AlertNow | None
    advice: list[LevelAdvice]
    """
    What happens and what to do, as the sources of levels state it: of the level furthest out that is likely, and of the one that is possible, among those of which anything is stated; in an outlook also of the alert's level, where its chance is lower.
    """


class TrainingConfig(Model):
    """One training: network, inputs, periods, samples, learning rates. Member m starts from `seed + m`."""

    network: MCLSTMConfig | BucketsConfig | LSTMConfig | EALSTMConfig | GRUConfig | EINSConfig | MMRNNConfig | None = (
        None
    )
    """
    By default `{"architecture": "mclstm", "cells": 32, "embedding": 16, "rank": 16, "basin_vector": 32, "vector_dropout": 0.3, "antecedent_days": [3.0, 15.0, 60.0, 365.0], "output_gate_bias": -3.0, "wetness": false}`.
    """

    inputs: InputsConfig
    train_period: str
    """Days whose discharge is fitted."""

    validation_period: str | None = None
    """Days that select the best weights, outside the training period."""

    held_out_period: str | None = None
    """Days within the training period that are left out of the fit, for a test."""

    windows: WindowsConfig | None = None
    """By default `{"spinup_days": 365, "loss_days": 365, "batch": 32}`."""

    schedule: Cosine | Staircase | None = None
    """
    By default `{"kind": "cosine", "steps": 1500, "peak_learning_rate": 0.01, "warmup_steps": 30, "final_learning_rate": 0.0001}`.
    """

    precision: Literal["bfloat16", "float32"] = "bfloat16"
    """
    Precision of the gates' products in training. bfloat16 is for an MC-LSTM of rank 0 on a processor that supports it; everything else trains in float32.
    """

    ema_decay: float = 0.995
    """
    Decay of the running mean of the weights at each step. The mean is validated and stored; 0 stores the weights themselves.
    """

    loss: Literal["nse*", "mse", "rmse"] = "nse*"
    """
    The loss: `nse*`, squared errors over the variance of the basin's flow; `mse`, squared errors in mm/day, in which wet basins count for more; or `rmse`, its root.
    """

    log_share: float = 0.0
    """Share of the loss that is on the logarithm of the flow, for low flows; 0: none."""

    expectile: float = 0.54
    """Weight of underestimated days in the loss, as a share; with 0.5 `nse*` is as published."""

    weight_decay: float = 0.1
    """Of all weights except the basin vectors, per step and times the learning rate (AdamW)."""

    clip_norm: float = 1.0
    """Maximum norm of the gradient; a larger one is scaled down."""

    unseen: list[list[Literal["past_weather", "embedding", "basin_vector", "rain", "water"]]] = []
    """
    Inputs that the gates of an MC-LSTM's members do not see, a list per member, repeated in turn: members that differ in more than their seed err less together. By default all see all.
    """

    fitted: Literal["network", "basin_vectors"] = "network"
    """
    The fitted weights: all weights of the network, or in a fine-tuning only the vectors of its basins (`basin_vectors`), which needs no validation period and changes no other basin.
    """

    validate_every: int = 100
    """Steps between validations."""

    checkpoint_every: int = 50
    """Steps between checkpoints."""

    members: int = 1
    """Number of members of the ensemble."""

    seed: int = 0
    """Seed of the first member; each further member's is one higher."""


class TrainingParams(Model):
    """The configuration and basins of a training."""

    config: TrainingConfig | FineTuningConfig
    """With `parent`, a fine-tuning."""

    basins: list[str] = []
    """By default all stored basins."""

    label: str | None = None
    """A name for the version."""

    compare: PromotionRule | None = None
    """
    Without it, the version serves only basins that lack one; a fine-tuned version serves no basin before it is promoted.
    """


class VerificationJob(Model):
    """
    Verify the issued forecasts against later observations, and store their skill by lead time. Repeating it changes
    nothing without new flow or forecasts.
    """

    kind: Literal["verification"] = "verification"
    params: VerificationParams


class VolumesJob(Model):
    """Forecast a season's volume with the weather of other years. The latest forecasts do not change."""

    kind: Literal["volumes"] = "volumes"
    params: VolumesParams


class VolumesOfRun(Model):
    """A seasonal volume."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    season: str
    """The season, as days of every year."""

    period: Period
    """The season of this forecast: the first that had not ended at T0."""

    ahead: Period
    """Its days after T0."""

    exceeded_percent: list[int]
    """The chances with which the volumes are exceeded, %. 50 is the median, 90 a low volume."""

    area: Area | None
    """The drainage area used for depths."""

    calibrated: VolumeQuantiles | None
    """Corrected by the errors of past forecasts: from equally likely paths of calibrated flow."""

    calibration: Calibration | None
    """The basis of `calibrated`; its flow in mm/day."""

    raw: VolumeQuantiles | None
    """Of every member with every trace of weather: not calibrated, and overconfident."""

    observed: ObservedVolume | None
    normal: NormalVolume | None
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class WeatherDetail(Model):
    """A weather forecast with its contents for each basin."""

    id: str
    """Its identifier."""

    source: str
    """The provider."""

    model: str
    """The weather model."""

    reference_time: AwareDatetime
    """Reference time of the model run."""

    operational: bool
    """
    Whether forecasts use it by default: it came from a feed, an admin or the command line. One that was sent with an operator's key is used only by forecasts that name it.
    """

    licence: str | None
    """The source's licence; null where it names none."""

    credit: str | None
    """The attribution to show with the data; null where none is required."""

    created_at: AwareDatetime
    """When its first basin was stored, by the machine's clock."""

    basins: list[WeatherOfBasin]


class WeatherModelsOfRun(Model):
    """The calibrated forecast with each weather model alone, by its source and model."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    weather_models: list[WeatherShare]
    """The shares of the weather models, and why others are missing. Empty where there is one alone."""

    p05: dict[str, list[float]] | None
    """Discharge in the requested unit: lower with a chance of 5 %, one value for each day of `time`."""

    median: dict[str, list[float]] | None
    """Discharge in the requested unit, the median, one value for each day of `time`."""

    p95: dict[str, list[float]] | None
    """Discharge in the requested unit: higher with a chance of 5 %, one value for each day of `time`."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class WhatIfOfRun(Model):
    """A what-if run and the run without its changes, side by side."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    base: Side | None
    """Without the changes."""

    changed: Side | None
    """With them."""

    difference: Volume | None
    """Additional outflow with the changes; negative: less."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class WhatIfParams(Model):
    """The forecast to compute, and the changes to it."""

    basins: list[str] = []
    """By default all that have a model version."""

    t0: date | None = None
    """The last day of the state; by default the newest that the data allow."""

    horizon: int = 10
    """Days after T0."""

    version: str | None = None
    """A model version; by default the current one of each basin."""

    product: str | None = None
    """The weather product that the version is expected to use."""

    weather: Literal["observed", "supplied", "climatology", "dry"] = "observed"
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    weather_id: str | None = None
    """The weather forecast to use; by default the newest known one of each basin."""

    age: bool = False
    """
    Whether to compute the season of origin of the discharge's water. This simulates the year before T0 again.
    """

    changes: Changes | None = None
    """By default `{"degrees": 0.0, "precipitation_percent": 0.0, "assimilate": false}`."""

    note: str | None = None
    """The purpose of the run, in a line. It is public: everybody who can read forecasts can read it."""


class WorstErrors(Model):
    """The forecasts with the largest errors, and the mean size of all."""

    of: Literal["volume", "peak"]
    season: Literal["all", "DJF", "MAM", "JJA", "SON"]
    forecasts: int
    """Number of verified forecasts, of which these are the worst."""

    means: MeanErrors | None
    """The mean size of their errors and parts."""

    cases: list[ForecastError]
    """The largest error first. Of forecasts of a basin whose days overlap only the worst is listed."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class Alerts(Model):
    """Alerts of all rivers."""

    alerts: list[RiverAlert]
    """In the order of basins and directions."""

    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class BalanceOfRun(Model):
    """The water balance of the days ahead, mm."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    units: dict[str, str]
    """The unit of each field with values."""

    first_day: date
    """The first day of the balance: the day after T0."""

    last_day: date
    water_balance: WaterBalance | None
    residuals: dict[str, float] = {}
    """
    The residual of every member with every trace of weather, mm, as `MEMBER/TRACE`. Only where there are traces.
    """

    loss_beside_pet: LossBesidePet | None
    """The loss compared with potential evapotranspiration."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class BasinForecast(Model):
    """The result of a run for a basin."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    run: str
    version: str
    """The model version."""

    awaited_version: str | None = None
    """
    The version that was promoted for the basin and has issued no such forecast yet: until then, that of the version before it stays the latest. Only there.
    """

    version_note: str | None = None
    """The same in a sentence. Only there."""

    purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"]
    """
    `operational`: by a schedule, an admin or the service's owner; it may become the latest. `late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with changed weather or initial water; it never becomes the latest either.
    """

    official: bool | None = None
    """
    False for a run of an operator's key and for an unofficial basin, which are not the service's own forecasts. Only there.
    """

    what_if: WhatIf | None = None
    """
    Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was asked to change something, and where others that were are compared with it.
    """

    status: Literal["issued", "withheld", "failed"]
    """Unless it is `issued`, there are no values and `reason` is given."""

    reason: str | None
    superseded_by: Superseded | None
    """
    A newer run that was withheld or failed, or started from an empty store less than a year before, so that this one is still the latest. Null for a run requested by its id.
    """

    t0: date
    """The last day of weather in the initial state."""

    issued_at: AwareDatetime
    """When it was issued, by the service's clock."""

    available_at: AwareDatetime
    """Readable since this instant."""

    horizon_days: int
    product: str
    """
    The weather product that drives the model; several are joined by `+`, that of the largest share first.
    """

    product_credit: DataCredit | None = None
    """Providers of these products. Only where feeds brought some of them."""

    forcing_kind: Literal["observed", "supplied", "climatology", "dry"]
    """
    The weather after T0. `observed`: a hindcast, driven by observed weather. `supplied`: a weather forecast. `climatology`: the weather of the same days in every other year. `dry`: no precipitation, and the mean of other years for all else: hypothetical.
    """

    forcing_note: str
    """The same in a sentence."""

    forcing_cutoff: date | None = None
    """The last day of observed weather used."""

    weather: WeatherUsed | None = None
    """The weather forecast behind it. Only where `forcing_kind` is `supplied`."""

    filled_days: int | None = None
    """
    Number of days after T0 that had ended when the run was issued, without weather that was observed as a whole. The horizon includes them; peaks and chances do not. Only where there are any.
    """

    filled_weather: list[FilledDays] | None = None
    """
    Where the weather of these days came from, and that of days that no weather forecast holds. Only where weather was filled.
    """

    weather_note: str | None = None
    """
    The same in a sentence, with the products that are missing, and the age of the weather forecast if that is old.
    """

    version_parts: list[PartOfRun] | None = None
    """The versions that took part, the largest share first. Only for a version that combines others."""

    subset: SubsetOfRun | None = None
    """What was missing of it. Only where something was."""

    traces: int | None = None
    """
    Number of weather traces that drive each member after T0. Only where there are traces: in a weather forecast, and in that of other years.
    """

    bridges: list[BridgeUsed]
    """
    The steps that turned the weather into the version's product, in order; none where it was used unchanged.
    """

    seen_in_training: bool | None
    """Whether the model version learnt from this basin; if not, its skill elsewhere is little guide here."""

    outside_training: list[str] | None
    """The attributes of the basin outside the range of the training basins: there the model extrapolates."""

    trained_on: str | None
    """The weather product that the version learnt from."""

    training_note: str | None
    """The same in a sentence."""

    attributes_assumed: list[str] | None
    """Unknown attributes of the basin that an operator lets stand at the mean of the training basins."""

    spin_up_days: int | None
    """Days of warm-up: from the empty store to T0."""

    spin_up_note: str | None = None
    """Its effect on the flow. Only where it is 365 days or fewer."""

    t0_age_days: int
    """How many days T0 lay before the service's clock at issue."""

    t0_note: str | None = None
    """A warning where T0 was not named and lay more than 3 days before the clock: data are old."""

    age_days: int | None = None
    """Days from T0 to the service's clock. Only in the latest answers."""

    stale: bool | None = None
    """
    Whether that is more than 3 days, without past days whose weather was filled: newer data or a newer run is overdue. Only in the latest answers.
    """

    filled_forcing: dict[str, int]
    """
    Number of missing weather values interpolated, or filled by the stated rule of their source (Daymet lacks 31 December of leap years), by variable; of all products together.
    """

    skipped_days: int
    """
    Number of days without weather that the network skipped; 0 for a network that skips none. Of a version that combines others, the largest number of one of them.
    """

    area: Area | None
    units: dict[str, str]
    """The unit of each field with values."""

    time: list[date]
    """The valid days."""

    lead_days: list[int]
    """Days since T0, one value for each day of `time`."""

    in_words: str | None
    """A summary of the published forecast in a few sentences."""

    published: dict[str, list[float | None]] | None
    """
    In the requested unit, the flow to use, as in `/v1/basins/{basin}/outlook`: as a forecaster adjusted it or a measured flow updated it, else `calibrated`, else the members'. Null on days that had ended at issue, and on those that an adjustment moves no flow to, one value for each day of `time`.
    """

    adjustment: str | None = None
    """The published adjustment that `published` and `in_words` follow. Only there."""

    update: str | None = None
    """The label of that adjustment, where it is an update by a measured flow. Only there."""

    peak: PeakOfRun | None
    """
    The highest day ahead of `published`. Null where flow more likely falls from the last past day than rises.
    """

    calibrated: dict[str, list[float]] | None
    """
    In the requested unit, as issued: discharge corrected by the errors of past forecasts and the last observed flow. `p10`: lower with a chance of 10 %. The correction adds or removes water, so no balance closes, one value for each day of `time`.
    """

    calibration: Calibration | None
    """The basis of `calibrated`."""

    quantiles_of: Literal["members", "members and traces"]
    """
    Origin of the quantiles of `discharge`, not calibrated. `members`: the spread of the ensemble's members. `members and traces`: of every member with every trace of weather.
    """

    discharge: dict[str, list[float]] | None
    """
    In the requested unit: `median`, and quantiles of the members named by the percentage at or below (`p10`: a tenth of the members). They are the spread of the members, not calibrated, and narrower than the truth: in 32 real basins over the test years, p05 to p95 held 29 % of the days, where calibrated quantiles would hold 90 %, one value for each day of `time`.
    """

    normal: NormalFlow | None
    """
    Normal flow for these days, as known when the run was issued (`/v1/basins/{basin}/normals` has the method and quantiles).
    """

    members: dict[str, list[float]] = {}
    """
    Discharge of each member, or of each member with each trace as `MEMBER/TRACE`. Only with `members=true`, one value for each day of `time`.
    """

    storage: Storage | None
    """Water in the basin."""

    cells_at_t0: dict[str, list[float]] = {}
    """Water in each cell of each member at T0, mm. Only with `members=true`."""

    precipitation: list[float] | None
    """Rain and snow, mm/day, the mean of the traces, one value for each day of `time`."""

    loss: list[float] | None
    """
    Water lost other than through the river, mm/day, mean of the members, one value for each day of `time`.
    """

    water_balance: WaterBalance | None
    provenance: Provenance
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class BasinForecasts(Model):
    """The latest forecasts of many basins: every basin asked for is in `forecasts` or in `without`."""

    forecasts: list[BasinForecast]
    """In the requested order."""

    without: list[WithoutForecast]
    """Basins without a forecast, and why."""


class BasinOutlook(Model):
    """A basin in short: flow now and on the days ahead, its peak, threat, change, snow, season and skill."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    at: AwareDatetime
    """The service's clock."""

    run: str | None
    version: str | None
    t0: date | None
    issued_at: AwareDatetime | None
    units: dict[str, str]
    """The unit of each field with values."""

    flow: Literal["calibrated", "members"] | None
    """
    The distribution behind every number: `calibrated` by the version's error model, or the uncalibrated `members` with every trace of weather.
    """

    adjustment: Adjustment | None
    """The published one that the numbers follow."""

    freshness: OutlookFreshness
    now: OutlookNow | None
    days: OutlookDays | None
    peak: OutlookPeak | None
    """Null where flow more likely falls from the last past day than rises."""

    threat: Threat
    change: OutlookChange | None
    snow: SnowNow | None
    season: SeasonNow | None
    skill: SkillNow | None
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class BasinSkill(Model):
    """The scores of a model version in a basin."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    version: str
    """The model version."""

    scored: str
    """
    The version whose scores these are: the same, or its twin, the same recipe trained on fewer years, where it has none of its own because it has learnt from every year.
    """

    seen_in_training: bool
    """Whether the version learnt from this basin."""

    trained_on: str
    """The weather product that the version learnt from."""

    product: str
    """The weather product that it uses and was scored with."""

    scores: list[Score]
    snow: list[SnowSkill]
    """Skill of its snow, by reference; empty where none was scored."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class BasinVerification(Model):
    """Verification of a model version's forecasts in a basin."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    version: str
    """The model version."""

    season: Literal["all", "DJF", "MAM", "JJA", "SON"]
    verification: list[LeadVerification]
    """By origin, weather, period, lead and forecaster."""


class BridgedBasin(Model):
    """A bridge's corrections for a basin."""

    basin: str
    pooled_from: list[str]
    """The similar basins that its corrections are the mean of; empty if fitted here."""

    pooled_reason: str | None
    """Why it was not fitted here; null where it was."""

    day_offset: float
    """
    How much earlier the source product's days begin, in days: at 0.8 a day's precipitation is 20 % of that product's value for the day and 80 % of its value for the next. If it is above 0, the last day waits for the next.
    """

    factors: dict[str, list[float]]
    """Factors of precipitation, radiation and vapour pressure, by month."""

    steps: dict[str, list[float]]
    """Additive correction of temperatures, °C, by month."""

    limited: list[str]
    """Variables whose correction reached its limit in some month."""

    held_out: HeldOut | None
    applied_at: AwareDatetime | None
    """When it was last applied; null where it has not been."""

    hash: str
    """Hash of its corrections."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class Comparison(Model):
    """A comparison of model versions."""

    id: str
    created_at: AwareDatetime
    """When it was created, by the machine's clock."""

    period: Period
    """The days that were scored, the same for all."""

    period_use: Literal["held out", "validation", "training", "mixed", "unknown"]
    """
    How the trainings of the versions used these days: `held out`, because others are refused, or `unknown` where a version does not state its days.
    """

    versions: list[ComparedVersion]
    """The others are compared with the first."""

    scores: list[ComparedScore]
    published_models: list[PublishedModel]
    """Published models compared with the first version, basin by basin."""

    published_table: PublishedTable
    basins: list[str]
    """Basins in which every version was scored."""

    left_out: dict[str, str]
    """Why a basin could not be compared, by its identifier."""

    official: bool
    """Whether the service itself or an admin asked for it."""

    by_basin: list[BasinColumn]
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class ComparisonPage(Model):
    """Comparisons, the newest first."""

    comparisons: list[ComparisonSummary]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class DecisionValue(Model):
    """The worth of acting on the chance of high flow, in the cost-loss model (Richardson 2000)."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    version: str
    """The model version."""

    season: Literal["all", "DJF", "MAM", "JJA", "SON"]
    act_at: list[float]
    """Somebody acts where the chance of passing the threshold is as high."""

    cost_loss: list[float]
    """The cost of acting over the loss that acting avoids."""

    leads: list[LeadValue]
    """By origin, weather, period, lead and forecaster."""


class EdrQuery(Model):
    """A query."""

    link: EdrQueryLink


class HeldAlerts(Model):
    """Changes of the alerts of a basin that a run proposes and that wait for approval."""

    basin: str
    run: str
    held_at: AwareDatetime
    due_at: AwareDatetime | None
    """When they go out as proposed if nobody decides before; null where they wait for a level in doubt."""

    ruling: Literal["approve", "dismiss"] | None
    """What somebody decided; carried out in seconds."""

    ruled_by: str | None
    ruled_at: AwareDatetime | None
    note: str | None
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    in_doubt: dict[str, str]
    """Levels of the basin that seem wrong, and why. To approve their changes is to confirm them."""

    proposed: list[ProposedChange]


class HeldAlertsPage(Model):
    """What waits for approval, by basin."""

    held: list[HeldAlerts]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class IssuePage(Model):
    """Issues, the newest first."""

    issues: list[IssueSummary]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class ModelLevels(Model):
    """
    The levels of past flow as simulated by the basin's current model version, driven by observed weather. Simulated
    flow exceeds them as often as their return periods state, whatever the model's bias.
    """

    version: str
    """The model version; another version has other levels."""

    period: Period
    """The simulated days, without the first year (warm-up)."""

    area: Area
    """The drainage area used to convert depths."""

    attributes_assumed: list[str]
    """The attributes of the basin that were assumed."""

    computed_at: AwareDatetime
    levels: list[RecordStatistic]
    """Levels of the members' mean. Their names are those of the record with the prefix `model-`."""

    signatures: list[Signature]
    """
    Mean flow, flow duration and floods of the river without a gauge, from its outline and weather alone; empty until the levels are computed again, where they are older.
    """

    signatures_tested_in: int | None
    """
    Number of basins that the ranges and errors are of, each unseen by the members that simulated it; null where none are known for this version.
    """


class ModelVerification(Model):
    """Verification of a model version's forecasts over its basins."""

    version: str
    season: Literal["all", "DJF", "MAM", "JJA", "SON"]
    periods: list[Period]
    """The stored periods."""

    verification: list[PooledLead]
    """By origin, weather, period, lead and forecaster."""


class OutlookPage(Model):
    """Outlooks in the order of basins."""

    outlooks: list[BasinOutlook]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class RunPage(Model):
    """Runs, the newest first."""

    runs: list[RunSummary]
    next: str | None
    """Where the next page is, also in the `Link` header; null on the last page."""


class Thresholds(Model):
    """The levels of a basin's discharge."""

    basin: str
    basin_kind: Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
    """
    `synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it.
    """

    product: str
    """The source of the record: the basin's own gauge."""

    credit: DataCredit | None
    """Provider of the record; null where no feed brought any of it."""

    units: Literal["m3/s", "mm/day", "cfs"]
    """Unit of every discharge in the answer."""

    area: Area | None
    """The drainage area used to convert discharge; null where none was."""

    flood_frequency: FloodFrequency
    record: list[RecordStatistic]
    model: ModelLevels | None
    """Null for the reason in `missing`."""

    fixed: list[FixedThreshold]
    """Levels set by operators, in the order of their names."""

    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""


class TrainingJob(Model):
    """Train a model version, or fine-tune one."""

    kind: Literal["training"] = "training"
    params: TrainingParams


class WhatIfJob(Model):
    """
    Forecast with other weather, or with more or less water in the basin at T0. Its runs are separate: the latest
    forecasts, alerts and states do not change.
    """

    kind: Literal["what-if"] = "what-if"
    params: WhatIfParams


class BridgeDetail(Model):
    """A fit of a bridge with its corrections for each basin."""

    name: str
    """The bridge's name, also the product that its weather is stored under."""

    from_product: str
    """The product it converts."""

    to_product: str
    """The product it converts to."""

    model: str | None
    """The weather model whose forecasts it corrects."""

    first_day: date | None
    """The first day of the fitting period."""

    last_day: date | None
    id: str
    created_at: AwareDatetime
    missing: dict[str, str]
    """Why a field is null, by the field's name: nothing is left out without a reason."""

    basins: list[BridgedBasin]
    """In the order of their identifiers."""

    refused: dict[str, str]
    """Why other basins have no corrections."""


class EdrQueries(Model):
    """The queries that a collection takes."""

    position: EdrQuery
    area: EdrQuery
    cube: EdrQuery
    locations: EdrQuery
    instances: EdrQuery | None = None


class NewSchedule(Model):
    """A schedule to be stored."""

    name: str
    """Unique name of the schedule."""

    job: Annotated[
        IngestJob
        | FetchJob
        | BridgeJob
        | FuseJob
        | ClimateJob
        | CheckJob
        | PruneJob
        | ForecastJob
        | WhatIfJob
        | VolumesJob
        | DailyJob
        | ReplayJob
        | BackfillJob
        | TrainingJob
        | RetrainingJob
        | PretrainedJob
        | EvaluationJob
        | CalibrationJob
        | ReforecastJob
        | VerificationJob
        | LevelsJob
        | ComparisonJob
        | ArchiveJob,
        Field(discriminator="kind"),
    ]
    """The job to post: as in `POST /v1/jobs`."""

    cron: str
    """Minute, hour, day of the month, month, day of the week."""

    timezone: str = "UTC"
    """Time zone of the cron line."""

    enabled: bool = True
    """Whether the schedule is active."""


class EdrCollection(Model):
    """A collection: its parameters, extent and queries."""

    id: str
    title: str
    description: str
    links: list[EdrLink]
    extent: EdrExtent
    data_queries: EdrQueries
    crs: list[str]
    output_formats: list[str]
    parameter_names: dict[str, EdrParameter]


class EdrCollections(Model):
    """The collections."""

    links: list[EdrLink]
    collections: list[EdrCollection]


class EdrInstances(Model):
    """Instances of a collection, each described as a collection is."""

    links: list[EdrLink]
    instances: list[EdrCollection]
