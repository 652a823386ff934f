"""Checks what the compiled programs are given. They get addresses, so another shape or dtype would be misread."""

from collections.abc import Mapping

import torch
from torch import Tensor


def require(
    arrays: Mapping[str, Tensor | None], axes: Mapping[str, str], sizes: Mapping[str, int], dtype: torch.dtype
) -> None:
    """Check the shape and the dtype of arrays in the processor's memory, where they are not None.

    `axes` has a letter for each axis of an array, `sizes` the size of each letter; anything else raises ValueError.
    """
    for name, values in arrays.items():
        wanted = tuple(sizes[axis] for axis in axes[name])
        if values is None or (values.shape == wanted and values.dtype == dtype and values.is_cpu):
            continue
        raise ValueError(
            f"{name} has the shape {tuple(values.shape)} and {values.dtype} on {values.device.type}; the compiled "
            f"program needs {wanted} and {dtype} on cpu: give all arrays for the same samples, days and cells, and of "
            "the dtype of the weights."
        )
