"""The area that converts a basin's flow to a depth and back: one everywhere, whatever areas its sources give."""

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from hydrology.base.units import GIVEN_AREA, OUTLINE_AREA, SERVICE_AREA, Area, area_by, only_area
from records.basins.tables import Basin
from records.versions import promotions, versions


def areas_in_use(session: Session, stored: Sequence[Basin], version: str | None = None) -> dict[str, Area | None]:
    """Return the area by which each basin's flow is converted; None where it has none.

    It is by the products of the current or the given version (`units.area_by`). Without a version, where the areas of
    products differ, it is the one that an operator gave, else that of the gauge's service.
    """
    names = [basin.id for basin in stored]
    of_basin = promotions.current(session, names) if version is None else dict.fromkeys(names, version)
    products = {one: versions.get(session, one).area_products for one in set(of_basin.values())}
    return {
        basin.id: area_by(basin.areas, products[of_basin[basin.id]]) if basin.id in of_basin else _of_all(basin.areas)
        for basin in stored
    }


def _of_all(areas: Mapping[str, float]) -> Area | None:
    of_products = {
        m2
        for name, m2 in areas.items()
        if name not in (GIVEN_AREA, SERVICE_AREA, OUTLINE_AREA) and not name.startswith("area_")
    }
    return area_by(areas, ()) if len(of_products) > 1 else only_area(areas)
