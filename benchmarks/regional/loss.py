"""Loss beside potential evapotranspiration: in how many basins members lose more than could evaporate.

What `freshet thresholds simulate` stores of every basin, computed from the shipped weights: the mean of all days after
the first year of the record, on which the store fills.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regional.data import basins, opened
from benchmarks.regional.seasonal.hindcasts import read_forcings
from hydrology.base.calendar import Period
from hydrology.water.storage import SPIN_UP_DAYS
from models.ensemble import GROUP, Ensemble
from operations.basin_data.climate import mean_pet
from operations.basin_data.dataset import BasinForcing, stacked
from records.basins import basins as basin_records


def measure(ensemble: Ensemble) -> dict[str, Any]:
    """Return how many basins and members exceed it, and by how much the ratio of both varies."""
    names = basins()
    forcings = read_forcings(ensemble, names)
    record = forcings[0].period
    days = Period(record.first + SPIN_UP_DAYS, record.last)
    database = opened()
    with database.reading() as session:
        places = [basin_records.get(session, name) for name in names]
    database.close()
    pets = [
        mean_pet(basin, forcing.forcing.over(days), ensemble.config.inputs)
        for basin, forcing in zip(places, forcings, strict=True)
    ]
    ratios = _losses(ensemble, forcings) / np.array(pets, float)
    of_mean = ratios.mean(axis=0)
    exceeding = [name for name, ratio in zip(names, of_mean, strict=True) if ratio > 1]
    return {
        "days": str(days),
        "basins": len(names),
        "ratio_of_the_mean": np.percentile(of_mean, [0, 25, 50, 75, 100]).tolist(),
        "basins_where_the_mean_exceeds": len(exceeding),
        "basins_where_a_member_exceeds": int((ratios > 1).any(axis=0).sum()),
        "basins_where_every_member_exceeds": int((ratios > 1).all(axis=0).sum()),
        "highest": {names[at]: float(of_mean[at]) for at in np.argsort(-of_mean)[:10]},
        "exceeding": exceeding,
    }


def _losses(ensemble: Ensemble, forcings: Sequence[BasinForcing]) -> npt.NDArray[np.float64]:
    """Return the mean loss of each member in each basin, (members, basins), mm/day."""
    parts = []
    for first in range(0, len(forcings), GROUP):
        together = stacked([forcing.forcing for forcing in forcings[first : first + GROUP]])
        each = ensemble.each(together, None, ("loss",))
        parts.append(np.stack([outputs["loss"][:, SPIN_UP_DAYS:].mean(axis=1, dtype=float) for outputs, _ in each]))
        print(f"from basin {first} on", file=sys.stderr, flush=True)
    return np.concatenate(parts, axis=1)
