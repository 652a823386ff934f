"""Describes collections as OGC API - EDR requires."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from app.exports.formats import COVERAGEJSON, CRS, GEOJSON, JSON, STANDARD_NAMES, Format
from app.exports.table import Column, instant_text
from extensions.edr import FORECASTS
from extensions.edr.collections import Collection
from extensions.edr.schemas import (
    EdrCollection,
    EdrExtent,
    EdrLink,
    EdrLocation,
    EdrLocations,
    EdrObservedProperty,
    EdrParameter,
    EdrPoint,
    EdrQueries,
    EdrQuery,
    EdrQueryLink,
    EdrSpatial,
    EdrTemporal,
    EdrUnit,
    EdrVariables,
    QueryType,
)
from hydrology.base.calendar import Day, Period, as_date
from hydrology.base.outline import extent, normalised

ROOT = "/v1/edr"
COLLECTIONS = f"{ROOT}/collections"
OUTPUT = "CoverageJSON"
_LISTS: Mapping[QueryType, Format] = {"instances": JSON, "locations": GEOJSON}
"""The formats of lists that queries lead to; the others lead to series."""
WHOLE_EARTH = (-180.0, -90.0, 180.0, 90.0)


def link(rel: str, title: str, href: str, media_type: str = JSON.media_type) -> EdrLink:
    """Return a link; clients follow its `href` as it stands, so it is absolute."""
    return EdrLink(href=href, rel=rel, type=media_type, title=title)


def address(collection: Collection, base: str) -> str:
    """Return the address of the description of a collection, or of its instance."""
    instance = "" if collection.run is None else f"/instances/{collection.run}"
    return f"{base}{COLLECTIONS}/{collection.id}{instance}"


def describe(collection: Collection, base: str) -> EdrCollection:
    """Return the description of a collection."""
    own = address(collection, base)
    queries = EdrQueries(
        position=_query("position", f"{own}/position", "The series of the nearest gauge"),
        area=_query("area", f"{own}/area", "The series of the gauges in a polygon"),
        cube=_query("cube", f"{own}/cube", "The series of the gauges in a box"),
        locations=_query("locations", f"{own}/locations", "The locations; below it, by its id, the series of each"),
        instances=_query("instances", instances_of(collection.id, base), "The issued runs")
        if collection.id == FORECASTS and collection.run is None
        else None,
    )
    return EdrCollection(
        id=collection.run or collection.id,
        title=collection.title,
        description=collection.description,
        links=[
            link("self", collection.title, own),
            link("data", "The locations", f"{own}/locations", GEOJSON.media_type),
        ],
        extent=_extent(collection),
        data_queries=queries,
        crs=[CRS],
        output_formats=[OUTPUT],
        parameter_names={column.name: _parameter(column) for column in collection.columns},
    )


def instances_of(collection: str, base: str) -> str:
    """Return the address of a collection's instances."""
    return f"{base}{COLLECTIONS}/{collection}/instances"


def _query(kind: QueryType, href: str, title: str) -> EdrQuery:
    formats: dict[str, Any] = {"output_formats": [OUTPUT], "default_output_format": OUTPUT}
    heights: dict[str, Any] = {"height_units": []} if kind == "cube" else {}
    return EdrQuery(
        link=EdrQueryLink(
            href=href,
            rel="data",
            type=_LISTS.get(kind, COVERAGEJSON).media_type,
            title=title,
            variables=EdrVariables(query_type=kind, **formats, **heights),
        )
    )


def locations(collection: Collection, base: str) -> EdrLocations:
    """Return the locations of a collection."""
    names = [column.name for column in collection.columns]
    return EdrLocations(
        features=[
            EdrLocation(
                id=basin,
                geometry=EdrPoint(coordinates=(site.longitude, site.latitude)),
                properties={
                    "label": site.name or basin,
                    "official": site.is_official,
                    "parameter-name": names,
                    "edrqueryendpoint": f"{address(collection, base)}/locations/{basin}",
                },
            )
            for basin, site in collection.sites.items()
            if site.longitude is not None and site.latitude is not None
        ]
    )


def _extent(collection: Collection) -> EdrExtent:
    sites = collection.sites.values()
    latitudes = [site.latitude for site in sites if site.latitude is not None]
    west, east = extent([site.longitude for site in sites if site.longitude is not None] or WHOLE_EARTH[::2])
    box = (west, min(latitudes), normalised(east), max(latitudes)) if latitudes else WHOLE_EARTH
    temporal = None if collection.days is None else _temporal(collection.days)
    return EdrExtent(spatial=EdrSpatial(bbox=[box], crs=CRS), temporal=temporal)


def _temporal(days: Period) -> EdrTemporal:
    first, last = _midnight(days.first), _midnight(days.last)
    values = [f"{instant_text(first)}/{instant_text(last)}"]
    return EdrTemporal(interval=[(first, last)], values=values, trs="Gregorian")


def _midnight(day: Day) -> datetime:
    return datetime.combine(as_date(day), datetime.min.time(), UTC)


def _parameter(column: Column) -> EdrParameter:
    id_ = None if column.standard_name is None else f"{STANDARD_NAMES}{column.standard_name}/"
    unit = None if column.unit is None else EdrUnit(symbol=column.unit)
    return EdrParameter(unit=unit, observedProperty=EdrObservedProperty(id=id_, label=column.meaning))
