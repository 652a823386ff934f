"""Linear layers whose result for a sample is bitwise independent of its place in the batch."""

import torch
from torch import Tensor, nn
from torch.nn import functional

BLOCK = 32  # samples that are run together: one shape and so one order of arithmetic
ROW_ALIGNMENT = 16  # numbers: 64 bytes in float32. A product takes rows that begin elsewhere another way, and sums in
# another order.


def aligned_size(rows: int) -> int:
    """Return the next multiple of ROW_ALIGNMENT."""
    return rows + -rows % ROW_ALIGNMENT


def aligned(values: Tensor, group: int) -> Tensor:
    """Return values (groups * group, ...) with zeros after each group, up to the next multiple of ROW_ALIGNMENT."""
    padding = [0, 0] * (values.dim() - 1) + [0, aligned_size(group) - group]
    return functional.pad(values.unflatten(0, (-1, group)), padding).flatten(0, 1)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x W^T + b, x (..., features), W (outputs, features), b (outputs,).

    Without gradients, rows are padded to whole multiples of ROW_ALIGNMENT; training does not need that.
    """
    padding = -x.shape[-1] % ROW_ALIGNMENT
    if padding and not torch.is_grad_enabled():
        x, weight = functional.pad(x, (0, padding)), functional.pad(weight, (0, padding))
    return functional.linear(x, weight, bias)


class Linear(nn.Linear):
    """`torch.nn.Linear` computed by `linear`."""

    def forward(self, x: Tensor) -> Tensor:
        """Return x W^T + b."""
        return linear(x, self.weight, self.bias)
