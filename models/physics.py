"""Physics probes of a network. Named numbers, each with the largest value that passes.

The probes run on synthetic weather, the same for every network with the same number of inputs: their questions hold for
any weather, or not at all. A network that does not conserve mass gets only the questions that do not concern its water.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch

from hydrology.water.ledger import MIN_MM, WATER_AVAILABLE
from hydrology.water.probes import ProbeResult
from models.contract import Inputs, Network
from models.ensemble import ArrayMap, simulate

BASINS = 32
DAYS = 365
DRY_YEARS = 5
ADDED_MM = 10.0
WEATHER = ("mass", "auxiliary", "temperature", "pet")
STORM_MM = 500.0
"""More than fell in any day of the basins that networks learn from."""


class Trial:
    """A network on the weather of the probes, with its numbers of inputs, from an empty store."""

    def __init__(self, network: Network, auxiliary: int, static: int) -> None:
        self.network, self.weather = network, _weather(auxiliary, static)

    def run(self, weather: Inputs, state: ArrayMap | None = None) -> tuple[ArrayMap, ArrayMap]:
        """Return the outputs, each (B, T, ...), and the last state."""
        wanted = ("discharge", "loss", "storage") if self.network.conserving else ("discharge",)
        return simulate(self.network, weather, state, wanted)

    @cached_property
    def whole(self) -> tuple[ArrayMap, ArrayMap]:
        """The outputs over all the weather, and the last state."""
        return self.run(self.weather)

    @property
    def usual(self) -> ArrayMap:
        return self.whole[0]


@dataclass(frozen=True, slots=True)
class Probe:
    """A question to a network, with the largest value that passes; `of_water`: only if it conserves mass."""

    name: str
    asks: str
    unit: str
    limit: float
    of_water: bool
    measure: Callable[[Trial], float]


Measure = Callable[[Trial], float]
PROBES: list[Probe] = []


def _probe(name: str, asks: str, unit: str, limit: float, *, of_water: bool = True) -> Callable[[Measure], Measure]:
    def register(measure: Measure) -> Measure:
        PROBES.append(Probe(name, asks, unit, limit, of_water, measure))
        return measure

    return register


@_probe(
    "closure", "water unaccounted for since the empty store, of the water that fell", "1", WATER_AVAILABLE.tolerance
)
def _closure(trial: Trial) -> float:
    fallen = np.cumsum(trial.weather.mass[..., 0].numpy().T, axis=1, dtype=np.float64)
    rained = fallen > 0
    return _largest([np.abs(fallen - _accounted(trial.usual))[rained] / fallen[rained]])


@_probe("non-negativity", "how far discharge, loss or a cell is below 0", "mm", -MIN_MM)
def _non_negativity(trial: Trial) -> float:
    return _largest(-values for values in trial.usual.values())


@_probe("boundedness", f"what leaves in a day beyond what was there, a day of {STORM_MM:.0f} mm among them", "mm", 1e-2)
def _boundedness(trial: Trial) -> float:
    rain = trial.weather.mass.clone()
    rain[DAYS // 2] = STORM_MM
    outputs, _ = trial.run(replace(trial.weather, mass=rain))
    stored = outputs["storage"].sum(axis=-1, dtype=np.float64)
    there = stored[:, :-1] + rain[1:, :, 0].numpy().T
    left = outputs["discharge"][:, 1:] + outputs["loss"][:, 1:].astype(np.float64)
    return _largest([left - there])


@_probe(
    "added rain",
    f"how far the water in the basin and what left it are from {ADDED_MM:.0f} mm more after as much more rain",
    "mm",
    1e-2,
)
def _added_rain(trial: Trial) -> float:
    at = DAYS // 2
    rain = trial.weather.mass.clone()
    rain[at] += ADDED_MM
    wetter, _ = trial.run(replace(trial.weather, mass=rain))
    gains = (_accounted(wetter) - _accounted(trial.usual))[:, at:]
    return _largest([np.abs(gains - ADDED_MM)])


def _accounted(outputs: ArrayMap) -> npt.NDArray[np.float64]:
    """Return the water in the basin plus all that has left it, (B, T) in mm."""
    left: npt.NDArray[np.float64] = np.cumsum(outputs["discharge"] + outputs["loss"], axis=1, dtype=np.float64)
    stored: npt.NDArray[np.float64] = outputs["storage"].sum(axis=-1, dtype=np.float64)
    return left + stored


@_probe("dry-down", f"mean discharge of the last of {DRY_YEARS} years without rain", "mm/day", 0.1)
def _dry_down(trial: Trial) -> float:
    dry = replace(trial.weather, mass=torch.zeros_like(trial.weather.mass))
    outputs, state = trial.whole
    for _ in range(DRY_YEARS):
        outputs, state = trial.run(dry, state)
    return _largest([np.abs(outputs["discharge"]).mean(axis=1)])


@_probe("causality", "how much the weather of later days changes a discharge", "mm/day", 0.0, of_water=False)
def _causality(trial: Trial) -> float:
    known = DAYS // 2
    other = _weather(trial.weather.auxiliary.shape[-1], trial.weather.static.shape[-1], seed=1)
    changed = replace(
        trial.weather,
        **{name: torch.cat([getattr(trial.weather, name)[:known], getattr(other, name)[known:]]) for name in WEATHER},
    )
    outputs, _ = trial.run(changed)
    return _difference(outputs["discharge"][:, :known], trial.usual["discharge"][:, :known])


@_probe("batch invariance", "how much other basins change a discharge", "mm/day", 0.0, of_water=False)
def _batch_invariance(trial: Trial) -> float:
    weather = trial.weather
    return _difference(trial.run(weather.of_samples([0]))[0]["discharge"], trial.usual["discharge"][:1])


@_probe("restart", "how much stopping and resuming from the state changes a discharge", "mm/day", 0.0, of_water=False)
def _restart(trial: Trial) -> float:
    at = DAYS // 2
    _, state = trial.run(trial.weather.between(0, at))
    rest, _ = trial.run(trial.weather.between(at, DAYS), state)
    return _difference(rest["discharge"], trial.usual["discharge"][:, at:])


def measure(networks: Sequence[Network], auxiliary: int, static: int) -> tuple[ProbeResult, ...]:
    """Return the probes' results for networks of one architecture: the worst, in the order of `PROBES`."""
    trials = [Trial(network, auxiliary, static) for network in networks]
    conserving = all(network.conserving for network in networks)
    worst = {probe: _largest(map(probe.measure, trials)) for probe in PROBES if conserving or not probe.of_water}
    return tuple(
        ProbeResult(probe.name, probe.asks, probe.unit, probe.limit, value if np.isfinite(value) else None)
        for probe, value in worst.items()
    )


