"""AdamW as torch computes it, bit for bit, for a process that trains: torch's own optimisers load its compiler first,
which takes as long as the rest of torch, and 140 MB.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
STEP, MEAN, SQUARES = "step", "exp_avg", "exp_avg_sq"


class AdamW:
    """The part of `torch.optim.AdamW` that trainings use, with its default betas.

    Args:
        groups: each with its `params` and their `weight_decay`; the training sets the rate of each, `lr`.
    """

    def __init__(self, groups: Sequence[dict[str, Any]]) -> None:
        self.param_groups = [{"lr": 0.0, **group} for group in groups]
        self.state: dict[Tensor, dict[str, Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for weights in self._weights:
            weights.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Take a step down the gradients."""
        for group in self.param_groups:
            for weights in group["params"]:
                if weights.grad is not None:
                    self._descend(weights, weights.grad, group["lr"], group["weight_decay"])

    def state_dict(self) -> dict[str, Any]:
        """Return the steps and moments by the place of the weights that they are of."""
        return {"state": {at: self.state[one] for at, one in enumerate(self._weights) if one in self.state}}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take what `state_dict` returns."""
        weights = self._weights
        self.state = {weights[at]: _beside(weights[at], state) for at, state in state_dict["state"].items()}

    @property
    def _weights(self) -> list[Tensor]:
        return [weights for group in self.param_groups for weights in group["params"]]

    def _descend(self, weights: Tensor, gradient: Tensor, rate: float, decay: float) -> None:
        if weights not in self.state:
            moments = {name: torch.zeros_like(weights) for name in (MEAN, SQUARES)}
            self.state[weights] = {STEP: torch.tensor(0.0), **moments}
        state = self.state[weights]
        mean, squares = state[MEAN], state[SQUARES]
        state[STEP] += 1
        steps = state[STEP].item()
        weights.mul_(1 - rate * decay)
        mean.lerp_(gradient, 1 - BETA1)
        squares.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        scale = (squares.sqrt() / (1 - BETA2**steps) ** 0.5).add_(EPSILON)
        weights.addcdiv_(mean, scale, value=-rate / (1 - BETA1**steps))


def _beside(weights: Tensor, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the steps, and the moments where the weights are."""
    return {name: of.clone() if name == STEP else of.to(weights) for name, of in state.items()}
