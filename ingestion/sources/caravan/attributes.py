"""Attributes of gauges: `attributes_{caravan,hydroatlas,other}_<sub>.csv`, joined on `gauge_id`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ingestion.base import SourceError, SourceFile, column_label
from ingestion.sources.sheet import Sheet

PLACE = ("gauge_lat", "gauge_lon", "area")
"""Required for every gauge: degrees, and km2."""

_LIMITS = {"gauge_lat": (-90.0, 90.0), "gauge_lon": (-180.0, 180.0), "area": (1e-6, 1e8)}
_T = TypeVar("_T", float, str)

_WORDS = frozenset(("gauge_name", "country"))
_MISSING = frozenset(("", "na", "nan"))


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


def parse_attributes(file: SourceFile, content: bytes, *, other: bool) -> AttributeFile:
    """Parse a file of attributes.

    Args:
        file: its description.
        content: its bytes.
        other: whether it is `attributes_other`, whose columns are words except for location and area.

    Raises:
        SourceError: the file is not of this format, a number cannot be read, or a gauge occurs twice.
    """
    sheet = Sheet.of_csv(file, content)
    sheet.require(("gauge_id",))
    in_words = {name: name in _WORDS or (other and name not in PLACE) for name in sheet.columns if name != "gauge_id"}
    columns = [name for name, words in in_words.items() if not words]
    attributes = AttributeFile(file, columns, {}, {})
    for line, cells in sheet.rows:
        row = {name: cell.strip() for name, cell in zip(sheet.columns, cells, strict=True)}
        gauge = row.pop("gauge_id")
        if gauge in attributes.words:
            raise sheet.fault("the gauge comes twice", "delete one of its rows", line)
        texts = {name: text for name, text in row.items() if text.lower() not in _MISSING}
        attributes.words[gauge] = {name: text for name, text in texts.items() if in_words[name]}
        attributes.numbers[gauge] = np.array(
            [_number(sheet, name, texts[name], line) if name in texts else np.nan for name in columns]
        )
    return attributes


def _number(sheet: Sheet, name: str, text: str, line: int) -> float:
    label = column_label(sheet.columns, name, PLACE)
    value = sheet.number(text, label, line)
    low, high = _LIMITS.get(name, (-np.inf, np.inf))
    if not low <= value <= high:
        raise sheet.fault(f"{label} is outside {low:g} to {high:g} ({value:g})", "mend the value", line)
    return value


def attributes_of(gauge: str, files: Iterable[AttributeFile], named_by: SourceFile) -> GaugeAttributes:
    """Join a gauge's attributes from all files.

    Raises:
        SourceError: no file has the gauge's location or area, or two of them differ in a value.
    """
    numbers, words, speaking = dict[str, float](), dict[str, str](), list[SourceFile]()
    for file in files:
        if gauge not in file.words:
            continue
        speaking.append(file.file)
        values = dict(zip(file.columns, file.numbers[gauge].tolist(), strict=True))
        _join(file.file, gauge, numbers, {name: value for name, value in values.items() if not np.isnan(value)})
        _join(file.file, gauge, words, file.words[gauge])
    if missing := [name for name in PLACE if name not in numbers]:
        raise SourceError(
            speaking[-1].name if speaking else named_by.name,
            f"the gauge {gauge} has no attribute {', '.join(missing)}",
            "give the file attributes_other of its data set, with a value for it",
        )
    return GaugeAttributes(numbers, words, tuple(speaking))


def _join(file: SourceFile, gauge: str, joined: dict[str, _T], values: dict[str, _T]) -> None:
    for name, value in values.items():
        if joined.setdefault(name, value) != value:
            label = name if name in PLACE else "an attribute"
            raise SourceError(
                file.name, f"{label} of {gauge} has another value than in another file", "mend one of them"
            )
