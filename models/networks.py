"""Builds networks from configurations: the one list of architectures."""

import torch

from jobspec.network import NetworkConfig
from jobspec.training import InputsConfig, TrainingConfig
from models.contract import Network
from models.nets.buckets import Buckets
from models.nets.comparison_networks import EALSTM, EINS, GRU, LSTM, MMRNN
from models.nets.mclstm import MCLSTM

ARCHITECTURES: dict[str, type[Network]] = {
    net.architecture: net for net in (MCLSTM, Buckets, LSTM, EALSTM, GRU, EINS, MMRNN)
}


def architecture(network: NetworkConfig) -> type[Network]:
    """Return the network class of a configuration."""
    return ARCHITECTURES[network.architecture]


def snow_cells(config: TrainingConfig) -> tuple[int, ...]:
    """Return the cells of a configuration's networks that hold snow by construction; none where it has to be found."""
    return build(config.network, config.inputs, seed=0).snow_cells


def build(network: NetworkConfig, inputs: InputsConfig, seed: int, basins: int = 0) -> Network:
    """Return a freshly initialised network for a number of basins; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        settings = network.model_dump(exclude={"architecture"})
        module = architecture(network)(len(inputs.auxiliary), len(inputs.static), **settings)
        module.learn_from(basins)
    return module
