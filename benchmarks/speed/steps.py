"""What the training steps that are timed have in common."""

import time
from collections.abc import Callable

import torch

from models.contract import Inputs

AUXILIARY, STATIC = 4, 27

Step = Callable[[], None]


def drivers(samples: int, days: int, static: int = STATIC) -> Inputs:
    """Return random inputs of the paper's hydrology experiment."""
    generator = torch.Generator().manual_seed(0)
    return Inputs(
        torch.rand(days, samples, 1, generator=generator) * 10,
        torch.randn(days, samples, AUXILIARY, generator=generator),
        torch.randn(samples, static, generator=generator),
    )


def seconds(step: Step) -> float:
    """Return how long a step takes by the clock."""
    started = time.perf_counter()
    step()
    return time.perf_counter() - started
