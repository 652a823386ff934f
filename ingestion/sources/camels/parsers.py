"""Parsers of the files of a basin: forcing, discharge, snow water equivalent and the output of another model.

Forcing (Newman et al. 2015, doi:10.5194/hess-19-209-2015) is `<ID>_lump_<kind>_forcing_leap.txt`. The products use one
layout in different letters and blanks: three lines with latitude, elevation (m) and area (m2) of the basin, a line of
column names, then a row per day. Discharge is `<ID>_streamflow_qc.txt`: rows of gauge, year, month, day, cubic feet per
second, flag.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from hydrology.base.basins import source_code
from hydrology.base.products import WEATHER, Quantity
from hydrology.base.series import DailySeries, number_of, qualifier_flags, screened
from ingestion.base import SourceError, SourceFile
from ingestion.daily import read_days
from ingestion.sheet import Sheet
from ingestion.sources.camels.text import MEND_ROW, Table, TextFile

_HEADER_LINES = 4
_DATE = ("Year", "Mnth", "Day", "Hr")
_COLUMNS = {
    "dayl(s)": WEATHER["daylength"],
    "prcp(mm/day)": WEATHER["precipitation"],
    "srad(W/m2)": WEATHER["srad"],
    "swe(mm)": Quantity("swe", "mm", 0, 20_000),
    "tmax(C)": WEATHER["tmax"],
    "tmin(C)": WEATHER["tmin"],
    "vp(Pa)": WEATHER["vp"],
}
_HEADINGS = (*_DATE, *_COLUMNS)


@dataclass(frozen=True, slots=True)
class Forcing:
    """A forcing file.

    `area` is in m2; `series` are daylength (s), precipitation (mm/day), srad (W/m2), swe (mm), tmax and tmin (degC), vp
    (Pa) by name. The published products fill swe with zeros, which does not mean "no snow".
    """

    area: float
    series: dict[str, DailySeries]


def parse_forcing(text: TextFile, gauge_latitude: float | None) -> Forcing:
    """Parse a forcing file of any product, by position, after checking its four header lines.

    Skipped days are NaN and ABSENT; the format has no mark for a missing value. The latitude must be that of the gauge.
    """
    area = _check_header(text, gauge_latitude)
    return Forcing(area, Table.parse(text, _HEADER_LINES, _HEADINGS).series(_DATE, _COLUMNS))


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
        cause = "the latitude is not that of the gauge: the file may be another basin's"
        raise text.fault(cause, "put the basin's own file in its place", 1)
    # Four files of the original Maurer set have an incomplete line of names, so a beginning is enough.
    headings, expected = " ".join(text.lines[3].split()).lower(), " ".join(_HEADINGS).lower()
    if not headings or not expected.startswith(headings):
        raise text.fault(f"the columns are not {expected}", "give a forcing file of CAMELS", _HEADER_LINES)
    return area


def _farthest(area: float) -> float:
    # The header's latitude is the basin's, not the gauge's, so the two differ by the basin's size. Over the
    # 447 basins of the extended Maurer set they differ by 0.09 degrees in the median and 0.55 at most, and
    # every one is 0.2 degrees or more below this line. It finds 93 % of files swapped between two of the
    # 447: a neighbour's file can pass.
    degrees_per_metre = 1 / 111_000
    return 0.3 + 2 * sqrt(area) * degrees_per_metre


_FLOW_DATE = ("year", "month", "day")
_PLAIN = frozenset("0123456789.-")
_LONGEST = 32  # characters of a value, one more than allowed: longer text is cut, and must not look valid


def parse_streamflow(text: TextFile, basin: str) -> DailySeries:
    """Parse a basin's discharge in cfs. Skipped days are ABSENT, unusable values are as in `screened`.

    The flags are `A` (approved), `A:e` (estimated), `A:<` (below a limit) and `M` (missing).
    """
    # One character more than a valid id, so that a longer text cannot look valid when it is cut.
    texts = {"gauge": len(basin) + 1, "discharge": _LONGEST, "flag": 16}
    table = Table.parse(text, 0, ("gauge", *_FLOW_DATE, "discharge", "flag"), texts)
    gauge = table["gauge"]
    table.refuse(
        (gauge != source_code(basin)) & (gauge != basin),
        f"the row is of another gauge, in the file of {source_code(basin)}",
        "put the basin's own file in its place",
    )
    rows = table.daily(_FLOW_DATE)
    letters, which = np.unique(table["flag"], return_inverse=True)
    flags = np.array([qualifier_flags(flag.split(":")) for flag in letters], dtype=np.uint8)[which]
    values, flags = screened(_discharge(table), flags)
    return rows.read(values, "cfs", "discharge", flags)


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


_SWE = re.compile(r"([a-z][a-z0-9_]{0,39})_swe")
_MODEL_DATE = ("YR", "MNTH", "DY", "HR")
# OBS_RUN is not read: its zeros mean both missing values and a dry river.
_MODEL_COLUMNS = {
    "SWE": Quantity("swe", "mm", 0, 20_000),
    "PRCP": Quantity("precipitation", "mm/day", 0, 2_000),
    "RAIM": Quantity("rain_plus_melt", "mm/day", 0, 10_000),
    "TAIR": Quantity("air_temperature", "degC", -100, 70),
    "PET": Quantity("pet", "mm/day", 0, 1_000),
    "ET": Quantity("et", "mm/day", 0, 1_000),
    "MOD_RUN": Quantity("discharge_modelled", "mm/day", 0, 10_000),
}
_MODEL_HEADINGS = (*_MODEL_DATE, *_MODEL_COLUMNS, "OBS_RUN")


def parse_swe(file: SourceFile, content: bytes) -> dict[str, DailySeries]:
    """Parse `<ID>_swe.csv`: a day, then a column `<product>_swe` in mm per product. Empty is MISSING."""
    sheet = Sheet.of_csv(file, content)
    products = {name: match[1] for name in sheet.columns if (match := _SWE.fullmatch(name))}
    if not products or sheet.columns != ["date", *products]:
        cause = "the columns are not a date and snow water equivalents"
        remedy = "name them date and then <product>_swe for each product, in small letters"
        raise sheet.fault(cause, remedy, sheet.header)
    columns = dict.fromkeys(products, _MODEL_COLUMNS["SWE"])
    for rows, values in read_days(sheet, columns, lambda _row, _line: "").values():
        for name, column in values.items():
            rows.check(column, columns[name], name, may_lack=True)
        return {products[name]: rows.read(column, "mm", name) for name, column in values.items()}
    raise SourceError(file.name, "there is no row after the header", "fetch the file again")


def parse_model_output(text: TextFile) -> dict[str, DailySeries]:
    """Parse `<ID>_<member>_model_output.txt`, the daily output of SAC-SMA with Snow-17 (Newman et al. 2015).

    By name swe (mm), precipitation, rain_plus_melt, pet, et and discharge_modelled (mm/day), air_temperature (degC).
    """
    if tuple(text.lines[0].split()) != _MODEL_HEADINGS:
        cause = f"the columns are not {' '.join(_MODEL_HEADINGS)}"
        raise text.fault(cause, "give a model output file of CAMELS", 1)
    return Table.parse(text, 1, _MODEL_HEADINGS).series(_MODEL_DATE, _MODEL_COLUMNS)
