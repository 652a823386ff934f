"""A source of basins in CAMELS-US, and in archives of its text formats."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hydrology.base.basins import basin_id, gauge_product
from hydrology.base.errors import InvalidInput, NotFound, counted
from hydrology.base.series import DailySeries, with_lacking_days_marked
from hydrology.base.units import M2_PER_KM2
from ingestion.base import ANY_FILES, BasinData, Files, SourceError, SourceFile, SourceSeries, shown_name
from ingestion.sheet import Sheet
from ingestion.sources.archives import ONE_COPY, ArchiveFile, find, read_once, refuse_packed
from ingestion.sources.camels_text import (
    MEND_ROW,
    TextFile,
    parse_forcing,
    parse_model_output,
    parse_streamflow,
    parse_swe,
)
from ingestion.sources.tables import AttributeFile, attributes_of, parse_attributes

# The products by the kind in a forcing file's name (daymet is by the Center for Integrated Data Analytics).
_PRODUCTS_OF_KIND = {
    "cida": ("daymet",),
    "maurer": ("maurer", "maurer_extended"),
    "nldas": ("nldas",),
    "synthetic": ("synthetic",),
}
PRODUCTS = tuple(sorted(product for products in _PRODUCTS_OF_KIND.values() for product in products))

_NO_PRODUCT = "none of its folders names a product"

WEATHER_AND_DISCHARGE = "<product>/HH/<ID>_lump_<kind>_forcing_leap.txt or usgs_streamflow/HH/<ID>_streamflow_qc.txt"
LAYOUTS = (
    "<product>/HH/<ID>_lump_<kind>_forcing_leap.txt, usgs_streamflow/HH/<ID>_streamflow_qc.txt, "
    "swe_reference/HH/<ID>_swe.csv, model_output/flow_timeseries/<product>/HH/<ID>_<member>_model_output.txt "
    "or camels_<subject>.txt"
)


class Kind(Enum):
    """The content of a file, by the pattern of its name."""

    FORCING = r"(?P<gauge>.*)_lump_(?P<kind>[^_]+)_forcing_leap\.txt"
    STREAMFLOW = r"(?P<gauge>.*)_streamflow_qc\.txt"
    SWE = r"(?P<gauge>\d+|[A-Z][A-Z0-9]*-.*)_swe\.csv"
    MODEL_OUTPUT = r"(?P<gauge>.*)_[^_]+_model_output\.txt"
    OTHER_FLOW = r"(?P<gauge>\d{8,15}|[A-Z][A-Z0-9]*-[^_]+)_(?i:streamflow)(?!_qc\.txt).*\.(?i:txt|csv)"
    """Flow by a name that CAMELS does not give it, so that its unit and columns are not known."""
    ATTRIBUTES = r"camels_(clim|geol|hydro|name|soil|topo|vege)\.txt"


@dataclass(frozen=True, slots=True)
class BasinFile:
    """A file of one basin. The product is None where the file's content gives it."""

    kind: Kind
    basin: str
    product: str | None
    file: ArchiveFile


def kind_of(name: str) -> Kind | None:
    """Return the kind of a file by its name; None where it is not one of the archive's."""
    # A name with a leading dot is a system's hidden copy of a file.
    return next((kind for kind in Kind if not name.startswith(".") and re.fullmatch(kind.value, name)), None)


def product_folder(file: ArchiveFile, kind: Kind) -> str:
    """Return the nearest of a file's folders that names a product. Empty where none does.

    The name of model output has no kind to check the product with, so only its folder and the one above HH count.
    """
    if kind not in (Kind.FORCING, Kind.MODEL_OUTPUT):
        return ""
    folders = file.parts[-3:-1] if kind is Kind.MODEL_OUTPUT else file.parts[:-1]
    return next((folder for folder in reversed(folders) if folder in PRODUCTS), "")


