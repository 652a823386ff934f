"""How exact the network is: closure over 20 years of a real basin, alone against in a batch, whole against split.

Each figure stands beside its bound. The network is untrained; FRESHET_CAMELS names the data.
"""

from typing import Any

import numpy as np
import torch

from hydrology.base.calendar import Period
from hydrology.water.ledger import worst_relative_residual
from ingestion.sources.camels import CamelsSource
from models.contract import Inputs
from models.devices import use_cores
from models.ensemble import simulate
from models.forcing import Forcing, Scaler
from models.nets.mclstm import MCLSTM
from runtime.settings import Settings

BASIN, YEARS = "USGS-13235000", Period.parse("1988-10-01..2008-09-30")
SIZES = (2, 3, 4, 8, 16, 32, 64)
BOUNDS = {torch.float32: 1e-5, torch.float64: 1e-12}
BATCH, DAYS, CUT = 256, 365, 147


def measure() -> dict[str, Any]:
    """Return the worst figure of each property by type, and whether it is within its bound."""
    torch.set_num_threads(2)
    use_cores(2)
    forcing = _weather()
    found: dict[str, Any] = {"basin": BASIN, "period": str(YEARS), "sizes": SIZES}
    for dtype, bound in BOUNDS.items():
        closure = {f"K={K}, {dead} dead": _closure(forcing, K, dead, dtype) for K in SIZES for dead in (0, K // 2, K)}
        alone, split = _training_path(dtype)
        figures = {"closure": max(closure.values()), "alone_or_in_a_batch": alone, "whole_or_split": split}
        found[str(dtype).removeprefix("torch.")] = {
            "bound": bound,
            "worst": figures,
            "within_bound": all(figure <= bound for figure in figures.values()),
            "closure_by_size": closure,
            "inference_bit_equal": _inference_path(dtype),
        }
    return found


def _weather() -> Forcing:
    camels = Settings.load().camels
    if camels is None:
        raise SystemExit("Set FRESHET_CAMELS to the folder of real CAMELS-US data.")
    data = CamelsSource([camels / "maurer_extended.zip"]).read(BASIN)
    series = {one.variable: one.series.over(YEARS).values.astype(np.float32) for one in data.series}
    auxiliary = np.stack([series[name] for name in ("srad", "tmax", "tmin", "vp")], axis=-1)
    return Forcing(YEARS.first, series["precipitation"][None], auxiliary[None], np.ones((1, 2), np.float32), (BASIN,))


def _network(K: int, dead: int, static: int, dtype: torch.dtype) -> MCLSTM:
    torch.manual_seed(K)
    network = MCLSTM(auxiliary=4, static=static, cells=K)
    with torch.no_grad():
        network.redistribution.weight[: dead * K] = 0
        network.redistribution.bias[: dead * K] = -1
    return network.to(dtype)


def _closure(forcing: Forcing, K: int, dead: int, dtype: torch.dtype) -> float:
    with torch.inference_mode():
        outputs, _ = _network(K, dead, 2, dtype)(Scaler.fit(forcing).inputs(forcing, dtype))
    stored = outputs["storage"].double().sum(-1).T.numpy()
    discharge, loss = outputs["discharge"].T.numpy(), outputs["loss"].T.numpy()
    return float(worst_relative_residual(forcing.mass, discharge, loss, np.zeros(1), stored)[0])


def _drivers(dtype: torch.dtype) -> Inputs:
    generator = torch.Generator().manual_seed(1)
    rain = (torch.rand(DAYS, BATCH, 1, generator=generator) - 0.6).clamp_min(0) * 50
    auxiliary = torch.randn(DAYS, BATCH, 4, generator=generator)
    return Inputs(rain.to(dtype), auxiliary.to(dtype), torch.randn(BATCH, 27, generator=generator).to(dtype))


def _one(inputs: Inputs, sample: int) -> Inputs:
    at = slice(sample, sample + 1)
    return Inputs(inputs.mass[:, at], inputs.auxiliary[:, at], inputs.static[at])


def _training_path(dtype: torch.dtype) -> tuple[float, float]:
    """Return the largest differences, alone and split, over the largest discharge."""
    network, inputs = _network(64, 0, 27, dtype), _drivers(dtype)
    with torch.no_grad():
        whole = network(inputs)[0]["discharge"]
        alone = [
            (network(_one(inputs, s))[0]["discharge"][:, 0] - whole[:, s]).abs().max() for s in range(0, BATCH, 17)
        ]
        first, state = network(inputs.between(0, CUT))
        second, _ = network(inputs.between(CUT, DAYS), state)
    split = (torch.cat([first["discharge"], second["discharge"]]) - whole).abs().max()
    return float(max(alone) / whole.max()), float(split / whole.max())


def _inference_path(dtype: torch.dtype) -> bool:
    """Return whether neighbours and cuts change no bit through the fixed blocks."""
    network, inputs = _network(64, 0, 27, dtype), _drivers(dtype)
    whole, _ = simulate(network, inputs, None, ("discharge",))
    alone = [simulate(network, _one(inputs, s), None, ("discharge",))[0]["discharge"][0] for s in range(0, BATCH, 51)]
    first, state = simulate(network, inputs.between(0, CUT), None, ("discharge",))
    second, _ = simulate(network, inputs.between(CUT, DAYS), state, ("discharge",))
    split = np.concatenate([first["discharge"], second["discharge"]], axis=1)
    same = all(np.array_equal(one, whole["discharge"][s]) for one, s in zip(alone, range(0, BATCH, 51), strict=True))
    return same and np.array_equal(split, whole["discharge"])
