"""Runs a network forward, in whole blocks of samples.

A block always has BLOCK samples, padded with dry ones (by the network itself where it computes blocks separately), and
each day is computed separately. So a basin gets the same bits whatever its neighbours in the block, and a run split in
two with the state carried on gives the bits of the whole run (same machine, same library versions).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from models.contract import Inputs, Network, State
from models.nets.products import BLOCK

GROUP = 4 * BLOCK  # basins per call, so that the fixed cost of a call is small

ArrayMap = dict[str, npt.NDArray[np.float32] | npt.NDArray[np.float64]]


def simulate(
    network: Network, inputs: Inputs, state: ArrayMap | None, wanted: Sequence[str]
) -> tuple[ArrayMap, ArrayMap]:
    """Run a network over T days of B samples from a state.

    Args:
        network: any network of the contract.
        inputs: standardised inputs.
        state: named arrays with B first; None for an empty store.
        wanted: the names of the outputs to return (`discharge`, `loss`, `storage`, `outflow`).

    Returns:
        the outputs, each (B, T, ...), and the state after the last day, each (B, ...).
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
    whole = _as_it_is if network.computes_blocks_alone else _padded
    block = Inputs(
        mass=whole(inputs.mass[:, samples], 1),
        auxiliary=whole(inputs.auxiliary[:, samples], 1),
        static=whole(inputs.static[samples], 0),
        basin=None if inputs.basin is None else whole(inputs.basin[samples], 0),
        elapsed=None if inputs.elapsed is None else whole(inputs.elapsed[:, samples], 1),
        mask=None if inputs.mask is None else whole(inputs.mask[:, samples], 1),
        tag=inputs.tag,
    )
    start: State | None = None
    if state is not None:
        start = {name: whole(torch.as_tensor(values[samples]).to(block.mass), 0) for name, values in state.items()}
    outputs, last = network(block, start)
    return (
        {name: outputs[name][:, :count].swapaxes(0, 1).cpu().numpy() for name in wanted},
        {name: values[:count].cpu().numpy() for name, values in last.items()},
    )


def _padded(values: Tensor, axis: int) -> Tensor:
    missing = -values.shape[axis] % BLOCK
    shape = list(values.shape)
    shape[axis] = missing
    return torch.cat([values, values.new_zeros(shape)], axis)


def _as_it_is(values: Tensor, _axis: int) -> Tensor:
    return values
