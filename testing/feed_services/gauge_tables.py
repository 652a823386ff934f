"""Rating files in the shapes of USGS's catalogue (STAC), gauges in those of the National Water Prediction Service."""

import re
from collections.abc import Mapping
from typing import Any

from testing.feed_services.reply import Reply, as_json
from testing.feed_services.world import World

_NONE = -9999
STAGES = {"action": 8.0, "minor": 9.0, "moderate": 11.0, "major": 14.0}
"""Of the official categories, ft."""


def cfs(stage: float, size: float = 50.0, datum: float = 0.0) -> float:
    """Return the discharge of a channel at a stage, ft."""
    return float(size * max(stage - datum - 0.5, 0.0) ** 1.7)


def rating_file(basin: str, size: float = 50.0, datum: float = 0.0) -> str:
    """Return an expanded table of the channel, from 1 to 20 ft above a datum."""
    stages = [datum + tenths / 10 for tenths in range(10, 200)]
    rows = [f"{stage:.2f}\t0.00\t{cfs(stage, size, datum):.4f}\t" for stage in stages]
    head = [f'# //STATION AGENCY="USGS " NUMBER="{basin.removeprefix("USGS-")}"', '# //PARAMETER CODE="00060"']
    head += ['# //RATING SHIFTED="20081001060000 EST"', '# //RATING ID="7.0" TYPE="STGQ"', "INDEP\tSHIFT\tDEP\tSTOR"]
    return "\n".join([*head, "16N\t16N\t16N\t1S", *rows]) + "\n"


def flood(**flows: float) -> dict[str, Any]:
    """Return the official categories of a gauge, with the flows that are given, cfs."""
    named = {name: {"stage": stage, "flow": flows.get(name, _NONE)} for name, stage in STAGES.items()}
    impacts = [{"stage": 9.2, "statement": "The mill road floods."}]
    return {"stageUnits": "ft", "flowUnits": "cfs", "categories": named, "impacts": impacts}


def search(world: World, host: str, query: Mapping[str, str]) -> Reply:
    """Answer a search for the files of gauges, three of each."""
    wanted = re.fullmatch(r"monitoring_location_id IN \((.*)\)", query.get("filter", ""))
    if wanted is None or set(query) - {"filter", "limit"}:
        return as_json({"code": "BadRequest", "description": "the filter cannot be read"}, 400)
    base = "https://elsewhere.example" if world.has("ratings-elsewhere") else host
    names = [f"{name.strip(chr(39))}.{kind}.rdb" for name in wanted[1].split(",") for kind in ("corr", "base", "exsa")]
    found = [
        {
            "type": "Feature",
            "id": name,
            "properties": {"file_type": name.split(".")[1]},
            "assets": {"data": {"href": f"{base}/stac-files/ratings/{name.replace('-', '.', 1)}"}},
        }
        for name in names
        if name.partition(".")[0] in world.ratings
    ]
    return as_json({"type": "FeatureCollection", "features": found, "links": []})


def file(world: World, name: str) -> Reply:
    """Answer a file of the type exsa."""
    if world.has("ratings-500"):
        return as_json({"message": "the store is away"}, 500)
    basin = "-".join(name.split(".")[:2])
    if world.has("ratings-404") or basin not in world.ratings or not name.endswith(".exsa.rdb"):
        return as_json({"message": "Not Found"}, 404)
    text = world.ratings[basin]
    return Reply(200, text[: len(text) // 2 if world.has("ratings-cut-off") else None].encode(), {})


def gauge(world: World, number: str) -> Reply:
    """Answer a gauge with its categories and impacts."""
    if world.has("nwps-500"):
        return as_json({"message": "unavailable"}, 500)
    flood = world.categories.get(f"USGS-{number}")
    if flood is None or world.has("nwps-404"):
        return as_json({"code": 5, "message": "gauge not found"}, 404)
    lost = ["stage", "flow"] if world.has("nwps-nothing") else ["flow"] if world.has("nwps-no-flows") else []
    named = {name: of | dict.fromkeys(lost, _NONE) for name, of in flood["categories"].items()}
    shown: dict[str, Any] = {"lid": "MADE1", "usgsId": number, "timeZone": "EST5EDT", "datum": {}, "status": {}}
    return as_json(shown | {"flood": flood | {"categories": named}})
