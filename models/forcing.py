"""Forcing of many basins over one period, standardised for networks, and its energy."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch

from hydrology.base.calendar import Day, Period, day_of_year
from hydrology.weather.climate import extraterrestrial_radiation, potential_evapotranspiration
from jobspec.network import LATITUDE, TEMPERATURES
from jobspec.training import InputsConfig
from models.contract import Inputs

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Forcing:
    """Forcing and attributes of N basins over consecutive days, NaN where a value is missing.

    `mass` is precipitation, (N, days) in mm/day; `auxiliary` (N, days, L) and `static` (N, S) are in their own units.
    """

    first: Day
    mass: Array
    auxiliary: Array
    static: Array
    ids: tuple[str, ...]

    @property
    def period(self) -> Period:
        return Period(self.first, self.first + np.timedelta64(self.mass.shape[1] - 1, "D"))

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Whether a day lacks any of its forcing, (N, days)."""
        return np.asarray(np.isnan(self.mass) | np.isnan(self.auxiliary).any(axis=-1))

    def over(self, period: Period) -> Self:
        """Return the forcing of a period within this one."""
        days = days_of(self.period, period)
        return type(self)(period.first, self.mass[:, days], self.auxiliary[:, days], self.static, self.ids)

    def basins(self, chosen: slice | npt.NDArray[np.int64]) -> Self:
        ids = tuple(np.array(self.ids)[chosen].tolist())
        return type(self)(self.first, self.mass[chosen], self.auxiliary[chosen], self.static[chosen], ids)


def places(ids: Sequence[str], learnt_from: Iterable[str]) -> npt.NDArray[np.int64]:
    """Return each basin's index among those that a network learnt from, sorted by id; -1 for any other."""
    place = {basin: at for at, basin in enumerate(sorted(learnt_from))}
    return np.array([place.get(basin, -1) for basin in ids], np.int64)


def days_of(whole: Period, part: Period) -> slice:
    """Return the slice of the days of `part` within the days of `whole`."""
    first = int((part.first - whole.first).astype(int))
    last = int((part.last - whole.first).astype(int))
    if first < 0 or last >= len(whole):
        raise ValueError(f"{part} is not inside {whole}")
    return slice(first, last + 1)


@dataclass(frozen=True, slots=True)
class Scaler:
    """Means and standard deviations of L dynamic inputs and S attributes over a training's basins and days.

    An attribute that all basins share has the standard deviation 1 here, so that it enters as 0.
    """

    auxiliary_mean: tuple[float, ...]
    auxiliary_sd: tuple[float, ...]
    static_mean: tuple[float, ...]
    static_sd: tuple[float, ...]

    @classmethod
    def fit(cls, training: Forcing) -> Self:
        """Fit to the forcing of the training period. Sums in float64, missing days left out."""
        auxiliary, static = training.auxiliary.astype(np.float64), training.static.astype(np.float64)
        means, sds = (np.nanmean(auxiliary, (0, 1)), static.mean(0)), (np.nanstd(auxiliary, (0, 1)), static.std(0))
        parts = (means[0], np.where(sds[0] > 0, sds[0], 1.0), means[1], np.where(sds[1] > 0, sds[1], 1.0))
        return cls(*(tuple(values.tolist()) for values in parts))

    def inputs(
        self, forcing: Forcing, dtype: torch.dtype, device: torch.device | str = "cpu", learnt_from: Iterable[str] = ()
    ) -> Inputs:
        """Return inputs: time first, auxiliaries and statics standardised, missing days masked."""
        missing = forcing.missing
        auxiliary = (forcing.auxiliary - np.asarray(self.auxiliary_mean)) / np.asarray(self.auxiliary_sd)
        static = (forcing.static - np.asarray(self.static_mean)) / np.asarray(self.static_sd)
        return Inputs(
            mass=torch.as_tensor(np.where(missing, 0, forcing.mass).T[..., None], dtype=dtype, device=device),
            auxiliary=torch.as_tensor(
                np.where(missing[..., None], 0, auxiliary).swapaxes(0, 1), dtype=dtype, device=device
            ),
            static=torch.as_tensor(static, dtype=dtype, device=device),
            basin=torch.as_tensor(places(forcing.ids, learnt_from), device=device),
            mask=torch.as_tensor(~missing.T, device=device) if missing.any() else None,
        )

    def as_json(self) -> dict[str, list[float]]:
        return {name: list(values) for name, values in asdict(self).items()}

    @classmethod
    def from_json(cls, fields: dict[str, list[float]]) -> Self:
        return cls(**{name: tuple(values) for name, values in fields.items()})


_YEAR = Period.parse("2000-01-01..2000-12-31").days


def energy(forcing: Forcing, inputs: InputsConfig) -> tuple[Array, Array]:
    """Return mean temperature in degC and potential evapotranspiration (Oudin et al. 2005) in mm/day, (N, days) each.

    The numbers of a basin depend on its own weather and latitude alone, to the last bit.
    """
    temperature = mean_temperature(forcing, inputs)
    days = day_of_year(forcing.period.days) - 1
    latitudes = forcing.static[:, inputs.static.index(LATITUDE)].tolist()
    radiation = np.stack([_radiation_of_year(latitude)[days] for latitude in latitudes])
    pet = potential_evapotranspiration(temperature, radiation)
    return temperature.astype(np.float32), pet.astype(np.float32)


def mean_temperature(forcing: Forcing, inputs: InputsConfig) -> npt.NDArray[np.float64]:
    """Return the mean of daily maximum and minimum temperature, (N, days) in degC."""
    tmax, tmin = (forcing.auxiliary[..., inputs.auxiliary.index(name)].astype(np.float64) for name in TEMPERATURES)
    return (tmax + tmin) / 2


def with_energy(inputs: Inputs, temperature: Array, pet: Array) -> Inputs:
    """Return inputs with the results of `energy`."""
    on: dict[str, Any] = {"dtype": inputs.mass.dtype, "device": inputs.mass.device}
    return replace(inputs, temperature=torch.as_tensor(temperature.T, **on), pet=torch.as_tensor(pet.T, **on))


@lru_cache(maxsize=10_000)
def _radiation_of_year(latitude: float) -> npt.NDArray[np.float64]:
    radiation: npt.NDArray[np.float64] = extraterrestrial_radiation(_YEAR, latitude)[:, 0]
    radiation.setflags(write=False)
    return radiation
