"""Observed discharge: `<ID>_streamflow_qc.txt`, rows of gauge, year, month, day, cubic feet per second, flag."""

import numpy as np

from hydrology.basins import source_code
from hydrology.series import DailySeries, Flag
from ingestion.sources.camels.days import Timeline, calendar_days
from ingestion.sources.camels.text import Table, TextFile

_MISSING_VALUE = -999.0
_FLAGS = {
    "A": Flag.APPROVED,
    "A:e": Flag.APPROVED | Flag.ESTIMATED,
    "A:<": Flag.APPROVED | Flag.BELOW_LIMIT,
    "M": Flag.MISSING,
}


def parse_streamflow(text: TextFile, basin: str) -> DailySeries:
    """Read a basin's discharge in cfs; a day with -999 and flag M is NaN and MISSING, a jumped day ABSENT.

    Raises:
        SourceError: a row is not of this format or of another gauge, a flag is unknown, a flow negative.
    """
    # One letter more than any that is right, so that a longer text cannot look right when it is cut.
    gauge_type, flag_type = f"U{len(basin) + 1}", "U4"
    numbers = [("year", "f8"), ("month", "f8"), ("day", "f8"), ("discharge", "f8")]
    table = Table.parse(text, 0, [("gauge", gauge_type), *numbers, ("flag", flag_type)])

    gauge, discharge, flag = table["gauge"], table["discharge"], table["flag"]
    table.refuse(
        (gauge != source_code(basin)) & (gauge != basin),
        f"the row is of another gauge, in the file of {source_code(basin)}",
        "put the basin's own file in its place",
    )
    timeline = Timeline.of(table, calendar_days(table, "year", "month", "day"))
    table.refuse(
        ~np.isin(flag, list(_FLAGS)),
        f"the flag is none of {', '.join(_FLAGS)}",
    )
    missing = flag == "M"
    table.refuse(
        missing != (discharge == _MISSING_VALUE),
        "of flow and flag one says that the value is missing, the other does not: -999 and M go together",
    )
    table.refuse(
        ~missing & ~((discharge >= 0) & np.isfinite(discharge)),
        "the flow is below zero, or no number",
    )
    flags = np.zeros(len(flag), dtype=np.uint8)
    for letters, mask in _FLAGS.items():
        flags[flag == letters] = mask
    return timeline.series(np.where(missing, np.nan, discharge), flags, "cfs")
