"""/v1/basins/{basin}/water-balance and /long-term-balance: balance of the days ahead and since the empty store."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import fsum
from operator import attrgetter
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.observations import DISCHARGE
from app.exports.answers import JsonAnswer, documented_responses
from app.forecasts.header import FieldUnits, RunOfBasin, days_ahead, header
from app.forecasts.lookup import PROBLEMS, AskedRun
from app.forecasts.stored_water import is_conserving, why_no_account, why_no_water
from app.http import json_numbers
from app.http.base_schema import EXPLAINED, Missing, Model, Period, maybe
from app.http.conditional import FOR_EVER, SHORTLY
from app.http.dependencies import Reading
from app.http.json_numbers import rounded
from app.http.shown import As, model_of
from hydrology.base import calendar
from hydrology.base.absent import Absent, absent
from hydrology.base.basins import gauge_product
from hydrology.base.reasons import Reason
from hydrology.base.units import to_mm_per_day
from hydrology.water import ledger as water
from hydrology.weather.runoff import MIN_DAYS_OF_YEAR, in_whole_water_years
from records.basins import basins
from records.forecasts.latest import Latest
from records.runs import run_arrays, run_types, runs, states
from records.runs.run_arrays import OF_VERSION, Ledger, RunSeries
from records.series import series
from records.simulations import simulated_series

Scale = Annotated[water.Scale, As("Scale", exact=True)]
_IN_MM = (("residual_mm", "residual"), ("scale_mm", "scale"), ("tolerance_mm", "tolerance"))
MemberBalance = Annotated[
    Ledger, As("MemberBalance", omit=("member", "since_empty"), rename=_IN_MM, where_known=("trace",), exact=True)
]
_IN_MM_SINCE = (("residual_mm", "residual"), ("precipitation_mm", "scale"))
MemberSinceEmpty = Annotated[run_arrays.SinceEmpty, As("MemberSinceEmpty", rename=_IN_MM_SINCE, exact=True)]


class SinceEmpty(Model):
    """The residual from the empty store to T0, which reveals leaks too small to show over a horizon. A basin with a
    larger one than the tolerance is withheld."""

    days: int | None = Field(description="Days since the empty store, T0 included.")
    scale: Scale
    members: dict[str, MemberSinceEmpty]


class WaterBalance(Model):
    """The water balance from T0 to the end of the horizon, mm. It closes for each member and their mean; quantiles of
    discharge do not add up."""

    closes: bool = Field(description="Whether every member closes.")
    scale: Scale = Field(
        description="The reference amount of residuals; the span is from T0 to the end of the horizon."
    )
    mean: dict[str, float] = Field(
        description="The mean of each term over the members. Of a version that combines others it is weighted, and the "
        "precipitation of each of its weather products is a term of its own."
    )
    members: dict[str, MemberBalance]
    since_empty_store: SinceEmpty


def water_balance(
    ledgers: Sequence[Ledger], of_traces: RunSeries | None, days_since_empty: int | None
) -> WaterBalance | None:
    """Return the water balance of all members, mm, over their traces where there are some; None without ledgers."""
    if not ledgers:
        return None
    of_members = [ledger for ledger in ledgers if ledger.member != OF_VERSION]
    return WaterBalance(
        closes=all(ledger.closes for ledger in ledgers),
        scale=water.WATER_AVAILABLE,
        mean=_mean_terms(ledgers, of_traces),
        members={ledger.member: ledger for ledger in of_members},
        since_empty_store=SinceEmpty(
            days=days_since_empty,
            scale=water.WATER_SINCE_EMPTY,
            members={ledger.member: ledger.since_empty for ledger in of_members},
        ),
    )


def _mean_terms(ledgers: Sequence[Ledger], of_traces: RunSeries | None) -> dict[str, float]:
    """Return the mean of each term over members and traces; of a combined version, the terms of its own ledger."""
    for ledger in ledgers:
        if ledger.member == OF_VERSION:
            return dict(ledger.terms)
    if of_traces is not None:
        terms = sorted(set(of_traces.axes["entry"]) - set(run_types.CLOSURE))
        return {term: float(run_types.ledger_entry(of_traces, term).mean(dtype=np.float64)) for term in terms}
    terms = sorted({name for ledger in ledgers for name in ledger.terms})
    return {name: fsum(ledger.terms.get(name, 0.0) for ledger in ledgers) / len(ledgers) for name in terms}


def residuals(of_traces: RunSeries) -> dict[str, float]:
    """Return the residual of every member with every trace, mm, by `MEMBER/TRACE`."""
    values = run_types.ledger_entry(of_traces, "residual")
    return {
        f"{member}/{trace}": residual
        for member, of_member in zip(of_traces.axes["member"], values, strict=True)
        for trace, residual in zip(of_traces.axes["trace"], json_numbers.column(of_member), strict=True)
    }


router = APIRouter(prefix="/basins", tags=["water"])
DAYS_OF_A_YEAR = 365.25
_LOSS = As()


class LossBesidePet(model_of(simulated_series.SimulatedLoss, _LOSS)):  # type: ignore[misc]
    """Mean annual loss of the model version over its simulated past, beside potential evapotranspiration. Loss is not
    measured, but evaporation cannot exceed its potential."""

    period: Period = Field(description="The simulated days.")


class BalanceOfRun(RunOfBasin):
    """The water balance of the days ahead, mm."""

    units: FieldUnits
    first_day: date = Field(description="The first day of the balance: the day after T0.")
    last_day: date
    water_balance: WaterBalance | None
    residuals: dict[str, float] = Field(
        default={},
        description="The residual of every member with every trace of weather, mm, as `MEMBER/TRACE`. Only where there "
        "are traces.",
    )
    loss_beside_pet: LossBesidePet | None = Field(description="The loss compared with potential evapotranspiration.")
    missing: Missing = EXPLAINED


class SimulatedWater(Model):
    """Mean annual water of the members, mm/year."""

    precipitation: float
    discharge: float
    loss: float
    stored: float = Field(description="The remainder of the precipitation, in the basin at T0.")


class ObservedRunoff(Model):
    """Observed runoff of the river."""

    runoff: float = Field(
        description="Annual mean of whole water years (at least 355 days observed), mm/year. Where it exceeds the "
        "precipitation, the basin's quality report contains "
        "`runoff-above-precipitation`."
    )
    days: int = Field(description="Number of observed days behind the mean.")


class LongTermBalance(RunOfBasin):
    """Water balance of all days from the empty store to T0."""

    units: FieldUnits
    period: Period | None = Field(description="From the first day after the empty store to T0.")
    simulated: SimulatedWater | None
    observed: ObservedRunoff | None
    missing: Missing = EXPLAINED


def loss_beside_pet(session: Session, version: str, basin: str) -> LossBesidePet | Absent:
    """Return the comparison, or why it is not known."""
    simulated = simulated_series.loss_of(session, version, basin)
    if isinstance(simulated, Absent):
        return simulated
    period, loss = simulated
    return LossBesidePet(**_LOSS.values(loss), period=period)


def in_words(loss: LossBesidePet) -> str | None:
    """Return a warning if a member loses more than could evaporate."""
    if not loss.exceeding or loss.pet is None:
        return None
    return (
        f"{len(loss.exceeding)} of {len(loss.members)} members lose more here than could evaporate: {loss.mean:.0f} mm "
        f"in the mean of a year and of all members, where {loss.pet:.0f} mm could. A part of that left the basin some "
        "other way, never fell, or is an error."
    )


def balance(session: Session, latest: Latest, at: datetime | None) -> BalanceOfRun:
    """Return the water balance of every member; `at` is the clock's time for a latest answer."""
    days, (run, basin) = days_ahead(latest.run)["time"], (latest.run, latest.basin)
    of_traces = runs.series_of(session, run.id, basin.basin_id, (run_arrays.LEDGER,)).get(run_arrays.LEDGER)
    of_members = water_balance(runs.ledger_of(session, run.id, basin.basin_id), of_traces, basin.spin_up_days)
    loss: LossBesidePet | Absent = absent(Reason.NOT_CONSERVING)
    if is_conserving(session, latest):
        loss = loss_beside_pet(session, run.version_id, basin.basin_id)
    of_traces_alone: dict[str, Any] = {}
    if of_traces is not None and "trace" in of_traces.axes:
        of_traces_alone["residuals"] = residuals(of_traces)
    return BalanceOfRun(
        **header(latest, at),
        units={"water_balance": "mm", "loss_beside_pet": "mm/year"},
        first_day=days[0],
        last_day=days[-1],
        water_balance=maybe(of_members or why_no_water(session, latest)),
        **of_traces_alone,
        loss_beside_pet=maybe(loss),
    )


