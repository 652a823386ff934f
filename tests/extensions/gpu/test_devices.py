"""Faults of a GPU are distinguished from its want of memory and from errors of the program."""

import pytest
import torch

from models.devices import GPULost, device_in_use, gpu_faults, use_device


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (torch.AcceleratorError("CUDA error: unspecified launch failure"), GPULost),
        (RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"), GPULost),
        (RuntimeError("No CUDA GPUs are available"), GPULost),
        (AssertionError("Torch not compiled with CUDA enabled"), GPULost),
        (torch.OutOfMemoryError("CUDA out of memory."), torch.OutOfMemoryError),
        (torch.AcceleratorError("CUDA error: out of memory"), torch.OutOfMemoryError),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED"), torch.OutOfMemoryError),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), RuntimeError),
        (KeyError("weights"), KeyError),
    ],
)
def test_errors_of_a_gpu_are_those_of_its_kind(error: Exception, raised: type[Exception]) -> None:
    with pytest.raises(raised) as caught, gpu_faults("cuda:0"):
        raise error
    assert type(caught.value) is raised


def test_on_a_cpu_no_error_is_changed() -> None:
    with pytest.raises(RuntimeError, match="CUDA error") as caught, gpu_faults("cpu"):
        raise RuntimeError("CUDA error of a stray call")
    assert not isinstance(caught.value, GPULost)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_a_missing_gpu_is_a_lost_one_and_simulations_take_the_cpu() -> None:
    with pytest.raises(GPULost, match="cuda:0 cannot be used"), gpu_faults("cuda:0"):
        torch.zeros(1, device="cuda:0")
    use_device("cuda:0")
    assert device_in_use() == "cpu"
