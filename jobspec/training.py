"""The configuration of a training. It is stored with the weights as JSON."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from hydrology.base.calendar import Period
from jobspec.fields import Id, Name, Names, PeriodField, RequestModel, discriminated_by
from jobspec.network import LSTMConfig, MCLSTMConfig, NetworkConfig, Unseen

STATIC_ATTRIBUTES = (
    "p_mean", "pet_mean", "p_seasonality", "frac_snow", "aridity", "high_prec_freq", "high_prec_dur",
    "low_prec_freq", "low_prec_dur", "elev_mean", "slope_mean", "area_gages2", "frac_forest", "lai_max",
    "lai_diff", "gvf_max", "gvf_diff", "soil_depth_pelletier", "soil_depth_statsgo", "soil_porosity",
    "soil_conductivity", "max_water_content", "sand_frac", "silt_frac", "clay_frac", "carbonate_rocks_frac",
    "geol_permeability",
)  # fmt: skip
"""The 27 attributes of the MC-LSTM paper's regional model (names as in Addor et al. 2017)."""
AREA = "area_gages2"
SEEN_ATTRIBUTES = tuple(name for name in STATIC_ATTRIBUTES if name != AREA)
"""Those that networks see by default: runoff depth is per unit of area."""

MAX_WINDOW_DAYS = 36_525  # a century
MAX_STEPS = 10_000_000


class InputsConfig(RequestModel):
    """Series and attributes that the network takes. Each version has its own."""

    product: Name = Field(description="Forcing product; the version runs on no other.", examples=["maurer_extended"])
    mass: Name = "precipitation"
    auxiliary: Names = Field(("srad", "tmax", "tmin", "vp"), description="Series besides precipitation.")
    static: Names = Field(
        SEEN_ATTRIBUTES, description="Basin attributes: those of the MC-LSTM paper without the area, 26."
    )


class WindowsConfig(RequestModel):
    """The samples: `spinup_days` without loss, then `loss_days` with it.

    364 + 1 is the MC-LSTM paper's sequence-to-one; 365 + 365 has some 180 times as many loss days for the same compute.
    """

    spinup_days: int = Field(
        365, ge=0, le=MAX_WINDOW_DAYS, description="Days before the loss days, in which the state builds up."
    )
    loss_days: int = Field(365, ge=1, le=MAX_WINDOW_DAYS, description="Days whose discharge enters the loss.")
    batch: int = Field(32, ge=1, le=100_000, description="Windows per step.")


class Cosine(RequestModel):
    """A schedule whose learning rate rises to `peak_learning_rate`, then falls along a cosine to
    `final_learning_rate`."""

    kind: Literal["cosine"] = "cosine"
    steps: int = Field(1500, ge=1, le=MAX_STEPS)
    peak_learning_rate: float = Field(
        MCLSTMConfig.learning_rates["peak_learning_rate"],
        gt=0,
        description=f"{LSTMConfig.learning_rates['peak_learning_rate']} for networks without storage.",
    )
    warmup_steps: int = Field(30, ge=0, le=MAX_STEPS)
    final_learning_rate: float = Field(1e-4, gt=0)


Loss = Literal["nse*", "mse", "rmse"]
"""Losses by name: NSE* [K19], where each basin counts by its own variance; and the mean squared error in mm/day, and
its root, where wet basins count for more."""
LOSS_UNITS: Mapping[str, str] = {"nse*": "1", "mse": "mm2/day2", "rmse": "mm/day"}
"""Units of the losses. With a share on the logarithm of the flow a loss has none."""
Fitted = Literal["network", "basin_vectors"]
FITTED = (
    "The fitted weights: all weights of the network, or in a fine-tuning only the vectors of its basins "
    "(`basin_vectors`), which needs no validation period and changes no other basin."
)

Rate = Annotated[tuple[int, float], Field(strict=False)]  # JSON has no tuples


class Staircase(RequestModel):
    """Epochs over all samples, with the learning rate changing at stated epochs (counted from 0)."""

    kind: Literal["staircase"] = "staircase"
    epochs: int = Field(30, ge=1, le=100_000)
    rates: Annotated[tuple[Rate, ...], Field(strict=False)] = Field(
        MCLSTMConfig.learning_rates["rates"],
        min_length=1,
        description="Pairs of epoch and learning rate; by default those of the network's paper.",
    )

    @model_validator(mode="after")
    def _rates_from_the_first_epoch(self) -> Self:
        epochs = [epoch for epoch, _ in self.rates]
        if epochs[0] != 0 or any(a >= b for a, b in pairwise(epochs)) or any(rate <= 0 for _, rate in self.rates):
            raise PydanticCustomError(
                "rates", "rates start at epoch 0, their epochs increase, and every rate is above 0"
            )
        return self


