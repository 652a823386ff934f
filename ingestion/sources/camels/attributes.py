"""Catchment attributes (Addor et al. 2017, doi:10.5194/hess-21-5293-2017): `camels_<subject>.txt`, split by `;`."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from hydrology.base.basins import basin_id
from hydrology.base.errors import InvalidInput
from hydrology.base.units import M2_PER_KM2
from ingestion.base import SourceFile, column_label
from ingestion.sources.camels.text import MEND_ROW, TextFile

_WORDS = frozenset(
    (
        "gauge_name",
        "huc_02",
        "high_prec_timing",
        "low_prec_timing",
        "geol_1st_class",
        "geol_2nd_class",
        "dom_land_cover",
    )
)
_MISSING = frozenset(("", "na", "nan"))
_AREAS = ("area_gages2", "area_geospa_fabric")


@dataclass(slots=True)
class Attributes:
    """The attributes of one basin. Numbers and words by column, and their files."""

    numbers: dict[str, float] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    files: list[SourceFile] = field(default_factory=list)

    @property
    def areas(self) -> dict[str, float]:
        """The areas, m2."""
        return {name: self.numbers[name] * M2_PER_KM2 for name in _AREAS if name in self.numbers}


def parse_attributes(files: Iterable[TextFile]) -> dict[str, Attributes]:
    """Parse attribute files into one record per basin. Missing values (NaN, NA, nothing) are left out.

    Raises:
        SourceError: a file is not of this format, a number cannot be read, or a basin occurs twice.
    """
    basins: dict[str, Attributes] = {}
    for text in files:
        columns = [name.strip() for name in text.lines[0].split(";")]
        if columns[0] != "gauge_id" or len(columns) != len(set(columns)):
            cause = "the first column is not gauge_id, or a name comes twice"
            raise text.fault(cause, "give an attribute file of CAMELS", 1)
        for number, line in enumerate(text.lines[1:], 2):
            if line.strip():
                _read_row(text, number, columns, line.split(";"), basins)
    return basins


def _read_row(
    text: TextFile, number: int, columns: list[str], fields: list[str], basins: dict[str, Attributes]
) -> None:
    if len(fields) != len(columns):
        cause = f"the row has {len(fields)} columns instead of {len(columns)}"
        raise text.fault(cause, MEND_ROW, number)
    try:
        basin = basin_id(fields[0])
    except InvalidInput as error:
        raise text.fault("gauge_id is not a gauge", MEND_ROW, number) from error
    attributes = basins.setdefault(basin, Attributes())
    if text.file in attributes.files:
        raise text.fault("the gauge comes twice", "delete one of its rows", number)
    attributes.files.append(text.file)
    for name, value in zip(columns[1:], (value.strip() for value in fields[1:]), strict=True):
        if value.lower() in _MISSING:
            continue
        if name in _WORDS:
            attributes.words[name] = value
        else:
            attributes.numbers[name] = text.number(value, column_label(columns, name, _AREAS), number)
