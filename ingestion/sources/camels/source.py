"""A source of basins in CAMELS-US, and in archives of its text formats."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from hydrology.base.basins import gauge_product
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.series import DailySeries
from hydrology.weather.source_calendars import with_lacking_days_marked
from ingestion.base import BasinData, SourceError, SourceSeries
from ingestion.reading import ANY_FILES, Files
from ingestion.sources.camels.attributes import Attributes, parse_attributes
from ingestion.sources.camels.files import ArchiveFile, find, refuse_packed
from ingestion.sources.camels.forcing import parse_forcing
from ingestion.sources.camels.layout import (
    LAYOUTS,
    PRODUCTS,
    WEATHER_AND_DISCHARGE,
    BasinFile,
    Kind,
    basin_file,
    is_attributes,
    is_known,
    of_another_product,
)
from ingestion.sources.camels.reference import parse_model_output, parse_swe
from ingestion.sources.camels.streamflow import parse_streamflow
from ingestion.sources.camels.text import TextFile

_OTHERS = " (own tables: freshet ingest tables; Caravan: freshet ingest caravan)"
FILLED_BY_THEIR_SOURCE = ("daymet",)
"""Products whose files hold days that their own source's calendar lacks, already filled."""
_ONE_COPY = "leave only one of them in the paths given"


class CamelsSource:
    """The basins in folders and zip files of CAMELS-US text.

    Forcing of daymet, maurer, maurer_extended, nldas and synthetic; discharge; attributes; reference snow
    water equivalent; model output. One basin is read at a time, and zip files are read without unpacking.

    Args:
        paths: folders, searched through all their levels, and published zip files. A zip within a folder is
            opened: name it.
        product: the only forcing product to read, and that of files whose folder does not name one.
        files: which files may be read.

    Raises:
        SourceError: a path is missing, damaged, unsafe or holds no file of a known layout; there is neither weather nor
            discharge; a forcing file's product is unknown, or all forcing is of another than the wanted one; an
            attribute file cannot be used.
    """

    def __init__(self, paths: Sequence[Path], product: str | None = None, files: Files = ANY_FILES) -> None:
        if product is not None and product not in PRODUCTS:
            raise InvalidInput(f"{product!r} is not a forcing product: give one of {', '.join(PRODUCTS)}.")
        self._files: dict[str, list[BasinFile]] = defaultdict(list)
        attributes: dict[str, list[ArchiveFile]] = defaultdict(list)
        others: list[ArchiveFile] = []
        for path in paths:
            for file in _known_files(path, files):
                if is_attributes(file):
                    attributes[file.parts[-1]].append(file)
                elif of_another_product(file, product):
                    others.append(file)
                else:
                    of_basin = basin_file(file, product)
                    self._files[of_basin.basin].append(of_basin)
        if others and not any(file.product == product for files in self._files.values() for file in files):
            raise SourceError(
                others[0].name,
                f"it is of another product than {product}, of which the paths hold nothing",
                f"give paths that hold {product}, or leave --product out",
            )
        self._attributes = parse_attributes(_read_once(copies) for copies in attributes.values())
        if not self.basins():
            raise _nothing_to_ingest(paths, len(self._attributes))

    def basins(self) -> list[str]:
        """Return the basins with a forcing or a discharge file, sorted."""
        return sorted(basin for basin in self._files if self._holds(basin))

    def read(self, basin: str) -> BasinData:
        """Return all data of a basin in the paths.

        Raises:
            NotFound: no path has forcing or discharge of the basin.
            SourceError: a file of the basin cannot be used, or two of them differ. Others stay readable.
        """
        if not self._holds(basin):
            raise NotFound(f"The source holds neither forcing nor discharge of {basin}: see the basins it lists.")
        attributes = self._attributes.get(basin, Attributes())
        latitude = attributes.numbers.get("gauge_lat")
        areas, series, files = attributes.areas, list[SourceSeries](), list(attributes.files)
        for file, text in self._texts(basin):
            files.append(text.file)
            if file.kind is Kind.FORCING:
                assert file.product is not None
                forcing = parse_forcing(text, latitude)
                areas[file.product] = forcing.area
                shown = forcing.series
                if file.product in FILLED_BY_THEIR_SOURCE:
                    shown = {name: with_lacking_days_marked(values) for name, values in shown.items()}
                parsed = {(file.product, name): values for name, values in shown.items()}
            else:
                parsed = _parse(file, text)
            series += [SourceSeries(*key, values, text.file) for key, values in parsed.items()]
        _refuse_twice(series)
        return BasinData(
            basin=basin,
            name=attributes.words.get("gauge_name"),
            latitude=latitude,
            longitude=attributes.numbers.get("gauge_lon"),
            huc=attributes.words.get("huc_02"),
            areas=areas,
            attributes={k: v for k, v in attributes.numbers.items() if k not in ("gauge_lat", "gauge_lon")},
            texts={k: v for k, v in attributes.words.items() if k not in ("gauge_name", "huc_02")},
            series=tuple(series),
            files=tuple(files),
        )

    def _holds(self, basin: str) -> bool:
        return any(file.kind in (Kind.FORCING, Kind.STREAMFLOW) for file in self._files.get(basin, ()))

    def _texts(self, basin: str) -> Iterator[tuple[BasinFile, TextFile]]:
        copies: dict[tuple[Kind, str | None], list[BasinFile]] = defaultdict(list)
        for file in self._files[basin]:
            copies[file.kind, file.product].append(file)
        for files in copies.values():
            yield files[0], _read_once([copy.file for copy in files])


def _known_files(path: Path, files: Files) -> list[ArchiveFile]:
    recognised = find(path, is_known, files)
    if not recognised:
        refuse_packed(path, files)
        raise SourceError(str(path), "no file in it is known", f"give a folder or a zip that holds {LAYOUTS}{_OTHERS}")
    return recognised


def _nothing_to_ingest(paths: Sequence[Path], with_attributes: int) -> SourceError:
    found = (
        f"attributes of {with_attributes} basin{'s' * (with_attributes > 1)}"
        if with_attributes
        else "reference snow or model output"
    )
    return SourceError(
        ", ".join(str(path) for path in paths),
        f"it has {found}, but neither weather nor discharge of any basin",
        f"give also a folder or a zip (--from, once more) that holds {WEATHER_AND_DISCHARGE}",
    )


def _read_once(copies: Sequence[ArchiveFile]) -> TextFile:
    first, *others = (copy.read() for copy in copies)
    for other in others:
        if other.file.sha256 != first.file.sha256:
            raise SourceError(
                other.file.name, f"differs from {first.file.name}, of the same content by name", _ONE_COPY
            )
    return first


def _parse(file: BasinFile, text: TextFile) -> dict[tuple[str, str], DailySeries]:
    if file.kind is Kind.STREAMFLOW:
        return {(gauge_product(file.basin), "discharge"): parse_streamflow(text, file.basin)}
    if file.kind is Kind.SWE:
        return {(product, "swe"): series for product, series in parse_swe(text).items()}
    assert file.product is not None
    return {(file.product, variable): series for variable, series in parse_model_output(text).items()}


def _refuse_twice(series: Sequence[SourceSeries]) -> None:
    first: dict[tuple[str, str], SourceSeries] = {}
    for new in series:
        earlier = first.setdefault((new.product, new.variable), new)
        if earlier is not new:
            raise SourceError(new.file.name, f"{new.product} {new.variable} is also in {earlier.file.name}", _ONE_COPY)