Schedule = Annotated[
    Annotated[Cosine, Tag("cosine")] | Annotated[Staircase, Tag("staircase")],
    discriminated_by("kind", "a kind of schedule", ("cosine", "staircase")),
]


def _apart_from_the_training_period(period: Period, fields: ValidationInfo) -> Period:
    """Refuse days that are also fitted: weights chosen there would be the most overfitted ones."""
    training = fields.data.get("train_period")
    if training is not None and training.overlap(period) is not None:
        raise PydanticCustomError(
            "overlap",
            "{period} overlaps the training period {training}, so weights would be selected on days that they were "
            "fitted to: choose separate periods",
            {"period": str(period), "training": str(training)},
        )
    return period


ValidationPeriod = Annotated[PeriodField, AfterValidator(_apart_from_the_training_period)]


class TrainingConfig(RequestModel):
    """One training: network, inputs, periods, samples, learning rates. Member m starts from `seed + m`."""

    network: NetworkConfig = MCLSTMConfig()
    inputs: InputsConfig
    train_period: PeriodField = Field(description="Days whose discharge is fitted.")
    validation_period: ValidationPeriod | None = Field(
        None, description="Days that select the best weights, outside the training period."
    )
    held_out_period: PeriodField | None = Field(
        None, description="Days within the training period that are left out of the fit, for a test."
    )
    windows: WindowsConfig = WindowsConfig()
    schedule: Schedule = Cosine()
    precision: Literal["bfloat16", "float32"] = Field(
        "bfloat16",
        description="Precision of the gates' products in training. bfloat16 is for an MC-LSTM of rank 0 on a processor "
        "that supports it; everything else trains in float32.",
    )
    ema_decay: float = Field(
        0.995,
        ge=0,
        lt=1,
        description="Decay of the running mean of the weights at each step. The mean is validated and "
        "stored; 0 stores the weights themselves.",
    )
    loss: Loss = Field(
        "nse*",
        description="The loss: `nse*`, squared errors over the variance of the basin's flow; `mse`, squared errors in "
        "mm/day, in which wet basins count for more; or `rmse`, its root.",
    )
    log_share: float = Field(
        0.0, ge=0, le=1, description="Share of the loss that is on the logarithm of the flow, for low flows; 0: none."
    )
    expectile: float = Field(
        0.54,
        gt=0,
        lt=1,
        description="Weight of underestimated days in the loss, as a share; with 0.5 `nse*` is as published.",
    )
    weight_decay: float = Field(
        0.1,
        ge=0,
        le=10,
        description="Of all weights except the basin vectors, per step and times the learning rate (AdamW).",
    )
    clip_norm: float = Field(1.0, gt=0, description="Maximum norm of the gradient; a larger one is scaled down.")
    unseen: Annotated[tuple[Annotated[tuple[Unseen, ...], Field(strict=False)], ...], Field(strict=False)] = Field(
        (),
        max_length=100,
        description="Inputs that the gates of an MC-LSTM's members do not see, a list per member, repeated in turn: "
        "members that differ in more than their seed err less together. By default all see all.",
        examples=[[[], ["past_weather"], ["embedding"]]],
    )
    fitted: Fitted = Field("network", description=FITTED)
    validate_every: int = Field(100, ge=1, description="Steps between validations.")
    checkpoint_every: int = Field(50, ge=1, description="Steps between checkpoints.")
    members: int = Field(1, ge=1, le=100, description="Number of members of the ensemble.")
    seed: int = Field(0, ge=0, lt=2**62, description="Seed of the first member; each further member's is one higher.")

    def unseen_by(self, seed: int) -> tuple[Unseen, ...]:
        """Return the inputs that the gates of a seed's member do not see."""
        return self.unseen[(seed - self.seed) % len(self.unseen)] if self.unseen else ()

    def slowest_first(self) -> list[int]:
        """Return the members in the order to start them: first those whose gates see more and take longer, so that all
        cores are busy to the end."""
        return sorted(range(self.members), key=lambda member: len(self.unseen_by(self.seed + member)))

    @field_validator("unseen")
    @classmethod
    def _has_gates_that_see_it(
        cls, unseen: tuple[tuple[Unseen, ...], ...], fields: ValidationInfo
    ) -> tuple[tuple[Unseen, ...], ...]:
        network = fields.data.get("network")
        if any(unseen) and network is not None and not isinstance(network, MCLSTMConfig):
            raise PydanticCustomError("unseen", "only the gates of an MC-LSTM can omit inputs: leave `unseen` out")
        return unseen

    @model_validator(mode="after")
    def _inputs_of_the_network(self) -> Self:
        """Add the attributes that the network needs where the request names none; refuse inputs without them."""
        inputs, network = self.inputs, self.network
        lacking = [name for name in network.attributes if name not in inputs.static]
        if lacking and "static" not in inputs.model_fields_set:
            vars(self)["inputs"] = inputs.model_copy(update={"static": (*inputs.static, *lacking)})
            lacking = []
        lacking += [name for name in network.series if name not in inputs.auxiliary]
        if lacking:
            raise PydanticCustomError(
                "inputs",
                "{architecture} needs {lacking} among its inputs: name them in `inputs`",
                {"architecture": network.architecture, "lacking": ", ".join(lacking)},
            )
        return self

    @field_validator("held_out_period")
    @classmethod
    def _is_part_of_the_training_period(cls, period: Period | None, fields: ValidationInfo) -> Period | None:
        training = fields.data.get("train_period")
        if period is not None and training is not None and training.overlap(period) != period:
            raise PydanticCustomError("held_out_period", "its days lie within the training period")
        return period

    @model_validator(mode="after")
    def _rates_of_the_network(self) -> Self:
        """Fill a schedule's learning rates from the network. They still count as omitted from the request."""
        schedule = self.schedule.model_copy()
        left_out = vars(schedule).keys() - schedule.model_fields_set
        vars(schedule).update({field: rate for field, rate in self.network.learning_rates.items() if field in left_out})
        vars(self)["schedule"] = schedule
        return self