def _weather(auxiliary: int, static: int, seed: int = 0) -> Inputs:
    """Return a year of seasons with noise, standardised, and rain on three days of ten, 10 mm on average.

    Its temperature is around 8 degC, with frost and heat."""
    draw = np.random.default_rng(seed)
    season = np.sin(2 * np.pi * np.arange(DAYS) / DAYS)[:, None, None]
    falls = draw.random((DAYS, BASINS, 1)) < 0.3
    rain = np.where(falls, draw.exponential(10.0, falls.shape), 0.0)
    drivers = season + 0.5 * draw.standard_normal((DAYS, BASINS, auxiliary))
    attributes = draw.standard_normal((BASINS, static)).clip(-2, 2)
    temperature = 8 + 12 * season[..., 0] + 4 * draw.standard_normal((DAYS, BASINS))
    pet = np.maximum(temperature + 5, 0) / 10
    parts = {"mass": rain, "auxiliary": drivers, "static": attributes, "temperature": temperature, "pet": pet}
    return Inputs(**{name: torch.from_numpy(values.astype(np.float32)) for name, values in parts.items()})


def _difference(values: npt.NDArray[np.floating], others: npt.NDArray[np.floating]) -> float:
    return _largest([np.abs(values - others)])


def _largest(values: Iterable[npt.ArrayLike]) -> float:
    """Return the largest value; NaN where one is not a number."""
    return max((float(np.max(part)) for part in values), key=lambda value: np.inf if np.isnan(value) else value)
