"""The layout of an archive. The kind of each file, by its name and folders."""

import re
from dataclasses import dataclass
from enum import Enum

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