def used_periods(config: Mapping[str, Any]) -> list[tuple[str, Period]]:
    """Return the periods whose discharge a training has seen, by purpose (`train`, `validation`)."""
    training, held_out, validation = (
        Period.parse(config[f"{name}_period"]) if config.get(f"{name}_period") else None
        for name in ("train", "held_out", "validation")
    )
    used = [("train", period) for period in (training.without(held_out) if training else ())]
    return [*used, ("validation", validation)] if validation else used


class FineTuningSchedule(Cosine):
    """A short schedule with a low learning rate, for weights that are already good."""

    steps: int = Field(100, ge=1, le=MAX_STEPS)
    peak_learning_rate: float = Field(0.001, gt=0)
    warmup_steps: int = Field(10, ge=0, le=MAX_STEPS)
    final_learning_rate: float = Field(1e-5, gt=0)


class FineTuningConfig(RequestModel):
    """A training that starts from the weights of a version, member for member, with its network, inputs and scaler. The
    parent's own weights are validated first, and are retained if training does not improve on them."""

    parent: Id = Field(description="The version to start from.")
    product: Name | None = Field(None, description="The forcing product that the parent is expected to use.")
    train_period: PeriodField = Field(description="Days whose discharge is fitted.")
    fitted: Fitted = Field("network", description=FITTED)
    validation_period: ValidationPeriod | None = Field(
        None,
        validate_default=True,
        description="Days that select the best weights, outside the training period. Not needed for vectors alone.",
    )
    windows: WindowsConfig = WindowsConfig()
    schedule: FineTuningSchedule = FineTuningSchedule()
    validate_every: int = Field(10, ge=1, description="Steps between validations.")
    checkpoint_every: int = Field(50, ge=1, description="Steps between checkpoints.")
    members: int | None = Field(
        None, ge=1, le=100, description="Number of the parent's members to train, from the first; by default all."
    )
    seed: int = Field(0, ge=0, lt=2**62, description="Seed of the first member; each further member's is one higher.")

    @field_validator("validation_period")
    @classmethod
    def _a_network_is_validated(cls, period: Period | None, fields: ValidationInfo) -> Period | None:
        if period is None and fields.data.get("fitted") == "network":
            raise PydanticCustomError("missing", "it is needed to decide when to stop fitting the whole network")
        return period

    def training(self, parent: TrainingConfig, members: int) -> TrainingConfig:
        """Return the complete configuration. Its periods are its own: days that the parent held out may be fitted."""
        own = self.model_dump(exclude={"parent", "product"}) | {"held_out_period": None}
        return TrainingConfig.model_validate(parent.model_dump() | own | {"members": self.members or members})


def _origin(config: Any) -> str:
    has_parent = "parent" in config if isinstance(config, dict) else isinstance(config, FineTuningConfig)
    return "version" if has_parent else "scratch"


AnyTraining = Annotated[
    Annotated[TrainingConfig, Tag("scratch")] | Annotated[FineTuningConfig, Tag("version")], Discriminator(_origin)
]


def sequence_to_one() -> dict[str, Any]:
    """Return the samples and schedule of the MC-LSTM paper [MC B.4]: the discharge of the last of 365 days, 30
    epochs."""
    return {"windows": {"spinup_days": 364, "loss_days": 1, "batch": 256}, "schedule": {"kind": "staircase"}}
