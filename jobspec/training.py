"""What a training can be asked to do. It is kept with the weights as JSON."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from jobspec.fields import Id, Name, Names, PeriodField, RequestModel
from jobspec.network import MCLSTMConfig, NetworkConfig, completed

STATIC_ATTRIBUTES = (
    "p_mean", "pet_mean", "p_seasonality", "frac_snow", "aridity", "high_prec_freq", "high_prec_dur",
    "low_prec_freq", "low_prec_dur", "elev_mean", "slope_mean", "area_gages2", "frac_forest", "lai_max",
    "lai_diff", "gvf_max", "gvf_diff", "soil_depth_pelletier", "soil_depth_statsgo", "soil_porosity",
    "soil_conductivity", "max_water_content", "sand_frac", "silt_frac", "clay_frac", "carbonate_rocks_frac",
    "geol_permeability",
)  # fmt: skip
"""The 27 attributes of the MC-LSTM paper's regional model (names as in Addor et al. 2017)."""

LONGEST_WINDOW_DAYS = 36_525  # a century
MOST_STEPS = 10_000_000


class InputsConfig(RequestModel):
    """Which series and attributes the network takes. They are the version's, not the program's."""

    product: Name = Field(description="Forcing product; a version runs on no other.", examples=["maurer_extended"])
    mass: Name = "precipitation"
    auxiliary: Names = Field(("srad", "tmax", "tmin", "vp"), description="Series besides precipitation.")
    static: Names = Field(STATIC_ATTRIBUTES, description="Basin attributes: the 27 of the MC-LSTM paper.")


class WindowsConfig(RequestModel):
    """The samples: `spinup_days` without loss, then `loss_days` with it.

    364 + 1 is the MC-LSTM paper's sequence-to-one; 365 + 365 gives some 180 times more loss days a unit of compute.
    """

    spinup_days: int = Field(
        365,
        ge=0,
        le=LONGEST_WINDOW_DAYS,
        description="Days of a window before its loss days, in which its state builds up.",
    )
    loss_days: int = Field(365, ge=1, le=LONGEST_WINDOW_DAYS, description="Days of a window that are scored.")
    batch: int = Field(32, ge=1, le=100_000, description="Windows a step.")


class Cosine(RequestModel):
    """Steps whose learning rate rises to `peak_learning_rate`, then falls along a cosine to
    `final_learning_rate`."""

    kind: Literal["cosine"] = "cosine"
    steps: int = Field(1500, ge=1, le=MOST_STEPS)
    peak_learning_rate: float = Field(0.01, gt=0, description="0.003 for the networks that hold no water.")
    warmup_steps: int = Field(30, ge=0, le=MOST_STEPS)
    final_learning_rate: float = Field(1e-4, gt=0)


Rate = Annotated[tuple[int, float], Field(strict=False)]  # JSON has no tuples


class Staircase(RequestModel):
    """Epochs over all samples, the learning rate changing at stated epochs (counted from 0)."""

    kind: Literal["staircase"] = "staircase"
    epochs: int = Field(30, ge=1, le=100_000)
    rates: Annotated[tuple[Rate, ...], Field(strict=False)] = Field(
        ((0, 0.01), (20, 0.005), (25, 0.001)),
        min_length=1,
        description="Epoch and rate. Without them those of the network's paper.",
    )

    @model_validator(mode="after")
    def _rates_from_the_first_epoch(self) -> Self:
        epochs = [epoch for epoch, _ in self.rates]
        if epochs[0] != 0 or any(a >= b for a, b in pairwise(epochs)) or any(rate <= 0 for _, rate in self.rates):
            raise PydanticCustomError("rates", "rates begin at epoch 0, go on at later epochs, and are above 0")
        return self


def _kind(schedule: Any) -> Any:
    """Return the kind of a schedule; cosine where none is named."""
    if isinstance(schedule, dict):
        return schedule.get("kind", "cosine")
    return getattr(schedule, "kind", None)


Schedule = Annotated[
    Annotated[Cosine, Tag("cosine")] | Annotated[Staircase, Tag("staircase")],
    Discriminator(
        _kind, custom_error_type="schedule", custom_error_message="choose a kind of schedule: cosine or staircase"
    ),
]

_K19 = ((0, 1e-3), (10, 5e-4), (20, 1e-4))  # counted from 1, as printed: from epoch 11 and from epoch 21
RATES: dict[str, dict[str, dict[str, Any]]] = {
    "mclstm": {"cosine": {"peak_learning_rate": 0.01}, "staircase": {"rates": ((0, 0.01), (20, 0.005), (25, 0.001))}},
    "lstm": {"cosine": {"peak_learning_rate": 0.003}, "staircase": {"rates": _K19}},
    "eins": {"cosine": {"peak_learning_rate": 0.003}, "staircase": {"rates": _K19}},
    "mmrnn": {"cosine": {"peak_learning_rate": 0.003}, "staircase": {"rates": _K19}},
}
"""The rates of a schedule that names none, by architecture and kind of schedule. Staircases are those of the MC-LSTM
paper [MC B.4] and of the regional LSTM [K19]."""


