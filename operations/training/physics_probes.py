"""Runs the physics probes on a version before it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period, water_year
from hydrology.water.probes import ProbeResult
from jobspec.network import TEMPERATURES
from jobspec.training import TrainingConfig
from models import checkpoint
from models.arrays import Forcing
from models.ensemble import Ensemble
from models.nets.products import BLOCK
from models.physics import measure
from models.physics_probes.exam import YEAR, Exam
from models.physics_probes.experiments import answers
from models.scaling import Scaler
from operations.basin_data.dataset import load_forcings, stacked
from operations.versions.stages import single
from records.basins import basins
from records.versions.versions import Member, NewVersion

YEARS = (4, 3, 2)
"""Numbers of water years to examine: the largest that the records hold after a year of warm-up."""
ONE_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, slots=True)
class RealWeather:
    """Weather of several basins, on which networks are examined; the forcing starts with the warm-up."""

    forcing: Forcing
    latitudes: tuple[float, ...]
    days: Period


def measured(
    version: NewVersion, members: Sequence[Member], weather: RealWeather | None = None
) -> tuple[ProbeResult, ...] | None:
    """Return a version's probe results, None without members; without weather, on synthetic weather alone."""
    if not members:
        return None
    weights = {member.label: checkpoint.parse(member.weights[version.uses])[0] for member in members}
    config = version.training
    ensemble = Ensemble.load(config, Scaler.from_json(version.scaler), weights, version.basins)
    sizes = len(config.inputs.auxiliary), len(config.inputs.static)
    found = single("physics probes", lambda: measure(ensemble.networks, *sizes))
    if weather is None or not ensemble.conserving:
        return found
    exam = Exam(ensemble, weather.forcing, weather.latitudes, weather.days)
    return found + single("examination in physics", lambda: answers(exam))


def real_weather(session: Session, config: TrainingConfig, names: Sequence[str]) -> RealWeather | None:
    """Return weather of some of the named basins, spread over them; None where too little is stored.

    An examination needs daily temperatures, latitudes, and a year of warm-up before two water years at least.
    """
    if {*TEMPERATURES} - {*config.inputs.auxiliary}:
        return None
    sites = basins.sites(session, names)
    placed = [name for name in sites if sites[name].latitude is not None]
    found = load_forcings(session, placed[:: -(-len(placed) // BLOCK) or 1], config)
    records = {name: one.forcing for name, one in found.items() if not isinstance(one, Absent)}
    for years in YEARS if records else ():
        days, whole = _last_years(min(one.period.last for one in records.values()), years)
        if covering := {name: one for name, one in records.items() if one.period.overlap(whole) == whole}:
            latitudes = tuple(float(sites[name].latitude or 0) for name in covering)
            return RealWeather(stacked([one.over(whole) for one in covering.values()]), latitudes, days)
    return None


def _last_years(last: Day, years: int) -> tuple[Period, Period]:
    ended = int(water_year(np.array([last + ONE_DAY]))[0]) - 1
    first, end = np.datetime64(f"{ended - years}-10-01"), np.datetime64(f"{ended}-09-30")
    return Period(first, end), Period(first - np.timedelta64(YEAR, "D"), end)