def long_term(session: Session, latest: Latest, at: datetime | None) -> LongTermBalance:
    """Return the balance until T0; `at` is the clock's time for a latest answer."""
    past = _past(session, latest)
    observed = past if isinstance(past, Absent) else _runoff(session, latest.basin, past.period)
    return LongTermBalance(
        **header(latest, at),
        units=dict.fromkeys(("simulated", "observed"), "mm/year"),
        period=maybe(past, attrgetter("period")),
        simulated=maybe(past, attrgetter("a_year")),
        observed=maybe(observed),
    )


@dataclass(frozen=True, slots=True)
class _Past:
    """The days since the empty store, with their sums of water."""

    period: calendar.Period
    sums: water.Sums

    @property
    def a_year(self) -> SimulatedWater:
        """Annual mean of the members."""
        years = len(self.period) / DAYS_OF_A_YEAR
        means = {name: float(amounts.mean()) / years for name, amounts in self.sums.items()}
        stored = means["precipitation"] - means["discharge"] - means["loss"]
        return SimulatedWater(**{name: rounded(amount) for name, amount in means.items()}, stored=rounded(stored))


def _past(session: Session, latest: Latest) -> _Past | Absent:
    run, basin = latest.run, latest.basin
    conserving = is_conserving(session, latest)
    if not conserving or basin.state_hash is None:
        return why_no_account(basin, conserving)
    state = states.get(session, run.version_id, basin.basin_id, run.t0)
    if state is None or state.sha256 != basin.state_hash or state.sums is None or basin.spin_up_days is None:
        return absent(Reason.SUMS_NOT_STORED)
    return _Past(calendar.Period(run.t0 - np.timedelta64(basin.spin_up_days - 1, "D"), run.t0), state.sums)


