"""Feeds of Open-Meteo's weather. The usual ones are of the model whose archive is the least late."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from hydrology.base.calendar import STALE_AFTER_DAYS
from hydrology.weather.forcing import MAX_DAYS_BEHIND
from jobspec.feeds import DaysBack, FeedSettings, Product
from jobspec.fields import form

MAX_MEMBERS = 64


def _named_model(name: str) -> str:
    if name == "best_match":
        raise PydanticCustomError("model", "best_match changes from day to day: name a model, like ecmwf_ifs or era5")
    return name


Model = Annotated[
    str,
    AfterValidator(_named_model),
    Field(
        pattern=form("^[a-z][a-z0-9_]{1,63}$", "2 to 64 small letters, digits or _, a letter first, such as ecmwf_ifs"),
        description="Open-Meteo's name of the model.",
    ),
]


class OpenMeteoArchiveSettings(FeedSettings):
    """Past weather at gauges, from Open-Meteo's archive of reanalyses."""

    usual: ClassVar = {"past": {"product": "open_meteo_ifs", "model": "ecmwf_ifs"}}

    adapter: Literal["open-meteo-archive"]
    product: Product = Field(examples=["open_meteo_era5"])
    model: Model = Field(examples=["era5"])
    days_back: DaysBack = 30


class OpenMeteoForecastSettings(FeedSettings):
    """Weather forecasts of one trace, from Open-Meteo."""

    brings = "forecast"
    usual: ClassVar = {"ahead": {"model": "ecmwf_ifs"}}

    adapter: Literal["open-meteo-forecast"]
    model: Model = Field(examples=["ecmwf_ifs"])
    days_ahead: int = Field(10, ge=1, le=16, description="Days of each forecast, today included.")
    days_behind: int = Field(
        STALE_AFTER_DAYS,
        ge=0,
        le=MAX_DAYS_BEHIND,
        description="Days before today that each forecast begins with, from the model's own earlier runs, to bridge "
        "a late archive.",
    )


class OpenMeteoEnsembleSettings(FeedSettings):
    """Weather forecasts of an ensemble, from Open-Meteo."""

    brings = "forecast"

    adapter: Literal["open-meteo-ensemble"]
    model: Model = Field(examples=["ncep_gefs025"])
    members: int = Field(ge=2, le=MAX_MEMBERS, description="Members of the model with its control.", examples=[31])
    days_ahead: int = Field(10, ge=1, le=36, description="Days of each forecast, today included.")
