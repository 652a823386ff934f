"""Examines the networks of a version on the weather of real basins, before it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from extensions.physics_exam.exam import YEAR, Exam
from extensions.physics_exam.members import Members
from extensions.physics_exam.questions import answers, ruled_out
from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period, water_year
from hydrology.water.probes import ProbeResult
from jobspec.network import TEMPERATURES
from jobspec.training import TrainingConfig
from models.ensemble import Ensemble
from models.forcing import Forcing
from models.nets.layers import BLOCK
from operations.basin_data.dataset import load_forcings, stacked
from records.basins import basins
from records.database.work import Work

YEARS = (4, 3, 2)
"""Numbers of water years to examine: the largest that the records hold after a year of warm-up."""
ONE_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, slots=True)
class RealWeather:
    """Weather of several basins, on which networks are examined; the forcing starts with the warm-up."""

    forcing: Forcing
    latitudes: tuple[float, ...]
    days: Period


def examine(work: Work, ensemble: Ensemble, names: Sequence[str]) -> tuple[ProbeResult, ...]:
    """Return results on weather of the named basins; none without conservation, or where too little is stored."""
    if not ensemble.conserving:
        return ()
    with work.database.reading() as session:
        weather = real_weather(session, ensemble.config, names)
    if weather is None:
        return ()
    exam = Exam(Members(ensemble), weather.forcing, weather.latitudes, weather.days)
    return answers(exam, ruled_out(ensemble.config))


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
