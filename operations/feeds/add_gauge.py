"""Adding a basin: what USGS tells of its gauge, what an operator says, the points that its weather is averaged over."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from hydrology.base.errors import InvalidInput
from hydrology.base.outline import BadOutline, outline_of
from hydrology.base.outline_area import area_m2
from hydrology.base.units import M2_PER_KM2, Area
from hydrology.weather.sampling_points import weather_points
from ingestion.feeds.usgs_sites import Location, locations
from jobspec.basins import ASKED_NAMESPACE, AddedBasin
from operations.data.attributes import AREA_ATTRIBUTES
from operations.data.basins import GIVEN_AREA, OUTLINE_AREA, SERVICE_AREA, TIME_ZONE, area_by
from operations.feeds.adapters import usgs
from records.basins import basins
from records.database.engine import Database
from records.runs import states
from records.versions import versions
from runtime.clock import Clock
from runtime.settings import Settings

AREA_TOLERANCE = 0.3
"""Part of a basin's area by which its outline's may differ unless that is accepted."""


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a basin that was added.

    Attributes:
        new: whether it was not kept before.
        changed: the names of what changed.
    """

    basin: str
    new: bool
    changed: tuple[str, ...]


def add(
    database: Database,
    clock: Clock,
    settings: Settings,
    result: AddedBasin,
    key: str | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> Added:
    """Keep a basin, whole or not at all.

    Args:
        said: what is known of it; the place, name and area of a USGS gauge are asked for where they are not given.
        key: the API key that registers it, where it is new.
        pause: waits for some seconds between two attempts.

    Raises:
        InvalidInput: its place or area is not known, a version learnt with another area, the outline cannot be used or
            has another area, or somebody else adds it at the same time.
        FeedProblem: USGS does not answer as it should.
    """
    with database.reading() as session:
        is_new = not basins.known(session, [result.basin])
        stored = basins.Basin(result.basin) if is_new else basins.get(session, result.basin)
        if result.area_km2 is not None:
            _require_unlearnt(session, stored, result.area_km2 * M2_PER_KM2)
    new = _basin(result, stored, _gauge_from_usgs(settings, result, stored, pause))
    with database.transaction() as session:
        if basins.register(session, result.basin, key) != is_new:
            raise InvalidInput(
                f"Somebody else has added {result.basin} meanwhile: see what is kept of it, then try again."
            )
        changes = basins.upsert(session, new)
        if basins.attributes_revised(session, result.basin, changes):
            states.invalidate_all(session, result.basin, "an attribute was revised", clock.wall())
    return Added(result.basin, is_new, tuple(sorted(changes)))


def _require_unlearnt(session: Session, stored: basins.Basin, m2: float) -> None:
    """Raise an InvalidInput where an area would take the place of another, which a version learnt with."""
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


def _gauge_from_usgs(
    settings: Settings, result: AddedBasin, stored: basins.Basin, pause: Callable[[float], None]
) -> Location | None:
    """Return what USGS tells of a gauge of its own, where something of it is not known."""
    has_place = result.latitude is not None or stored.latitude is not None
    has_area = result.area_km2 is not None or bool(stored.areas)
    if result.basin.partition("-")[0] != ASKED_NAMESPACE or (has_place and has_area):
        return None
    location = locations(usgs(settings, pause), [result.basin]).get(result.basin)
    if location is None:
        raise InvalidInput(
            f"USGS knows no monitoring location {result.basin}: see that the number is right, or give its place and area "
            "(--latitude, --longitude, --area)."
        )
    return location


def _basin(result: AddedBasin, stored: basins.Basin, shown: Location | None) -> basins.Basin:
    """Return what is to be kept of a basin."""
    places = ((place.latitude, place.longitude) for place in (result, stored, shown) if place is not None)
    latitude, longitude = next((place for place in places if None not in place), (None, None))
    if latitude is None or longitude is None:
        raise InvalidInput(f"The place of {result.basin} is not known: give its latitude and longitude.")
    areas = _areas(result, shown)
    if not areas and not stored.areas:
        raise InvalidInput(f"The drainage area of {result.basin} is not known: give it (--area KM2).")
    outline = None if result.outline is None else outline_of(result.outline, latitude, longitude)
    of_outline = stored.areas.get(OUTLINE_AREA) if outline is None else area_m2(outline)
    texts = {TIME_ZONE: shown.time_zone} if shown and shown.time_zone else {}
    if of_outline is not None and (outline is not None or areas):
        texts[basins.OUTLINE_COMPARED] = _compared(of_outline, _area(stored, areas), result)
    if outline is not None and of_outline is not None:
        areas[OUTLINE_AREA] = of_outline
    return basins.Basin(
        id=result.basin,
        name=result.name or stored.name or (None if shown is None else shown.name),
        latitude=latitude,
        longitude=longitude,
        areas=areas,
        attributes=_area_attributes(stored, areas) | result.attributes,
        texts=texts,
        weather_points=None if outline is None else weather_points(outline),
        assume_attributes=result.assume_attributes,
    )


def _area(stored: basins.Basin, areas: dict[str, float]) -> Area:
    """Return the area of a basin that its outline's is compared with: given, else the service's, else a product's."""
    known = {name: m2 for name, m2 in {**stored.areas, **areas}.items() if name != OUTLINE_AREA}
    area = area_by(known, [GIVEN_AREA, SERVICE_AREA, *sorted(known)])
    assert area is not None  # an outline is taken only of a basin with an area
    return area


def _compared(of_outline: float, area: Area, result: AddedBasin) -> str:
    """Return a sentence that compares the area of an outline with the basin's.

    Raises:
        BadOutline: they differ by more than is tolerated, and that is not accepted.
    """
    excess = of_outline / area.m2 - 1
    sentence = (
        f"The outline has {of_outline / M2_PER_KM2:.5g} km2, {abs(excess):.0%} {'more' if excess > 0 else 'less'} than "
        f"the basin's {area.m2 / M2_PER_KM2:.5g} km2 ({area.name})"
    )
    if abs(excess) <= AREA_TOLERANCE:
        return f"{sentence}."
    if not result.accept_outline_area:
        raise BadOutline(
            f"{sentence}: correct the outline or the area, or accept the difference (--accept-outline-area; over the "
            "API accept_outline_area)."
        )
    return f"{sentence}; the difference was accepted."


def _areas(result: AddedBasin, shown: Location | None) -> dict[str, float]:
    """Return the areas in m2 by name. Those that products have, and versions learnt with, stay beside them."""
    areas = {}
    if result.area_km2 is not None:
        areas[GIVEN_AREA] = result.area_km2 * M2_PER_KM2
    if shown is not None and shown.drainage_area_m2 is not None:
        areas[SERVICE_AREA] = shown.drainage_area_m2
    return areas


def _area_attributes(stored: basins.Basin, areas: dict[str, float]) -> dict[str, float]:
    """Return the area as the attributes that versions ask for. One that a source gave stays as it is."""
    ours = {stored.areas[name] / M2_PER_KM2 for name in (GIVEN_AREA, SERVICE_AREA) if name in stored.areas}
    m2 = areas.get(GIVEN_AREA, areas.get(SERVICE_AREA))
    if m2 is None:
        return {}
    return {
        name: m2 / M2_PER_KM2
        for name in AREA_ATTRIBUTES
        if name not in stored.attributes or stored.attributes[name] in ours
    }
