"""Request schema of a user basin."""

from pydantic import ConfigDict, Field

from app.http.base_schema import Missing, Model
from hydrology.base.products import PATTERN
from jobspec.basins import AreaKm2, Attributes, Latitude, Longitude
from jobspec.fields import Line, RequestModel
from jobspec.forms import form

OWN = "own"
PRODUCT = form(f"^{PATTERN}$", "1 to 40 small letters, digits or _, a letter first, such as live")


class Adoption(Model):
    """A basin that was adopted, and what became official with it."""

    basin: str
    owner: str = Field(description="The operator's key that it belonged to, which can change none of it any more.")
    levels: list[str] = Field(description="The names of the levels that were set.")
    ratings: list[str] = Field(description="The sources of its rating tables.")
    version: str | None = Field(description="The operator's version that serves it, now the service's.")
    missing: Missing


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
    latitude: Latitude
    longitude: Longitude
    huc: str | None = Field(
        None, pattern=form("^[0-9]{2,12}$", "2 to 12 digits, such as 0101"), description="Hydrologic unit code."
    )
    area_km2: AreaKm2
    product: str = Field(OWN, pattern=PRODUCT, description="The product that its weather and area are stored under.")
    attributes: Attributes = Field({})
