"""Basins as a table: a row for each basin."""

from collections.abc import Sequence

from app.basins.schemas import BasinSummary
from app.basins.state import State
from app.exports.table import Column, Kind, Table

_STATE: tuple[tuple[str, Kind, str, str | None], ...] = (
    ("run", "text", "identifier of the latest forecast's run", None),
    ("version", "text", "identifier of its model version", None),
    ("awaited_version", "text", "promoted version that has issued no forecast yet", None),
    ("t0", "day", "last day of weather in the initial state", None),
    ("issued_at", "instant", "when it was issued", None),
    ("age_days", "integer", "days that t0 lies behind the service's clock", None),
    ("stale", "truth", "whether a newer forecast is overdue", None),
    ("peak", "number", "its highest day, the median of the members", "m3/s"),
    ("peak_day", "day", "that day", None),
    ("alert", "text", "highest severity of the basin's alerts", None),
    ("reason", "text", "why there is no forecast", None),
)


def of_basins(basins: Sequence[BasinSummary], states: Sequence[State]) -> Table:
    """Return the metadata and current status of basins."""
    areas = [basin.area for basin in basins]
    columns = [
        Column("basin", "identifier of the basin", "text", [basin.id for basin in basins]),
        Column("name", "name of the basin", "text", [basin.name for basin in basins]),
        Column("latitude", "latitude of the gauge", "number", [basin.latitude for basin in basins], "degrees_north"),
        Column("longitude", "longitude of the gauge", "number", [basin.longitude for basin in basins], "degrees_east"),
        Column("kind", "what the basin is", "text", [basin.kind for basin in basins]),
        Column("huc", "hydrologic unit code", "text", [basin.huc for basin in basins]),
        Column("area", "drainage area that converts flow", "number", [area and area.km2 for area in areas], "km2"),
        Column("area_source", "source of the area", "text", [area and area.name for area in areas]),
    ]
    for name, kind, meaning, unit in _STATE:
        columns.append(Column(name, meaning, kind, [state.get(name) for state in states], unit))
    return Table("basins", "Basins", columns)
