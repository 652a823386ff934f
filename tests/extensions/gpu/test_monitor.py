"""A worker's GPU as its driver reports it, and where the driver reports nothing."""

from pathlib import Path

import pytest

from extensions.gpu.monitor import GPUMonitor
from tests.extensions.gpu.fake_gpu import FakeGPU

pytestmark = pytest.mark.extended


def program(gpu: FakeGPU, script: str) -> None:
    """Replace the driver's program."""
    (gpu.folder / "nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")


def test_its_name_memory_and_utilisation_are_reported(gpu: FakeGPU) -> None:
    del gpu
    state = GPUMonitor("cuda:0").state()
    assert (state.device, state.id, state.name) == ("cuda:0", "GPU-5eed", "Test GPU")
    assert (state.memory, state.memory_used, state.utilisation) == (2**31, 2**29, 0.25)
    assert (state.unread, state.fault) == (None, None)


@pytest.mark.parametrize(
    ("device", "visible", "asked"),
    [("cuda", None, "0"), ("cuda:1", None, "1"), ("cuda:1", "3,GPU-5eed", "GPU-5eed"), ("cuda:0", " 2 ", "2")],
)
def test_the_driver_is_asked_for_the_gpu_that_cuda_gives_this_number(
    gpu: FakeGPU, monkeypatch: pytest.MonkeyPatch, device: str, visible: str | None, asked: str
) -> None:
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    program(gpu, 'echo "$1, a, 1, 1, 1"')
    assert GPUMonitor(device).state().id == f"--id={asked}"


def test_values_that_the_driver_does_not_know_are_missing_with_a_reason(gpu: FakeGPU) -> None:
    program(gpu, 'echo "GPU-1, Orin, [N/A], [N/A], 7"')
    state = GPUMonitor("cuda:0").state()
    assert (state.name, state.memory, state.memory_used, state.utilisation) == ("Orin", None, None, 0.07)
    assert str(state.unread) == "It is not known, because nvidia-smi does not report it for this GPU."
    assert state.fault is None


def test_without_the_program_nothing_is_known_and_nothing_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    state = GPUMonitor("cuda:0").state()
    assert (state.name, state.memory, state.fault) == (None, None, None)
    assert "nvidia-smi cannot be run here (No such file or directory)" in str(state.unread)


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        ("echo 'Unable to determine the device handle'; exit 15", "Unable to determine the device handle"),
        ("exit 9", "exit code 9"),
        ("echo 'No devices were found'", "No devices were found"),
        ("sleep 60", "did not answer within 0.2 seconds"),
    ],
)
def test_a_gpu_that_the_driver_has_lost_is_not_used(
    gpu: FakeGPU, monkeypatch: pytest.MonkeyPatch, script: str, fault: str
) -> None:
    monkeypatch.setattr("extensions.gpu.monitor.ANSWER_SECONDS", 0.2)
    program(gpu, script)
    state = GPUMonitor("cuda:0").state()
    assert state.fault is not None
    assert fault in state.fault
    assert state.memory is None
    assert fault in str(state.unread)


def test_a_gpu_that_failed_in_a_job_rests(gpu: FakeGPU, monkeypatch: pytest.MonkeyPatch) -> None:
    del gpu
    worker = GPUMonitor("cuda:0")
    worker.fail("It fell.")
    state = worker.state()
    assert (state.name, state.fault) == ("Test GPU", "It fell.")
    monkeypatch.setattr("extensions.gpu.monitor.REST_SECONDS", 0.0)
    assert worker.state().fault is None
