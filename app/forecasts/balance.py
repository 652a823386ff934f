"""The water balance of a run, from its members' ledgers."""

from collections.abc import Sequence
from math import fsum

from app.forecasts.schemas import MemberBalance, WaterBalance
from records.runs import Ledger


def water_balance(ledgers: Sequence[Ledger]) -> WaterBalance | None:
    """Return the balance of all members, mm; None where there is no ledger."""
    if not ledgers:
        return None
    terms = {name for ledger in ledgers for name in ledger.terms}
    return WaterBalance(
        closes=all(ledger.closes for ledger in ledgers),
        mean={name: fsum(ledger.terms.get(name, 0.0) for ledger in ledgers) / len(ledgers) for name in sorted(terms)},
        members={
            ledger.member: MemberBalance(
                terms=dict(ledger.terms),
                residual=ledger.residual_mm,
                tolerance=ledger.tolerance_mm,
                closes=ledger.closes,
            )
            for ledger in ledgers
        },
    )
