"""Linear layers whose result for a sample is bitwise independent of its place in the batch, and normalisers of gates.

Normalised gates are shares that are not negative and sum to 1 over the last axis.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

BLOCK = 32  # samples that are run together: one shape and so one order of arithmetic
ROW_ALIGNMENT = 16  # numbers: 64 bytes in float32. A product takes rows that begin elsewhere another way, and sums in
# another order.


def aligned_size(rows: int) -> int:
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
    if bias is not None and x.is_cuda:  # for many members at once (vmap), torch copies the operands of both together
        return functional.linear(x, weight) + bias
    return functional.linear(x, weight, bias)


class Linear(nn.Linear):
    """`torch.nn.Linear` computed by `linear`."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


DEAD_COLUMN = 1e-30  # a sum of positive parts up to this counts as none: c / s must stay finite in float32


def softmax(z: Tensor) -> Tensor:
    """Return exp(z) / sum of exp(z), as in (5), (7) and (8)."""
    return torch.softmax(z, -1)


def normalised_logistic(z: Tensor) -> Tensor:
    """Return sigma(z) / sum of sigma(z), as in (17). Computed in logarithms, so that it is never 0 / 0."""
    return torch.softmax(functional.logsigmoid(z), -1)


def normalised_relu(z: Tensor) -> Tensor:
    """Return the R of (18), z (..., K sources, K targets). A source without a positive entry retains its water."""
    positive = z.relu()
    total = positive.sum(-1, keepdim=True)
    dead = total <= DEAD_COLUMN
    identity = torch.eye(z.shape[-1], dtype=z.dtype, device=z.device)
    return torch.where(dead, identity, positive / torch.where(dead, 1.0, total))
