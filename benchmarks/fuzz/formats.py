"""Files of data: those of CAMELS, of Caravan, own tables, weather forecasts, published scores."""

import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks.fuzz.target import Target, laid_down, scratch
from extensions.caravan import timeseries
from extensions.caravan.source import parse_caravan_attributes
from ingestion import weather_files as weather
from ingestion.base import described
from ingestion.sources import benchmarks
from ingestion.sources.camels import CamelsSource, parse_camels_attributes
from ingestion.sources.camels_text import TextFile, parse_forcing, parse_model_output, parse_streamflow, parse_swe
from ingestion.sources.tables import TablesSource
from testing.files import camels as camels_files
from testing.files import caravan as caravan_files
from testing.files import weather as weather_files
from testing.synthetic.archive import write

Text = Callable[[TextFile], object]
RECEIVED = datetime(2026, 11, 22, 7, tzinfo=UTC)
OWN = "OWN-mill"
_ROWS = 6  # of a published file


def _text(parse: Text) -> Callable[[bytes], object]:
    return lambda content: parse(TextFile.decode(described("file.txt", content), content))


def _heads(pattern: str) -> list[bytes]:
    """Return the first lines of a published file of each folder, where the archive is here."""
    archive = os.environ.get("FRESHET_CAMELS")
    heads = []
    for path in islice(sorted(Path(archive).glob(pattern)), 3) if archive else ():
        with path.open("rb") as file:
            heads.append(b"".join(islice(file, _ROWS)))
    return heads


def _forcing() -> list[bytes]:
    created = [camels_files.forcing(product).encode() for product in camels_files.HEADINGS]
    return created + _heads("original_formats/*/*/*_forcing_leap.txt")


def _streamflow() -> list[bytes]:
    return [camels_files.streamflow().encode(), camels_files.streamflow([(1.5, "A")]).encode()]


def _attributes() -> list[bytes]:
    created = [text.encode() for text in (camels_files.TOPO, camels_files.NAME, camels_files.VEGE)]
    return created + _heads("camels_attributes_v2.0/*.txt")


def _zips() -> Iterable[bytes]:
    files = {camels_files.FORCING_PATH: camels_files.forcing(), camels_files.FLOW_PATH: camels_files.streamflow()}
    files["camels_attributes_v2.0/camels_topo.txt"] = camels_files.TOPO
    for packing in (0, 8, 14):
        yield camels_files.zipped(scratch() / "seed.zip", files, packing).read_bytes()


def _read_zip(content: bytes) -> None:
    source = CamelsSource([laid_down("archive.zip", content)])
    for basin in source.basins():
        source.read(basin)


def _content(parse: Callable[..., object]) -> Callable[[bytes], object]:
    return lambda content: parse(described("file", content), content)


def _tables(name: str, basins: bool) -> Callable[[bytes], object]:
    def read(content: bytes) -> None:
        path = laid_down(name, content)
        source = TablesSource(path, None, "own") if basins else TablesSource(None, path, "own", [OWN])
        for basin in source.basins():
            source.read(basin)

    return read


def _seeds(*texts: str) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in texts]


def _weather(name: str) -> Callable[[bytes], object]:
    return lambda content: weather.read(laid_down(name, content), RECEIVED)


def _weather_netcdf() -> Iterable[bytes]:
    for hour in (0, 12):
        yield weather_files.written_netcdf(scratch(), hour=hour).read_bytes()


def _weather_text(write: Callable[[Path], Path]) -> Callable[[], list[bytes]]:
    return lambda: [write(scratch()).read_bytes()]


def _synthetic(content: bytes) -> None:
    """Read the settings of a folder of synthetic basins, which are then not created again."""
    folder = laid_down("synthetic/synthetic.json", content).parent
    write(folder)


