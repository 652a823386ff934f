"""Tables of an archive's attributes, and of user basins and their daily observations, as CSV or JSON.

Basins of users have the columns id, latitude, longitude and area_km2, may have name and huc, and every other column is
a numeric attribute. Their observations have the columns basin and date, and a column for each variable with its unit:
precipitation_mm_per_day, tmax_degC, discharge_m3_per_s. An empty attribute is unknown.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hydrology.base.basins import gauge_product, has_source
from hydrology.base.errors import NotFound
from hydrology.base.products import DISCHARGE, OBSERVED, Quantity, own_product
from hydrology.base.units import M2_PER_KM2
from ingestion.base import ANY_FILES, BasinData, Files, SourceError, SourceFile, SourceSeries, column_label
from ingestion.daily import read_days
from ingestion.sheet import Row, Sheet
from jobspec.training import STATIC_ATTRIBUTES

PLACE = ("gauge_lat", "gauge_lon", "area")
"""Location in degrees, and area in km2, as Caravan names them."""

_KNOWN = (*PLACE, "area_gages2", "area_geospa_fabric")
_MISSING = frozenset(("", "na", "nan"))
_T = TypeVar("_T", float, str)


@dataclass(frozen=True, slots=True)
class AttributeFile:
    """One file: the numeric columns, and by gauge its numbers (NaN where missing) and its words."""

    file: SourceFile
    columns: list[str]
    numbers: dict[str, npt.NDArray[np.float64]]
    words: dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class GaugeAttributes:
    """The attributes of one gauge in the files, and the files used."""

    numbers: dict[str, float]
    words: dict[str, str]
    files: tuple[SourceFile, ...]


def parse_attributes(
    sheet: Sheet, is_words: Callable[[str], bool], gauge_of: Callable[[str, int], str] = lambda text, _line: text
) -> AttributeFile:
    """Parse a table of attributes.

    `is_words` gets a column, `gauge_of` a cell and its line; a gauge may occur once.
    """
    sheet.require(("gauge_id",))
    columns = [name for name in sheet.columns if name != "gauge_id" and not is_words(name)]
    attributes = AttributeFile(sheet.file, columns, {}, {})
    for line, row in sheet.rows:
        gauge = gauge_of(row.pop("gauge_id"), line)
        if gauge in attributes.words:
            raise sheet.fault("the gauge comes twice", "delete one of its rows", line)
        texts = {name: text for name, text in row.items() if text.lower() not in _MISSING}
        attributes.words[gauge] = {name: text for name, text in texts.items() if is_words(name)}
        attributes.numbers[gauge] = np.array(
            [sheet.attribute(texts[name], name, line, _KNOWN) if name in texts else np.nan for name in columns]
        )
    return attributes


def attributes_of(gauge: str, files: Iterable[AttributeFile]) -> GaugeAttributes:
    """Join a gauge's attributes from files that agree; missing are left out."""
    numbers, words, used = dict[str, float](), dict[str, str](), list[SourceFile]()
    for file in files:
        if gauge in file.words:
            used.append(file.file)
            _join(file.file, gauge, words, file.words[gauge])
            values = zip(file.columns, file.numbers[gauge].tolist(), strict=True)
            _join(file.file, gauge, numbers, {name: value for name, value in values if not np.isnan(value)})
    return GaugeAttributes(numbers, words, tuple(used))


def _join(file: SourceFile, gauge: str, joined: dict[str, _T], values: dict[str, _T]) -> None:
    for name, value in values.items():
        if joined.setdefault(name, value) != value:
            label = name if name in PLACE else "an attribute"
            cause = f"{label} of {gauge} has another value than in another file"
            raise SourceError(file.name, cause, "mend one of them")


_PLACE = ("id", "latitude", "longitude", "area_km2")
_WORDS = ("id", "name", "huc")

_COLUMNS = {quantity.column: quantity for quantity in OBSERVED}


class TablesSource:
    """User basins and their observations.

    `basins` is None where all are registered already; `product` names the observed forcing and its area. Observations
    may cover `registered` basins that the table of basins lacks. A table is used entirely or not at all.
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
        """Return all data of a basin in the tables; NotFound without any."""
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
    raise SourceError(files.shown(path), "is neither .csv nor .json by its name", "name it by what it holds")


def _read_basins(sheet: Sheet, product: str) -> dict[str, BasinData]:
    sheet.require(_PLACE)
    sheet.refuse_other_letters(_WORDS)
    basins: dict[str, BasinData] = {}
    for line, row in sheet.rows:
        basin = _basin(sheet, row, line, product)
        if basin.basin in basins:
            raise sheet.fault("the basin comes twice", "give each basin once", line)
        basins[basin.basin] = basin
    if not basins:
        raise sheet.fault("there is no basin in it", "give a row for each basin")
    return basins


def _basin(sheet: Sheet, row: dict[str, str], line: int, product: str) -> BasinData:
    basin = sheet.basin(row["id"], "id is not a basin identifier", "write a namespace and a name, like OWN-mill", line)
    if has_source(basin):
        cause = f"the basin belongs to {basin.partition('-')[0]}, which has a source of its own"
        raise sheet.fault(cause, "choose another namespace, like OWN-mill", line)
    known = [name for name in row if name not in _WORDS and (row[name] or name in _PLACE)]
    shown = (*_PLACE, *STATIC_ATTRIBUTES)
    numbers = {name: sheet.attribute(row[name], name, line, shown) for name in known}
    area = numbers["area_km2"] * M2_PER_KM2
    return BasinData(
        basin=basin,
        name=row.get("name") or None,
        latitude=numbers.pop("latitude"),
        longitude=numbers.pop("longitude"),
        huc=row.get("huc") or None,
        areas={product: area},
        attributes=numbers,
        files=(sheet.file,),
    )


def _add_observations(sheet: Sheet, product: str, basins: dict[str, BasinData], registered: Collection[str]) -> None:
    sheet.require(("basin", "date"))
    sheet.refuse_other_letters(_COLUMNS)
    quantities = {name: _quantity(sheet, name) for name in sheet.columns if name not in ("basin", "date")}
    if len({quantity.variable for quantity in quantities.values()}) < len(quantities) or not quantities:
        cause = "no column is of a variable, or two are of the same"
        raise sheet.fault(cause, "give each variable once", sheet.header)
    known = basins.keys() | set(registered)

    def basin_of(row: Row, line: int) -> str:
        if row["basin"] in known:
            return row["basin"]
        cause = "the basin is not registered, or not with the key that sent this"
        raise sheet.fault(cause, "register it first, correct its name, or send it with that key", line)

    for basin, (rows, values) in read_days(sheet, quantities, basin_of).items():
        read = {name: rows.series(column, quantities[name], name) for name, column in values.items()}
        by_variable = {quantities[name].variable: daily for name, daily in read.items() if daily is not None}
        series = tuple(
            SourceSeries(gauge_product(basin) if name == DISCHARGE else product, name, daily, sheet.file)
            for name, daily in by_variable.items()
        )
        data = basins.get(basin) or BasinData(basin)
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
