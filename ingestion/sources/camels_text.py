"""Parsers of CAMELS-US text: forcing, discharge, snow water equivalent and the output of another model.

Forcing (Newman et al. 2015, doi:10.5194/hess-19-209-2015) is `<ID>_lump_<kind>_forcing_leap.txt`. The products use one
layout in different letters and blanks: three lines with latitude, elevation (m) and area (m2) of the basin, a line of
column names, then a row per day. Discharge is `<ID>_streamflow_qc.txt`: rows of gauge, year, month, day, cubic feet per
second, flag.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import sqrt
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hydrology.base.basins import source_code
from hydrology.base.calendar import Days
from hydrology.base.errors import counted
from hydrology.base.products import WEATHER, Quantity
from hydrology.base.series import DailySeries, number_of, qualifier_flags, screened
from ingestion.base import SourceError, SourceFile
from ingestion.daily import DailyRows, read_days, refuse_rows
from ingestion.sheet import Sheet, decoded

MEND_ROW = "mend the line or fetch the file again"
_NO_TEXTS: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class TextFile:
    """The lines of a file, without their ends."""

    file: SourceFile
    lines: list[str]

    @classmethod
    def decode(cls, file: SourceFile, content: bytes) -> Self:
        """Split UTF-8 bytes into lines, at least one."""
        return cls(file, [line.rstrip("\r") for line in decoded(file, content).rstrip("\r\n").split("\n")])

    def fault(self, cause: str, remedy: str, line: int | None = None) -> SourceError:
        """Return an error about this file; lines are counted from 1."""
        return SourceError(self.file.name, cause, remedy, line)

    def number(self, text: str, what: str, line: int) -> float:
        """Parse a finite number."""
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise self.fault(f"{what} is not a number", MEND_ROW, line)
        return value


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a text file as a structured array, one field per column, after `first` lines of header."""

    text: TextFile
    first: int
    rows: npt.NDArray[Any]

    @classmethod
    def parse(cls, text: TextFile, first: int, names: Sequence[str], texts: Mapping[str, int] = _NO_TEXTS) -> Self:
        """Parse all lines after the header at once. Only on failure find the line at fault.

        Errors repeat the `names` of columns; `texts` has the longest text of each column that holds no numbers.
        """
        columns = [(name, f"U{texts[name]}" if name in texts else "f8") for name in names]
        lines = text.lines[first:]
        if not any(line.strip() for line in lines):
            raise text.fault("there is no row after the header", "fetch the file again")
        try:
            rows = np.loadtxt(lines, dtype=np.dtype(columns), comments=None, ndmin=1)
        except ValueError as error:
            for number, line in enumerate(lines, first + 1):
                if line.strip() and (cause := _fault(line.split(), columns)):
                    raise text.fault(cause, MEND_ROW, number) from error
            raise text.fault("the rows cannot be read", "fetch the file again") from error
        return cls(text, first, rows)

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        return np.asarray(self.rows[column])

    @property
    def lines(self) -> list[int]:
        """The line of each row."""
        return [number for number, line in enumerate(self.text.lines, 1) if number > self.first and line.strip()]

    def refuse(self, bad: npt.NDArray[np.bool_], cause: str | Callable[[int], str], remedy: str = MEND_ROW) -> None:
        """Refuse the file if a row is bad, as `refuse_rows` does."""
        refuse_rows(self.text.file, self.lines if bad.any() else None, bad, cause, remedy)

    def daily(self, date: Sequence[str]) -> DailyRows:
        """Return the rows' days from columns of year, month and day numbers."""
        y, m, d = (np.nan_to_num(self[name], posinf=0) for name in date[:3])
        sound = (y >= 1) & (y <= 9999) & (m >= 1) & (m <= 12) & (d >= 1) & (d <= 31)
        y, m, d = (np.where(sound, part, 1) for part in (y, m, d))
        months = ((y - 1970) * 12 + m - 1).astype("int64").astype("datetime64[M]")
        days: Days = months.astype("datetime64[D]") + (d - 1).astype("timedelta64[D]")
        sound &= (y % 1 == 0) & (m % 1 == 0) & (d % 1 == 0) & (days.astype("datetime64[M]") == months)
        self.refuse(~sound, "the date is not a calendar day")
        return DailyRows(self.text.file, days, self.lines, "delete the line if the day is missing")

    def series(self, date: Sequence[str], quantities: Mapping[str, Quantity]) -> dict[str, DailySeries]:
        """Return the series of columns without missing values, by variable. Skipped days are ABSENT."""
        rows = self.daily(date)
        for name, quantity in quantities.items():
            rows.check(self[name], quantity, name)
        return {quantity.variable: rows.read(self[name], quantity.unit, name) for name, quantity in quantities.items()}


def _fault(cells: list[str], columns: list[tuple[str, str]]) -> str | None:
    if len(cells) != len(columns):
        cut = "the row is cut: it" if len(cells) < len(columns) else "the row"
        return f"{cut} has {counted(len(cells), 'column')} instead of {len(columns)}"
    for number, (cell, (name, kind)) in enumerate(zip(cells, columns, strict=True), 1):
        try:
            np.dtype(kind).type(cell)
        except ValueError:
            return f"column {number} cannot be read as {name}"
    return None


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


def parse_forcing(text: TextFile, gauge_latitude: float | None) -> tuple[float, dict[str, DailySeries]]:
    """Return the area (m2) and the series of a forcing file of any product, by position, after checking its header.

    The series are daylength (s), precipitation (mm/day), srad (W/m2), swe (mm), tmax and tmin (degC), vp (Pa) by name.
    The published products fill swe with zeros, which does not mean "no snow". Skipped days are NaN and ABSENT; the
    format has no mark for a missing value. The latitude must be that of the gauge.
    """
    area = _check_header(text, gauge_latitude)
    return area, Table.parse(text, _HEADER_LINES, _HEADINGS).series(_DATE, _COLUMNS)


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
