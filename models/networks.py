"""From a configuration to a network: the one list of architectures."""

import torch

from models.config import InputsConfig, NetworkConfig
from models.contract import Network
from models.nets.mclstm import MCLSTM


def build(network: NetworkConfig, inputs: InputsConfig, seed: int) -> Network:
    """Return a freshly initialised network; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return MCLSTM(len(inputs.auxiliary), len(inputs.static), network.cells, network.output_gate_bias)
