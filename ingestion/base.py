"""The interface of data sources. Their basins, and all data of one basin."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hydrology.base.errors import Problem, printable
from hydrology.base.series import DailySeries

MAX_NAME = 300


def column_label(columns: Sequence[str], name: str, known: Collection[str]) -> str:
    """Return a column's name for errors. Its name if known here, else its number."""
    return name if name in known else f"column {columns.index(name) + 1}"


def shown_name(name: str) -> str:
    """Return a file's name for display and storage. Without control characters, limited in length."""
    name = printable(name)
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME // 2]}...{name[-MAX_NAME // 2 :]}"


class SourceError(Problem):
    """A file of a source cannot be used. The text gives the file, the line, the cause and the remedy.

    Others than the owner of the file may read it, so it never repeats the file's content, except for what was
    recognised: a known column, a calendar day, a number, a mark of a missing value such as NA.

    Attributes:
        line: the line, counted from 1, or None where no single line is at fault.
    """

    kind = "bad-source"
    exit_code = 4

    def __init__(self, file: str, cause: str, remedy: str, line: int | None = None) -> None:
        file = shown_name(file)
        place = file if line is None else f"{file}, line {line}"
        super().__init__(f"{place}: {cause}; {remedy}.")
        self.file, self.line, self.cause, self.remedy = file, line, cause, remedy


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file with data. Its name for display, and the SHA-256 and size of its bytes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class SourceSeries:
    """One variable of one product, and the file it came from."""

    product: str
    variable: str
    series: DailySeries
    file: SourceFile


@dataclass(frozen=True, slots=True)
class BasinData:
    """All data of one basin in a source.

    Attributes:
        basin: the full identifier (`USGS-01013500`).
        latitude, longitude: of the gauge, degrees north and east.
        areas: every area the source gives, by name, m2. A forcing file's own area has the product's name.
        attributes: the numeric attributes in the source's units; a missing one is left out.
    """

    basin: str
    name: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    huc: str | None = None
    areas: Mapping[str, float] = field(default_factory=dict)
    attributes: Mapping[str, float] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    series: tuple[SourceSeries, ...] = ()
    files: tuple[SourceFile, ...] = ()


class Source(Protocol):
    """A source of basin data."""

    def basins(self) -> list[str]:
        """Return the full identifiers of the basins with forcing or discharge, sorted."""
        ...

    def read(self, basin: str) -> BasinData:
        """Return all data of a basin; a SourceError leaves others readable."""
        ...
