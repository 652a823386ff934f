"""Small networks, forcings and trainings."""

from collections.abc import Sequence

import numpy as np
import torch

from hydrology.base.calendar import day
from jobspec.network import MCLSTMConfig
from jobspec.training import Cosine, InputsConfig, TrainingConfig, WindowsConfig
from models.contract import Inputs
from models.forcing import Forcing
from models.learning import TrainingData
from models.nets.mclstm import MCLSTM
from testing import plain_recurrence  # noqa: F401 - it adds the program `plain`

AUXILIARY_NAMES, STATIC_NAMES = ("tmax", "tmin", "srad"), ("a", "b", "c", "gauge_lat")
AUXILIARY, STATIC = len(AUXILIARY_NAMES), len(STATIC_NAMES)


def network(
    cells: int,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
    recurrence: str = "fastest",
    embedding: int = 3,
    rank: int = 0,
    antecedent_days: Sequence[float] = (),
    wetness: bool = False,
) -> MCLSTM:
    """Return a network with gates open enough that water moves."""
    torch.manual_seed(seed)
    return MCLSTM(
        AUXILIARY,
        STATIC,
        cells,
        embedding,
        rank,
        antecedent_days=antecedent_days,
        output_gate_bias=-1.0,
        wetness=wetness,
        recurrence=recurrence,
    ).to(dtype)


def inputs(days: int, samples: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Inputs:
    """Return wet and dry days for some samples."""
    generator = torch.Generator().manual_seed(seed)
    rain = torch.rand(days, samples, 1, generator=generator, dtype=torch.float64)
    rain = torch.where(rain > 0.6, (rain - 0.6) * 50, 0.0)
    auxiliary = torch.randn(days, samples, AUXILIARY, generator=generator, dtype=torch.float64)
    static = torch.randn(samples, STATIC, generator=generator, dtype=torch.float64)
    temperature, pet = (
        4 + 8 * auxiliary[..., 0],
        3 * torch.rand(days, samples, generator=generator, dtype=torch.float64),
    )
    energy = {"temperature": temperature.to(dtype), "pet": pet.to(dtype)}
    return Inputs(rain.to(dtype), auxiliary.to(dtype), static.to(dtype), **energy)


def kill_columns(net: MCLSTM, sources: list[int]) -> None:
    """Give the R of some source cells no positive entry, whatever the inputs."""
    cells = net.cells
    with torch.no_grad():
        for source in sources:
            rows = slice(source * cells, (source + 1) * cells)
            net.redistribution.weight[rows] = 0
            net.redistribution.bias[rows] = -1


def config(**changes: object) -> TrainingConfig:
    """Return a training of seconds, on the data of `training_data`."""
    settings: dict[str, object] = {
        "network": MCLSTMConfig(cells=4),
        "inputs": InputsConfig(product="synthetic", auxiliary=AUXILIARY_NAMES, static=STATIC_NAMES),
        "train_period": "2001-01-01..2002-12-31",
        "validation_period": "2003-01-01..2003-12-31",
        "windows": WindowsConfig(spinup_days=30, loss_days=30, batch=4),
        "schedule": Cosine(steps=12, warmup_steps=2, peak_learning_rate=0.02),
        "validate_every": 4,
        "checkpoint_every": 3,
    }
    return TrainingConfig.model_validate({**settings, **changes})


def training_data(basins: int = 3, seed: int = 0) -> TrainingData:
    """Return four years of basins whose discharge is a slow answer to rain."""
    generator = np.random.default_rng(seed)
    days = 1461
    rain = np.where(generator.random((basins, days)) > 0.7, generator.gamma(1.0, 8.0, (basins, days)), 0.0)
    discharge = np.zeros((basins, days))
    store = np.zeros(basins)
    for at in range(days):
        store += rain[:, at]
        discharge[:, at] = 0.08 * store
        store -= 1.3 * discharge[:, at]
    discharge[0, 800:820] = np.nan
    forcing = Forcing(
        day("2000-01-01"),
        rain.astype(np.float32),
        generator.normal(size=(basins, days, AUXILIARY)).astype(np.float32),
        generator.normal(size=(basins, STATIC)).astype(np.float32),
        tuple(f"basin-{at}" for at in range(basins)),
    )
    return TrainingData(forcing, discharge.astype(np.float32))
