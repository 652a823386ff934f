"""Requests that bring data: a basin to add, the climate to compute, a weather forecast as a JSON document."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, AwareDatetime, Field, model_validator
from pydantic_core import PydanticCustomError

from hydrology.base.basins import SOURCE_NAMESPACES
from hydrology.base.outline import geometry_of, polygons_of
from hydrology.base.units import MAX_AREA_KM2
from hydrology.weather.forcing import MAX_LEADS, MAX_TRACES
from jobspec.fields import (
    MAX_BASINS,
    Basin,
    DayField,
    Line,
    Name,
    PeriodField,
    Printable,
    RequestModel,
    examples,
    form,
    refusing,
)

ASKED_NAMESPACE = "USGS"
"""The namespace whose gauges a web service describes: place, name and area need not be given."""

ADOPT = (
    "Whether basins of an agency that an operator registered become the service's; otherwise they are refused. What "
    "the operator stated of them (name, levels, rating, attributes, version) is dropped. Only an administrator may."
)

_PLACED = {"area_km2", "latitude", "longitude"}

AttributeName = Annotated[
    str, Field(pattern=form("^[0-9A-Za-z_]{1,64}$", "1 to 64 letters, digits or _, such as elev_mean"))
]


def _attributes(given: dict[str, float]) -> dict[str, float]:
    if twice := sorted(_PLACED & given.keys()):
        raise PydanticCustomError(
            "attributes", "not attributes: {names}; give each as its own field", {"names": ", ".join(twice)}
        )
    return given


def _outline(geojson: dict[str, Any]) -> dict[str, Any]:
    with refusing("outline"):
        polygons_of(geojson)
        return geometry_of(geojson)


Outline = Annotated[
    dict[str, Any],
    AfterValidator(_outline),
    Field(
        description="GeoJSON: a Polygon or MultiPolygon, or a Feature of one. It gives the few points that the basin's "
        "weather is averaged over; by default that is the gauge's. Its area is compared with the basin's."
    ),
]
Attributes = Annotated[
    dict[AttributeName, float],
    AfterValidator(_attributes),
    Field(max_length=1000, description="Climate, land and soil, by the names that a model version uses."),
]
Latitude = Annotated[float, Field(ge=-90, le=90, description="Of the gauge, degrees north.")]
Longitude = Annotated[float, Field(ge=-180, le=180, description="Of the gauge, degrees east.")]
AreaKm2 = Annotated[
    float, Field(ge=1e-6, le=MAX_AREA_KM2, description="Drainage area in km2, by which flow and depth are converted.")
]


class AddedBasin(RequestModel):
    """A basin to add, or further facts about one. Omitted fields stay as they are."""

    model_config = examples(
        {"basin": "USGS-01031500", "assume_attributes": True},
        {"basin": "OWN-mill", "latitude": 44.085, "longitude": -115.622, "area_km2": 118.4},
    )

    basin: Basin = Field(examples=["USGS-01031500"])
    name: Line | None = Field(None, description="By default the name that USGS gives its gauge.")
    latitude: Latitude | None = None
    longitude: Longitude | None = None
    area_km2: AreaKm2 | None = Field(None, description="Drainage area. By default USGS's area of its gauge.")
    outline: Outline | None = None
    accept_outline_area: bool = Field(
        False,
        description="Whether to accept an outline whose area differs from the basin's by more than 30 %; the basin "
        "then states this in its text `outline_area`.",
    )
    attributes: Attributes = Field({}, examples=[{"elev_mean": 280.5, "soil_porosity": 0.44}])
    assume_attributes: bool | None = Field(
        None,
        description="Whether missing attributes of soil, geology, vegetation and terrain may be assumed: as they are "
        "around, in the conterminous USA, else at the mean of the basins that a version learnt from. Every answer "
        "names those that are. Never climate and area.",
    )

    adopt: bool = Field(False, description=ADOPT)

    @model_validator(mode="after")
    def _can_be_added(self) -> Self:
        namespace = self.basin.partition("-")[0]
        if namespace in SOURCE_NAMESPACES and namespace != ASKED_NAMESPACE:
            raise PydanticCustomError(
                "basin",
                "the basins of {namespace} are ingested from their source: name yours in another namespace, like "
                "OWN-mill",
                {"namespace": namespace},
            )
        if (self.latitude is None) != (self.longitude is None):
            raise PydanticCustomError("place", "latitude and longitude go together: give both")
        return self


class ClimateParams(RequestModel):
    """The basin and the weather to compute a climate from."""

    basin: Basin = Field(examples=["USGS-01031500"])
    product: Name | None = Field(
        None,
        description="The stored weather to compute it from. By default the basin's only weather product.",
        examples=["open_meteo_era5"],
    )
    period: PeriodField | None = Field(
        None, description="Whole years, without a missing day. By default all whole calendar years that are stored."
    )


Variable = Annotated[str, Field(pattern=form("^[a-z]{1,32}$", "1 to 32 small letters, such as precipitation"))]
Values = Annotated[list[float | None], Field(max_length=MAX_LEADS)]


class TracesOfBasin(RequestModel):
    """The traces of one basin, over the same days."""

    time: list[DayField] = Field(max_length=MAX_LEADS, description="The valid days: calendar days at the gauge.")
    traces: dict[Name, dict[Variable, Values]] = Field(
        max_length=MAX_TRACES, description="By label of the trace, the value of each variable on each day."
    )


class WeatherDocument(RequestModel):
    """A weather forecast for any basins."""

    model_config = examples(
        {
            "source": "our-own",
            "model": "two-guesses",
            "reference_time": "2026-11-22T00:00:00Z",
            "units": {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC"},
            "basins": {
                "OWN-mill": {
                    "time": ["2026-11-22", "2026-11-23"],
                    "traces": {
                        "dry": {"precipitation": [0.0, 0.5], "tmax": [9.0, 8.5], "tmin": [1.0, 0.5]},
                        "wet": {"precipitation": [7.5, 12.0], "tmax": [8.0, 7.0], "tmin": [2.0, 1.5]},
                    },
                }
            },
        }
    )

    source: Name = Field(description="The institution that issues it.")
    model: Name = Field(description="The model that computed it.")
    reference_time: AwareDatetime = Field(description="The start of its computation.")
    available_time: AwareDatetime | None = Field(
        None, description="When it became available; by default when it is sent."
    )
    licence: Line | None = None
    credit: Line | None = Field(None, description="Credit of the source, shown with every answer that uses it.")
    units: dict[Variable, Annotated[str, Printable, Field(max_length=16)]] = Field(description="Of each variable.")
    basins: dict[str, TracesOfBasin] = Field(max_length=MAX_BASINS, description="By identifier.")
