"""The kinds of job that the service runs, and the parameters of each. `KINDS` is the one list of them.

A field that a request leaves out is left out of the stored job too, and gets its default when the job runs. What needs
the database (whether a basin is known, say) is checked when the job runs.
"""

from collections.abc import Mapping
from datetime import UTC, time, timedelta
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from hydrology.calendar import Period
from hydrology.error_model import LONGEST_GAP
from hydrology.errors import InvalidInput
from hydrology.held_out_years import split_years
from hydrology.products import own_product
from hydrology.staleness import STALE_AFTER_DAYS
from hydrology.weather import ForcingKind
from jobspec.basins import AddedBasin, ClimateParams
from jobspec.changes import UNCHANGED, Changes
from jobspec.fields import (
    Basins,
    DayField,
    Id,
    Line,
    Name,
    PeriodField,
    Place,
    RequestModel,
    SeasonField,
    refusing,
)
from jobspec.training import AnyTraining

LONGEST_HORIZON_DAYS = 366
MOST_PERTURBED_STATES = 50
MORNING = time(14, tzinfo=UTC)
"""When a replayed day's forecasts are issued: in the morning anywhere in the United States."""
Queue = Literal["default", "ingest", "training", "delivery"]
QUEUES: tuple[Queue, ...] = get_args(Queue)
MOST_FAULTS = 10  # nobody reads thousands of sentences


class InvalidRequest(InvalidInput):
    """A field is unknown, missing or cannot be used."""

    kind = "invalid-request"


class IngestParams(RequestModel):
    """Which data to ingest."""

    source: Literal["camels", "caravan", "benchmarks"] = Field(
        "camels",
        description="How the data are laid out. `benchmarks`: one file of published scores, of all its basins.",
    )
    from_: list[Place] = Field(
        alias="from",
        min_length=1,
        max_length=100,
        description="Folders and archives on the service's machine, within the folders that it lets jobs read from, or "
        "URLs of public addresses; a URL may end in `#sha256=` and the checksum of what it names.",
        examples=[["/srv/camels"]],
    )
    product: Name | None = Field(
        None, description="The weather product; by default all that the source has.", examples=["maurer_extended"]
    )
    basins: Basins = Field([], description="By default all that the source has.")

    @model_validator(mode="after")
    def _one_file_of_published_scores(self) -> Self:
        if self.source == "benchmarks" and (len(self.from_) != 1 or self.product or self.basins):
            raise PydanticCustomError("benchmarks", "benchmarks is one file in `from`, without product and basins")
        return self


class UploadParams(RequestModel):
    """Which uploaded table to ingest: a file that the service has stored."""

    product: Name = Field(description="The product under which the weather is stored.")
    observations_file: str


class WeatherParams(RequestModel):
    """Which uploaded weather forecast to keep: a file that the service has stored."""

    weather_file: str


class Judgement(RequestModel):
    """What comes of a new version that is held against the current ones."""

    margin: float = Field(0.0, ge=0, le=1, description="How far above 0 the interval must lie, in NSE.")
    promote: bool = Field(False, description="Whether a better version becomes current automatically.")


class PromotionRule(Judgement):
    """How the new version is compared with the current ones. It is better where the 95 % interval of the median
    difference in NSE, paired by basin, lies above the margin. Two of every three water years decide; the third only
    reports. A fine-tuned version is decided on basin by basin, and against its parent where a basin has no version."""

    period: PeriodField = Field(
        description="Days that took no part in the training, nor in that of its ancestors: four or more whole water "
        "years (October to September)."
    )


class TrainingParams(RequestModel):
    """What to train, and on which basins."""

    config: AnyTraining = Field(description="With `parent` it is a fine-tuning.")
    basins: Basins = Field([], description="By default all that are kept.")
    label: Line | None = Field(None, description="A name for the version.")
    compare: PromotionRule | None = Field(
        None,
        description="Without it, the version serves only basins that have none; a fine-tuned version serves no basin "
        "before it is promoted.",
    )

    @field_validator("compare")
    @classmethod
    def _has_enough_years(cls, rule: PromotionRule | None) -> PromotionRule | None:
        if rule is not None:
            with refusing("period"):
                split_years(rule.period)
        return rule