OBSERVATIONS = f"basin,date,discharge_m3_per_s,tmax_degC\n{OWN},2001-01-01,1.5,3\n{OWN},2001-01-03,,-2.25\n"
OBSERVED = f'[{{"basin": "{OWN}", "date": "2001-01-01", "precipitation_mm_per_day": 2.5, "tmin_degC": null}}]'
BASINS = f"id,name,latitude,longitude,area_km2,elev_mean\n{OWN},The mill,44.08,-115.62,118.4,280.5\n"
BASIN_OBJECTS = f'[{{"id": "{OWN}", "latitude": 44.08, "longitude": -115.62, "area_km2": 118.4, "huc": "17"}}]'
SETTINGS = '{"layout": 1, "seed": 1, "basins": 8, "period": "1996-10-01..2008-09-30"}'
SCORES = f"{','.join(benchmarks.COLUMNS)}\n01013500,SAC_SMA,0.7,0.75,0.85,1.02,0.9,0.3,True,True\n"

_ATTRIBUTES = ("gauge_id", "gauge_lat", "gauge_lon", "area", "NaN", "NA", ";", ",")
_NETCDF = ("CDF", "\x89HDF\r\n\x1a\n", "units", "calendar", "days since ", "_FillValue", "scale_factor")
_CF = (
    *_NETCDF,
    "standard_name",
    "time",
    "realization",
    "cf_role",
    "timeseries_id",
    "forecast_reference_time",
    "bounds",
)

TARGETS = {
    "tables-observations-csv": Target(
        _tables("observations.csv", basins=False), _seeds(OBSERVATIONS), ("basin", "date", OWN, '"', "\r")
    ),
    "tables-observations-json": Target(
        _tables("observations.json", basins=False), _seeds(OBSERVED), ("basin", "date", OWN, "1e999", "NaN")
    ),
    "weather-netcdf": Target(_weather("weather.nc"), _weather_netcdf, _CF, longest=65_536, in_c=True),
    "weather-json": Target(_weather("weather.json"), _weather_text(weather_files.written_json), ("traces", "time")),
    "weather-csv": Target(_weather("weather.csv"), _weather_text(weather_files.written_csv), ("trace", "vp_Pa")),
    "tables-basins-csv": Target(_tables("basins.csv", basins=True), _seeds(BASINS), ("id", "huc", OWN, '"')),
    "tables-basins-json": Target(_tables("basins.json", basins=True), _seeds(BASIN_OBJECTS), ("id", "huc", "name")),
    "camels-zip": Target(_read_zip, _zips, ("PK\x01\x02", "PK\x03\x04", "PK\x05\x06", "PK\x06\x06"), longest=16_384),
    "camels-forcing": Target(_text(partial(parse_forcing, gauge_latitude=None)), _forcing, ("-999", "1e20", "nan")),
    "camels-streamflow": Target(
        _text(partial(parse_streamflow, basin=camels_files.BASIN)),
        _streamflow,
        ("-999.00 M", "A:e", camels_files.GAUGE),
    ),
    "camels-attributes": Target(_content(parse_camels_attributes), _attributes, _ATTRIBUTES),
    "camels-swe": Target(
        _content(parse_swe), lambda: [camels_files.swe().encode(), *_heads("*/*/*_swe.csv")], ("date", "_swe")
    ),
    "camels-model-output": Target(
        _text(parse_model_output),
        lambda: [camels_files.model_output().encode(), *_heads("model_output/**/*_model_output.txt")],
        ("SWE", "1e300"),
    ),
    "caravan-netcdf": Target(
        _content(timeseries.parse_netcdf), lambda: [caravan_files.netcdf()], (*_NETCDF, "date"), 65_536, in_c=True
    ),
    "caravan-csv": Target(_content(timeseries.parse_csv), lambda: [caravan_files.csv()], ("date", "streamflow", "nan")),
    "caravan-attributes": Target(
        _content(partial(parse_caravan_attributes, "attributes_caravan")),
        _seeds(caravan_files.CLIMATE, caravan_files.HYDROATLAS, caravan_files.OTHER),
        _ATTRIBUTES,
    ),
    "published-scores": Target(
        lambda content: benchmarks.read(laid_down("scores.csv", content)), _seeds(SCORES), ("01013500", "nan")
    ),
    "synthetic-settings": Target(
        _synthetic,
        _seeds(SETTINGS),
        ("basins", "seed", "period"),
    ),
}
