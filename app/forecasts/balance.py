"""The water balance of a run, from its members' ledgers."""

from collections.abc import Sequence
from math import fsum
from typing import Literal

import numpy as np
from pydantic import Field

from app.http import json_numbers
from app.http.base_schema import Model
from hydrology.water import ledger as water
from records.runs.run_arrays import OF_VERSION, Ledger, RunSeries
from records.runs.run_types import CLOSURE, ledger_entry


class Scale(Model):
    """The reference amount of a residual."""

    name: str
    formula: str
    unit: Literal["mm"]
    tolerance: float = Field(description="Largest absolute residual, relative to the scale, of a closed balance.")


class MemberBalance(Model):
    """The water balance of one member over the horizon, mm: with traces of weather, of the trace with the largest
    error."""

    trace: str | None = Field(default=None, description="The trace. Only where there are traces.")
    terms: dict[str, float] = Field(description="Signed: what comes in is positive, what leaves or is stored negative.")
    residual: float = Field(description="The sum of the terms: unaccounted water.")
    scale: float = Field(description="The reference amount of the residual, mm: see `scale` of the balance.")
    tolerance: float = Field(description="Largest absolute residual of a closed balance, mm.")
    closes: bool


class MemberSinceEmpty(Model):
    """The residual of one member since its store was empty."""

    residual: float = Field(description="Precipitation - discharge - loss - storage at T0, mm.")
    scale: float = Field(description="Precipitation since the store was empty, mm, the reference amount.")
    relative: float = Field(description="Residual divided by scale; 0 where no rain has fallen.")


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
        scale=_scale(water.WATER_AVAILABLE),
        mean=_mean_terms(ledgers, of_traces),
        members={ledger.member: _of_member(ledger) for ledger in of_members},
        since_empty_store=_since_empty(of_members, days_since_empty),
    )


def _mean_terms(ledgers: Sequence[Ledger], of_traces: RunSeries | None) -> dict[str, float]:
    """Return the mean of each term over members and traces; of a combined version, the terms of its own ledger."""
    for ledger in ledgers:
        if ledger.member == OF_VERSION:
            return dict(ledger.terms)
    return _mean(ledgers) if of_traces is None else _mean_of_traces(of_traces)


def residuals(of_traces: RunSeries) -> dict[str, float]:
    """Return the residual of every member with every trace, mm, by `MEMBER/TRACE`."""
    values = ledger_entry(of_traces, "residual")
    return {
        f"{member}/{trace}": residual
        for member, of_member in zip(of_traces.axes["member"], values, strict=True)
        for trace, residual in zip(of_traces.axes["trace"], json_numbers.column(of_member), strict=True)
    }


def _mean(ledgers: Sequence[Ledger]) -> dict[str, float]:
    terms = {name for ledger in ledgers for name in ledger.terms}
    return {name: fsum(ledger.terms.get(name, 0.0) for ledger in ledgers) / len(ledgers) for name in sorted(terms)}


def _mean_of_traces(of_traces: RunSeries) -> dict[str, float]:
    terms = sorted(set(of_traces.axes["entry"]) - set(CLOSURE))
    return {term: float(ledger_entry(of_traces, term).mean(dtype=np.float64)) for term in terms}


def _of_member(ledger: Ledger) -> MemberBalance:
    balance = MemberBalance(
        terms=dict(ledger.terms),
        residual=ledger.residual_mm,
        scale=ledger.scale_mm,
        tolerance=ledger.tolerance_mm,
        closes=ledger.closes,
    )
    return balance if ledger.trace is None else balance.model_copy(update={"trace": ledger.trace})


def _since_empty(ledgers: Sequence[Ledger], days: int | None) -> SinceEmpty:
    members = {
        ledger.member: MemberSinceEmpty(
            residual=since.residual_mm, scale=since.precipitation_mm, relative=since.relative
        )
        for ledger in ledgers
        for since in [ledger.since_empty]
    }
    return SinceEmpty(days=days, scale=_scale(water.WATER_SINCE_EMPTY), members=members)


def _scale(scale: water.Scale) -> Scale:
    return Scale(name=scale.name, formula=scale.formula, unit="mm", tolerance=scale.tolerance)
