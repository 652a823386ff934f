"""The peak of a forecast in its answers: height, day and return period, each with its uncertainty."""

from datetime import date, timedelta

import numpy as np
from pydantic import Field

from app.basins.run_levels import WithReturnPeriod, return_period
from app.forecasts.discharge import in_units
from app.http import json_numbers
from hydrology.base.absent import Absent
from hydrology.base.calendar import as_date
from hydrology.base.units import Units
from hydrology.outlook import Peak
from records.forecasts.latest import Latest


class PeakOfRun(WithReturnPeriod):
    """The highest day ahead, over equally likely paths of the published flow: its height and its day."""

    p05: float = Field(description="Height exceeded with a chance of 95 %, in `units`.")
    median: float = Field(description="Median height, in `units`.")
    p95: float = Field(description="Height exceeded with a chance of 5 %, in `units`.")
    day_p05: date = Field(description="The peak is earlier than this day with a chance of 5 % at most.")
    day_median: date = Field(description="The median day of the peak.")
    day_p95: date = Field(description="The peak is later than this day with a chance of 5 % at most.")


def peak_of_run(latest: Latest, peak: Peak | Absent, units: Units) -> PeakOfRun | Absent:
    """Return the peak of a run's outlook in a unit."""
    if isinstance(peak, Absent):
        return peak
    t0, heights = as_date(latest.run.t0), np.array([peak.low, peak.height, peak.high])
    low, median, high = json_numbers.column(in_units(heights, latest.basin, units))
    first, middle, last = (t0 + timedelta(days=lead) for lead in (peak.first, peak.lead, peak.last))
    return PeakOfRun(
        p05=low,
        median=median,
        p95=high,
        day_p05=first,
        day_median=middle,
        day_p95=last,
        **return_period(peak.return_period),
    )
