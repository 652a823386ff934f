"""Settings of feeds: the service that a feed asks, its basins, and the product or series that it fills."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from hydrology.base.calendar import STALE_AFTER_DAYS
from hydrology.base.products import PATTERN
from hydrology.weather.forcing import MAX_DAYS_BEHIND
from jobspec.fields import Basin, Basins, Id, Name, Place, RequestModel, faults, form, named_own_product
from jobspec.kinds import InvalidRequest

MAX_DAYS_BACK = 366
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
Product = Annotated[
    str,
    AfterValidator(named_own_product),
    Field(
        json_schema_extra={"pattern": f"^{PATTERN}$"},
        description="The product that the weather is stored as: a name that no published archive has.",
    ),
]
DaysBack = Annotated[
    int,
    Field(
        ge=1,
        le=MAX_DAYS_BACK,
        description="Number of past days that every fetch asks for again, to receive late and revised values.",
    ),
]
ChosenSeries = Annotated[
    dict[Basin, Id],
    Field(
        max_length=1000,
        description="The series to take, by basin, if a gauge has several; series are never merged.",
        examples=[{"USGS-01013500": "aaaabbbbccccddddeeeeffff00001111"}],
    ),
]


class _Settings(RequestModel):
    fills_record: ClassVar[bool] = True
    """Whether it fills a record of past days, which may have gaps; a weather forecast has none."""

    adapter: str
    basins: Basins = Field([], description="By default all stored basins that the service may know.")

    @property
    def origin(self) -> str:
        """Identifies the source of the data. A product is filled from one origin only."""
        model = getattr(self, "model", None)
        return self.adapter if model is None else f"{self.adapter} {model}"


class UsgsSettings(_Settings):
    """Daily mean discharge of USGS gauges, from the Water Data OGC API."""

    adapter: Literal["usgs"]
    series: ChosenSeries = Field({})
    days_back: DaysBack = 30


class OpenMeteoArchiveSettings(_Settings):
    """Past weather at gauges, from Open-Meteo's archive of reanalyses."""

    adapter: Literal["open-meteo-archive"]
    product: Product = Field(examples=["open_meteo_era5"])
    model: Model = Field(examples=["era5"])
    days_back: DaysBack = 30


class OpenMeteoForecastSettings(_Settings):
    """Weather forecasts of one trace, from Open-Meteo."""

    fills_record = False

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


class OpenMeteoEnsembleSettings(_Settings):
    """Weather forecasts of an ensemble, from Open-Meteo."""

    fills_record = False

    adapter: Literal["open-meteo-ensemble"]
    model: Model = Field(examples=["ncep_gefs025"])
    members: int = Field(ge=2, le=MAX_MEMBERS, description="Members of the model with its control.", examples=[31])
    days_ahead: int = Field(10, ge=1, le=36, description="Days of each forecast, today included.")


class DaymetSettings(_Settings):
    """Past weather at gauges, from single pixels of Daymet; published a year or more later."""

    adapter: Literal["daymet"]
    product: Product = Field(examples=["daymet_pixel"])
    days_back: DaysBack = 366


class FilesSettings(_Settings):
    """Tables of observations in files, in the format of `freshet ingest tables`."""

    adapter: Literal["files"]
    from_: list[Place] = Field(
        alias="from",
        min_length=1,
        max_length=100,
        description="Folders and files on the service's machine, within the folders that jobs may read, or "
        "URLs of public addresses.",
        examples=[["/srv/observations"]],
    )
    product: Product = Field(examples=["own"])
    days_back: DaysBack = MAX_DAYS_BACK


AnyFeedSettings = Annotated[
    UsgsSettings
    | OpenMeteoArchiveSettings
    | OpenMeteoForecastSettings
    | OpenMeteoEnsembleSettings
    | DaymetSettings
    | FilesSettings,
    Field(discriminator="adapter"),
]


USUAL: Mapping[str, AnyFeedSettings] = {
    "flow": UsgsSettings(adapter="usgs"),
    "past": OpenMeteoArchiveSettings(adapter="open-meteo-archive", product="open_meteo_ifs", model="ecmwf_ifs"),
    "ahead": OpenMeteoForecastSettings(adapter="open-meteo-forecast", model="ecmwf_ifs"),
}
"""The feeds that a new service of gauges starts with, by name: discharge, past weather and weather forecasts. Both
kinds of weather are of the model whose archive is the least late."""


class NewFeed(RequestModel):
    """A feed: its name and its settings."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "usgs-flow", "settings": {"adapter": "usgs"}}]})

    name: Name = Field(description="A name that no other feed has.", examples=["usgs-flow"])
    settings: AnyFeedSettings


_ADAPTER: TypeAdapter[AnyFeedSettings] = TypeAdapter(AnyFeedSettings)
ADAPTERS = tuple(
    str(get_args(settings.model_fields["adapter"].annotation)[0]) for settings in get_args(get_args(AnyFeedSettings)[0])
)


def read_settings(settings: object) -> AnyFeedSettings:
    """Read the settings of a feed."""
    try:
        return _ADAPTER.validate_python(settings)
    except ValidationError as error:
        sentence = faults(error, settings)
        raise InvalidRequest(f"The feed is not possible: {sentence}.") from None


def stored(settings: AnyFeedSettings) -> dict[str, object]:
    """Return settings as they are stored: the given fields, without defaults."""
    result: dict[str, object] = settings.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return result
