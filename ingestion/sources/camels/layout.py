"""The layout of an archive. The kind of each file, by its name and folders."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from hydrology.base.basins import basin_id
from hydrology.base.errors import InvalidInput
from ingestion.base import SourceError, shown_name
from ingestion.sources.camels.files import ArchiveFile

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
    """The content of a file."""

    FORCING = auto()
    STREAMFLOW = auto()
    SWE = auto()
    MODEL_OUTPUT = auto()
    ATTRIBUTES = auto()


_NAMES = {
    Kind.FORCING: re.compile(r"(?P<gauge>.*)_lump_(?P<kind>[^_]+)_forcing_leap\.txt"),
    Kind.STREAMFLOW: re.compile(r"(?P<gauge>.*)_streamflow_qc\.txt"),
    Kind.SWE: re.compile(r"(?P<gauge>\d+|[A-Z][A-Z0-9]*-.*)_swe\.csv"),
    Kind.MODEL_OUTPUT: re.compile(r"(?P<gauge>.*)_[^_]+_model_output\.txt"),
    Kind.ATTRIBUTES: re.compile(r"camels_(clim|geol|hydro|name|soil|topo|vege)\.txt"),
}


@dataclass(frozen=True, slots=True)
class BasinFile:
    """A file of one basin. The product is None where the file's content gives it."""

    kind: Kind
    basin: str
    product: str | None
    file: ArchiveFile


def is_known(name: str) -> bool:
    """Return whether a file's name is one of the archive's."""
    return _kind(name) is not None


def is_attributes(file: ArchiveFile) -> bool:
    """Return whether a file holds attributes, of all basins."""
    return _kind(file.parts[-1]) is Kind.ATTRIBUTES


def of_another_product(file: ArchiveFile, product: str | None) -> bool:
    """Return whether the folder of forcing or model output names another product than the wanted one."""
    by_folder = _kind(file.parts[-1]) in (Kind.FORCING, Kind.MODEL_OUTPUT)
    return product is not None and by_folder and _product_folder(file) in {*PRODUCTS} - {product}


def basin_file(file: ArchiveFile, product: str | None) -> BasinFile:
    """Return the basin and product of a known file other than attributes.

    Args:
        file: one of the archive.
        product: the forcing product, for files whose folder does not name it.

    Raises:
        SourceError: the name has no gauge, or neither folder nor argument gives the product.
    """
    name = file.parts[-1]
    kind = _kind(name)
    assert kind is not None
    match = _NAMES[kind].fullmatch(name)
    assert match is not None
    try:
        basin = basin_id(match["gauge"])
    except InvalidInput as error:
        raise SourceError(
            file.name,
            "the name begins with what is not a gauge",
            "begin it with 8 to 15 digits (01013500) or a namespaced identifier (SYNTH-01)",
        ) from error
    return BasinFile(kind, basin, _product(kind, file, match, product), file)


def _kind(name: str) -> Kind | None:
    # A name with a leading dot is a system's hidden copy of a file.
    if name.startswith("."):
        return None
    return next((kind for kind, pattern in _NAMES.items() if pattern.fullmatch(name)), None)


def _product(kind: Kind, file: ArchiveFile, match: re.Match[str], product: str | None) -> str | None:
    if kind is Kind.FORCING:
        return _forcing_product(file, match["kind"], product)
    if kind is Kind.MODEL_OUTPUT:
        folder = _product_folder(file)
        if folder not in PRODUCTS:
            raise SourceError(file.name, _NO_PRODUCT, f"name a folder above it {_any(PRODUCTS)}")
        return "synthetic_truth" if folder == "synthetic" else f"sacsma_{folder}"
    return None


def _forcing_product(file: ArchiveFile, kind: str, product: str | None) -> str:
    folder = _product_folder(file)
    if folder in PRODUCTS:
        product = folder
    if product is None:
        choice = _any(_PRODUCTS_OF_KIND.get(kind, PRODUCTS))
        raise SourceError(file.name, _NO_PRODUCT, f"pass --product {choice}, or name a folder above it so")
    if product not in _PRODUCTS_OF_KIND.get(kind, ()):
        raise SourceError(
            file.name,
            f"the file is of kind {shown_name(kind)}, which is not {product}",
            f"give {product} files, or name the product {_any(_PRODUCTS_OF_KIND.get(kind, PRODUCTS))}",
        )
    return product


def _product_folder(file: ArchiveFile) -> str:
    """Return the nearest of a file's folders that names a product. Empty where none does.

    The name of model output has no kind to check the product with, so only its folder and the one above HH count.
    """
    folders = file.parts[-3:-1] if _kind(file.parts[-1]) is Kind.MODEL_OUTPUT else file.parts[:-1]
    return next((folder for folder in reversed(folders) if folder in PRODUCTS), "")


def _any(names: Sequence[str]) -> str:
    return " or ".join(names)
