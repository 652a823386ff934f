"""Jobs that bring data in, and make data from data."""

from datetime import timedelta
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from hydrology.base.products import own_product
from jobspec.authority import BASIN, BRIDGE, CLIMATE, FETCH, INGEST, UPLOAD, WEATHER
from jobspec.basins import AddedBasin, ClimateParams
from jobspec.fields import Basins, Name, PeriodField, Place, RequestModel, refusing
from jobspec.jobs.base import IntakeJob, JobRequest


class IngestParams(RequestModel):
    """Which data to ingest."""

    source: Literal["camels", "caravan", "benchmarks"] = Field(
        "camels",
        description="How the data are laid out. `benchmarks`: one file of published scores, of all its basins.",
    )
    from_: list[Place] = Field(
        alias="from",
        min_length=1,
        max_length=100,
        description="Folders and archives on the service's machine, within the folders that it lets jobs read from, or "
        "URLs of public addresses; a URL may end in `#sha256=` and the checksum of what it names.",
        examples=[["/srv/camels"]],
    )
    product: Name | None = Field(
        None, description="The weather product; by default all that the source has.", examples=["maurer_extended"]
    )
    basins: Basins = Field([], description="By default all that the source has.")

    @model_validator(mode="after")
    def _one_file_of_published_scores(self) -> Self:
        if self.source == "benchmarks" and (len(self.from_) != 1 or self.product or self.basins):
            raise PydanticCustomError("benchmarks", "benchmarks is one file in `from`, without product and basins")
        return self


class IngestJob(IntakeJob):
    """Ingest data."""

    authority = INGEST

    kind: Literal["ingest"]
    params: IngestParams


class UploadParams(RequestModel):
    """Which uploaded table to ingest: a file that the service has stored."""

    product: Name = Field(description="The product under which the weather is stored.")
    observations_file: str


class UploadJob(IntakeJob):
    """Ingest a table that was sent to the service. Only the service posts it."""

    operational = True
    time_limit = timedelta(minutes=30)
    authority = UPLOAD

    kind: Literal["upload"] = "upload"
    params: UploadParams


class WeatherParams(RequestModel):
    """Which uploaded weather forecast to keep: a file that the service has stored."""

    weather_file: str


class WeatherJob(IntakeJob):
    """Keep a weather forecast that was sent to the service. Only the service posts it."""

    operational = True
    time_limit = timedelta(minutes=10)  # there are files at which the library that reads NetCDF never ends
    authority = WEATHER

    kind: Literal["weather"] = "weather"
    params: WeatherParams


class FetchParams(RequestModel):
    """Which feed to ask."""

    feed: Name = Field(description="Its name.", examples=["usgs-flow"])
    basins: Basins = Field([], description="By default all of the feed's.")
    period: PeriodField | None = Field(
        None, description="The days to ask for, to fill a gap or begin a record; by default those that the feed says."
    )


class FetchJob(IntakeJob):
    """Ask a feed for what is new. Asked again, it stores nothing twice."""

    operational = True
    time_limit = timedelta(hours=2)
    authority = FETCH

    kind: Literal["fetch"]
    params: FetchParams


class BridgeFit(RequestModel):
    """Between which products to fit a bridge, and on which days."""

    from_: Name = Field(alias="from", description="The product whose weather it takes.", examples=["live"])
    to: Name = Field(
        description="The product whose weather it makes of that: what a network learnt from, or the archive that "
        "weather forecasts go on from.",
        examples=["maurer_extended"],
    )
    period: PeriodField | None = Field(
        None, description="The days to fit on; by default all that both have, two years at least."
    )
    model: Name | None = Field(
        None,
        description="The model of the weather forecasts that the bridge is for, of which `from` holds past ones: "
        "forecasts go over it when they are used. Without it the bridge is for observed weather.",
        examples=["ecmwf_ifs"],
    )


class BridgeParams(RequestModel):
    """Which bridge to apply, or to fit and apply. What the weather of its product is made from stays as it is."""

    name: Name = Field(
        description="Its name, and the product that its weather is kept under.", examples=["live_as_maurer"]
    )
    fit: BridgeFit | None = Field(None, description="Without it, the newest fit of that name is applied.")
    basins: Basins = Field([], description="By default all that have the product that it is from.")

    @field_validator("name")
    @classmethod
    def _is_no_archives(cls, name: str) -> str:
        with refusing("name"):
            return own_product(name)


class BridgeJob(JobRequest):
    """Make the weather of one product from that of another. Asked again, it stores nothing twice."""

    operational = True
    time_limit = timedelta(hours=4)
    authority = BRIDGE

    kind: Literal["bridge"]
    params: BridgeParams


class BasinJob(IntakeJob):
    """Add a basin, or what more is known of one. Only the service posts it."""

    operational = True
    time_limit = timedelta(minutes=30)
    authority = BASIN

    kind: Literal["basin"] = "basin"
    params: AddedBasin


class ClimateJob(JobRequest):
    """Compute the climate indices of a basin from weather that is kept of it."""

    time_limit = timedelta(minutes=10)
    authority = CLIMATE

    kind: Literal["climate"]
    params: ClimateParams
