"""How many of the verified forecasts are independent: daily forecasts of many days share most of their days."""

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Days
from hydrology.base.reasons import Reason


def independent_issues(days: Days, lead: int) -> int:
    """Return the largest number of forecasts whose lead windows do not overlap.

    The lead window of a forecast is its days after T0 up to a lead: those of two forecasts overlap where the forecasts
    were issued fewer days apart than the lead. So ten daily forecasts of the tenth day ahead are one independent issue.

    Args:
        days: the forecast days at that lead, (forecasts,), in any order.
        lead: days after T0.
    """
    count, last = 0, -np.inf
    for day in np.unique(days).astype(np.int64).tolist():
        if day - last >= lead:
            count, last = count + 1, day
    return count


def why_too_few(issues: int | None, minimum: int) -> Absent | None:
    """Return why so few independent forecasts carry no word on their skill; None where they do.

    Args:
        issues: their number; None where they were not counted.
    """
    if issues is None:
        return absent(Reason.ISSUES_NOT_COUNTED)
    return absent(Reason.TOO_FEW_INDEPENDENT_ISSUES, issues=issues, minimum=minimum) if issues < minimum else None
