"""Attributes of gauges: tables with a row for each `gauge_id`, of which an archive has several."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ingestion.base import SourceError, SourceFile
from ingestion.sheet import Sheet

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
