"""What a training is asked to do, kept with the weights as JSON."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

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


class NetworkConfig(_Frozen):
    """Which network, and its size."""

    architecture: Literal["mclstm"] = "mclstm"
    cells: int = Field(64, ge=2, le=512, description="memory cells, the trash cell included")
    output_gate_bias: float = Field(-3.0, allow_inf_nan=False)


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


class Cosine(_Frozen):
    """Steps with a linear warm-up to `peak`, then a cosine down to `final`."""

    kind: Literal["cosine"] = "cosine"
    steps: int = Field(1500, ge=1)
    peak: float = Field(0.01, gt=0)
    warmup_steps: int = Field(30, ge=0)
    final: float = Field(1e-4, gt=0)


class Staircase(_Frozen):
    """Epochs over all samples, the rate changing at stated epochs (counted from 0)."""

    kind: Literal["staircase"] = "staircase"
    epochs: int = Field(30, ge=1)
    rates: tuple[tuple[int, float], ...] = ((0, 0.01), (20, 0.005), (25, 0.001))


class TrainingConfig(_Frozen):
    """One training: network, inputs, periods, samples, schedule.

    Members differ by their seed alone: member m has `seed + m`.
    """

    network: NetworkConfig = NetworkConfig()
    inputs: InputsConfig
    train_period: str = Field(description="FIRST..LAST, days whose discharge is fitted")
    validation_period: str | None = Field(None, description="FIRST..LAST, days that choose the best weights")
    windows: WindowsConfig = WindowsConfig()
    schedule: Annotated[Cosine | Staircase, Field(discriminator="kind")] = Cosine()
    clip_norm: float = Field(1.0, gt=0)
    validate_every: int = Field(100, ge=1, description="steps")
    checkpoint_every: int = Field(50, ge=1, description="steps")
    members: int = Field(1, ge=1, le=100)
    seed: int = Field(0, ge=0, lt=2**62)


def windows_protocol() -> tuple[WindowsConfig, Cosine]:
    """Return the protocol that Freshet trains with by default: long windows, few steps."""
    return WindowsConfig(), Cosine()


def sequence_to_one_protocol() -> tuple[WindowsConfig, Staircase]:
    """Return the paper's protocol [MC B.4]: 365 days in, the last day's discharge out, 30 epochs."""
    return WindowsConfig(warmup_days=364, loss_days=1, batch=256), Staircase()
