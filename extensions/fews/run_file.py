"""The run file: the run that Delft-FEWS requests, with the paths of its files."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from extensions.fews import markup
from extensions.fews.markup import Instant
from hydrology.base.errors import InvalidInput
from ingestion.base import Files


@dataclass(frozen=True, slots=True)
class FewsLocations:
    """The folders in which a run may read and write: the `workDir` and the run file's, with links resolved."""

    work: Path
    roots: Sequence[Path]

    @classmethod
    def of(cls, run_file: Path, work: str | None) -> "FewsLocations":
        """Return the folders of a run file, which may name a `workDir`. The root of the file system is refused."""
        beside = run_file.resolve().parent
        folder = beside if work is None else Path(os.path.realpath(beside / work))
        if not folder.is_dir() or folder == Path(folder.anchor):
            raise InvalidInput(
                f"{run_file}: its workDir is not a folder of this machine, or is its root: name the module's folder."
            )
        return cls(folder, (folder, beside))

    def path(self, written: str, element: str) -> Path:
        """Resolve a path and its links; refuse one outside the run's folders."""
        try:
            path = Path(os.path.realpath(self.work / written))
        except ValueError:  # a NUL
            raise InvalidInput(f"{element} is not a path: name a file.") from None
        if not any(path.is_relative_to(root) and path != root for root in self.roots):
            raise InvalidInput(
                f"{element} lies outside workDir ({self.work}) and the folder of the run file ({self.roots[1]}): "
                "move the file below one of them."
            )
        return path

    def read(self, path: Path) -> bytes:
        """Return a file's content; refuse what is not regular or too large."""
        return Files(tuple(self.roots)).read(path)[1]


MODEL_VERSION = "model_version"
_PROPERTIES = ("string", "bool", "int", "float", "double", "dateTime")


@dataclass(frozen=True, slots=True)
class Opened:
    """A run file whose diagnostics file is known, so that later failures can be reported there."""

    file: Path
    root: Element
    places: FewsLocations
    diagnostics: Path


@dataclass(frozen=True, slots=True)
class RunFile:
    """The request of a run file.

    Attributes:
        hours: offset of its times, and of those of the output, from UTC.
        time0: the time until which weather counts as observed.
        state: the description of the initial state, and of the state to write.
    """

    places: FewsLocations
    hours: float
    start: Instant
    end: Instant
    time0: Instant
    state: Path | None
    series: tuple[Path, ...]
    netcdf: tuple[Path, ...]
    output_series: Path | None
    output_netcdf: Path | None
    properties: Mapping[str, str]


def opened(file: Path) -> Opened:
    """Open a run file, and read the path of its diagnostics."""
    root = markup.document(Files().read(file)[1], str(file), "Run")
    places = FewsLocations.of(file, markup.text(root, "workDir"))
    diagnostics = _optional(root, places, "outputDiagnosticFile")
    if diagnostics is None:
        raise InvalidInput(f"{file} names no outputDiagnosticFile: add it.")
    return Opened(file, root, places, diagnostics)


def read(opened: Opened) -> RunFile:
    """Read a run file."""
    root, places, file = opened.root, opened.places, str(opened.file)
    hours = markup.zone(markup.text(root, "timeZone"), file)
    start, end, time0 = (
        markup.instant(root.find(name), hours, file) for name in ("startDateTime", "endDateTime", "time0")
    )
    run = RunFile(
        places=places,
        hours=hours,
        start=start,
        end=end,
        time0=time0,
        state=_optional(root, places, "inputStateDescriptionFile"),
        series=_all(root, places, "inputTimeSeriesFile"),
        netcdf=_all(root, places, "inputNetcdfFile"),
        output_series=_optional(root, places, "outputTimeSeriesFile"),
        output_netcdf=_optional(root, places, "outputNetcdfFile"),
        properties=_properties(root, file),
    )
    if not (run.series or run.netcdf):
        raise InvalidInput(f"{file} names no forcing: give inputTimeSeriesFile or inputNetcdfFile.")
    if run.output_series is None and run.output_netcdf is None:
        raise InvalidInput(f"{file} names no output: give outputTimeSeriesFile or outputNetcdfFile.")
    return run


def _optional(root: Element, places: FewsLocations, name: str) -> Path | None:
    paths = _all(root, places, name)
    if len(paths) > 1:
        raise InvalidInput(f"{name} occurs {len(paths)} times in the run file: name one file.")
    return paths[0] if paths else None


def _all(root: Element, places: FewsLocations, name: str) -> tuple[Path, ...]:
    written = [(element.text or "").strip() for element in root.findall(name)]
    return tuple(places.path(path, name) for path in written if path)


def _properties(root: Element, file: str) -> dict[str, str]:
    holder = root.find("properties")
    if holder is None:
        return {}
    entries = [entry for kind in _PROPERTIES for entry in holder.findall(kind)]
    if any("key" not in entry.attrib for entry in entries):
        raise markup.fault(file, "has a property without a key")
    return {entry.attrib["key"]: entry.attrib.get("value", "") for entry in entries}
