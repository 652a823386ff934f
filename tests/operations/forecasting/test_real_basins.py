"""Real weather on networks of every size: the water of twenty years closes."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import torch

from hydrology.base.calendar import Period
from hydrology.water.ledger import tolerance_of, worst_relative_residual
from ingestion.sources.camels import CamelsSource
from models.forcing import Forcing, Scaler
from models.nets.mclstm import MCLSTM
from testing.networks import kill_columns

TWENTY_YEARS = Period.parse("1988-10-01..2008-09-30")


@lru_cache(maxsize=1)
def weather(camels: Path) -> Forcing:
    """Twenty years of a snowy basin, with two attributes that mean nothing."""
    data = CamelsSource([camels / "maurer_extended.zip"]).read("USGS-13235000")
    series = {one.variable: one.series.over(TWENTY_YEARS).values.astype(np.float32) for one in data.series}
    auxiliary = np.stack([series[name] for name in ("srad", "tmax", "tmin", "vp")], axis=-1)
    return Forcing(
        TWENTY_YEARS.first,
        series["precipitation"][None],
        auxiliary[None],
        np.ones((1, 2), np.float32),
        ("USGS-13235000",),
    )


@pytest.mark.extended
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("cells", "dead"), [(2, 0), (2, 1), (5, 3), (16, 4), (33, 33), (64, 0), (64, 20)])
def test_twenty_years_of_a_real_basin_close(camels: Path, cells: int, dead: int, dtype: torch.dtype) -> None:
    torch.set_num_threads(1)
    forcing = weather(camels)
    torch.manual_seed(cells)
    network = MCLSTM(auxiliary=4, static=2, cells=cells).to(dtype)
    kill_columns(network, list(range(dead)))
    inputs = Scaler.fit(forcing).inputs(forcing, dtype)
    with torch.inference_mode():
        outputs, _ = network(inputs)
    storage = outputs["storage"].double().sum(-1).T.numpy()
    residual = worst_relative_residual(
        forcing.mass, outputs["discharge"].T.numpy(), outputs["loss"].T.numpy(), np.zeros(1), storage
    )
    assert residual[0] <= tolerance_of(outputs["storage"].numpy().dtype)
    assert forcing.mass.sum() > 10_000
