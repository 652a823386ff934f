"""Observed discharge: `<ID>_streamflow_qc.txt`, rows of gauge, year, month, day, cubic feet per second, flag."""

from contextlib import suppress

import numpy as np
import numpy.typing as npt

from hydrology.base.basins import source_code
from hydrology.base.discharge_values import number_of, qualifier_flags, screened
from hydrology.base.series import DailySeries
from ingestion.daily import daily_series
from ingestion.sources.camels.text import Table, TextFile

_DATE = ("year", "month", "day")
_PLAIN = frozenset("0123456789.-")
_LONGEST = 32  # characters of a value, one more than allowed: longer text is cut, and must not look valid


def parse_streamflow(text: TextFile, basin: str) -> DailySeries:
    """Parse a basin's discharge in cfs. Skipped days are ABSENT, unusable values are as in `screened`.

    The flags are `A` (approved), `A:e` (estimated), `A:<` (below a limit) and `M` (missing).

    Raises:
        SourceError: a row is not of this format or of another gauge, or a value is not a number.
    """
    # One character more than a valid id, so that a longer text cannot look valid when it is cut.
    texts = {"gauge": len(basin) + 1, "discharge": _LONGEST, "flag": 16}
    table = Table.parse(text, 0, ("gauge", *_DATE, "discharge", "flag"), texts)
    gauge = table["gauge"]
    table.refuse(
        (gauge != source_code(basin)) & (gauge != basin),
        f"the row is of another gauge, in the file of {source_code(basin)}",
        "put the basin's own file in its place",
    )
    rows = table.daily(_DATE)
    letters, which = np.unique(table["flag"], return_inverse=True)
    flags = np.array([qualifier_flags(flag.split(":")) for flag in letters], dtype=np.uint8)[which]
    values, flags = screened(_discharge(table), flags)
    return daily_series(rows.days, values, "cfs", flags)


def _discharge(table: Table) -> npt.NDArray[np.float64]:
    written = table["discharge"]
    table.refuse(np.char.str_len(written) >= _LONGEST, "the flow is not a number")
    if set("".join(written)) <= _PLAIN:
        with suppress(ValueError):
            return written.astype(np.float64)
    values, bad = np.full(len(written), np.nan), np.zeros(len(written), dtype=np.bool_)
    for row, text in enumerate(written.tolist()):
        try:
            values[row] = number_of(text)
        except ValueError:
            bad[row] = True
    table.refuse(bad, "the flow is not a number")
    return values