def _runoff(session: Session, basin: run_types.RunBasin, period: calendar.Period) -> ObservedRunoff | Absent:
    if (area := basin.area) is None:
        return absent(Reason.NO_AREA_STORED)
    daily = series.read(session, basin.basin_id, gauge_product(basin.basin_id), DISCHARGE, period)
    if daily is None or np.isnan(daily.values).all():
        first, last = str(period.first), str(period.last)
        return absent(Reason.NO_DISCHARGE_IN, basin=basin.basin_id, first=first, last=last)
    flow = to_mm_per_day(daily.values, unit=daily.unit, area=area)
    latitude = basins.get(session, basin.basin_id).latitude
    of_years = flow[in_whole_water_years(~np.isnan(flow), daily.days, latitude)]
    if not len(of_years):
        return absent(Reason.NO_WHOLE_WATER_YEAR, days=MIN_DAYS_OF_YEAR)
    return ObservedRunoff(runoff=rounded(float(of_years.mean()) * DAYS_OF_A_YEAR), days=len(of_years))


@router.get(
    "/{basin}/water-balance", summary="Water balance of the forecast", **documented_responses(BalanceOfRun, *PROBLEMS)
)
def read_water_balance(session: Reading, asked: AskedRun, answer: JsonAnswer) -> Response:
    """The water balance from T0 to the end of the horizon, mm, of every member: precipitation, discharge, loss and
    storage change, the residual and its tolerance, and whether it closes. A basin whose balance does not close is
    withheld: ask for its run to see it. Null, with the reason, for networks that do not conserve mass."""
    _, latest_at = asked
    cache_control = FOR_EVER if latest_at is None else SHORTLY
    return answer.of(balance(session, *asked), cache_control=cache_control)


@router.get(
    "/{basin}/long-term-balance",
    summary="Long-term water balance, with observed runoff",
    **documented_responses(LongTermBalance, *PROBLEMS),
)
def read_long_term_balance(session: Reading, asked: AskedRun, answer: JsonAnswer) -> Response:
    """Mean annual precipitation, runoff and loss, mm, over all days from the empty store to T0, with the observed
    runoff of that time. The residual over that time is in `/water-balance`. Null, with the reason, for networks that do
    not conserve mass."""
    return answer.of(long_term(session, *asked))
