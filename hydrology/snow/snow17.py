"""Snow-17, the snow accumulation and ablation model of the US National Weather Service, at a daily step.

Source: Anderson 2006, "Snow Accumulation and Ablation Model - SNOW-17", NWS. Names of parameters are its own. Omitted:
the areal depletion curve (snow covers the whole area or none of it), the lag of excess water (shorter than a day), and
the seasonal shape of the melt factor north of 54° N.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array
from hydrology.base.calendar import Days, day_of_year
from hydrology.base.errors import InvalidInput

_STEPS = 4  # per day, of six hours, the step of the melt parameters
_HOURS = 24


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of Snow-17. With `scf` other than 1 the snow pack holds more water than precipitation."""

    scf: float = 1.0  # snow catch factor, a correction of gauge undercatch
    pxtemp: float = 1.0  # degC, precipitation is snow at or below it
    mfmax: float = 1.05  # mm/degC/6 h, melt factor on 21 June
    mfmin: float = 0.60  # mm/degC/6 h, melt factor on 21 December
    mbase: float = 0.0  # degC, melt begins above it
    nmf: float = 0.15  # mm/degC/6 h, largest negative melt factor
    tipm: float = 0.1  # 1/6 h, weight of the newest temperature in the pack's temperature index
    uadj: float = 0.04  # mm/mb/6 h, wind function during rain on snow
    plwhc: float = 0.04  # share of the ice that liquid water may be
    daygm: float = 0.0  # mm/day, melt at the ground


@dataclass(frozen=True, slots=True)
class Snow17State:
    """The snow pack at the end of a day. Every array has the shape of one day's precipitation."""

    ice: Array  # mm
    liquid: Array  # mm
    deficit: Array  # mm of water that must freeze before the pack is at 0 degC
    temperature_index: Array  # degC, at most 0

    @property
    def swe(self) -> Array:
        """Snow water equivalent in mm."""
        return self.ice + self.liquid


@dataclass(frozen=True, slots=True)
class Snow17Run:
    """Rain plus melt (mm/day) and snow water equivalent (mm) of each day, and the state after the last."""

    rain_plus_melt: Array
    swe: Array
    state: Snow17State


def bare_ground(shape: tuple[int, ...] = ()) -> Snow17State:
    """Return the state without snow, for basins of the given shape."""
    return Snow17State(*(np.zeros(shape) for _ in range(4)))


def snow17(
    precipitation: npt.ArrayLike,
    temperature: npt.ArrayLike,
    days: Days,
    *,
    elevation: npt.ArrayLike,
    state: Snow17State | None = None,
    parameters: Parameters | None = None,
) -> Snow17Run:
    """Run Snow-17 from a state (default: bare ground); a run can be split and resumed bit for bit.

    Args:
        precipitation: mm/day, shape (days,) or (days, basins); refused where negative or missing.
        temperature: mean air temperature in degC, of the same shape.
        elevation: m, a number or shape (basins,).
    """
    p, t = np.asarray(precipitation, dtype=np.float64), np.asarray(temperature, dtype=np.float64)
    _check(p, t, days)
    parameters = parameters or Parameters()
    state = state or bare_ground(p.shape[1:])
    pressure, melt_factors = _pressure(np.asarray(elevation, dtype=np.float64)), _melt_factor(days, parameters)
    outflow, swe = np.empty_like(p), np.empty_like(p)
    for day in range(len(days)):
        state, outflow[day] = _step(state, p[day], t[day], float(melt_factors[day]), pressure, parameters)
        swe[day] = state.swe
    return Snow17Run(outflow, swe, state)


def _check(p: Array, t: Array, days: Days) -> None:
    if p.shape != t.shape or p.shape[:1] != days.shape:
        raise InvalidInput(
            "Snow-17 needs precipitation, temperature and days of one length; their shapes are "
            f"{p.shape}, {t.shape} and {days.shape}."
        )
    if not (np.isfinite(p).all() and np.isfinite(t).all() and (p >= 0).all()):
        raise InvalidInput(
            "Snow-17 needs precipitation of 0 or more and a temperature on every day: "
            "stop the run before the first missing day."
        )