class RetrainingParams(Judgement):
    """Which version's recipe to train anew on the record as it is now, and what comes of it.

    Two ensembles are trained: the candidate on every day of the record, and its twin on all but the judged years. The
    twin is held there against the version in use, or that one's twin, by the rule of a training's `compare`."""

    version: Id | None = Field(None, description="By default the version in use in the most basins.")
    judge_on: PeriodField | None = Field(
        None,
        description="Four or more whole water years (October to September). By default the longest stretch of them "
        "that the version in use, or its twin, has not learnt from.",
    )
    label: Line | None = Field(None, description="A name for the candidate.")

    @field_validator("judge_on")
    @classmethod
    def _has_enough_years(cls, period: Period | None) -> Period | None:
        if period is not None:
            with refusing("period"):
                split_years(period)
        return period


class MemberParams(RequestModel):
    """Which member of which training to train."""

    training: str
    member: int = Field(ge=0)


class AheadParams(RequestModel):
    """What to look ahead of: the basins, the days, the version and the weather."""

    basins: Basins = Field([], description="By default all that have a model version.")
    t0: DayField | None = Field(
        None, description="The last day of the state; by default the newest that the data allow."
    )
    horizon: int = Field(10, ge=1, le=LONGEST_HORIZON_DAYS, description="Days after T0.")
    version: Id | None = Field(None, description="A model version; by default the current one of each basin.")
    product: Name | None = Field(None, description="The weather product that the version is expected to take.")
    weather: ForcingKind = Field(
        "observed",
        description="The weather after T0. `observed`: a hindcast. `supplied`: a weather forecast. `climatology`: the "
        "weather of the same days in every other year. `dry`: no precipitation, and of all else their mean: what would "
        "run off of the water that is there.",
    )
    weather_id: Id | None = Field(
        None, description="Which weather forecast to use; by default the newest of each basin that was known."
    )
    age: bool = Field(
        False,
        description="Whether to tell in which season the water of the discharge fell. The year before T0 is run again "
        "for it.",
    )

    @model_validator(mode="after")
    def _names_what_it_uses(self) -> Self:
        if self.weather_id is not None and self.weather != "supplied":
            raise PydanticCustomError("weather_id", "`weather_id` goes with `weather` supplied alone")
        return self


class ForecastParams(AheadParams):
    """Which forecasts to issue."""

    perturbed_states: int = Field(
        0,
        ge=0,
        le=MOST_PERTURBED_STATES,
        description="From so many other states of T0, after other precipitation in the past, it is computed too, and "
        "its spread divided into what the weights, the weather and the state make of it; 0: it is not divided.",
    )


class WhatIfParams(AheadParams):
    """Which forecasts to make, and what to change in them."""

    changes: Changes = UNCHANGED
    note: Line | None = Field(None, description="Why it is asked.")

    @model_validator(mode="after")
    def _storm_within_the_horizon(self) -> Self:
        storm = self.changes.storm
        if storm is not None and storm.lead > self.horizon:
            raise PydanticCustomError(
                "storm",
                "the storm falls {lead} days after T0, beyond the horizon of {horizon}: choose an earlier day, or a "
                "longer horizon",
                {"lead": storm.lead, "horizon": self.horizon},
            )
        return self

    @property
    def forecast(self) -> ForecastParams:
        """The forecast in which something is to be changed."""
        return ForecastParams(**{name: getattr(self, name) for name in AheadParams.model_fields})


class VolumesParams(RequestModel):
    """Of which seasons to forecast the volume."""

    basins: Basins = Field([], description="By default all that have a model version.")
    t0: DayField | None = Field(
        None, description="The last day of the state; by default the newest that the data allow."
    )
    season: SeasonField | None = Field(
        None,
        description="The same days of every year; of those the first that have not ended at T0. By default April to "
        "July where half or more of the precipitation is snow, elsewhere the month of the first day after T0 and the "
        "two after it.",
    )
    version: Id | None = Field(None, description="A model version; by default the current one of each basin.")


