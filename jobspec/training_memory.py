"""Memory that training a member takes, estimated from its configuration, so that what cannot fit is refused at once."""

from hydrology.base.errors import InvalidInput
from jobspec.training import TrainingConfig

_FLOAT = 4  # bytes
_COPIES = 10
"""Copies of each weight: gradient, the optimizer's two means, the running mean, the best ones, a checkpoint …"""
_PROCESS = 400 * 2**20
"""Bytes of a process that has loaded everything and stepped once with a small network."""


class TrainingTooLarge(InvalidInput):
    """The training needs more memory than a job of an operator's key may use."""

    kind = "training-too-large"
    remedy = "Train with a smaller batch, shorter windows or a smaller network: `detail` has what would fit."


def bytes_needed(config: TrainingConfig) -> int:
    """Return the bytes that training a member takes, within a factor of two, without those of the basins' series."""
    return _fixed(config) + config.windows.batch * _of_a_window(config)


def require(config: TrainingConfig, limit: int) -> None:
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
