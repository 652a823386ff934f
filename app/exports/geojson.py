"""Tables of places as GeoJSON [RFC 7946]: a point for each row, with the other columns as properties."""

import json
from typing import Any

from app.exports.table import Table, json_text

_OWN = ("basin", "latitude", "longitude")


def write(table: Table) -> bytes:
    """Return a table that has the columns `basin`, `latitude` and `longitude`.

    A row without a place has no geometry. The units stand beside the features, by the names of their properties.
    """
    names = [column.name for column in table.columns]
    collection = {
        "type": "FeatureCollection",
        "title": table.title,
        "units": {column.name: column.unit for column in table.columns if column.unit and column.name not in _OWN},
        "features": [_feature(dict(zip(names, row, strict=True))) for row in table.rows],
    }
    return json.dumps(collection, ensure_ascii=False, allow_nan=False, default=json_text).encode()


def _feature(row: dict[str, Any]) -> dict[str, Any]:
    basin, latitude, longitude = (row.pop(name) for name in _OWN)
    is_placed = latitude is not None and longitude is not None
    geometry = {"type": "Point", "coordinates": [longitude, latitude]} if is_placed else None
    return {"type": "Feature", "id": basin, "geometry": geometry, "properties": row}
