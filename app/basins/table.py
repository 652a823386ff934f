"""Basins as a table: a row a basin."""

from collections.abc import Sequence

from app.basins.schemas import BasinSummary
from app.exports.table import Column, Table


def of_basins(basins: Sequence[BasinSummary]) -> Table:
    """Return what there is to say of basins in a list."""
    sources = sorted({source for basin in basins for source in basin.areas_km2})
    columns = [
        Column("basin", "identifier of the basin", "text", [basin.id for basin in basins]),
        Column("name", "name of the basin", "text", [basin.name for basin in basins]),
        Column("latitude", "latitude of the gauge", "number", [basin.latitude for basin in basins], "degrees_north"),
        Column("longitude", "longitude of the gauge", "number", [basin.longitude for basin in basins], "degrees_east"),
        Column("kind", "what the basin is", "text", [basin.kind for basin in basins]),
        Column("huc", "hydrologic unit code", "text", [basin.huc for basin in basins]),
    ]
    for source in sources:
        areas = [basin.areas_km2.get(source) for basin in basins]
        columns.append(Column(f"area_{source}", f"drainage area by {source}", "number", areas, "km2"))
    return Table("basins", "Basins", columns)