class EvaluationParams(RequestModel):
    """Which version to score, and on which days."""

    period: PeriodField
    version: Id | None = Field(None, description="By default the newest.")
    basins: Basins = Field([], description="By default those kept here that the version learnt from.")


class CalibrationParams(RequestModel):
    """Whose error model to fit, and on which days."""

    version: Id | None = Field(None, description="A model version; by default the newest.")
    period: PeriodField | None = Field(
        None,
        description="Days that the weights were not fitted to; by default the version's validation period.",
        examples=["1980-10-01..1989-09-30"],
    )
    forecasts: bool = Field(
        False,
        description="Whether to fit it to the forecasts that the version has issued with weather forecasts, for each "
        "weather model, instead of its simulation.",
    )

    @model_validator(mode="after")
    def _of_a_period_or_of_forecasts(self) -> Self:
        if self.forecasts and self.period is not None:
            raise PydanticCustomError("period", "`forecasts` are all that have been issued: leave `period` out")
        return self


class ReforecastParams(RequestModel):
    """Which past forecasts to hold against what was observed."""

    period: PeriodField = Field(
        description="Days that neither the weights nor the error model of the version were fitted to.",
        examples=["1989-10-01..1999-09-30"],
    )
    version: Id | None = Field(None, description="A model version; by default the newest.")
    basins: Basins = Field([], description="By default those kept here that the version learnt from.")
    every: int = Field(5, ge=1, le=366, description="So many days lie between two forecasts.")
    horizon: int = Field(10, ge=1, le=LONGEST_GAP, description="Days after T0.")


class VerificationParams(RequestModel):
    """Whose issued forecasts to hold against what was observed since."""

    version: Id | None = Field(None, description="A model version; by default each that is current for a basin.")


class LevelsParams(RequestModel):
    """Of which version's simulation to compute the levels, and where."""

    version: Id | None = Field(None, description="A model version; by default each that is current for a basin.")
    basins: Basins = Field([], description="By default those that it is current for, or that it learnt from.")


class ComparisonParams(RequestModel):
    """Which versions to compare with the first of them, and on which days."""

    period: PeriodField = Field(description="Days that took no part in the training of any of them.")
    versions: list[Id] = Field(min_length=1, max_length=20, examples=[["011cb6d0d4209b8d7f6a51"]])
    basins: Basins = Field([], description="By default those that every version was trained for.")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.versions)) < len(self.versions):
            raise PydanticCustomError("twice", "a version is named twice: name each once")
        return self


class PretrainedParams(RequestModel):
    """Which shipped ensemble to install, and what it is to serve."""

    name: Name | None = Field(
        None,
        description="By default `mclstm-maurer-447`, or the only one of the folder that is set.",
        examples=["mclstm-maurer-447"],
    )
    product: Name | None = Field(
        None,
        description="The weather product that it is to use; by default the one that it learnt from. If it is "
        "another, every forecast says so.",
    )
    promote: bool = Field(
        False,
        description="Whether it becomes current for every basin that has its weather and attributes and no version "
        "yet.",
    )


class BridgeFit(RequestModel):
    """Between which products to fit a bridge, and on which days."""

    from_: Name = Field(alias="from", description="The product whose weather it takes.", examples=["live"])
    to: Name = Field(
        description="The product whose weather it makes of that: what a network learnt from, or the archive that "
        "weather forecasts go on from.",
        examples=["maurer_extended"],
    )
    period: PeriodField | None = Field(
        None, description="The days to fit on; by default all that both have, two years at least."
    )
    model: Name | None = Field(
        None,
        description="The model of the weather forecasts that the bridge is for, of which `from` holds past ones: "
        "forecasts go over it when they are used. Without it the bridge is for observed weather.",
        examples=["ecmwf_ifs"],
    )


