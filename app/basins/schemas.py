"""Answers about basins. Commands read them without the server's libraries."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy.orm import Session

from app.http.base_schema import Area, Missing, Model, next_page
from hydrology.base import units as convert
from hydrology.base.doc import Why
from records.basins import basins, ownership
from records.database.visibility import SHADOW
from records.versions.promotions import areas_in_use

Kind = Literal["usgs", "synthetic", "other", "unofficial", "shadow"]
_KINDS = (
    "`synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches "
    "neither for it nor for its levels and forecasts. `shadow`: it is not public yet, and only administrators see it."
)
BasinKind = Annotated[Kind, Field(description=_KINDS)]
AreaUsed = Annotated[
    Area | None,
    Field(description="The drainage area used to convert discharge; null where none was."),
    Why("No value was converted with an area."),
]
NO_FEED = Why("No feed brought any of it.")
_UNKNOWN = Why("No source has given a value.")


def kind_of(session: Session, basin: str) -> Kind:
    """Return the kind of a basin, to label synthetic and unofficial basins."""
    return named_kind(basin, ownership.owner(session, basin))


def named_kind(basin: str, owner: str | None) -> Kind:
    """Return the kind of an unofficial basin, or of an official one from its namespace."""
    if owner is not None:
        return "shadow" if owner == SHADOW else "unofficial"
    match basin.partition("-")[0]:
        case "USGS":
            return "usgs"
        case "SYNTH":
            return "synthetic"
    return "other"


class BasinSummary(Model):
    """A basin in a list."""

    id: str = Field(description="The full identifier.", examples=["USGS-01013500"])
    kind: Kind = Field(description=f"`usgs`: a USGS stream gauge. {_KINDS}")
    name: Annotated[str | None, _UNKNOWN] = Field(examples=["Fish River near Fort Kent, Maine"])
    latitude: Annotated[float | None, _UNKNOWN] = Field(description="Of the gauge, degrees north.", examples=[47.23739])
    longitude: Annotated[float | None, _UNKNOWN] = Field(
        description="Of the gauge, degrees east.", examples=[-68.58264]
    )
    huc: Annotated[str | None, _UNKNOWN] = Field(description="Hydrologic unit code.", examples=["01"])
    area: Area | None = Field(
        description="The drainage area by which its flow is converted to a depth and back: that of the weather product "
        "that its current version learnt from; without a version, that of its weather product. Else, and where "
        "products differ, as an operator gave it, or its gauge's service."
    )
    missing: Missing = Field(examples=[{}])


class BasinPage(Model):
    """Basins in the order of their identifiers."""

    basins: list[BasinSummary]
    next: str | None = next_page("/v1/basins?limit=100&after=USGS-01013500")


class Series(Model):
    """A stored daily series."""

    product: str = Field(description="The source of the series.", examples=["maurer_extended"])
    variable: str = Field(examples=["precipitation"])
    unit: str = Field(examples=["mm/day"])
    first_day: date = Field(examples=["1980-01-01"])
    last_day: date = Field(examples=["2008-12-31"])
    updated_at: datetime = Field(description="When it last changed.", examples=["2026-11-20T12:00:00Z"])


class Finding(Model):
    """A data quality finding."""

    code: str = Field(examples=["gaps"])
    severity: Literal["info", "warning", "error"] = Field(examples=["warning"])
    sentence: str = Field(examples=["precipitation of daymet lacks 3 of 12784 days."])
    detail: dict[str, Any] = Field(description="The numbers behind the sentence.", examples=[{"days": 3}])


class BasinDetail(BasinSummary):
    """A basin with its stored data."""

    areas_km2: dict[str, float] = Field(
        description="Drainage area in km² by the name of each source. Sources differ, some by more than 10 %; `area` "
        "is the one that is used.",
        examples=[{"maurer_extended": 2303.988, "area_gages2": 2252.7}],
    )
    attributes: dict[str, float] = Field(
        description="Numeric attributes (climate, land, soil) as their source gives them.",
        examples=[{"elev_mean": 250.31, "frac_snow": 0.313}],
    )
    texts: dict[str, str] = Field(description="Categorical attributes.", examples=[{"dom_land_cover": "Mixed Forests"}])
    weather_points: list[tuple[float, float]] = Field(
        description="Latitude and longitude of each point that its weather is averaged over when a feed is asked; "
        "none: the gauge's alone.",
        examples=[[(47.1, -68.7), (47.3, -68.8)]],
    )
    assume_attributes: bool = Field(
        description="Whether an operator allows unknown attributes to be assumed, as they are around or at the mean of "
        "the basins that a model version learnt from. Each answer names those that are."
    )
    series: list[Series] = Field(description="The stored daily series, by product and variable.")
    current_version: Annotated[str | None, Why("No model version has been promoted for this basin.")] = Field(
        description="The model version behind the basin's forecasts.", examples=["0193489a7c00a1b2c3d4e5"]
    )
    quality: dict[str, list[Finding]] = Field(
        description="Data quality findings by product. A product that was never checked is absent."
    )


def basin_summaries(session: Session, stored: Sequence[ownership.Basin]) -> list[BasinSummary]:
    owners, areas = ownership.owners(session, [basin.id for basin in stored]), areas_in_use(session, stored)
    return [
        BasinSummary.from_records(basin, **_area_and_kind(basin, areas[basin.id], owners.get(basin.id)))
        for basin in stored
    ]


def basin_detail(session: Session, basin: str) -> BasinDetail:
    """Return a basin with its catalogue, its current version and the findings on its data."""
    from records.series import (
        revisions,
        series,  # here, for a list of basins needs none of it
    )
    from records.versions import promotions

    stored = basins.get(session, basin)
    area = areas_in_use(session, [stored])[basin]
    return BasinDetail.from_records(
        stored,
        **_area_and_kind(stored, area, ownership.owner(session, basin)),
        areas_km2={name: m2 / convert.M2_PER_KM2 for name, m2 in stored.areas.items()},
        weather_points=stored.weather_points or (),
        assume_attributes=bool(stored.assume_attributes),
        series=[
            Series.from_records(entry, first_day=entry.period.first, last_day=entry.period.last)
            for entry in series.catalogue(session, basin)
        ],
        current_version=promotions.current(session, [basin]).get(basin),
        quality=revisions.findings_of(session, basin),
    )


def _area_and_kind(basin: ownership.Basin, area: convert.Area | None, owner: str | None) -> dict[str, Any]:
    why = "No source has given an area by which its flow could be converted."
    if len(basin.areas) > 1:
        why = "No current model version chooses among the areas of its sources: name one where flow is converted."
    return {"kind": named_kind(basin.id, owner), "area": area, "why": {"area": why}}