def basin_file(file: ArchiveFile, kind: Kind, product: str | None) -> BasinFile:
    """Return the basin and product of a file other than attributes.

    `product` is for files whose folder does not name it.
    """
    match = re.fullmatch(kind.value, file.parts[-1])
    assert match is not None
    try:
        basin = basin_id(match["gauge"])
    except InvalidInput as error:
        cause = "the name begins with what is not a gauge"
        remedy = "begin it with 8 to 15 digits (01013500) or a namespaced identifier (SYNTH-01)"
        raise SourceError(file.name, cause, remedy) from error
    folder = product_folder(file, kind)
    if kind is Kind.FORCING:
        return BasinFile(kind, basin, _forcing_product(file, match["kind"], folder or product), file)
    if kind is not Kind.MODEL_OUTPUT:
        return BasinFile(kind, basin, None, file)
    if not folder:
        raise SourceError(file.name, _NO_PRODUCT, f"name a folder above it {' or '.join(PRODUCTS)}")
    return BasinFile(kind, basin, "synthetic_truth" if folder == "synthetic" else f"sacsma_{folder}", file)


def _forcing_product(file: ArchiveFile, kind: str, product: str | None) -> str:
    choice = " or ".join(_PRODUCTS_OF_KIND.get(kind, PRODUCTS))
    if product is None:
        raise SourceError(file.name, _NO_PRODUCT, f"pass --product {choice}, or name a folder above it so")
    if product not in _PRODUCTS_OF_KIND.get(kind, ()):
        cause = f"the file is of kind {shown_name(kind)}, which is not {product}"
        raise SourceError(file.name, cause, f"give {product} files, or name the product {choice}")
    return product


_OTHERS = " (own tables: freshet ingest tables; Caravan: freshet ingest caravan)"
FILLED_BY_THEIR_SOURCE = ("daymet",)
"""Products whose files hold days that their own source's calendar lacks, already filled."""
_AREAS = ("area_gages2", "area_geospa_fabric")
_WORDS = {
    *("gauge_name", "huc_02", "high_prec_timing", "low_prec_timing"),
    *("geol_1st_class", "geol_2nd_class", "dom_land_cover"),
}
"""The attributes in words."""


class CamelsSource:
    """The basins in folders and zip files of CAMELS-US text.

    Forcing of daymet, maurer, maurer_extended, nldas and synthetic; discharge; attributes; reference snow
    water equivalent; model output. One basin is read at a time, and zip files are read without unpacking.

    Args:
        paths: folders, searched through all their levels, and published zip files. A zip within a folder is
            opened: name it.
        product: the only forcing product to read, and that of files whose folder does not name one.
    """

    def __init__(self, paths: Sequence[Path], product: str | None = None, files: Files = ANY_FILES) -> None:
        if product is not None and product not in PRODUCTS:
            raise InvalidInput(f"{product!r} is not a forcing product: give one of {', '.join(PRODUCTS)}.")
        self._files: dict[str, list[BasinFile]] = defaultdict(list)
        attributes: dict[str, list[ArchiveFile]] = defaultdict(list)
        others: list[ArchiveFile] = []
        for path in paths:
            for file in _known_files(path, files):
                kind = kind_of(file.parts[-1])
                assert kind is not None
                if kind is Kind.ATTRIBUTES:
                    attributes[file.parts[-1]].append(file)
                elif product is not None and product_folder(file, kind) not in ("", product):
                    others.append(file)
                else:
                    of_basin = basin_file(file, kind, product)
                    self._files[of_basin.basin].append(of_basin)
        if others and not any(file.product == product for files in self._files.values() for file in files):
            raise SourceError(
                others[0].name,
                f"it is of another product than {product}, of which the paths hold nothing",
                f"give paths that hold {product}, or leave --product out",
            )
        self._attributes = [parse_camels_attributes(*read_once(copies)) for copies in attributes.values()]
        if not self.basins():
            raise _nothing_to_ingest(paths, len({gauge for file in self._attributes for gauge in file.words}))

    def basins(self) -> list[str]:
        """Return the basins with a forcing or a discharge file, sorted."""
        return sorted(basin for basin in self._files if self._holds(basin))

    def read(self, basin: str) -> BasinData:
        """Return all data of a basin in the paths; NotFound without any."""
        if not self._holds(basin):
            raise NotFound(f"The source holds neither forcing nor discharge of {basin}: see the basins it lists.")
        attributes = attributes_of(basin, self._attributes)
        numbers, words = dict(attributes.numbers), dict(attributes.words)
        latitude, longitude = numbers.pop("gauge_lat", None), numbers.pop("gauge_lon", None)
        areas = {name: numbers[name] * M2_PER_KM2 for name in _AREAS if name in numbers}
        series, files = list[SourceSeries](), list(attributes.files)
        copies: dict[tuple[Kind, str | None], list[BasinFile]] = defaultdict(list)
        for found in self._files[basin]:
            copies[found.kind, found.product].append(found)
        if (Kind.OTHER_FLOW, None) in copies and (Kind.STREAMFLOW, None) not in copies:
            raise SourceError(
                copies[Kind.OTHER_FLOW, None][0].file.name,
                "it is flow by its name, which is not that of CAMELS: its unit and columns are not known",
                "give gauge, year, month, day, cubic feet per second and flag (A, A:e, M) in each line, and name it "
                "<ID>_streamflow_qc.txt, or remove it",
            )
        for same in (same for (kind, _), same in copies.items() if kind is not Kind.OTHER_FLOW):
            file, content = read_once([copy.file for copy in same])
            files.append(file)
            parsed, area = _parse(same[0], file, content, latitude)
            areas |= area
            series += [SourceSeries(*key, values, file) for key, values in parsed.items()]
        _refuse_twice(series)
        return BasinData(
            basin=basin,
            name=words.pop("gauge_name", None),
            latitude=latitude,
            longitude=longitude,
            huc=words.pop("huc_02", None),
            areas=areas,
            attributes=numbers,
            texts=words,
            series=tuple(series),
            files=tuple(files),
        )

    def _holds(self, basin: str) -> bool:
        held = (Kind.FORCING, Kind.STREAMFLOW, Kind.OTHER_FLOW)
        return any(file.kind in held for file in self._files.get(basin, ()))


