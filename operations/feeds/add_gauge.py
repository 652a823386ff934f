"""Adds a basin, from its gauge's service and an operator's data, with its outline and its points of weather."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.errors import InvalidInput
from hydrology.base.outline import BadOutline, Polygon, outline_of
from hydrology.base.outline_area import area_m2, weather_points
from hydrology.base.reasons import Reason
from hydrology.base.units import AREA_ATTRIBUTES, GIVEN_AREA, M2_PER_KM2, OUTLINE_AREA, SERVICE_AREA, Area, area_by
from hydrology.weather.runoff import area_unit
from ingestion.base import BasinData
from ingestion.feeds.http import FeedAccess
from jobspec.extensions import extensions
from jobspec.new_data import AddedBasin
from operations.basin_data.ingest import report_quality, unit_warnings
from records.access import keys
from records.basins import basins, ownership
from records.basins.ownership import Basin
from records.database.work import Work
from records.runs import states
from records.versions import adoption, versions

MAX_VERTICES = 100
"""Largest number of vertices of a ring: what alerting systems take as a polygon."""
GRID = 1e-4
"""Degrees. Every vertex is a multiple of it: messages write four digits, and rounding may make a ring cross itself."""
_GROWTH = 1.5  # of the tolerance, from one try to the next
_LARGEST_TOLERANCE = 20.0  # degrees, longer than any outline
_TURN = 360.0


def simplified(polygons: Sequence[Polygon]) -> list[list[list[float]]]:
    """Return the rings around an outline as closed lists of [latitude, longitude].

    No ring crosses itself or the 180th meridian; holes are filled, and what is narrower than `GRID` is left out.
    """
    valid = (shapely.make_valid(shapely.Polygon(outer), method="structure") for outer, *_ in polygons)
    filled = [shapely.union_all([shapely.Polygon(ring) for ring in _rings(one)]) for one in valid]
    whole = shapely.set_precision(shapely.union_all(filled), GRID)
    rings = [_simplified_ring(ring) for side in _split_at_180(whole) for ring in _rings(side)]
    return [[[round(latitude, 4), round(longitude, 4)] for longitude, latitude in ring.coords] for ring in rings]


def _simplified_ring(ring: shapely.LinearRing) -> shapely.LinearRing:
    """Return a ring of at most `MAX_VERTICES` vertices, or the hull of one whose bends leave no room for a shortcut."""
    area, simple, tolerance = shapely.Polygon(ring), shapely.Polygon(ring), GRID
    while len(simple.exterior.coords) > MAX_VERTICES or not simple.is_valid:
        if tolerance > _LARGEST_TOLERANCE:
            area, tolerance = area.convex_hull, GRID
        simple = area.simplify(tolerance, preserve_topology=True)
        tolerance *= _GROWTH
    return simple.exterior


def _split_at_180(whole: shapely.Geometry) -> Iterator[shapely.Geometry]:
    """Yield the parts within -180 to 180 degrees of longitude, and those beyond, moved there."""
    for turn in (-_TURN, 0.0, _TURN):
        moved = shapely.transform(whole, lambda places, east=np.array([turn, 0.0]): places + east)
        yield shapely.intersection(moved, shapely.box(-_TURN / 2, -90, _TURN / 2, 90), grid_size=GRID)


def _rings(geometry: shapely.Geometry) -> list[shapely.LinearRing]:
    return [part.exterior for part in shapely.get_parts(geometry) if part.geom_type == "Polygon" and not part.is_empty]


AREA_TOLERANCE = 0.3
"""Largest relative difference between the areas of basin and outline, unless a larger one is accepted."""


@dataclass(frozen=True, slots=True)
class Added:
    """The outcome of adding a basin; warnings are of areas, or of discharge, that look like another unit."""

    basin: str
    new: bool
    changed: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    adopted: str | None = None


def add(work: Work, result: AddedBasin, key: str | None = None, pause: Callable[[float], None] = time.sleep) -> Added:
    """Add a basin, or change it, in one transaction.

    The service of a gauge's namespace is asked for the place, name and area where not given. The API key registers a
    new basin. Refused where a version learnt with another area, the outline has another, or another request is adding
    the basin. An operator's key may not add an agency's basin; one that an operator registered becomes the service's
    only if it is to be adopted.
    """
    with work.database.reading() as session:
        is_new = not basins.known(session, [result.basin])
        of_service = keys.is_official(session, key)
        taken = adoption.to_claim(session, result.basin, adopt=result.adopt) if of_service else None
        fresh = is_new or taken is not None
        stored = Basin(result.basin) if fresh else basins.get(session, result.basin)
        if result.area_km2 is not None:
            _require_unlearnt(session, stored, result.area_km2 * M2_PER_KM2)
    new = _basin(result, stored, _gauge_of_service(result, stored, FeedAccess(work.settings.ingest_hosts, pause)))
    with work.database.transaction() as session:
        if taken is not None:
            adoption.claim(session, result.basin, work.clock)
        if is_new and not of_service:
            ownership.require_free_name(session, result.basin)
        if basins.register(session, result.basin, key) != is_new:
            raise InvalidInput(
                f"{result.basin} was added by another request at the same time: check its stored data, then try again."
            )
        changes = basins.upsert(session, new)
        if basins.attributes_revised(session, result.basin, changes):
            states.invalidate_all(session, result.basin, absent(Reason.ATTRIBUTE_REVISED), work.clock.wall())
    warnings = unit_warnings(report_quality(work, result.basin))
    adopted = None if taken is None else f"from {taken}, dropped"
    return Added(result.basin, is_new, tuple(sorted(changes)), tuple(warnings), adopted)


def _require_unlearnt(session: Session, stored: Basin, m2: float) -> None:
    for version in versions.list_versions(session):
        area = area_by(stored.areas, version.area_products)
        if (
            stored.id in version.basins
            and area is not None
            and area.name not in version.area_products
            and area.m2 != m2
        ):
            raise InvalidInput(
                f"The version {version.id} learnt from {stored.id} with an area of {area.m2 / M2_PER_KM2:g} km2, which "
                "stays: leave the area out."
            )


def _gauge_of_service(result: AddedBasin, stored: Basin, access: FeedAccess) -> BasinData | None:
    has_place = result.latitude is not None or stored.latitude is not None
    has_area = result.area_km2 is not None or bool(stored.areas)
    namespace = result.basin.partition("-")[0]
    extension = next((extension for extension in extensions() if namespace in extension.gauges), None)
    if extension is None or (has_place and has_area):
        return None
    location: BasinData | None = extension.load(extension.gauges[namespace])(result.basin, access)
    if location is None:
        raise InvalidInput(
            f"{namespace} knows no monitoring location {result.basin}: check the number, or give its place and area "
            "(--latitude, --longitude, --area)."
        )
    return location


def _basin(result: AddedBasin, stored: Basin, shown: BasinData | None) -> Basin:
    places = ((place.latitude, place.longitude) for place in (result, stored, shown) if place is not None)
    latitude, longitude = next((place for place in places if None not in place), (None, None))
    if latitude is None or longitude is None:
        raise InvalidInput(f"The location of {result.basin} is not known: give its latitude and longitude.")
    # Areas of products, with which versions learnt, are retained.
    areas = {} if result.area_km2 is None else {GIVEN_AREA: result.area_km2 * M2_PER_KM2}
    areas |= {} if shown is None else shown.areas
    if not areas and not stored.areas:
        raise InvalidInput(f"The drainage area of {result.basin} is not known: give it (--area KM2).")
    outline = None if result.outline is None else outline_of(result.outline, latitude, longitude)
    of_outline = stored.areas.get(OUTLINE_AREA) if outline is None else area_m2(outline)
    texts = {} if shown is None else dict(shown.texts)
    if of_outline is not None and (outline is not None or areas):
        texts[basins.OUTLINE_COMPARED] = _compared(of_outline, _area(stored, areas), result)
    if outline is not None and of_outline is not None:
        areas[OUTLINE_AREA] = of_outline
    return Basin(
        id=result.basin,
        name=result.name or stored.name or (None if shown is None else shown.name),
        latitude=latitude,
        longitude=longitude,
        areas=areas,
        attributes=_area_attributes(stored, areas) | result.attributes,
        texts=texts,
        weather_points=None if outline is None else weather_points(outline),
        outline=None if outline is None else simplified(outline),
        assume_attributes=result.assume_attributes,
    )


def _area(stored: Basin, areas: dict[str, float]) -> Area:
    """Return the area to compare an outline with. Given, else the service's, else a product's."""
    known = {name: m2 for name, m2 in {**stored.areas, **areas}.items() if name != OUTLINE_AREA}
    area = area_by(known, [GIVEN_AREA, SERVICE_AREA, *sorted(known)])
    assert area is not None  # outlines are accepted only for basins with an area
    return area


def _compared(of_outline: float, area: Area, result: AddedBasin) -> str:
    excess = of_outline / area.m2 - 1
    sentence = (
        f"The outline has {of_outline / M2_PER_KM2:.5g} km2, {abs(excess):.0%} {'more' if excess > 0 else 'less'} than "
        f"the basin's {area.m2 / M2_PER_KM2:.5g} km2 ({area.name})"
    )
    if abs(excess) <= AREA_TOLERANCE:
        return f"{sentence}."
    if not result.accept_outline_area:
        unit = area_unit(area.m2, of_outline)
        looks = f", which looks like {unit}" if unit else ""
        raise BadOutline(
            f"{sentence}{looks}: correct the outline or the area, or accept the difference (--accept-outline-area; "
            "over the API accept_outline_area)."
        )
    return f"{sentence}; the difference was accepted."


def _area_attributes(stored: Basin, areas: dict[str, float]) -> dict[str, float]:
    """Return the area as the attributes that versions use. An area given by a source is retained."""
    ours = {stored.areas[name] / M2_PER_KM2 for name in (GIVEN_AREA, SERVICE_AREA) if name in stored.areas}
    m2 = areas.get(GIVEN_AREA, areas.get(SERVICE_AREA))
    if m2 is None:
        return {}
    return {
        name: m2 / M2_PER_KM2
        for name in AREA_ATTRIBUTES
        if name not in stored.attributes or stored.attributes[name] in ours
    }
