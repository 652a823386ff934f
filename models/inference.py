"""Runs a network forward, in whole blocks of samples.

A block always has BLOCK samples, padded with dry ones (by the network itself where it computes blocks separately), and
each day is computed separately. So a basin gets the same bits whatever its neighbours in the block, and a run split in
two with the state carried on gives the bits of the whole run (same machine, same library versions; on a graphics card
an MC-LSTM only).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from models.contract import Network
from models.inputs import DAILY, Inputs, State
from models.nets.products import BLOCK

GROUP = 4 * BLOCK  # basins per call, so that the fixed cost of a call is small

ArrayMap = dict[str, npt.NDArray[np.float32] | npt.NDArray[np.float64]]


def simulate(
    network: Network, inputs: Inputs, state: ArrayMap | None, wanted: Sequence[str]
) -> tuple[ArrayMap, ArrayMap]:
    """Run a network over T days of B samples from a state: named arrays (B, ...); None for an empty store.

    Returns:
        the `wanted` outputs (`discharge`, `loss`, `storage`, `outflow`), each (B, T, ...), and the last state.
    """
    samples, was_training = inputs.mass.shape[1], network.training
    if was_training:
        network.eval()
    size = GROUP if network.computes_blocks_alone else BLOCK
    try:
        blocks = [
            _run_blocks(network, inputs, state, slice(first, min(first + size, samples)), wanted)
            for first in range(0, samples, size)
        ]
    finally:
        if was_training:
            network.train()
    outputs = {name: np.concatenate([block[name] for block, _ in blocks]) for name in wanted}
    last = {name: np.concatenate([block[name] for _, block in blocks]) for name in blocks[0][1]}
    return outputs, last


@torch.inference_mode()
def _run_blocks(
    network: Network, inputs: Inputs, state: ArrayMap | None, samples: slice, wanted: Sequence[str]
) -> tuple[ArrayMap, ArrayMap]:
    count = samples.stop - samples.start
    pads = not network.computes_blocks_alone

    def whole(values: Tensor | None, axis: int) -> Any:
        if values is None:
            return None
        part = values[(slice(None),) * axis + (samples,)]
        return functional.pad(part, (0, 0) * (part.dim() - 1 - axis) + (0, -count % BLOCK)) if pads else part

    block = replace(
        inputs,
        **{name: whole(getattr(inputs, name), 1) for name in DAILY},
        **{name: whole(getattr(inputs, name), 0) for name in ("static", "basin")},
    )
    start: State | None = None
    if state is not None:
        start = {name: whole(torch.as_tensor(values).to(block.mass), 0) for name, values in state.items()}
    outputs, last = network(block, start)
    return (
        {name: outputs[name][:, :count].swapaxes(0, 1).cpu().numpy() for name in wanted},
        {name: values[:count].cpu().numpy() for name, values in last.items()},
    )
