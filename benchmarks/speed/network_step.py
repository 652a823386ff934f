"""One training step (forward and backward) of each network beside `torch.nn.LSTM` of the same width and inputs.

64 samples x 365 days, 4 auxiliaries and 27 statics, float32, 2 threads. All in one process, in turn, and the median
of the paired ratios.
"""

import statistics
from typing import Any

import torch
from torch import nn

from benchmarks.speed.steps import AUXILIARY, STATIC, Step, drivers, seconds
from jobspec.network import CONFIGS, sized
from jobspec.training import STATIC_ATTRIBUTES, InputsConfig, TrainingConfig
from models.devices import use_cores
from models.networks import build

SAMPLES, DAYS = 64, 365
WIDTHS = (64, 128)
THREADS, PAIRS = 2, 5
NETWORKS = [name for name, config in CONFIGS.items() if config.size == "cells"]


def measure() -> dict[str, Any]:
    """Return seconds and ratios by width and network."""
    torch.set_num_threads(THREADS)
    use_cores(THREADS)
    medians: dict[str, dict[str, float]] = {}
    ratios: dict[str, float] = {}
    for width in WIDTHS:
        steps = {"nn.LSTM": _lstm(width), **{name: _network(name, width) for name in NETWORKS}}
        for step in steps.values():
            step()
        taken: dict[str, list[float]] = {name: [] for name in steps}
        for _ in range(PAIRS):
            for name, step in steps.items():
                taken[name].append(seconds(step))
        medians[str(width)] = {name: statistics.median(values) for name, values in taken.items()}
        for name in NETWORKS:
            paired = [own / peer for own, peer in zip(taken[name], taken["nn.LSTM"], strict=True)]
            ratios[f"{name}_{width}_over_lstm_{width}"] = statistics.median(paired)
    shape = f"{SAMPLES} samples x {DAYS} days, {AUXILIARY} auxiliaries, {STATIC} statics, {THREADS} threads"
    return {"shape": shape, "pairs": PAIRS, "seconds": medians, "ratios": ratios}


def _network(architecture: str, width: int) -> Step:
    config = TrainingConfig.model_validate(
        {
            "network": sized(architecture, width),
            "inputs": InputsConfig(product="any", static=STATIC_ATTRIBUTES),
            "train_period": "2000-01-01..2000-12-31",
        }
    )
    network = build(config.network, config.inputs, seed=0).train()
    inputs = drivers(SAMPLES, DAYS)

    def step() -> None:
        network.zero_grad()
        network(inputs)[0]["discharge"].square().mean().backward()

    return step


def _lstm(width: int) -> Step:
    network = nn.LSTM(1 + AUXILIARY + STATIC, width)
    given = drivers(SAMPLES, DAYS)
    inputs = torch.cat([given.mass, given.auxiliary, given.static.expand(DAYS, SAMPLES, STATIC)], -1)

    def step() -> None:
        network.zero_grad()
        network(inputs)[0].square().mean().backward()

    return step
