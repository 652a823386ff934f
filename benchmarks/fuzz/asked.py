"""What people ask for and configure: jobs, feeds, basins, outlines, receivers, trainings, cron lines, addresses."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from benchmarks.fuzz.target import Target, laid_down
from freshet.cli import text_files
from freshet.commands import train
from hydrology.base.basins import basin_id
from hydrology.base.calendar import Period, instant
from hydrology.base.errors import InvalidInput
from hydrology.base.outline import outline_of
from hydrology.base.outline_area import area_m2, weather_points
from hydrology.climatology.volumes import Season
from ingestion.client import http_address, redirected, shown
from jobspec import fields, kinds
from jobspec.addresses import why_no_target
from jobspec.feed_kinds import NewFeed, read_settings
from jobspec.levels import NewThreshold
from jobspec.new_data import AddedBasin
from jobspec.subscriptions import NewSubscription, SubscriptionPatch
from records.jobs.schedules import next_run
from testing.jobs.requests import REQUESTS, SCRATCH, TUNING

NOW = datetime(2026, 11, 22, 14, tzinfo=UTC)
RING = [[-115.7, 44.0], [-115.5, 44.0], [-115.5, 44.2], [-115.7, 44.2], [-115.7, 44.0]]
POLYGON = {"type": "Polygon", "coordinates": [RING]}
FEATURE = {"type": "Feature", "geometry": {"type": "MultiPolygon", "coordinates": [[RING]]}, "properties": {}}


def _read_job(content: bytes) -> None:
    result = _json(content)
    kind, params = (result.get("kind"), result.get("params")) if isinstance(result, dict) else (result, result)
    kinds.read(kind if isinstance(kind, str) else "", params)


def _json(content: bytes) -> Any:
    """Return JSON as the API takes it: what is none never comes to the contracts."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _model(model: type[BaseModel]) -> Callable[[bytes], object]:
    contract = TypeAdapter(model)

    def read(content: bytes) -> None:
        try:
            contract.validate_json(content)
        except ValidationError as error:
            raise kinds.InvalidRequest(fields.faults(error, _json(content))) from None

    return read


def _read_outline(content: bytes) -> None:
    polygons = outline_of(_json(content), 44.08, -115.62)
    weather_points(polygons)
    area_m2(polygons)


def _read_configuration(name: str) -> Callable[[bytes], object]:
    return lambda content: train.checked(text_files.of_file(laid_down(name, content)))


def _read_cron(content: bytes) -> None:
    line, _, zone = content.decode("utf-8", "replace").partition("\n")
    next_run(line, zone or "UTC", NOW)


def _read_words(content: bytes) -> None:
    """Read a text as everything that a field of one line can be."""
    text = content.decode("utf-8", "replace")
    refusals, parsers = [], (basin_id, instant, Period.parse, Season.parse)
    for parse in parsers:
        try:
            parse(text)
        except InvalidInput as refusal:
            refusals.append(refusal)
    if len(refusals) == len(parsers):
        raise max(refusals, key=lambda refusal: len(str(refusal)))


def _read_address(content: bytes) -> None:
    text, _, location = content.decode("utf-8", "replace").partition("\n")
    subscription = _json_of(url=text)
    try:
        NewSubscription.model_validate_json(subscription)
        why_no_target(text, ())
    except ValidationError:
        pass
    address = http_address(text)
    shown(address)
    shown(redirected(address, location))


def _json_of(**fields: object) -> str:
    return json.dumps(fields)


def _documents(*documents: object) -> Callable[[], list[bytes]]:
    return lambda: [json.dumps(document).encode() for document in documents]


def _jobs() -> Iterator[bytes]:
    for kind, params in REQUESTS:
        yield json.dumps({"kind": kind, "params": params}).encode()


_TOML = """train_period = "1999-10-01..2008-09-30"
[inputs]
product = "daymet"
static = ["p_mean"]
[network]
architecture = "lstm"
cells = 8
"""
_BASIN = {"basin": "OWN-mill", "latitude": 44.085, "longitude": -115.622, "area_km2": 118.4, "outline": POLYGON}
_HOOK = {"url": "https://rivers.example/hooks/freshet", "basins": ["USGS-13235000"], "least_severity": "watch"}
_FEED = {"adapter": "open-meteo-ensemble", "model": "ncep_gefs025", "members": 31, "days_ahead": 10}
_LEVEL = {"name": "flood", "discharge": 100.0, "direction": "rising"}
_NUMBERS = ("1e999", "-0.0", "NaN", "null", "[[[[")

TARGETS = {
    "outline": Target(_read_outline, _documents(POLYGON, FEATURE), ("MultiPolygon", "FeatureCollection", *_NUMBERS)),
    "job": Target(_read_job, _jobs, ("kind", "params", "basins", "period", *_NUMBERS)),
    "basin-request": Target(_model(AddedBasin), _documents(_BASIN), ("attributes", "outline", *_NUMBERS)),
    "feed-request": Target(
        _model(NewFeed), _documents({"name": "ahead", "settings": _FEED}), ("adapter", "usgs", "files")
    ),
    "feed-settings": Target(lambda content: read_settings(_json(content)), _documents(_FEED), ("adapter", *_NUMBERS)),
    "subscription-request": Target(_model(NewSubscription), _documents(_HOOK), ("https://", "@", "[::1]", "%00")),
    "subscription-patch": Target(_model(SubscriptionPatch), _documents(_HOOK), ("https://", "@", "[::1]", "%00")),
    "threshold-request": Target(_model(NewThreshold), _documents(_LEVEL), _NUMBERS),
    "training-json": Target(_read_configuration("training.json"), _documents(SCRATCH, TUNING), ("parent", *_NUMBERS)),
    "training-toml": Target(_read_configuration("training.toml"), lambda: [_TOML.encode()], ("parent", "[[", '"""')),
    "cron": Target(_read_cron, lambda: [b"30 6 * * *\nAmerica/Denver", b"0 0 29 2 1#5\n"], ("*/", "L", "#", "@yearly")),
    "words": Target(
        _read_words, lambda: [b"USGS-01013500", b"1999-10-01..2008-09-30", b"04-01..07-31"], ("T", "Z", "..")
    ),
    "address": Target(
        _read_address,
        lambda: [b"https://rivers.example/a?b#c\n../d", b"http://[::ffff:10.0.0.1]:80\n//x"],
        ("@", "xn--"),
    ),
}
