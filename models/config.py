"""What a training is asked to do, kept with the weights as JSON."""

from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

STATIC_ATTRIBUTES = (
    "p_mean", "pet_mean", "p_seasonality", "frac_snow", "aridity", "high_prec_freq", "high_prec_dur",
    "low_prec_freq", "low_prec_dur", "elev_mean", "slope_mean", "area_gages2", "frac_forest", "lai_max",
    "lai_diff", "gvf_max", "gvf_diff", "soil_depth_pelletier", "soil_depth_statsgo", "soil_porosity",
    "soil_conductivity", "max_water_content", "sand_frac", "silt_frac", "clay_frac", "carbonate_rocks_frac",
    "geol_permeability",
)  # fmt: skip
"""The 27 attributes of the MC-LSTM paper's regional model (names as in Addor et al. 2017)."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MCLSTMConfig(_Frozen):
    """The mass-conserving LSTM."""

    architecture: Literal["mclstm"] = "mclstm"
    cells: int = Field(64, ge=2, le=512, description="memory cells, the trash cell included")
    embedding: int = Field(
        16,
        ge=0,
        le=256,
        description="values that a small network makes of weather and attributes; 0: none, as published",
    )
    output_gate_bias: float = Field(-3.0, allow_inf_nan=False)


class _Comparison(_Frozen):
    """What the networks that conserve nothing have in common."""

    dropout: float = Field(0.4, ge=0, lt=1)


class LSTMConfig(_Comparison):
    """The standard comparison."""

    architecture: Literal["lstm"]
    cells: int = Field(128, ge=2, le=512)
    forget_bias: float = Field(3.0, allow_inf_nan=False)


class EINSConfig(_Comparison):
    """The LSTM that diagnoses its own input."""

    architecture: Literal["eins"]
    cells: int = Field(128, ge=2, le=512)
    forget_bias: float = Field(0.0, allow_inf_nan=False)


class MMRNNConfig(_Comparison):
    """The mixed-memory RNN."""

    architecture: Literal["mmrnn"]
    cells: int = Field(64, ge=2, le=512)
    forget_bias: float = Field(3.0, allow_inf_nan=False)


def _architecture(network: Any) -> Any:
    """Return the architecture that is asked for; MC-LSTM where none is named."""
    if isinstance(network, dict):
        return network.get("architecture", "mclstm")
    return getattr(network, "architecture", None)


NetworkConfig = Annotated[
    Annotated[MCLSTMConfig, Tag("mclstm")]
    | Annotated[LSTMConfig, Tag("lstm")]
    | Annotated[EINSConfig, Tag("eins")]
    | Annotated[MMRNNConfig, Tag("mmrnn")],
    Discriminator(_architecture),
]
"""Which network, and its size."""


class InputsConfig(_Frozen):
    """Which series and attributes the network takes. They are the version's, not the program's."""

    product: str = Field(description="forcing product; a version runs on no other")
    mass: str = "precipitation"
    auxiliary: tuple[str, ...] = ("srad", "tmax", "tmin", "vp")
    static: tuple[str, ...] = STATIC_ATTRIBUTES


class WindowsConfig(_Frozen):
    """The samples of a training: `warmup_days` without loss, then `loss_days` with it.

    364 + 1 is the paper's sequence-to-one; 365 + 365 gives some 180 times more loss days a unit of compute.
    """

    warmup_days: int = Field(365, ge=0)
    loss_days: int = Field(365, ge=1)
    batch: int = Field(32, ge=1)


PEAKS = {"mclstm": 0.01, "lstm": 0.003, "eins": 0.003, "mmrnn": 0.003}
"""The highest rate of a cosine schedule that names none."""

_K19 = ((0, 1e-3), (10, 5e-4), (20, 1e-4))  # counted from 1, as printed: from epoch 11 and from epoch 21
STAIRCASES = {"mclstm": ((0, 0.01), (20, 0.005), (25, 0.001)), "lstm": _K19, "eins": _K19, "mmrnn": _K19}
"""The rates of a staircase that names none: the MC-LSTM paper's [MC B.4] and those of the regional LSTM [K19]."""


class Cosine(_Frozen):
    """Steps with a linear warm-up to `peak`, then a cosine down to `final`."""

    kind: Literal["cosine"] = "cosine"
    steps: int = Field(1500, ge=1)
    peak: float = Field(PEAKS["mclstm"], gt=0)
    warmup_steps: int = Field(30, ge=0)
    final: float = Field(1e-4, gt=0)


