"""A source of basins in CAMELS-US, and in archives of its text formats."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from hydrology.base.basins import gauge_product
from hydrology.base.errors import InvalidInput, NotFound, counted
from hydrology.base.series import DailySeries, with_lacking_days_marked
from hydrology.base.units import M2_PER_KM2
from ingestion.base import BasinData, SourceError, SourceFile, SourceSeries
from ingestion.reading import ANY_FILES, Files
from ingestion.sheet import Sheet
from ingestion.sources.attributes import AttributeFile, attributes_of, parse_attributes
from ingestion.sources.camels.files import ONE_COPY, ArchiveFile, find, read_once, refuse_packed
from ingestion.sources.camels.layout import (
    LAYOUTS,
    PRODUCTS,
    WEATHER_AND_DISCHARGE,
    BasinFile,
    Kind,
    basin_file,
    kind_of,
    product_folder,
)
from ingestion.sources.camels.parsers import parse_forcing, parse_model_output, parse_streamflow, parse_swe
from ingestion.sources.camels.text import MEND_ROW, TextFile

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
    forcing = parse_forcing(text, latitude)
    is_filled = of.product in FILLED_BY_THEIR_SOURCE
    return {
        (of.product, name): with_lacking_days_marked(series) if is_filled else series
        for name, series in forcing.series.items()
    }, {of.product: forcing.area}


def _refuse_twice(series: Sequence[SourceSeries]) -> None:
    first: dict[tuple[str, str], SourceSeries] = {}
    for new in series:
        earlier = first.setdefault((new.product, new.variable), new)
        if earlier is not new:
            raise SourceError(new.file.name, f"{new.product} {new.variable} is also in {earlier.file.name}", ONE_COPY)
