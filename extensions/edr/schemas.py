"""Schemas by the names of OGC API - EDR; unknown members are left out."""

from typing import Any, Literal

from pydantic import AwareDatetime, Field

from app.http.base_schema import Model

QueryType = Literal["locations", "position", "area", "cube", "instances"]


class EdrLink(Model):
    """A link [RFC 8288]."""

    href: str = Field(
        description="An address of this service.", examples=["https://rivers.example.org/v1/edr/collections"]
    )
    rel: str
    type: str
    title: str


class EdrLanding(Model):
    """The landing page."""

    title: str
    description: str
    links: list[EdrLink]


class EdrConformance(Model):
    """Conformance classes of the addresses below."""

    conforms_to: list[str] = Field(alias="conformsTo")


class EdrSpatial(Model):
    """West, south, east, north of a collection's gauges, degrees; west above east across the 180th meridian."""

    bbox: list[tuple[float, float, float, float]]
    crs: str


class EdrTemporal(Model):
    """The first and last day of a collection, each given as its midnight."""

    interval: list[tuple[AwareDatetime, AwareDatetime]]
    values: list[str] = Field(description="The same interval in ISO 8601.")
    trs: str


class EdrExtent(Model):
    """Spatial and temporal extent of the values."""

    spatial: EdrSpatial
    temporal: EdrTemporal | None = None


class EdrUnit(Model):
    """A unit."""

    symbol: str


class EdrObservedProperty(Model):
    """The observed property of a parameter."""

    id: str | None = Field(default=None, description="Its CF standard name, where it has one.")
    label: str


class EdrParameter(Model):
    """A series that a collection has at each location."""

    type: Literal["Parameter"] = "Parameter"
    unit: EdrUnit | None = None
    observed_property: EdrObservedProperty = Field(alias="observedProperty")


class EdrVariables(Model):
    """Form of a query and of its answer."""

    query_type: QueryType
    output_formats: list[str]
    default_output_format: str
    height_units: list[str] | None = Field(default=None, description="Of `cube`: none, for nothing has a height.")


class EdrQueryLink(EdrLink):
    """The link of a query."""

    variables: EdrVariables


class EdrQuery(Model):
    """A query."""

    link: EdrQueryLink


class EdrQueries(Model):
    """The queries that a collection takes."""

    position: EdrQuery
    area: EdrQuery
    cube: EdrQuery
    locations: EdrQuery
    instances: EdrQuery | None = None


class EdrCollection(Model):
    """A collection: its parameters, extent and queries."""

    id: str
    title: str
    description: str
    links: list[EdrLink]
    extent: EdrExtent
    data_queries: EdrQueries
    crs: list[str]
    output_formats: list[str]
    parameter_names: dict[str, EdrParameter]


class EdrCollections(Model):
    """The collections."""

    links: list[EdrLink]
    collections: list[EdrCollection]


class EdrInstances(Model):
    """Instances of a collection, each described as a collection is."""

    links: list[EdrLink]
    instances: list[EdrCollection]


class EdrPoint(Model):
    """The location of a gauge."""

    type: Literal["Point"] = "Point"
    coordinates: tuple[float, float] = Field(description="Longitude and latitude, degrees.")


class EdrLocation(Model):
    """A basin, at its gauge."""

    type: Literal["Feature"] = "Feature"
    id: str
    geometry: EdrPoint
    properties: dict[str, Any]


class EdrLocations(Model):
    """The locations of a collection, as GeoJSON [RFC 7946]."""

    type: Literal["FeatureCollection"] = "FeatureCollection"
    features: list[EdrLocation]
