"""The kinds of work that the service does, and what each can be asked. `KINDS` is the one list of them.

What a request leaves out is left out of the stored job: the defaults hold when it runs. What only the job itself can
know (whether a basin is kept, say) it checks when it runs.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from hydrology.calendar import Period
from hydrology.errors import InvalidInput
from hydrology.held_out_years import split_years
from jobspec.fields import Basins, DayField, Id, Line, Name, PeriodField, Place, RequestModel
from jobspec.training import AnyTraining

LONGEST_HORIZON_DAYS = 366
Queue = Literal["default", "ingest", "training"]
QUEUES: tuple[Queue, ...] = get_args(Queue)
MOST_FAULTS = 10  # a sentence on each of thousands helps nobody


class InvalidRequest(InvalidInput):
    """A field is unknown, missing or cannot be used."""

    kind = "invalid-request"


class IngestParams(RequestModel):
    """Which data to bring in."""

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
        None, description="The weather product; all that are there without it.", examples=["maurer_extended"]
    )
    basins: Basins = Field([], description="All that are there where none is named.")

    @model_validator(mode="after")
    def _one_file_of_published_scores(self) -> Self:
        if self.source == "benchmarks" and (len(self.from_) != 1 or self.product or self.basins):
            raise PydanticCustomError("benchmarks", "benchmarks is one file in `from`, without product and basins")
        return self


class UploadParams(RequestModel):
    """Which tables to take in: files that the service has kept."""

    product: Name = Field(description="What the weather is kept under.")
    basins_file: str | None = None
    observations_file: str | None = None

    @model_validator(mode="after")
    def _some_table(self) -> Self:
        if self.basins_file is None and self.observations_file is None:
            raise PydanticCustomError("tables", "`basins_file`, `observations_file` or both are needed")
        return self


class PromotionRule(RequestModel):
    """How the new version is held against the current ones. It is better where the 95 % interval of the median
    difference in NSE, paired by basin, lies above the margin. Two of three water years decide; the third reports. A
    fine-tuned version is decided on basin by basin, and against its parent where a basin uses none."""

    period: PeriodField = Field(
        description="Days that took no part in the training, nor in that of its ancestors: four whole water years "
        "(October to September) or more."
    )
    margin: float = Field(0.0, ge=0, le=1, description="Of NSE.")
    promote: bool = Field(False, description="Whether a better one becomes current by itself.")

    @field_validator("period")
    @classmethod
    def _has_enough_years(cls, period: Period) -> Period:
        try:
            split_years(period)
        except InvalidInput as error:
            raise PydanticCustomError("period", "{reason}", {"reason": str(error)}) from None
        return period


class TrainingParams(RequestModel):
    """What to train, and on which basins."""

    config: AnyTraining = Field(description="With `parent` a fine-tuning.")
    basins: Basins = Field([], description="All that are kept where none is named.")
    label: Line | None = Field(None, description="What people are to call the version.")
    compare: PromotionRule | None = Field(
        None,
        description="Without it, the version only serves basins that have none; what was fine-tuned serves no basin "
        "before it is promoted.",
    )


class MemberParams(RequestModel):
    """Which member of which training."""

    training: str
    member: int = Field(ge=0)


class ForecastParams(RequestModel):
    """Which forecasts to issue."""

    basins: Basins = Field([], description="All that have a model version where none is named.")
    t0: DayField | None = Field(
        None, description="The last day of the state; the newest that the data allow without it."
    )
    horizon: int = Field(10, ge=1, le=LONGEST_HORIZON_DAYS, description="Days after T0.")
    version: Id | None = Field(None, description="A model version; the current one of each basin without it.")
    product: Name | None = Field(None, description="The weather product that the version is expected to take.")


class EvaluationParams(RequestModel):
    """Which version to score, and on which days."""

    period: PeriodField
    version: Id | None = Field(None, description="The newest without it.")
    basins: Basins = Field([], description="Those kept here that the version learnt from where none is named.")


class ComparisonParams(RequestModel):
    """Which versions to hold against the first of them, and on which days."""

    period: PeriodField = Field(description="Days that took no part in the training of any of them.")
    versions: list[Id] = Field(min_length=1, max_length=20, examples=[["011cb6d0d4209b8d7f6a51"]])
    basins: Basins = Field([], description="Those that every version was trained for where none is named.")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.versions)) < len(self.versions):
            raise PydanticCustomError("twice", "a version is named twice: name each once")
        return self


class PretrainedParams(RequestModel):
    """Which shipped ensemble to install, and what it is to serve."""

    name: Name | None = Field(
        None, description="Without it the only one that is shipped.", examples=["mclstm-maurer-447"]
    )
    product: Name | None = Field(
        None,
        description="The weather product that it is to take; the one that it learnt from without it. Where it is "
        "another, every forecast says so.",
    )
    promote: bool = Field(
        False, description="Whether every basin that has its weather and attributes and no version yet is to use it."
    )


class JobRequest(RequestModel):
    """A job of some kind.

    Attributes:
        queue: the workers that do it.
        time_limit: how long one attempt may run: after that it is killed, and the job has failed.
        memory_limit: how many bytes of its own an attempt may use; None: no limit. A job with a limit runs in a process
            that is started for it alone.
    """

    queue: ClassVar[Queue] = "default"
    time_limit: ClassVar[timedelta] = timedelta(hours=12)
    memory_limit: ClassVar[int | None] = None

    kind: str
    params: RequestModel

    def stored(self) -> dict[str, Any]:
        """Return the params as the job keeps them: what the request says, and nothing else."""
        return self.params.model_dump(mode="json", by_alias=True, exclude_unset=True)


class _Intake(JobRequest):
    """What parses files of others."""

    queue = "ingest"
    memory_limit = 4 * 2**30


class IngestJob(_Intake):
    """Bring data in."""

    kind: Literal["ingest"]
    params: IngestParams


class TrainingJob(JobRequest):
    """Train a model version, or fine-tune one."""

    kind: Literal["training"]
    params: TrainingParams


class ForecastJob(JobRequest):
    """Issue forecasts."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "forecast", "params": {"basins": ["USGS-13235000"], "horizon": 10}}]}
    )

    time_limit = timedelta(hours=2)

    kind: Literal["forecast"]
    params: ForecastParams


