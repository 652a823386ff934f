"""Basins, with their areas, attributes and texts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from sqlalchemy import JSON, CheckConstraint, Column, ForeignKey, String, Table
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from records.database.base import Base, FreeText, Real
from records.database.statements import table_of
from records.database.stored import ELSEWHERE, stored


@stored(
    "basins",
    # The operator's key that registered it; null: the service's. Not a foreign key: keys are revoked, not deleted.
    Column("registered_by", String),
    # The operator's key whose basin it was before an administrator adopted it.
    Column("adopted_from", String),
    CheckConstraint("latitude BETWEEN -90 AND 90", name="latitude"),
    CheckConstraint("longitude BETWEEN -180 AND 180", name="longitude"),
)
@dataclass(frozen=True, slots=True)
class Basin:
    """A basin.

    Attributes:
        id: the full identifier (`USGS-01013500`).
        latitude, longitude: of the gauge, degrees.
        areas: m2, by source.
        attributes: numbers by name; unknown ones are left out; texts: categories by name.
        weather_points: [latitude, longitude] of each point that its weather is averaged over; None: only the gauge.
        outline: outer rings, simplified, each a closed list of [latitude, longitude]; None: not known.
        assume_attributes: whether an operator allows missing attributes to be assumed; None: not set.
    """

    id: str
    name: FreeText | None = None
    latitude: float | None = None
    longitude: float | None = None
    huc: str | None = None
    areas: Annotated[Mapping[str, float], ELSEWHERE] = field(default_factory=dict)
    attributes: Annotated[Mapping[str, float], ELSEWHERE] = field(default_factory=dict)
    texts: Annotated[Mapping[str, str], ELSEWHERE] = field(default_factory=dict)
    weather_points: Annotated[list[list[float]] | None, JSON(none_as_null=True)] = None
    outline: Annotated[list[list[list[float]]] | None, JSON(none_as_null=True)] = None
    assume_attributes: bool | None = None


def _named_values(name: str, kind: TypeEngine[Any], *items: SchemaItem) -> Table:
    basin = Column("basin_id", String, ForeignKey("basins.id"), primary_key=True)
    columns = basin, Column("name", String, primary_key=True), Column("value", kind, nullable=False)
    return Table(name, Base.metadata, *columns, *items)


BASINS = table_of(Basin)
AREAS = _named_values("basin_areas", Real(), CheckConstraint("value > 0", name="positive"))
"""By the source of each, m2."""
ATTRIBUTES = _named_values("basin_attributes", Real())
TEXTS = _named_values("basin_texts", String())
