"""The water balance of a run, from its members' ledgers."""

from collections.abc import Sequence
from math import fsum

from app.forecasts.schemas import MemberBalance, MemberSinceEmpty, Scale, SinceEmpty, WaterBalance
from hydrology import ledger as water
from records.runs import Ledger
from records.since_empty import UNKNOWN


def water_balance(ledgers: Sequence[Ledger], days_since_empty: int | None) -> WaterBalance | None:
    """Return the balance of all members, mm; None where there is no ledger."""
    if not ledgers:
        return None
    terms = {name for ledger in ledgers for name in ledger.terms}
    return WaterBalance(
        closes=all(ledger.closes for ledger in ledgers),
        scale=_scale(water.WATER_AVAILABLE),
        mean={name: fsum(ledger.terms.get(name, 0.0) for ledger in ledgers) / len(ledgers) for name in sorted(terms)},
        members={
            ledger.member: MemberBalance(
                terms=dict(ledger.terms),
                residual=ledger.residual_mm,
                scale=ledger.scale_mm,
                tolerance=ledger.tolerance_mm,
                closes=ledger.closes,
            )
            for ledger in ledgers
        },
        since_empty_store=_since_empty(ledgers, days_since_empty),
    )


def missing_in_balance(balance: WaterBalance | None) -> dict[str, str]:
    """Return why fields of a balance are null, by their names in an answer."""
    if balance is None or balance.since_empty_store is not None:
        return {}
    return {"water_balance.since_empty_store": UNKNOWN}


def _since_empty(ledgers: Sequence[Ledger], days: int | None) -> SinceEmpty | None:
    members = {
        ledger.member: MemberSinceEmpty(
            residual=since.residual_mm, scale=since.precipitation_mm, relative=since.relative
        )
        for ledger in ledgers
        if (since := ledger.since_empty) is not None
    }
    return SinceEmpty(days=days, scale=_scale(water.WATER_SINCE_EMPTY), members=members) if members else None


def _scale(scale: water.Scale) -> Scale:
    return Scale(name=scale.name, formula=scale.formula, unit="mm", tolerance=scale.tolerance)
