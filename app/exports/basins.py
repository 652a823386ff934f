"""Columns that identify the basin of a row."""

from app.exports.table import Column, constant
from records.basins.basins import Site

NOWHERE = Site(None, None, None)


def basin_columns(basin: str, site: Site, rows: int) -> list[Column]:
    """Return columns with a basin's identifier, name and location."""
    return [
        constant("basin", "identifier of the basin", "text", basin, rows),
        constant("name", "name of the basin", "text", site.name, rows),
        constant(
            "latitude",
            "latitude of the gauge",
            "number",
            site.latitude,
            rows,
            unit="degrees_north",
            standard_name="latitude",
        ),
        constant(
            "longitude",
            "longitude of the gauge",
            "number",
            site.longitude,
            rows,
            unit="degrees_east",
            standard_name="longitude",
        ),
    ]