class BridgeParams(RequestModel):
    """Which bridge to apply, or to fit and apply. What the weather of its product is made from stays as it is."""

    name: Name = Field(
        description="Its name, and the product that its weather is kept under.", examples=["live_as_maurer"]
    )
    fit: BridgeFit | None = Field(None, description="Without it, the newest fit of that name is applied.")
    basins: Basins = Field([], description="By default all that have the product that it is from.")

    @field_validator("name")
    @classmethod
    def _is_no_archives(cls, name: str) -> str:
        with refusing("name"):
            return own_product(name)


class FetchParams(RequestModel):
    """Which feed to ask."""

    feed: Name = Field(description="Its name.", examples=["usgs-flow"])
    basins: Basins = Field([], description="By default all of the feed's.")
    period: PeriodField | None = Field(
        None, description="The days to ask for, to fill a gap or begin a record; by default those that the feed says."
    )


class DailyParams(RequestModel):
    """What the daily cycle asks and forecasts."""

    feeds: list[Name] = Field([], max_length=100, description="Which feeds to ask, by name; by default all.")
    horizon: int = Field(10, ge=1, le=LONGEST_HORIZON_DAYS, description="Days after T0.")


class ReplayParams(RequestModel):
    """Which mornings to replay, and what is known on each."""

    period: PeriodField = Field(description="The mornings: forecasts are issued on each as if it were today.")
    latency_days: int = Field(
        1, ge=0, lt=STALE_AFTER_DAYS, description="So many days after it has ended, a day's weather becomes known."
    )
    horizon: int = Field(10, ge=1, le=30, description="Days after T0.")
    traces: int = Field(11, ge=1, le=51, description="Of each morning's weather forecast: perturbed observations.")


class CheckParams(RequestModel):
    """Nothing: all that is kept is checked."""


class DeliveryParams(RequestModel):
    """Nothing: all deliveries that are due are sent."""


class PruneParams(RequestModel):
    """Nothing: the rules are settings of the service."""


class JobRequest(RequestModel):
    """A job of some kind.

    Attributes:
        queue: whose workers run it.
        time_limit: how long one attempt may run; then it is killed, and the job has failed.
        silence_limit: how long its progress may stay the same; then it is killed, and the job is tried again. Longer
            than any step takes on a slow machine.
        memory_limit: how many bytes one attempt may allocate; None for no limit. A job with a limit runs in a process
            of its own.
    """

    queue: ClassVar[Queue] = "default"
    time_limit: ClassVar[timedelta] = timedelta(hours=12)
    silence_limit: ClassVar[timedelta] = timedelta(hours=1)
    memory_limit: ClassVar[int | None] = None

    kind: str
    params: RequestModel

    def stored(self) -> dict[str, Any]:
        """Return the params as they are stored: what the request says, without defaults."""
        return self.params.model_dump(mode="json", by_alias=True, exclude_unset=True)


class _Intake(JobRequest):
    """A job that parses files from elsewhere."""

    queue = "ingest"
    memory_limit = 4 * 2**30


class IngestJob(_Intake):
    """Ingest data."""

    kind: Literal["ingest"]
    params: IngestParams


class FetchJob(_Intake):
    """Ask a feed for what is new. Asked again, it stores nothing twice."""

    time_limit = timedelta(hours=2)

    kind: Literal["fetch"]
    params: FetchParams


class BridgeJob(JobRequest):
    """Make the weather of one product from that of another. Asked again, it stores nothing twice."""

    time_limit = timedelta(hours=4)

    kind: Literal["bridge"]
    params: BridgeParams


class DailyJob(JobRequest):
    """Ask the feeds, apply the bridges from what they bring, and forecast every basin from its newest day, with the
    newest weather forecast or, without one, with the weather of other years. Asked again, it stores nothing new."""

    time_limit = timedelta(hours=4)

    kind: Literal["daily"]
    params: DailyParams


class ReplayJob(JobRequest):
    """Replay an archive as if it were daily life, with perturbed observations as weather forecasts. Asked again, it
    stores nothing new."""

    kind: Literal["replay"]
    params: ReplayParams


