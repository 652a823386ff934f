"""Basin-mean forcing (Newman et al. 2015, doi:10.5194/hess-19-209-2015): `<ID>_lump_<kind>_forcing_leap.txt`.

The products use one layout in different letters and blanks: three lines with latitude, elevation (m) and area (m2) of
the basin, a line of column names, then a row per day.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from hydrology.base.series import DailySeries
from hydrology.weather.unit_hints import unit_hint
from ingestion.sources.camels.days import Timeline, calendar_days
from ingestion.sources.camels.text import MEND_ROW, Table, TextFile

_HEADER_LINES = 4
_MEND_VALUE = "mend the value, or delete the line if the day is missing"
_DATE = ("Year", "Mnth", "Day", "Hr")


@dataclass(frozen=True, slots=True)
class _Column:
    heading: str
    variable: str
    unit: str
    lowest: float
    highest: float


# Physical limits, so that a sentinel such as -999 or 1e20 is never taken for weather.
_COLUMNS = (
    _Column("dayl(s)", "daylength", "s", 0, 86_400),
    _Column("prcp(mm/day)", "precipitation", "mm/day", 0, 2_000),
    _Column("srad(W/m2)", "srad", "W/m2", 0, 1_500),
    _Column("swe(mm)", "swe", "mm", 0, 20_000),
    _Column("tmax(C)", "tmax", "degC", -90, 70),
    _Column("tmin(C)", "tmin", "degC", -90, 70),
    _Column("vp(Pa)", "vp", "Pa", 0, 10_000),
)
_HEADINGS = (*_DATE, *(column.heading for column in _COLUMNS))


@dataclass(frozen=True, slots=True)
class Forcing:
    """A forcing file.

    Attributes:
        area: of the basin, m2.
        series: daylength (s), precipitation (mm/day), srad (W/m2), swe (mm), tmax and tmin (degC), vp (Pa) by
            name. The published products fill swe with zeros, which does not mean "no snow".
    """

    area: float
    series: dict[str, DailySeries]


def parse_forcing(text: TextFile, gauge_latitude: float | None) -> Forcing:
    """Parse a forcing file of any product, by position, after checking its four header lines.

    Skipped days are NaN and ABSENT. The format has no mark for a missing value.

    Raises:
        SourceError: the header or a row is not of this format, a value is impossible, or the file's latitude
            is not that of the gauge.
    """
    area = _check_header(text, gauge_latitude)
    table = Table.parse(text, _HEADER_LINES, [(heading, "f8") for heading in _HEADINGS])
    timeline = Timeline.of(table, calendar_days(table, "Year", "Mnth", "Day"))
    series = {column.variable: _series(table, timeline, column) for column in _COLUMNS}
    return Forcing(area, series)


def _check_header(text: TextFile, gauge_latitude: float | None) -> float:
    if len(text.lines) < _HEADER_LINES:
        raise text.fault("the file ends within its four header lines", "fetch the file again", len(text.lines))
    latitude = text.number(text.lines[0], "the latitude", 1)
    # The elevation is not used: it is a placeholder in some files. It must still be a number.
    text.number(text.lines[1], "the elevation", 2)
    area = text.number(text.lines[2], "the area", 3)
    if area <= 0:
        raise text.fault("the area is not above zero", MEND_ROW, 3)
    if gauge_latitude is not None and abs(latitude - gauge_latitude) > _farthest(area):
        raise text.fault(
            "the latitude is not that of the gauge: the file may be another basin's",
            "put the basin's own file in its place",
            1,
        )
    _check_headings(text)
    return area


def _farthest(area: float) -> float:
    # The header's latitude is the basin's, not the gauge's, so the two differ by the basin's size. Over the
    # 447 basins of the extended Maurer set they differ by 0.09 degrees in the median and 0.55 at most, and
    # every one is 0.2 degrees or more below this line. It finds 93 % of files swapped between two of the
    # 447: a neighbour's file can pass.
    degrees_per_metre = 1 / 111_000
    return 0.3 + 2 * sqrt(area) * degrees_per_metre


def _check_headings(text: TextFile) -> None:
    # Four files of the original Maurer set have an incomplete line of names, so a beginning is enough.
    headings = " ".join(text.lines[_HEADER_LINES - 1].split()).lower()
    expected = " ".join(_HEADINGS).lower()
    if not headings or not expected.startswith(headings):
        raise text.fault(f"the columns are not {expected}", "give a forcing file of CAMELS", _HEADER_LINES)


def _series(table: Table, timeline: Timeline, column: _Column) -> DailySeries:
    values = table[column.heading]
    if column.variable == "precipitation":
        table.refuse(values < 0, f"{column.heading} is negative", _MEND_VALUE)
    table.refuse(
        ~((column.lowest <= values) & (values <= column.highest)),
        f"{column.heading} is outside {column.lowest:g} to {column.highest:g}{unit_hint(column.variable, values)}",
        _MEND_VALUE,
    )
    return timeline.series(values, np.zeros(len(values), dtype=np.uint8), column.unit)
