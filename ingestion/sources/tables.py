"""Reads user basins: a table of basins and a table of daily observations, as CSV or JSON.

The basins have the columns id, latitude, longitude and area_km2, may have name and huc, and every other column is a
numeric attribute. The observations have the columns basin and date, and a column for each variable with its unit:
precipitation_mm_per_day, tmax_degC, discharge_m3_per_s. An empty attribute is unknown.
"""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from hydrology.base.basins import basin_id, gauge_product, has_source
from hydrology.base.calendar import Day
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.products import own_product
from hydrology.base.units import M2_PER_KM2
from hydrology.base.variables import DISCHARGE, OBSERVED, Quantity
from ingestion.base import BasinData, SourceError, SourceSeries, column_label
from ingestion.reading import ANY_FILES, Files
from ingestion.sources.daily import DailyRows
from ingestion.sources.sheet import Sheet
from jobspec.training import STATIC_ATTRIBUTES

_PLACE = ("id", "latitude", "longitude", "area_km2")
_WORDS = ("id", "name", "huc")
_LIMITS = {"latitude": (-90.0, 90.0), "longitude": (-180.0, 180.0), "area_km2": (1e-6, 1e8)}

_COLUMNS = {quantity.column: quantity for quantity in OBSERVED}


class TablesSource:
    """User basins and their observations.

    Args:
        basins: the table of basins, or None where all are registered already.
        observations: the table of observations, or None.
        product: the name under which the observed forcing and its area are stored.
        registered: basins that observations may cover although the table of basins lacks them.
        files: which files may be read.

    Raises:
        SourceError: a table cannot be used. It is used entirely or not at all.
        InvalidInput: the product's name cannot be used.
    """

    def __init__(
        self,
        basins: Path | None,
        observations: Path | None,
        product: str,
        registered: Collection[str] = (),
        files: Files = ANY_FILES,
    ) -> None:
        own_product(product)
        self._basins = {} if basins is None else _read_basins(_open(basins, files), product)
        if observations is not None:
            _add_observations(_open(observations, files), product, self._basins, registered)

    def basins(self) -> list[str]:
        """Return every basin in the tables, sorted."""
        return sorted(self._basins)

    def read(self, basin: str) -> BasinData:
        """Return all data of a basin in the tables.

        Raises:
            NotFound: neither table contains it.
        """
        if basin not in self._basins:
            raise NotFound(f"The tables do not contain {basin}: see the basins they list.")
        return self._basins[basin]


def _open(path: Path, files: Files) -> Sheet:
    file, content = files.read(path)
    match path.suffix.lower():
        case ".csv":
            return Sheet.of_csv(file, content)
        case ".json":
            return Sheet.of_json(file, content)
    raise SourceError(str(path), "is neither .csv nor .json by its name", "name it by what it holds")


def _read_basins(sheet: Sheet, product: str) -> dict[str, BasinData]:
    sheet.require(_PLACE)
    sheet.refuse_other_letters(_WORDS)
    basins: dict[str, BasinData] = {}
    for line, cells in sheet.rows:
        row = {name: cell.strip() for name, cell in zip(sheet.columns, cells, strict=True)}
        basin = _basin(sheet, row, line, product)
        if basin.basin in basins:
            raise sheet.fault("the basin comes twice", "give each basin once", line)
        basins[basin.basin] = basin
    if not basins:
        raise sheet.fault("there is no basin in it", "give a row for each basin")
    return basins


def _basin(sheet: Sheet, row: dict[str, str], line: int, product: str) -> BasinData:
    basin = _own_id(sheet, row["id"], line)
    known = [name for name in row if name not in _WORDS and (row[name] or name in _PLACE)]
    numbers = {name: _attribute(sheet, name, row[name], line) for name in known}
    area = numbers["area_km2"] * M2_PER_KM2
    return BasinData(
        basin=basin,
        name=row.get("name") or None,
        latitude=numbers.pop("latitude"),
        longitude=numbers.pop("longitude"),
        huc=row.get("huc") or None,
        areas={product: area},
        attributes=numbers,
        texts={},
        series=(),
        files=(sheet.file,),
    )