def _melt_factor(days: Days, parameters: Parameters) -> Array:
    """Return the melt factor of each day in mm/degC/6 h: a sine through the year, n days since 21 March."""
    season = 0.5 * np.sin(2 * np.pi * (day_of_year(days) - 80) / 366) + 0.5
    return np.asarray(parameters.mfmin + season * (parameters.mfmax - parameters.mfmin))


def _pressure(elevation: Array) -> Array:
    """Return the mean air pressure in mb at an elevation in m."""
    hundreds = np.maximum(elevation, 0) / 100
    return 33.86 * (29.9 - 0.335 * hundreds + 0.00022 * hundreds**2.4)


def _step(
    state: Snow17State, p: Array, t: Array, melt_factor: float, pressure: Array, parameters: Parameters
) -> tuple[Snow17State, Array]:
    falls_as_snow = t <= parameters.pxtemp
    snow, rain = np.where(falls_as_snow, p * parameters.scf, 0.0), np.where(falls_as_snow, 0.0, p)
    cold = np.minimum(t, 0.0)

    chill = parameters.nmf * _STEPS * melt_factor / parameters.mfmax * (state.temperature_index - cold)
    weight = 1 - (1 - parameters.tipm) ** _STEPS
    drifted = np.minimum(state.temperature_index + weight * (t - state.temperature_index), 0.0)
    index = np.where(snow > 1.5 * _HOURS, cold, drifted)

    ice = state.ice + snow
    melt = np.minimum(_melt(rain, t, melt_factor, pressure, parameters), ice)
    ice = ice - melt
    # 160 = latent heat of fusion over the heat capacity of ice, in degC; the deficit is limited to a third of the
    # pack's ice.
    deficit = np.clip(state.deficit + chill - cold * snow / 160, 0.0, 0.33 * ice)

    ice, liquid, deficit, outflow = _hold(ice, state.liquid, deficit, melt + rain, parameters.plwhc)
    ground = np.minimum(parameters.daygm, ice)
    released = np.divide(ground * liquid, ice, out=np.zeros_like(ice), where=ice > 0)
    ice, liquid, outflow = ice - ground, liquid - released, outflow + ground + released

    bare = ice <= 0
    outflow = outflow + np.where(bare, liquid, 0.0)
    stores = [np.where(bare, 0.0, part) for part in (ice, liquid, deficit, index)]
    return Snow17State(*stores), outflow


def _melt(rain: Array, t: Array, melt_factor: float, pressure: Array, parameters: Parameters) -> Array:
    """Return surface melt in mm/day: by an energy balance in rain over 0.25 mm/h, else by temperature."""
    warm = np.maximum(t, 0.0)
    by_rain = 0.0125 * rain * warm
    vapour = 2.7489e8 * np.exp(-4278.63 / (warm + 242.792))  # saturation, mb
    radiation = 6.12e-10 * _HOURS * ((warm + 273.0) ** 4 - 273.0**4)
    turbulence = 8.5 * parameters.uadj * _STEPS * (0.9 * vapour - 6.11 + 0.00057 * pressure * warm)
    in_rain = np.maximum(radiation + by_rain + turbulence, 0.0)
    dry = melt_factor * _STEPS * np.maximum(t - parameters.mbase, 0.0) + by_rain
    return np.where(rain > 0.25 * _HOURS, in_rain, dry)


def _hold(ice: Array, liquid: Array, deficit: Array, water: Array, plwhc: float) -> tuple[Array, Array, Array, Array]:
    """Freeze water in a cold pack, hold it in a ripening one, release it from a ripe one.

    Returns ice, liquid, deficit and outflow. The pack is ripe when it can neither freeze nor hold more.
    """
    ripe = water + liquid > plwhc * ice + deficit * (1 + plwhc)
    frozen = np.where(ripe, deficit, np.minimum(water, deficit))
    ice, wet = ice + frozen, water + liquid - frozen
    outflow = np.where(ripe, np.maximum(wet - plwhc * ice, 0.0), 0.0)
    return ice, wet - outflow, deficit - frozen, outflow