def _known_files(path: Path, files: Files) -> list[ArchiveFile]:
    recognised = find(path, kind_of, files)
    if not recognised:
        refuse_packed(path, files)
        raise SourceError(str(path), "no file in it is known", f"give a folder or a zip that holds {LAYOUTS}{_OTHERS}")
    return recognised


def parse_camels_attributes(file: SourceFile, content: bytes) -> AttributeFile:
    """Parse `camels_<subject>.txt` (Addor et al. 2017, doi:10.5194/hess-21-5293-2017), split by `;`."""
    sheet = Sheet.of_csv(file, content, ";")
    return parse_attributes(
        sheet, _WORDS.__contains__, lambda text, line: sheet.basin(text, "gauge_id is not a gauge", MEND_ROW, line)
    )


def _nothing_to_ingest(paths: Sequence[Path], with_attributes: int) -> SourceError:
    found = "reference snow or model output"
    if with_attributes:
        found = f"attributes of {counted(with_attributes, 'basin')}"
    return SourceError(
        ", ".join(str(path) for path in paths),
        f"it has {found}, but neither weather nor discharge of any basin",
        f"give also a folder or a zip (--from, once more) that holds {WEATHER_AND_DISCHARGE}",
    )


def _parse(
    of: BasinFile, file: SourceFile, content: bytes, latitude: float | None
) -> tuple[dict[tuple[str, str], DailySeries], dict[str, float]]:
    """Return the series of a file by product and variable, and the area of its product where it states one."""
    if of.kind is Kind.SWE:
        return {(product, "swe"): series for product, series in parse_swe(file, content).items()}, {}
    text = TextFile.decode(file, content)
    if of.kind is Kind.STREAMFLOW:
        return {(gauge_product(of.basin), "discharge"): parse_streamflow(text, of.basin)}, {}
    assert of.product is not None
    if of.kind is Kind.MODEL_OUTPUT:
        return {(of.product, name): series for name, series in parse_model_output(text).items()}, {}
    area, forcing = parse_forcing(text, latitude)
    is_filled = of.product in FILLED_BY_THEIR_SOURCE
    return {
        (of.product, name): with_lacking_days_marked(series) if is_filled else series
        for name, series in forcing.items()
    }, {of.product: area}


def _refuse_twice(series: Sequence[SourceSeries]) -> None:
    first: dict[tuple[str, str], SourceSeries] = {}
    for new in series:
        earlier = first.setdefault((new.product, new.variable), new)
        if earlier is not new:
            raise SourceError(new.file.name, f"{new.product} {new.variable} is also in {earlier.file.name}", ONE_COPY)