class ClimateJob(JobRequest):
    """Compute the climate indices of a basin from weather that is kept of it."""

    time_limit = timedelta(minutes=10)

    kind: Literal["climate"]
    params: ClimateParams


class TrainingJob(JobRequest):
    """Train a model version, or fine-tune one."""

    silence_limit = timedelta(hours=4)  # what is judged is simulated whole

    kind: Literal["training"]
    params: TrainingParams


class RetrainingJob(JobRequest):
    """Train the recipe of the version in use anew on the record as it is now, judge what it led to, and with `promote`
    put it in use where it is better. Where no water year has come since, nothing is done: made for a schedule."""

    silence_limit = timedelta(hours=4)  # what is judged is simulated whole

    kind: Literal["retraining"]
    params: RetrainingParams


class ForecastJob(JobRequest):
    """Issue forecasts."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "forecast", "params": {"basins": ["USGS-13235000"], "horizon": 10}}]}
    )

    time_limit = timedelta(hours=2)

    kind: Literal["forecast"]
    params: ForecastParams


class WhatIfJob(JobRequest):
    """Forecast what would be with other weather, or with more or less water in the basin at T0. It is kept apart: the
    latest forecasts, alerts and states stay what they are."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "kind": "what-if",
                    "params": {
                        "basins": ["USGS-13235000"],
                        "changes": {"degrees": 2.0, "increment": {"mm": 10.0, "where": "snow"}},
                    },
                }
            ]
        }
    )

    time_limit = timedelta(hours=2)

    kind: Literal["what-if"]
    params: WhatIfParams


class VolumesJob(JobRequest):
    """Forecast the volume of a season with the weather of other years. The latest forecasts stay what they are."""

    time_limit = timedelta(hours=4)

    kind: Literal["volumes"]
    params: VolumesParams


class EvaluationJob(JobRequest):
    """Score a model version."""

    kind: Literal["evaluation"]
    params: EvaluationParams


class CalibrationJob(JobRequest):
    """Fit the error model of a model version, in place of the one before: forecasts then carry calibrated quantiles."""

    kind: Literal["calibration"]
    params: CalibrationParams


class ReforecastJob(JobRequest):
    """Forecast past days with the weather that came, and keep how true the forecasts were by lead time."""

    kind: Literal["reforecast"]
    params: ReforecastParams


class VerificationJob(JobRequest):
    """Hold the forecasts that were issued against what was observed since, and keep how true they were by lead time.
    Asked again, it changes nothing unless flow or forecasts have come since."""

    kind: Literal["verification"]
    params: VerificationParams


class LevelsJob(JobRequest):
    """Simulate all past days with a model version, and keep the floods and low flows of its own climatology, in place
    of those before."""

    kind: Literal["levels"]
    params: LevelsParams


class ComparisonJob(JobRequest):
    """Compare model versions."""

    time_limit = timedelta(hours=24)

    kind: Literal["comparison"]
    params: ComparisonParams


class PretrainedJob(JobRequest):
    """Install a trained ensemble that came with Freshet as a model version. Installing it again changes nothing."""

    kind: Literal["pretrained"]
    params: PretrainedParams


class CheckJob(JobRequest):
    """Check every page of the database, every reference and every row that has a checksum. Where something is damaged
    the job fails and names it."""

    time_limit = timedelta(hours=4)

    kind: Literal["check"]
    params: CheckParams


class PruneJob(JobRequest):
    """Delete what is older than the rules of retention keep it. Asked again, it deletes nothing."""

    time_limit = timedelta(hours=4)

    kind: Literal["prune"]
    params: PruneParams


class MemberJob(JobRequest):
    """Train one member of an ensemble. Only a training posts it."""

    queue = "training"
    time_limit = timedelta(days=14)

    kind: Literal["member"] = "member"
    params: MemberParams


class BasinJob(_Intake):
    """Add a basin, or what more is known of one. Only the service posts it."""

    time_limit = timedelta(minutes=30)

    kind: Literal["basin"] = "basin"
    params: AddedBasin


