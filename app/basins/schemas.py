"""Answers about basins."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy.orm import Session

from app.http.base_schema import Area, Missing, Model, next_page
from records.basins import ownership

Kind = Literal["usgs", "synthetic", "other", "unofficial"]
_KINDS = (
    "`synthetic`: computed, not a real river. `unofficial`: an operator registered it, and the service vouches "
    "neither for it nor for its levels and forecasts."
)
BasinKind = Annotated[Kind, Field(description=_KINDS)]


def kind_of(session: Session, basin: str) -> Kind:
    """Return the kind of a basin, to label synthetic and unofficial basins."""
    return named_kind(basin, official=ownership.owner(session, basin) is None)


def named_kind(basin: str, *, official: bool) -> Kind:
    """Return the kind of an unofficial basin, or of an official one from its namespace."""
    if not official:
        return "unofficial"
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
    name: str | None = Field(examples=["Fish River near Fort Kent, Maine"])
    latitude: float | None = Field(description="Of the gauge, degrees north.", examples=[47.23739])
    longitude: float | None = Field(description="Of the gauge, degrees east.", examples=[-68.58264])
    huc: str | None = Field(description="Hydrologic unit code.", examples=["01"])
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
        description="Whether an operator allows unknown attributes to be replaced by the mean of the basins that a "
        "model version learnt from. Each answer names the attributes replaced so."
    )
    series: list[Series] = Field(description="The stored daily series, by product and variable.")
    current_version: str | None = Field(
        description="The model version behind the basin's forecasts.", examples=["0193489a7c00a1b2c3d4e5"]
    )
    quality: dict[str, list[Finding]] = Field(
        description="Data quality findings by product. A product that was never checked is absent."
    )
