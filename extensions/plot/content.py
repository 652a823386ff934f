"""The content of a plume plot."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Period
from hydrology.base.errors import DataProblem
from hydrology.base.units import Area, converted
from hydrology.outlook import LEVELS
from records.basins import basins
from records.outlooks import outlooks
from records.runs import run_types
from records.series import series

FLOW, DEPTH = "m3/s", "mm/day"
BANDS = ((0.05, 0.95), (0.25, 0.75))
"""The levels between which a plume is filled, the widest first."""
MEDIAN = 0.5

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plume:
    """A run of a basin beside the flow that was observed.

    Attributes:
        t0: the last day that the run's state has consumed.
        unit: of all flows: m3/s, or mm/day where the run names no drainage area.
        days: of `observed`, and on to the last day ahead.
        observed: (days,), NaN where nothing is known.
        ahead: the days of the quantiles, (leads,).
        quantiles: by level, of `MEDIAN` and `BANDS`, (leads,).
        of: the source of the quantiles: `calibrated`, `members`, `members and traces`.
        notes: caveats of the forecast, a sentence each.
    """

    basin: str
    name: str
    t0: Day
    unit: str
    days: npt.NDArray[np.datetime64]
    observed: Array
    ahead: npt.NDArray[np.datetime64]
    quantiles: dict[float, Array]
    of: str
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"{self.basin}{name}: discharge in {self.unit}, forecast from the state of {self.t0} ({self.of})"


def content(session: Session, run: run_types.Run, of_basin: run_types.RunBasin, days_back: int, until: Day) -> Plume:
    """Return the plume of a run for a basin, with observed flow until a day."""
    basin = basins.get(session, of_basin.basin_id)
    outlook = outlooks.of_runs(session, [(run, of_basin)])[run.id, basin.id]
    if isinstance(outlook, Absent):
        raise DataProblem(f"Run {run.id} has no flow of {basin.id} to draw: {outlook}")
    days, calibrated = outlook.published.days, outlook.basis == "calibrated"
    known = [at for at, flow in enumerate(days.median) if flow is not None]
    area = None if of_basin.area_m2 is None else Area(str(of_basin.area_name), of_basin.area_m2)
    unit = DEPTH if area is None else FLOW
    values = converted(np.array(days.quantiles, dtype=np.float64)[:, known], unit=DEPTH, into=unit, area=area)
    rows = dict(zip(LEVELS, values, strict=True))
    first = run.t0 - np.timedelta64(days_back - 1, "D")
    period = Period(first, run.last_day)
    notes = (
        of_basin.spin_up_note,
        of_basin.summary.training_note,
        None if calibrated else str(of_basin.why_not_calibrated),
        outlook.update or (None if outlook.adjustment is None else "A forecaster has adjusted it."),
    )
    return Plume(
        basin=basin.id,
        name=basin.name or "",
        t0=run.t0,
        unit=unit,
        days=period.days,
        observed=_observed(session, basin.id, period, until, unit, area),
        ahead=run.t0 + np.array(days.leads)[known].astype("timedelta64[D]"),
        quantiles={level: rows[level] for level in (MEDIAN, *(level for band in BANDS for level in band))},
        of="calibrated" if calibrated else run.quantiles_of,
        notes=tuple(note for note in notes if note),
    )


def _observed(session: Session, basin: str, period: Period, until: Day, unit: str, area: Area | None) -> Array:
    """Return the observed flow of each day, NaN where none is known; (days,)."""
    daily = series.read(session, basin, gauge_product(basin), "discharge", period)
    if daily is None or (area is None and daily.unit != unit):
        return np.full(len(period), np.nan)
    values = converted(daily.over(period).values, unit=daily.unit, into=unit, area=area)
    return np.where(period.days <= until, values, np.nan)