class UploadJob(_Intake):
    """Ingest a table that was sent to the service. Only the service posts it."""

    time_limit = timedelta(minutes=30)

    kind: Literal["upload"] = "upload"
    params: UploadParams


class WeatherJob(_Intake):
    """Keep a weather forecast that was sent to the service. Only the service posts it."""

    time_limit = timedelta(minutes=10)  # there are files at which the library that reads NetCDF never ends

    kind: Literal["weather"] = "weather"
    params: WeatherParams


class DeliveryJob(JobRequest):
    """Send the alert changes that receivers wait for. Only the service posts it."""

    queue = "delivery"
    time_limit = timedelta(minutes=10)

    kind: Literal["delivery"] = "delivery"
    params: DeliveryParams = DeliveryParams()


AnyJobRequest = Annotated[
    IngestJob
    | FetchJob
    | BridgeJob
    | DailyJob
    | ReplayJob
    | ClimateJob
    | TrainingJob
    | RetrainingJob
    | ForecastJob
    | WhatIfJob
    | VolumesJob
    | EvaluationJob
    | CalibrationJob
    | ReforecastJob
    | VerificationJob
    | LevelsJob
    | ComparisonJob
    | PretrainedJob
    | CheckJob
    | PruneJob,
    Field(discriminator="kind"),
]
"""What people can ask for."""


def _by_kind(*models: type[JobRequest]) -> dict[str, type[JobRequest]]:
    return {get_args(model.model_fields["kind"].annotation)[0]: model for model in models}


REQUESTABLE: Mapping[str, type[JobRequest]] = _by_kind(*get_args(get_args(AnyJobRequest)[0]))
KINDS: Mapping[str, type[JobRequest]] = {
    **REQUESTABLE,
    **_by_kind(MemberJob, BasinJob, UploadJob, WeatherJob, DeliveryJob),
}


def read(kind: str, params: object, kinds: Mapping[str, type[JobRequest]] = KINDS) -> JobRequest:
    """Read a job request from its kind and its params.

    Args:
        kinds: the kinds to choose from.

    Raises:
        InvalidRequest: there is no such kind, or a field is invalid; the sentence names it.
    """
    if kind not in kinds:
        raise InvalidRequest(f"There is no kind of job {_shown(kind)}: choose one of {', '.join(kinds)}.")
    try:
        return kinds[kind].model_validate({"kind": kind, "params": params})
    except ValidationError as error:
        raise InvalidRequest(f"The {kind} is not possible: {'; '.join(faults(error, {'params': params}))}.") from None


def queue_of(kind: str) -> str:
    """Return the queue of a stored job's kind. A job of an unknown kind goes to the default queue, where it fails."""
    return KINDS.get(kind, JobRequest).queue


def faults(error: ValidationError, request: object) -> list[str]:
    """Return what is wrong with each field of a request, named by its path in it."""
    details = error.errors(include_url=False, include_context=False)[:MOST_FAULTS]
    return [f"{_path(detail, request)}: {_message(detail)}" for detail in details]


def _path(detail: ErrorDetails, value: Any) -> str:
    """Return a field's path as the request writes it, without the tags of pydantic's unions."""
    parts = []
    for part in detail["loc"]:
        inside = part in value if isinstance(value, dict) else isinstance(part, int) and isinstance(value, list)
        if inside:
            value = value[part]
        if inside or (detail["type"] == "missing" and part == detail["loc"][-1]):
            parts.append(_shown(part) if isinstance(part, str) else str(part))
    return ".".join(parts) or "the request"


def _message(detail: ErrorDetails) -> str:
    messages = {"extra_forbidden": "there is no such field", "missing": "it is needed"}
    message = messages.get(detail["type"], detail["msg"]).rstrip(".")
    # A tag of a union is repeated as it came.
    return "".join(letter if letter.isprintable() else "?" for letter in message[:1].lower() + message[1:300])


def _shown(text: str) -> str:
    """Return a name from a request as it can safely be shown."""
    is_name = text.isidentifier() and text.isascii() and len(text) <= 64
    return text if is_name else ascii(text[:64])
