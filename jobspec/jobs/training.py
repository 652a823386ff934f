"""Jobs that create model versions, and the memory that training a member takes: what cannot fit is refused at once."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from hydrology.verification.held_out_years import split_years
from jobspec.fields import Basins, Id, Line, Name, PeriodField, RequestModel, refusing
from jobspec.jobs.base import GPU, MEMBER, PRETRAINED, RETRAINING, TRAINING, JobRequest
from jobspec.training import AnyTraining, TrainingConfig

_FLOAT = 4  # bytes
_COPIES = 10
"""Copies of each weight: gradient, the optimizer's two means, the running mean, the best ones, a checkpoint …"""
_PROCESS = 400 * 2**20
"""Bytes of a process that has loaded everything and stepped once with a small network."""


class TrainingTooLarge(InvalidInput):
    """The training needs more memory than a job of an operator's key may use."""

    remedy = "Train with a smaller batch, shorter windows or a smaller network: `detail` has what would fit."


def bytes_needed(config: TrainingConfig) -> int:
    """Return the bytes that training a member takes, within a factor of two, without those of the basins' series."""
    return _fixed(config) + config.windows.batch * _of_a_window(config)


def require_memory(config: TrainingConfig, limit: int) -> None:
    """Refuse a training that needs more bytes than its limit. The message names the fields, and a batch that fits."""
    needed = bytes_needed(config)
    if needed <= limit:
        return
    batch = (limit - _fixed(config)) // _of_a_window(config)
    windows, size = config.windows, config.network.size
    fitting = f"batch {batch} would fit" if batch > 0 else "no batch fits"
    raise TrainingTooLarge(
        f"Training a member takes about {needed / 2**30:.1f} GiB, and an operator's job may use {limit / 2**30:.1f} "
        f"GiB: lower `windows.batch` ({windows.batch}; {fitting}), `windows.spinup_days` and `windows.loss_days` "
        f"({windows.spinup_days} and {windows.loss_days}), or `network.{size}` ({getattr(config.network, size)})."
    )


def _of_a_window(config: TrainingConfig) -> int:
    days = config.windows.spinup_days + config.windows.loss_days
    return round(_FLOAT * days * config.network.floats_a_day(*_inputs(config)))


def _fixed(config: TrainingConfig) -> int:
    return _PROCESS + _FLOAT * _COPIES * config.network.count_weights(*_inputs(config))


def _inputs(config: TrainingConfig) -> tuple[int, int]:
    """Return the number of the day's series, rain among them, and of attributes."""
    return 1 + len(config.inputs.auxiliary), len(config.inputs.static)


def _with_enough_years(period: Period) -> Period:
    with refusing("period"):
        split_years(period)
    return period


WaterYears = Annotated[PeriodField, AfterValidator(_with_enough_years)]


class Judgement(RequestModel):
    """The comparison of a new version with the current ones, and its consequence."""

    margin: float = Field(0.0, ge=0, le=1, description="Minimum of the interval's lower end, in NSE.")
    promote: bool = Field(False, description="Whether a better version becomes current automatically.")


class PromotionRule(Judgement):
    """How the new version is compared with the current ones. It is better where the 95 % interval of the median
    difference in NSE, paired by basin, lies above the margin. Two of every three water years decide; the third only
    reports. A fine-tuned version is decided on basin by basin, and against its parent where a basin has no version."""

    period: WaterYears = Field(
        description="Days that took no part in the training, nor in that of its ancestors: four or more whole water "
        "years (October to September)."
    )


class TrainingParams(RequestModel):
    """The configuration and basins of a training."""

    config: AnyTraining = Field(description="With `parent`, a fine-tuning.")
    basins: Basins = Field([], description="By default all stored basins.")
    label: Line | None = Field(None, description="A name for the version.")
    compare: PromotionRule | None = Field(
        None,
        description="Without it, the version serves only basins that lack one; a fine-tuned version serves no basin "
        "before it is promoted.",
    )


class TrainingJob(JobRequest, authority=TRAINING):
    """Train a model version, or fine-tune one."""

    silence_limit = timedelta(hours=4)  # its comparison simulates the whole period

    kind: Literal["training"]
    params: TrainingParams


class RetrainingParams(Judgement):
    """The version to train again on today's record, and the consequence of the comparison.

    Two ensembles are trained: the candidate on every day of the record, and its twin on all but the judged years. There
    the twin is compared with the version in use, or its twin, by the rule of a training's `compare`."""

    version: Id | None = Field(None, description="By default the version in use in the most basins.")
    judge_on: WaterYears | None = Field(
        None,
        description="Four or more whole water years (October to September). By default the longest series of them "
        "that the version in use, or its twin, has not learnt from.",
    )
    label: Line | None = Field(None, description="A name for the candidate.")


class RetrainingJob(JobRequest, authority=RETRAINING):
    """Train the version in use again on today's record, compare the result, and with `promote` put it in use where it
    is better. Without a new water year it does nothing, so a schedule can post it."""

    silence_limit = timedelta(hours=4)  # its comparison simulates the whole period

    kind: Literal["retraining"]
    params: RetrainingParams


class MemberParams(RequestModel):
    """The training and the member to train."""

    training: str
    member: int = Field(ge=0)


class MemberJob(JobRequest, authority=MEMBER, queue="training", time_limit=timedelta(days=14), turn=timedelta(hours=2)):
    """Train one member of an ensemble. Only a training posts it."""

    kind: Literal["member"] = "member"
    params: MemberParams


class MembersParams(RequestModel):
    """The training whose members to train."""

    training: str
    members: int = Field(gt=0, description="Their number.")


class MembersJob(JobRequest, authority=MEMBER, queue=GPU, time_limit=timedelta(days=14)):
    """Train all members of an ensemble side by side on a GPU. Only a training posts it, while a worker has one."""

    kind: Literal["members"] = "members"
    params: MembersParams


class PretrainedParams(RequestModel):
    """The shipped ensemble, or combination of some, to install, and the basins to serve."""

    name: Name | None = Field(
        None,
        description="By default `freshet-us` where all its weather products are stored, else `mclstm-maurer-447`, or "
        "the only one in the configured folder.",
        examples=["mclstm-maurer-447"],
    )
    product: Name | None = Field(
        None,
        description="The weather product for it to use, and for every part of a combination; by default the one that "
        "each learnt from. If it is another, every forecast states this.",
    )
    promote: bool = Field(
        False,
        description="Whether it becomes current for every basin with its weather and attributes that has no version "
        "yet.",
    )


class PretrainedJob(JobRequest, authority=PRETRAINED):
    """Install a trained ensemble shipped with Freshet as a model version, and derive the means of stored products that
    it takes as weather. Repeating it changes nothing."""

    kind: Literal["pretrained"]
    params: PretrainedParams
