"""Columns that identify the basin of a row."""

from app.exports.table import Column, constant
from records.basins.basins import Site

NOWHERE = Site(None, None, None)


def basin_columns(basin: str, site: Site, rows: int) -> list[Column]:
    """Return columns with a basin's identifier, name, location and whether it is official."""
    return [
        constant("basin", "identifier of the basin", "text", basin, rows),
        constant("name", "name of the basin", "text", site.name, rows),
        *(
            constant(name, f"{name} of the gauge", "number", value, rows, unit=unit, standard_name=name)
            for name, value, unit in (
                ("latitude", site.latitude, "degrees_north"),
                ("longitude", site.longitude, "degrees_east"),
            )
        ),
        constant("official", "false: an operator registered the basin", "truth", site.is_official, rows),
    ]
