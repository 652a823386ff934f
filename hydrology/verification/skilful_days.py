"""The headline of a verification: until which day ahead forecasts are better than climatology, by month."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.scores.bootstrap import MIN_YEARS


class OfMonth(Protocol):
    """Skill on the days of a month, as `hydrology.verification.results.MonthSkill`."""

    @property
    def n(self) -> int: ...
    @property
    def years(self) -> int: ...
    @property
    def low(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class SkilfulDays:
    """The number of days ahead with skill.

    Attributes:
        days: the last lead up to which, from the first on, the whole interval of the skill is above 0; 0 for none.
        verified_days: the last lead with an interval, from the first on. Skill may last longer if both are equal.
    """

    days: int
    verified_days: int


def skilful_days(by_lead: Mapping[int, OfMonth]) -> SkilfulDays | Absent:
    """Return until which day ahead forecasts are skilful against climatology.

    Args:
        by_lead: the skill in one month at each lead in days.
    """
    lows: list[float] = []
    for lead in range(1, max(by_lead, default=0) + 1):
        low = by_lead[lead].low if lead in by_lead else None
        if low is None:
            break
        lows.append(low)
    if lows:
        return SkilfulDays(next((at for at, low in enumerate(lows) if low <= 0), len(lows)), len(lows))
    first = by_lead.get(1)
    if first is None or not first.n:
        return absent(Reason.NO_LEAD_VERIFIED)
    if first.years < MIN_YEARS:
        return absent(Reason.TOO_FEW_WATER_YEARS, years=first.years, minimum=MIN_YEARS)
    return absent(Reason.RIVAL_IS_PERFECT)