class Staircase(_Frozen):
    """Epochs over all samples, the rate changing at stated epochs (counted from 0)."""

    kind: Literal["staircase"] = "staircase"
    epochs: int = Field(30, ge=1)
    rates: tuple[tuple[int, float], ...] = Field(STAIRCASES["mclstm"], min_length=1)

    @model_validator(mode="after")
    def _rates_from_the_first_epoch(self) -> Self:
        epochs = [epoch for epoch, _ in self.rates]
        if epochs[0] != 0 or any(a >= b for a, b in pairwise(epochs)) or any(rate <= 0 for _, rate in self.rates):
            raise ValueError("rates begin at epoch 0, go on at later and later epochs, and are above 0")
        return self


class TrainingConfig(_Frozen):
    """One training: network, inputs, periods, samples, schedule.

    Members differ by their seed alone: member m has `seed + m`. A schedule without rates gets its network's.
    """

    network: NetworkConfig = MCLSTMConfig()
    inputs: InputsConfig
    train_period: str = Field(description="FIRST..LAST, days whose discharge is fitted")
    validation_period: str | None = Field(None, description="FIRST..LAST, days that choose the best weights")
    windows: WindowsConfig = WindowsConfig()
    schedule: Annotated[Cosine | Staircase, Field(discriminator="kind")] = Cosine()
    precision: Literal["bfloat16", "float32"] = Field(
        "bfloat16", description="of the gates' products in training, where the processor has a unit for them"
    )
    averaging: float = Field(
        0.995,
        ge=0,
        lt=1,
        description="of the running mean of the weights, which is what is validated and kept: how much of it stays at "
        "a step; 0 keeps the weights themselves",
    )
    expectile: float = Field(
        0.58,
        gt=0,
        lt=1,
        description="of the loss: the share of the weight that days simulated too low get; 0.5 is NSE* as published",
    )
    clip_norm: float = Field(1.0, gt=0)
    validate_every: int = Field(100, ge=1, description="steps")
    checkpoint_every: int = Field(50, ge=1, description="steps")
    members: int = Field(1, ge=1, le=100)
    seed: int = Field(0, ge=0, lt=2**62)

    @model_validator(mode="before")
    @classmethod
    def _rates_of_the_network(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        architecture = _architecture(fields.get("network", {}))
        schedule = fields.get("schedule", {"kind": "cosine"})
        if isinstance(schedule, dict) and architecture in PEAKS:
            own: dict[str, dict[str, Any]] = {
                "cosine": {"peak": PEAKS[architecture]},
                "staircase": {"rates": STAIRCASES[architecture]},
            }
            schedule = own.get(schedule.get("kind", ""), {}) | schedule
        return fields | {"schedule": schedule}


class FineTuningSchedule(Cosine):
    """A short one with a low rate: the weights are good already."""

    steps: int = Field(100, ge=1)
    peak: float = Field(0.001, gt=0)
    warmup_steps: int = Field(10, ge=0)
    final: float = Field(1e-5, gt=0)


class FineTuningConfig(_Frozen):
    """A training that goes on from a version: what it does not say is as in the parent's training.

    The parent's own weights are validated first, and stay the best where training never helps.
    """

    parent: str = Field(description="the version whose weights it starts from")
    product: str | None = Field(None, description="forcing product that the parent is expected to take")
    train_period: str = Field(description="FIRST..LAST, days whose discharge is fitted")
    validation_period: str = Field(description="FIRST..LAST, days that choose the best weights; none of those fitted")
    windows: WindowsConfig = WindowsConfig()
    schedule: FineTuningSchedule = FineTuningSchedule()
    validate_every: int = Field(10, ge=1, description="steps")
    checkpoint_every: int = Field(50, ge=1, description="steps")
    members: int | None = Field(None, ge=1, le=100, description="the first of the parent's; all of them unless given")
    seed: int = Field(0, ge=0, lt=2**62)

    def training(self, parent: TrainingConfig, members: int) -> TrainingConfig:
        """Return the whole configuration, of so many members unless it says how many."""
        own = self.model_dump(exclude={"parent", "product"})
        return TrainingConfig.model_validate(parent.model_dump() | own | {"members": self.members or members})


def requested(fields: dict[str, Any]) -> TrainingConfig | FineTuningConfig:
    """Read what a training is asked to do: a fine-tuning where a parent is named."""
    return (FineTuningConfig if "parent" in fields else TrainingConfig).model_validate(fields)


def windows_protocol() -> tuple[WindowsConfig, dict[str, Any]]:
    """Return samples and schedule that Freshet trains with by default: long windows, few steps."""
    return WindowsConfig(), {"kind": "cosine"}


def sequence_to_one_protocol() -> tuple[WindowsConfig, dict[str, Any]]:
    """Return the paper's protocol [MC B.4]: 365 days in, the last day's discharge out, 30 epochs."""
    return WindowsConfig(warmup_days=364, loss_days=1, batch=256), {"kind": "staircase"}
