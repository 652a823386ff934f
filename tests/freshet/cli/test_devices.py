"""The device that commands compute on: the option, otherwise the setting."""

import pytest

from tests.freshet.conftest import PERIODS, SMALL, Freshet

PAST = "2004-10-01..2005-09-30"


@pytest.mark.parametrize(
    "command",
    [
        ("train", *PERIODS, *SMALL),
        ("evaluate", "--period", PAST),
        ("reforecast", "--period", PAST),
        ("forecast",),
        ("volumes", "--season", "04-01..07-31"),
        ("daily",),
    ],
)
def test_a_device_that_this_machine_lacks_is_refused(worked: Freshet, command: tuple[str, ...]) -> None:
    by_option = worked(*command, "--device", "cuda:98")
    assert by_option.code == 2
    assert "--device cuda:98 is not a device of this machine: choose cpu" in by_option.err
    by_setting = worked(*command, FRESHET_DEVICE="cuda:98")
    assert by_setting.code == 2
    assert "FRESHET_DEVICE cuda:98 is not a device of this machine" in by_setting.err


def test_other_commands_compute_on_the_cpu_instead(worked: Freshet) -> None:
    result = worked("calibrate", "--period", PAST, FRESHET_DEVICE="cuda:98", FRESHET_LOG_LEVEL="warning")
    assert result.code == 0, result.err
    assert "device.unavailable" in result.err


def test_a_device_is_named_as_torch_does(worked: Freshet) -> None:
    result = worked("runs", "list", FRESHET_DEVICE="gpu")
    assert result.code == 2
    assert "FRESHET_DEVICE: " in result.err


def test_a_worker_of_whole_trainings_needs_a_gpu(worked: Freshet) -> None:
    result = worked("worker", "--queue", "gpu")
    assert result.code == 2
    assert "The queue gpu is for workers with a GPU" in result.err
