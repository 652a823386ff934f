"""What each kind of job can be asked to do. The job itself refuses what only it can know.

What a request leaves out is left out of the job, whose own defaults then hold; those of a training stand here too, so
that they are documented.
"""

from itertools import pairwise
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from app.dependencies import Basin
from app.schema import AskedDay, Id, Line, Name, RequestModel
from hydrology.calendar import Period
from hydrology.errors import InvalidInput

MOST_BASINS = 10_000
LONGEST_HORIZON_DAYS = 366


def _period(text: str) -> str:
    try:
        return str(Period.parse(text))
    except InvalidInput as error:
        raise PydanticCustomError("period", "{sentence}", {"sentence": str(error)}) from None


def _source(text: str) -> str:
    try:
        secret = "://" in text and "@" in urlsplit(text).netloc
    except ValueError:
        raise PydanticCustomError("source", "not a URL that can be read") from None
    if secret:
        raise PydanticCustomError("source", "a URL with a password would be shown to everybody: give one without")
    return text


PeriodText = Annotated[str, AfterValidator(_period), Field(max_length=40, examples=["1999-10-01..2008-09-30"])]
Basins = Annotated[list[Basin], Field(max_length=MOST_BASINS, examples=[["USGS-01013500"]])]
Place = Annotated[str, AfterValidator(_source), Field(min_length=1, max_length=2000, pattern=r"^[^\x00-\x1f\x7f]*$")]

Rate = Annotated[tuple[int, float], Field(strict=False)]  # JSON has no tuples


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
        description="Folders and archives on the service's machine, or URLs; a URL may end in `#sha256=` and the "
        "checksum of what it names.",
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


class MCLSTM(RequestModel):
    """The mass-conserving LSTM."""

    architecture: Literal["mclstm"] = "mclstm"
    cells: int = Field(64, ge=2, le=512, description="Memory cells, the trash cell included.")
    embedding: int = Field(
        16,
        ge=0,
        le=256,
        description="Values that a small network makes of weather and attributes for the gates; 0: none, as published.",
    )
    output_gate_bias: float = -3.0


class _Comparison(RequestModel):
    """A network that holds no water: it tells no storage and no balance."""

    dropout: float = Field(0.4, ge=0, lt=1)


class LSTM(_Comparison):
    """The standard comparison. It holds no water: it tells no storage and no balance."""

    architecture: Literal["lstm"]
    cells: int = Field(128, ge=2, le=512)
    forget_bias: float = 3.0


class EINS(_Comparison):
    """The LSTM that diagnoses its own input. It holds no water: it tells no storage and no balance."""

    architecture: Literal["eins"]
    cells: int = Field(128, ge=2, le=512)
    forget_bias: float = 0.0


class MMRNN(_Comparison):
    """The mixed-memory RNN, which skips days without weather. It holds no water: it tells no storage and no balance."""

    architecture: Literal["mmrnn"]
    cells: int = Field(64, ge=2, le=512)
    forget_bias: float = 3.0


def _architecture(network: Any) -> Any:
    """Return the architecture that is asked for; MC-LSTM where none is named (as `models.config`, not to be imported
    here)."""
    if isinstance(network, dict):
        return network.get("architecture", "mclstm")
    return getattr(network, "architecture", None)


Network = Annotated[
    Annotated[MCLSTM, Tag("mclstm")]
    | Annotated[LSTM, Tag("lstm")]
    | Annotated[EINS, Tag("eins")]
    | Annotated[MMRNN, Tag("mmrnn")],
    Discriminator(_architecture),
]


class Inputs(RequestModel):
    """Which series and attributes the network takes."""

    product: Name = Field(description="The weather product; a version runs on no other.", examples=["maurer_extended"])
    mass: Name = "precipitation"
    auxiliary: list[Name] = Field(["srad", "tmax", "tmin", "vp"])
    static: list[Name] = Field([], description="Attributes; without this field the 27 of the MC-LSTM paper.")


class Windows(RequestModel):
    """The samples: `warmup_days` without loss, then `loss_days` with it."""

    warmup_days: int = Field(365, ge=0)
    loss_days: int = Field(365, ge=1)
    batch: int = Field(32, ge=1)


class CosineSchedule(RequestModel):
    """Steps whose rate rises to `peak`, then falls along a cosine to `final`."""

    kind: Literal["cosine"] = "cosine"
    steps: int = Field(1500, ge=1)
    peak: float = Field(0.01, gt=0, description="Without it 0.01 for `mclstm` and 0.003 for the others.")
    warmup_steps: int = Field(30, ge=0)
    final: float = Field(1e-4, gt=0)


class StaircaseSchedule(RequestModel):
    """Epochs over all samples, the rate changing at stated epochs (counted from 0)."""

    kind: Literal["staircase"] = "staircase"
    epochs: int = Field(30, ge=1)
    rates: list[Rate] = Field(
        [(0, 0.01), (20, 0.005), (25, 0.001)], min_length=1, description="Without them those of the network's paper."
    )

    @model_validator(mode="after")
    def _from_the_first_epoch(self) -> Self:
        epochs = [epoch for epoch, _ in self.rates]
        if epochs[0] != 0 or any(a >= b for a, b in pairwise(epochs)) or any(rate <= 0 for _, rate in self.rates):
            raise PydanticCustomError("rates", "rates begin at epoch 0, go on at later epochs, and are above 0")
        return self