class TrainingConfig(RequestModel):
    """One training: network, inputs, periods, samples, learning rates. Member m starts from `seed + m`."""

    network: NetworkConfig = MCLSTMConfig()
    inputs: InputsConfig
    train_period: PeriodField = Field(description="Days whose discharge is fitted.")
    validation_period: PeriodField | None = Field(None, description="Days that choose the best weights.")
    windows: WindowsConfig = WindowsConfig()
    schedule: Schedule = Cosine()
    precision: Literal["bfloat16", "float32"] = Field(
        "bfloat16", description="Of the gates' products in training, where the processor has a unit for them."
    )
    ema_decay: float = Field(
        0.995,
        ge=0,
        lt=1,
        description="How much of the running mean of the weights, which is what is validated and kept, stays at a "
        "step; 0 keeps the weights themselves.",
    )
    expectile: float = Field(
        0.58,
        gt=0,
        lt=1,
        description="Of the loss: the share of the weight that days simulated too low get; 0.5 is NSE* as published.",
    )
    clip_norm: float = Field(1.0, gt=0, description="The largest norm of a gradient.")
    validate_every: int = Field(100, ge=1, description="Steps between validations.")
    checkpoint_every: int = Field(50, ge=1, description="Steps between checkpoints.")
    members: int = Field(1, ge=1, le=100, description="Members of the ensemble.")
    seed: int = Field(0, ge=0, lt=2**62, description="Seed of the first member; the others count on from it.")

    @classmethod
    def from_stored(cls, config: Mapping[str, Any]) -> Self:
        """Read the configuration that is kept with weights, of this Freshet or of an older one."""
        return cls.model_validate(completed(config))

    @model_validator(mode="after")
    def _rates_of_the_network(self) -> Self:
        """Give a schedule that names no rates those of the network. They still count as left out of the request."""
        rates = RATES[self.network.architecture][self.schedule.kind]
        if rates.keys().isdisjoint(self.schedule.model_fields_set):
            fields = dict(self.schedule) | rates
            schedule = type(self.schedule).model_construct(_fields_set=self.schedule.model_fields_set, **fields)
            vars(self)["schedule"] = schedule
        return self


class FineTuningSchedule(Cosine):
    """A short one with a low rate: the weights are good already."""

    steps: int = Field(100, ge=1, le=MOST_STEPS)
    peak_learning_rate: float = Field(0.001, gt=0)
    warmup_steps: int = Field(10, ge=0, le=MOST_STEPS)
    final_learning_rate: float = Field(1e-5, gt=0)


class FineTuningConfig(RequestModel):
    """A training that starts from the weights of a version, member for member, with its network, inputs and scaler. The
    parent's own weights are validated first, and stay where training never helps."""

    parent: Id = Field(description="The version to start from.")
    product: Name | None = Field(None, description="Forcing product that the parent is expected to take.")
    train_period: PeriodField = Field(description="Days whose discharge is fitted.")
    validation_period: PeriodField = Field(description="Days that choose the best weights; none of those fitted.")
    windows: WindowsConfig = WindowsConfig()
    schedule: FineTuningSchedule = FineTuningSchedule()
    validate_every: int = Field(10, ge=1, description="Steps between validations.")
    checkpoint_every: int = Field(50, ge=1, description="Steps between checkpoints.")
    members: int | None = Field(None, ge=1, le=100, description="The first of the parent's; all of them unless given.")
    seed: int = Field(0, ge=0, lt=2**62, description="Seed of the first member; the others count on from it.")

    def training(self, parent: TrainingConfig, members: int) -> TrainingConfig:
        """Return the whole configuration, of so many members unless it says how many."""
        own = self.model_dump(exclude={"parent", "product"})
        return TrainingConfig.model_validate(parent.model_dump() | own | {"members": self.members or members})


StoredTraining = Annotated[TrainingConfig, BeforeValidator(completed)]
"""A configuration that is kept with weights, as part of a larger record."""


def _origin(config: Any) -> str:
    """Return whether a training starts from a version or from scratch."""
    tuned = "parent" in config if isinstance(config, dict) else isinstance(config, FineTuningConfig)
    return "version" if tuned else "scratch"


AnyTraining = Annotated[
    Annotated[TrainingConfig, Tag("scratch")] | Annotated[FineTuningConfig, Tag("version")], Discriminator(_origin)
]


def sequence_to_one() -> dict[str, Any]:
    """Return the samples and the schedule of the MC-LSTM paper [MC B.4]: 365 days in, the last day's discharge out, 30
    epochs."""
    return {"windows": {"spinup_days": 364, "loss_days": 1, "batch": 256}, "schedule": {"kind": "staircase"}}
