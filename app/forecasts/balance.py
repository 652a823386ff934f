"""The water balance of a run, from its members' ledgers."""

from collections.abc import Sequence
from math import fsum
from typing import Annotated

import numpy as np
from pydantic import Field

from app.http import json_numbers
from app.http.base_schema import Model
from app.http.shown import As
from hydrology.water import ledger as water
from records.runs import run_arrays
from records.runs.run_arrays import OF_VERSION, Ledger, RunSeries
from records.runs.run_types import CLOSURE, ledger_entry

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