class Training(RequestModel):
    """One training: network, inputs, periods, samples, learning rates. Member m starts from `seed + m`."""

    network: Network = MCLSTM()
    inputs: Inputs
    train_period: PeriodText = Field(description="Days whose discharge is fitted.")
    validation_period: PeriodText | None = Field(None, description="Days that choose the best weights.")
    windows: Windows = Windows()
    schedule: Annotated[CosineSchedule | StaircaseSchedule, Field(discriminator="kind")] = CosineSchedule()
    averaging: float = Field(
        0.995,
        ge=0,
        lt=1,
        description="How much of the running mean of the weights, which is what is kept, stays at a step.",
    )
    precision: Literal["bfloat16", "float32"] = Field(
        "bfloat16", description="Of the gates' products in training, where the processor has a unit for them."
    )
    expectile: float = Field(
        0.58,
        gt=0,
        lt=1,
        description="Of the loss: the share of the weight that days simulated too low get; 0.5 is NSE* as published.",
    )
    clip_norm: float = Field(1.0, gt=0)
    validate_every: int = Field(100, ge=1, description="Steps.")
    checkpoint_every: int = Field(50, ge=1, description="Steps.")
    members: int = Field(1, ge=1, le=100)
    seed: int = Field(0, ge=0, lt=2**62)


class FineTuningSchedule(CosineSchedule):
    """A short one with a low rate."""

    steps: int = Field(100, ge=1)
    peak: float = Field(0.001, gt=0)
    warmup_steps: int = Field(10, ge=0)
    final: float = Field(1e-5, gt=0)


class FineTuning(RequestModel):
    """A training that starts from the weights of a version, with its network, inputs and scaler: member for member. The
    parent's own weights are validated first, and stay where training never helps."""

    parent: Id = Field(description="The version to start from.")
    product: Name | None = Field(None, description="The weather product that the parent is expected to take.")
    train_period: PeriodText = Field(description="Days whose discharge is fitted.")
    validation_period: PeriodText = Field(description="Days that choose the best weights; none of those fitted.")
    windows: Windows = Windows()
    schedule: FineTuningSchedule = FineTuningSchedule()
    validate_every: int = Field(10, ge=1, description="Steps.")
    checkpoint_every: int = Field(50, ge=1, description="Steps.")
    members: int | None = Field(
        None, ge=1, le=100, description="The first of the parent's; all of them without this field."
    )
    seed: int = Field(0, ge=0, lt=2**62)


def _origin(config: Any) -> str:
    """Return whether a training starts from a version or from scratch."""
    named = "parent" in config if isinstance(config, dict) else isinstance(config, FineTuning)
    return "version" if named else "scratch"


Config = Annotated[
    Annotated[Training, Tag("scratch")] | Annotated[FineTuning, Tag("version")],
    Discriminator(_origin),
]


class Compare(RequestModel):
    """How the new version is held against the current ones: better is a higher median NSE, by more than the margin. A
    fine-tuned version is held against them basin by basin, and against its parent where a basin uses none."""

    period: PeriodText = Field(description="Days that took no part in the training, nor in that of its ancestors.")
    margin: float = Field(0.0, ge=0, le=1)
    promote: bool = Field(False, description="Whether a better one becomes current by itself.")


class TrainingParams(RequestModel):
    """What to train, and on which basins."""

    config: Config = Field(description="With `parent` a fine-tuning.")
    basins: Basins = Field([], description="All that are kept where none is named.")
    label: Line | None = Field(None, description="What people are to call the version.")
    compare: Compare | None = Field(
        None,
        description="Without it, the version only serves basins that have none; what was fine-tuned serves no basin "
        "before it is promoted.",
    )


class ForecastParams(RequestModel):
    """Which forecasts to issue."""

    basins: Basins = Field([], description="All that have a model version where none is named.")
    t0: AskedDay | None = Field(
        None, description="The last day of the state; the newest that the data allow without it."
    )
    horizon: int = Field(10, ge=1, le=LONGEST_HORIZON_DAYS, description="Days after T0.")
    version: Id | None = Field(None, description="A model version; the current one of each basin without it.")
    product: Name | None = Field(None, description="The weather product that the version is expected to take.")


class EvaluationParams(RequestModel):
    """Which version to score, and on which days."""

    period: PeriodText
    version: Id | None = Field(None, description="The newest without it.")
    basins: Basins = Field([], description="Those kept here that the version learnt from where none is named.")


class ComparisonParams(RequestModel):
    """Which versions to hold against the first of them, and on which days."""

    period: PeriodText = Field(description="Days that took no part in the training of any of them.")
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


class Ingest(RequestModel):
    """Bring data in."""

    kind: Literal["ingest"]
    params: IngestParams


class Train(RequestModel):
    """Train a model version, or fine-tune one."""

    kind: Literal["training"]
    params: TrainingParams


class Forecast(RequestModel):
    """Issue forecasts."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "forecast", "params": {"basins": ["USGS-13235000"], "horizon": 10}}]}
    )

    kind: Literal["forecast"]
    params: ForecastParams


class Evaluate(RequestModel):
    """Score a model version."""

    kind: Literal["evaluation"]
    params: EvaluationParams


class Compared(RequestModel):
    """Hold model versions against each other."""

    kind: Literal["comparison"]
    params: ComparisonParams


class Install(RequestModel):
    """Put a trained ensemble that came with Freshet among the model versions. Again, it is the same version."""

    kind: Literal["pretrained"]
    params: PretrainedParams


NewJob = Annotated[Ingest | Train | Forecast | Evaluate | Compared | Install, Field(discriminator="kind")]


def said(job: Ingest | Train | Forecast | Evaluate | Compared | Install) -> dict[str, Any]:
    """Return the params as the job gets them: what the request says, and nothing else."""
    return job.params.model_dump(mode="json", by_alias=True, exclude_unset=True)
