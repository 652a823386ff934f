"""Normalisers of gates: shares that are not negative and sum to 1 over the last axis."""

import torch
from torch import Tensor
from torch.nn import functional

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
