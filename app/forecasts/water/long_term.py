"""Water balance since the model's store was empty, with observed runoff."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from app.basins.observations import DISCHARGE
from app.forecasts import service as forecasts
from app.forecasts.header import header, missing_in_header
from app.forecasts.water.schemas import LongTermBalance, ObservedRunoff, SimulatedWater
from app.http.base_schema import Period as Span
from app.http.json_numbers import rounded
from hydrology.base.absent import Absent, absent, texts
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from hydrology.base.units import Area, to_mm_per_day
from hydrology.water.ledger import Sums
from hydrology.weather.runoff import MIN_DAYS_OF_YEAR, in_whole_water_years
from records.basins import basins
from records.forecasts.latest import Latest
from records.runs import run_types, states
from records.series import series
from records.versions import versions

DAYS_OF_A_YEAR = 365.25


def long_term(session: Session, latest: Latest, at: datetime | None) -> LongTermBalance:
    """Return the balance until T0; `at` is the clock's time for a latest answer."""
    basin = latest.basin
    past = _past(session, latest)
    missing, simulated, observed = missing_in_header(basin), None, None
    if isinstance(past, Absent):
        missing |= dict.fromkeys(("period", "simulated", "observed"), past)
    else:
        simulated, runoff = past.a_year, _runoff(session, basin, past.period)
        if isinstance(runoff, Absent):
            missing["observed"] = runoff
        else:
            observed = runoff
    return LongTermBalance(
        **header(latest, at),
        units=dict.fromkeys(("simulated", "observed"), "mm/year"),
        period=None if isinstance(past, Absent) else Span.between(past.period.first, past.period.last),
        simulated=simulated,
        observed=observed,
        missing=texts(missing),
    )


@dataclass(frozen=True, slots=True)
class _Past:
    """The days since the empty store, with their sums of water."""

    period: Period
    sums: Sums

    @property
    def a_year(self) -> SimulatedWater:
        """Annual mean of the members."""
        years = len(self.period) / DAYS_OF_A_YEAR
        means = {name: float(amounts.mean()) / years for name, amounts in self.sums.items()}
        stored = means["precipitation"] - means["discharge"] - means["loss"]
        return SimulatedWater(**{name: rounded(amount) for name, amount in means.items()}, stored=rounded(stored))


def _past(session: Session, latest: Latest) -> _Past | Absent:
    """Return the sums in the state of T0, or why they are not known."""
    run, basin = latest.run, latest.basin
    conserving = versions.conserving(session, [run.version_id])[run.version_id]
    if not conserving or basin.state_hash is None:
        return forecasts.why_no_account(basin, conserving)
    state = states.get(session, run.version_id, basin.basin_id, run.t0)
    if state is None or state.sha256 != basin.state_hash or state.sums is None or basin.spin_up_days is None:
        return absent(Reason.SUMS_NOT_STORED)
    return _Past(Period(run.t0 - np.timedelta64(basin.spin_up_days - 1, "D"), run.t0), state.sums)


def _runoff(session: Session, basin: run_types.RunBasin, period: Period) -> ObservedRunoff | Absent:
    if basin.area_m2 is None or basin.area_name is None:
        return absent(Reason.NO_AREA_STORED)
    daily = series.read(session, basin.basin_id, gauge_product(basin.basin_id), DISCHARGE, period)
    if daily is None or np.isnan(daily.values).all():
        first, last = str(period.first), str(period.last)
        return absent(Reason.NO_DISCHARGE_IN, basin=basin.basin_id, first=first, last=last)
    flow = to_mm_per_day(daily.values, unit=daily.unit, area=Area(basin.area_name, basin.area_m2))
    latitude = basins.get(session, basin.basin_id).latitude
    of_years = flow[in_whole_water_years(~np.isnan(flow), daily.days, latitude)]
    if not len(of_years):
        return absent(Reason.NO_WHOLE_WATER_YEAR, days=MIN_DAYS_OF_YEAR)
    return ObservedRunoff(runoff=rounded(float(of_years.mean()) * DAYS_OF_A_YEAR), days=len(of_years))
