"""The optimiser of trainings, against torch's."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch

from models.adamw import AdamW
from models.checkpoint import optimizer_tensors, restore_optimizer

SHAPES = [(16, 28), (16,), (3, 16, 8), (5,)]
NEVER_USED = 3
TRAINING = """
import sys
from models.forcing import Scaler
from models.training import MemberTraining
from testing.networks import config, training_data
data = training_data()
assert MemberTraining(config(), data, Scaler.fit(data.forcing), 1).run().log
print([name for name in ("torch.optim.adamw", "torch._dynamo", "sympy") if name in sys.modules])
"""


def weights_and_gradients() -> tuple[list[torch.nn.Parameter], Iterator[list[torch.Tensor]]]:
    """Return some weights and endless gradients, the same at each call."""
    draw = torch.Generator().manual_seed(1)
    weights = [torch.nn.Parameter(torch.randn(shape, generator=draw)) for shape in SHAPES]
    return weights, iter(lambda: [torch.randn(shape, generator=draw) for shape in SHAPES], None)


def groups(weights: list[torch.nn.Parameter]) -> list[dict[str, object]]:
    return [{"params": weights[:2], "weight_decay": 0.05}, {"params": weights[2:], "weight_decay": 0.0}]


def descend(optimizer: AdamW | torch.optim.AdamW, gradients: Iterator[list[torch.Tensor]], steps: range) -> None:
    weights = [one for group in optimizer.param_groups for one in group["params"]]
    for step in steps:
        optimizer.zero_grad()
        assert all(one.grad is None for one in weights)
        for at, (one, gradient) in enumerate(zip(weights, next(gradients), strict=True)):
            one.grad = None if at == NEVER_USED else gradient
        for group in optimizer.param_groups:
            group["lr"] = 0.02 / (1 + step)
        optimizer.step()


def test_steps_are_those_of_torch_bit_for_bit_also_after_a_resumption_of_either() -> None:
    weights, gradients = weights_and_gradients()
    expected = torch.optim.AdamW(groups(weights))
    descend(expected, gradients, range(60))
    for first, then in ((AdamW, AdamW), (AdamW, torch.optim.AdamW), (torch.optim.AdamW, AdamW)):
        others, gradients = weights_and_gradients()
        stopped, resumed = first(groups(others)), then(groups(others))
        descend(stopped, gradients, range(40))
        restore_optimizer(resumed, optimizer_tensors(stopped))
        descend(resumed, gradients, range(40, 60))
        assert all(map(torch.equal, others, weights))
        assert optimizer_tensors(resumed).keys() == optimizer_tensors(expected).keys()


@pytest.mark.extended
def test_a_training_does_not_load_the_compiler_of_torch() -> None:
    ended = subprocess.run([sys.executable, "-c", TRAINING], capture_output=True, text=True, check=True)
    assert ended.stdout == "['torch.optim.adamw']\n"
