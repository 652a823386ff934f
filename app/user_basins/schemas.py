"""What is said of an own basin."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from hydrology.products import PATTERN
from jobspec.fields import Line, RequestModel

OWN = "own"
PRODUCT = f"^{PATTERN}$"
_PLACED = {"area_km2", "latitude", "longitude"}

AttributeName = Annotated[str, Field(pattern="^[0-9A-Za-z_]{1,64}$")]


def _attributes(given: dict[str, float]) -> dict[str, float]:
    if twice := sorted(_PLACED & given.keys()):
        raise PydanticCustomError(
            "attributes", "{names} stands outside the attributes: say it once", {"names": ", ".join(twice)}
        )
    return given


class OwnBasin(RequestModel):
    """A basin of your own."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "Mill Creek at the old mill",
                    "latitude": 44.085,
                    "longitude": -115.622,
                    "huc": "1705",
                    "area_km2": 118.4,
                    "attributes": {"elev_mean": 2012.5, "frac_snow": 0.61},
                }
            ]
        }
    )

    name: Line
    latitude: float = Field(ge=-90, le=90, description="Of the gauge, degrees north.")
    longitude: float = Field(ge=-180, le=180, description="Of the gauge, degrees east.")
    huc: str | None = Field(None, pattern="^[0-9]{2,12}$", description="Hydrologic unit code.")
    area_km2: float = Field(ge=1e-6, le=1e8, description="Drainage area, by which flow and depth are converted.")
    product: str = Field(
        OWN, pattern=PRODUCT, description="The product that its weather is kept under; the area is kept with it."
    )
    attributes: Annotated[dict[AttributeName, float], AfterValidator(_attributes)] = Field(
        {}, max_length=1000, description="Climate, land and soil, by the names that a model version asks for."
    )
