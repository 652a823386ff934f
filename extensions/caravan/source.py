"""A source of basins in a Caravan file set."""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from extensions.caravan.timeseries import parse_csv, parse_netcdf
from extensions.caravan.variables import PRODUCT
from hydrology.base.basins import basin_id
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.units import M2_PER_KM2
from ingestion.base import ANY_FILES, BasinData, Files, SourceError, SourceFile, SourceSeries
from ingestion.sheet import Sheet
from ingestion.sources.archives import ArchiveFile, find, read_once, refuse_packed
from ingestion.sources.tables import PLACE, AttributeFile, attributes_of, parse_attributes

NAMESPACE = "CARAVAN"
_DISCHARGE_PRODUCT = NAMESPACE.lower()

_ATTRIBUTES = re.compile(r"attributes_(caravan|hydroatlas|other)_[^.]+\.csv")
_TIME_SERIES = re.compile(r"([^.].*)\.(nc|csv)")
_WORDS = ("gauge_name", "country")
_FOLDERS = {"nc": "netcdf", "csv": "csv"}
_LAYOUT = "timeseries/netcdf/<sub>/<gauge_id>.nc or timeseries/csv/<sub>/<gauge_id>.csv"


class CaravanSource:
    """The basins in folders and zip files with Caravan's layout.

    A gauge `camels_01013500` is the basin `CARAVAN-camels_01013500`: its data differ from those of `USGS-01013500`.
    Forcing has the product `era5_land`, discharge `caravan`, in mm/day over the area `era5_land`. Where a gauge has
    both a NetCDF and a CSV file, with the same but rounded values, the NetCDF is read.
    """

    def __init__(self, paths: Sequence[Path], files: Files = ANY_FILES) -> None:
        self._files: dict[str, dict[str, list[ArchiveFile]]] = defaultdict(lambda: defaultdict(list))
        attributes: dict[str, list[ArchiveFile]] = defaultdict(list)
        for path in paths:
            for file in find(path, _TIME_SERIES.fullmatch, files):
                if _ATTRIBUTES.fullmatch(file.parts[-1]):
                    attributes[file.parts[-1]].append(file)
                elif (match := _time_series(file)) is not None:
                    self._files[_basin(file, match[1])][match[2]].append(file)
        if not self._files:
            for path in paths:
                refuse_packed(path, files)
            shown = ", ".join(str(path) for path in paths)
            raise SourceError(shown, "no time series is in it", f"give a folder or a zip that holds {_LAYOUT}")
        by_name = sorted(attributes.items())
        self._attributes = [parse_caravan_attributes(name, *read_once(copies)) for name, copies in by_name]

    def basins(self) -> list[str]:
        """Return the basins with a time series, sorted."""
        return sorted(self._files)

    def read(self, basin: str) -> BasinData:
        """Return all data of a basin in the paths; NotFound without any."""
        if basin not in self._files:
            raise NotFound(f"The source holds no time series of {basin}: see the basins it lists.")
        kinds = self._files[basin]
        kind = "nc" if "nc" in kinds else "csv"
        file, content = read_once(kinds[kind])
        gauge = basin.removeprefix(f"{NAMESPACE}-")
        attributes = attributes_of(gauge, self._attributes)
        if missing := [name for name in PLACE if name not in attributes.numbers]:
            raise SourceError(
                attributes.files[-1].name if attributes.files else file.name,
                f"the gauge {gauge} has no attribute {', '.join(missing)}",
                "give the file attributes_other of its data set, with a value for it",
            )
        series = (parse_netcdf if kind == "nc" else parse_csv)(file, content)
        return BasinData(
            basin=basin,
            name=attributes.words.get("gauge_name"),
            latitude=attributes.numbers["gauge_lat"],
            longitude=attributes.numbers["gauge_lon"],
            areas={PRODUCT: attributes.numbers["area"] * M2_PER_KM2},
            attributes={k: v for k, v in attributes.numbers.items() if k not in ("gauge_lat", "gauge_lon")},
            texts={k: v for k, v in attributes.words.items() if k != "gauge_name"},
            series=tuple(
                SourceSeries(_DISCHARGE_PRODUCT if name == "discharge" else PRODUCT, name, values, file)
                for name, values in series.items()
            ),
            files=(*attributes.files, file),
        )


def _time_series(file: ArchiveFile) -> re.Match[str] | None:
    match = _TIME_SERIES.fullmatch(file.parts[-1])
    assert match is not None
    return match if file.parts[-4:-2] == ("timeseries", _FOLDERS[match[2]]) else None


def _basin(file: ArchiveFile, gauge: str) -> str:
    try:
        return basin_id(f"{NAMESPACE}-{gauge}")
    except InvalidInput as error:
        raise SourceError(
            file.name, "its name is not a gauge", "name it with up to 40 letters, digits, _ and ."
        ) from error


def parse_caravan_attributes(name: str, file: SourceFile, content: bytes) -> AttributeFile:
    """Parse `attributes_{caravan,hydroatlas,other}_<sub>.csv`; the last has words except for location and area."""
    is_other = name.startswith("attributes_other")
    sheet = Sheet.of_csv(file, content)
    return parse_attributes(sheet, lambda column: column in _WORDS or (is_other and column not in PLACE))
