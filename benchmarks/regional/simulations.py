"""What trained members make of the whole record of basins, and what was observed there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.regional.data import PRODUCT, opened, require_all
from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period
from models.ensemble import GROUP, Ensemble
from models.forcing import days_of
from models.pretrained import form
from operations.basin_data.dataset import load_discharge, load_forcing, stacked

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Simulated:
    """Discharge of a whole record in mm/day: (members, basins, days)."""

    record: Period
    discharge: Array

    def over(self, period: Period) -> Array:
        """Return the days of a period of it."""
        return self.discharge[..., days_of(self.record, period)]


@dataclass(frozen=True, slots=True)
class Observed:
    """Discharge in mm/day.

    Attributes:
        period: its days.
        discharge: (basins, days), NaN where missing.
        reasons: why a basin has no observations at all, by its name.
    """

    period: Period
    discharge: Array
    reasons: dict[str, str]


def shipped(folder: Path, unseen: Iterable[str] = ()) -> form.Ensemble:
    """Return the ensemble that a folder holds, which must not have learnt from the basins `unseen`."""
    if not (folder / form.DESCRIPTION).exists():
        raise SystemExit(f"{folder} holds no trained member: `python -m benchmarks.regional train` makes them.")
    ensemble = form.read(folder)
    if known := {*unseen} & {*ensemble.description.basins}:
        raise SystemExit(f"{folder.name} has learnt from {sorted(known)}: train it again.")
    return ensemble


def simulate(ensemble: Ensemble, names: Sequence[str], last: Day | None = None) -> Simulated:
    """Return what every member makes of the days that the records of all basins hold, from the first of them.

    Args:
        last: the last day that is simulated; that of the records unless given.
    """
    database = opened(ensemble.config.inputs.product)
    with database.reading() as session:
        loadings = {name: load_forcing(session, name, ensemble.config) for name in names}
    database.close()
    require_all({name: str(reason) for name, reason in loadings.items() if isinstance(reason, Absent)})
    forcings = [loading.forcing for loading in loadings.values() if not isinstance(loading, Absent)]
    ends = [one.period.last for one in forcings]
    record = Period(max(one.period.first for one in forcings), min(ends if last is None else [*ends, last]))
    forcings = [forcing.over(record) for forcing in forcings]
    blocks = [
        ensemble.simulate(stacked(forcings[first : first + GROUP]), None, ("discharge",))[0]["discharge"]
        for first in range(0, len(forcings), GROUP)
    ]
    return Simulated(record, np.concatenate(blocks, axis=1))


def observe(names: Sequence[str], text: str, product: str = PRODUCT) -> Observed:
    """Return the observed discharge of basins over a period, by the areas of a product."""
    period, reasons = Period.parse(text), dict[str, str]()
    discharge: Array = np.full((len(names), len(period)), np.nan, np.float32)
    database = opened()
    with database.reading() as session:
        for row, name in zip(discharge, names, strict=True):
            flow = load_discharge(session, name, [product], period)
            if isinstance(flow, Absent):
                reasons[name] = str(flow)
            else:
                row[:] = flow
    database.close()
    return Observed(period, discharge, reasons)
