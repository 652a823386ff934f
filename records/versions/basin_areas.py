"""The area that converts a basin's flow to a depth and back: one everywhere, whatever areas its sources give."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from hydrology.base.units import Area, area_by, only_area
from records.basins.basins import Basin
from records.versions import promotions, versions


def areas_in_use(session: Session, stored: Sequence[Basin], version: str | None = None) -> dict[str, Area | None]:
    """Return the area by which each basin's flow is converted; None where it has none.

    It is that of the products of the basin's current version, or of the given one (`units.area_by`), as its runs have
    it; without a version, the only one that `units.only_area` finds.
    """
    names = [basin.id for basin in stored]
    of_basin = promotions.current(session, names) if version is None else dict.fromkeys(names, version)
    products = {one: versions.get(session, one).area_products for one in set(of_basin.values())}
    return {
        basin.id: area_by(basin.areas, products[of_basin[basin.id]]) if basin.id in of_basin else only_area(basin.areas)
        for basin in stored
    }