def _own_id(sheet: Sheet, text: str, line: int) -> str:
    try:
        basin = basin_id(text)
    except InvalidInput as error:
        raise sheet.fault(
            "id is not a basin identifier", "write a namespace and a name, like OWN-mill", line
        ) from error
    namespace = basin.partition("-")[0]
    if has_source(basin):
        cause = f"the basin belongs to {namespace}, which has a source of its own"
        raise sheet.fault(cause, "choose another namespace, like OWN-mill", line)
    return basin


def _attribute(sheet: Sheet, name: str, text: str, line: int) -> float:
    label = column_label(sheet.columns, name, (*_PLACE, *STATIC_ATTRIBUTES))
    if not text:
        raise sheet.fault(f"{label} is empty", "give the number", line)
    value = sheet.number(text, label, line)
    low, high = _LIMITS.get(name, (-np.inf, np.inf))
    if not low <= value <= high:
        raise sheet.fault(f"{label} is outside {low:g} to {high:g} ({value:g})", "mend the value", line)
    return value


def _add_observations(sheet: Sheet, product: str, basins: dict[str, BasinData], registered: Collection[str]) -> None:
    sheet.require(("basin", "date"))
    sheet.refuse_other_letters(_COLUMNS)
    columns = [name for name in sheet.columns if name not in ("basin", "date")]
    quantities = [_quantity(sheet, name) for name in columns]
    if len({quantity.variable for quantity in quantities}) < len(columns) or not columns:
        cause = "no column is of a variable, or two are of the same"
        raise sheet.fault(cause, "give each variable once", sheet.header)
    for basin, (days, lines, values) in _by_basin(sheet, columns, basins.keys() | set(registered)).items():
        rows = DailyRows(sheet.file, np.array(days, dtype="datetime64[D]"), None if sheet.header is None else lines)
        by_column = zip(columns, quantities, np.array(values).T, strict=True)
        by_variable = [
            (quantity.variable, rows.series(numbers, quantity, name)) for name, quantity, numbers in by_column
        ]
        series = tuple(
            SourceSeries(gauge_product(basin) if name == DISCHARGE else product, name, daily, sheet.file)
            for name, daily in by_variable
            if daily is not None
        )
        data = basins.get(basin) or BasinData(
            basin=basin,
            name=None,
            latitude=None,
            longitude=None,
            huc=None,
            areas={},
            attributes={},
            texts={},
            series=(),
            files=(),
        )
        basins[basin] = replace(data, series=series, files=(*data.files, sheet.file))


def _quantity(sheet: Sheet, column: str) -> Quantity:
    if column in _COLUMNS:
        return _COLUMNS[column]
    label = column_label(sheet.columns, column, _COLUMNS)
    variable, _, unit = column.partition("_")
    choice = [name for name, quantity in _COLUMNS.items() if quantity.variable == variable]
    if not choice:
        cause = f"{label} is not known"
        raise sheet.fault(cause, f"remove it, or name it one of {', '.join(_COLUMNS)}", sheet.header)
    fault = "has a unit that is not taken" if unit else "has no unit"
    raise sheet.fault(f"{label} ({variable}) {fault}", f"give the values as {' or '.join(choice)}", sheet.header)


_Rows = tuple[list[Day], list[int], list[list[float]]]


def _by_basin(sheet: Sheet, columns: list[str], known: Collection[str]) -> dict[str, _Rows]:
    at_basin, at_date = sheet.columns.index("basin"), sheet.columns.index("date")
    places = [sheet.columns.index(name) for name in columns]
    readers = [sheet.discharge if _COLUMNS[name].variable == DISCHARGE else sheet.number for name in columns]
    rows_by_basin: dict[str, _Rows] = {}
    for line, cells in sheet.rows:
        basin = cells[at_basin].strip()
        if basin not in known:
            cause = "the basin is not registered, or not with the key that sent this"
            raise sheet.fault(cause, "register it first, correct its name, or send it with that key", line)
        days, lines, values = rows_by_basin.setdefault(basin, ([], [], []))
        days.append(sheet.day(cells[at_date], line))
        lines.append(line)
        values.append(
            [
                np.nan if not cells[at].strip() else read(cells[at], name, line)
                for at, name, read in zip(places, columns, readers, strict=True)
            ]
        )
    return rows_by_basin
