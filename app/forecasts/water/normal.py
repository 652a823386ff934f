"""Normal storage on the days ahead, and a run in percent of it."""

from collections.abc import Sequence

import numpy as np
from sqlalchemy.orm import Session

from app.forecasts.snow import HARDLY_ANY
from app.forecasts.water.schemas import NormalWater
from app.http.json_numbers import column, gappy_column
from hydrology.base.absent import Absent
from hydrology.climatology.normals import normal_means, too_few_years
from hydrology.snow.against_normal import MIN_MM
from records.forecasts.latest import Latest
from records.simulations import simulated_storage
from records.simulations.simulated_storage import SimulatedWater
from records.simulations.snow_cells import mapping

WaterAndReasons = tuple[NormalWater | None, dict[str, Absent]]
"""The normal, and why it or a field is null, by the field's name after a dot."""


def normal_total(session: Session, latest: Latest, total: Sequence[float]) -> WaterAndReasons:
    """Return the normal storage, from the past simulated by the run's version."""
    return _normal_water(
        latest, simulated_storage.storage_of(session, latest.run.version_id, latest.basin.basin_id), total
    )


def normal_snow(session: Session, latest: Latest, snow: Sequence[float]) -> WaterAndReasons:
    """Return the normal amount of snow read."""
    version, basin = latest.run.version_id, latest.basin.basin_id
    water = simulated_storage.snow_of(session, version, basin, mapping(session, version, basin))
    return _normal_water(latest, water, snow)


def _normal_water(latest: Latest, water: SimulatedWater | Absent, stored: Sequence[float]) -> WaterAndReasons:
    if isinstance(water, Absent):
        return None, {"": water}
    days = latest.run.t0 + np.arange(1, latest.run.horizon_days + 1)
    normal = normal_means(water.values, water.period, days)
    if lacking := int(np.isnan(normal).sum()):
        return None, {"": too_few_years(lacking, len(days))}
    enough = normal >= MIN_MM
    percent = np.where(enough, 100 * np.asarray(stored) / np.where(enough, normal, 1), np.nan)
    missing = {} if enough.all() else {".percent_of_normal": HARDLY_ANY}
    return NormalWater(water=column(normal), percent_of_normal=gappy_column(percent)), missing