class EvaluationJob(JobRequest):
    """Score a model version."""

    kind: Literal["evaluation"]
    params: EvaluationParams


class ComparisonJob(JobRequest):
    """Hold model versions against each other."""

    time_limit = timedelta(hours=24)

    kind: Literal["comparison"]
    params: ComparisonParams


class PretrainedJob(JobRequest):
    """Put a trained ensemble that came with Freshet among the model versions; where it is one already, nothing
    changes."""

    kind: Literal["pretrained"]
    params: PretrainedParams


class MemberJob(JobRequest):
    """Train one network of an ensemble. Only a training posts it."""

    queue = "training"
    time_limit = timedelta(days=14)

    kind: Literal["member"] = "member"
    params: MemberParams


class UploadJob(_Intake):
    """Take tables in that were sent to the service. Only the service posts it."""

    kind: Literal["upload"] = "upload"
    params: UploadParams


AnyJobRequest = Annotated[
    IngestJob | TrainingJob | ForecastJob | EvaluationJob | ComparisonJob | PretrainedJob, Field(discriminator="kind")
]
"""What people can ask for."""


def _by_kind(*models: type[JobRequest]) -> dict[str, type[JobRequest]]:
    return {get_args(model.model_fields["kind"].annotation)[0]: model for model in models}


REQUESTABLE: Mapping[str, type[JobRequest]] = _by_kind(*get_args(get_args(AnyJobRequest)[0]))
KINDS: Mapping[str, type[JobRequest]] = {**REQUESTABLE, **_by_kind(MemberJob, UploadJob)}


def read(kind: str, params: object, kinds: Mapping[str, type[JobRequest]] = KINDS) -> JobRequest:
    """Read what a job is asked to do.

    Args:
        kinds: those that are possible here.

    Raises:
        InvalidRequest: there is no such kind, or a field cannot be used; the sentence names it.
    """
    if kind not in kinds:
        raise InvalidRequest(f"There is no job {_shown(kind)}: choose one of {', '.join(kinds)}.")
    try:
        return kinds[kind].model_validate({"kind": kind, "params": params})
    except ValidationError as error:
        raise InvalidRequest(f"The {kind} cannot be done: {'; '.join(faults(error, {'params': params}))}.") from None


def queue_of(kind: str) -> str:
    """Return the queue of a stored job's kind. One that there is not goes to the default queue, where it fails."""
    return KINDS.get(kind, JobRequest).queue


def faults(error: ValidationError, request: object) -> list[str]:
    """Return what is wrong with each field of a request, named by its path in it."""
    details = error.errors(include_url=False, include_context=False)[:MOST_FAULTS]
    return [f"{_path(detail, request)}: {_wrong(detail)}" for detail in details]


def _path(detail: ErrorDetails, value: Any) -> str:
    """Return a field's path as the request writes it: the tags of pydantic's unions are no part of it."""
    parts = []
    for part in detail["loc"]:
        here = part in value if isinstance(value, dict) else isinstance(part, int) and isinstance(value, list)
        if here:
            value = value[part]
        if here or (detail["type"] == "missing" and part == detail["loc"][-1]):
            parts.append(_shown(part) if isinstance(part, str) else str(part))
    return ".".join(parts) or "the request"


def _wrong(detail: ErrorDetails) -> str:
    words = {"extra_forbidden": "there is no such field", "missing": "it is needed"}
    sentence = words.get(detail["type"], detail["msg"]).rstrip(".")
    return sentence[:1].lower() + sentence[1:300]


def _shown(text: str) -> str:
    """Return a name as it can be shown: nobody knows what stands in a stranger's request."""
    return text if text.isidentifier() and text.isascii() else ascii(text[:64])
