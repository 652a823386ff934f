"""The option for the device that a command computes on."""

from typing import Annotated

from freshet.cli.options import option
from hydrology.base.errors import InvalidInput
from models.devices import CPU, available, use_device
from runtime.settings import Settings

Device = Annotated[
    str | None, option("DEVICE", "cpu, or a CUDA device such as cuda:0. Default: FRESHET_DEVICE, otherwise cpu.")
]


def take_device(settings: Settings, chosen: str | None) -> str:
    """Let this process compute on the chosen device, by default on that of the settings, and return it.

    Raises:
        InvalidInput: this machine does not have it.
    """
    device, origin = (settings.device, "FRESHET_DEVICE") if chosen is None else (chosen, "--device")
    if device != CPU and device not in (devices := available()):
        raise InvalidInput(f"{origin} {device} is not a device of this machine: choose {' or '.join(devices)}.")
    use_device(device)
    return device
