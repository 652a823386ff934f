"""Jobs that bring data in or derive data, maintain the database and notify receivers."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from hydrology.base.products import MAX_PARTS
from jobspec.extensions import extensions
from jobspec.fields import Basins, Line, Name, PeriodField, Place, RequestModel, named_own_product
from jobspec.jobs import base
from jobspec.new_data import ADOPT, AddedBasin, ClimateParams

SOURCES = {
    name: extension.reference(source) for extension in extensions() for name, source in extension.sources.items()
}
"""What opens an archive of an extension, by the name of its layout."""
if TYPE_CHECKING:
    SourceName = str
else:
    SourceName = Literal["camels", *SOURCES, "benchmarks"]


class IngestParams(RequestModel):
    """The data to ingest."""

    source: SourceName = Field(
        "camels", description="Layout of the data. `benchmarks`: one file of published scores, of all its basins."
    )
    from_: list[Place] = Field(
        alias="from",
        min_length=1,
        max_length=100,
        description="Folders and archives on the service's machine, within the folders that jobs may read, or "
        "URLs of public addresses; a URL may end in `#sha256=` and the checksum of its file.",
        examples=[["/srv/camels"]],
    )
    product: Name | None = Field(
        None, description="The weather product; by default all that the source has.", examples=["maurer_extended"]
    )
    basins: Basins = Field([], description="By default all that the source has.")
    adopt: bool = Field(False, description=ADOPT)

    @model_validator(mode="after")
    def _one_file_of_published_scores(self) -> Self:
        if self.source == "benchmarks" and (len(self.from_) != 1 or self.product or self.basins):
            raise PydanticCustomError("benchmarks", "benchmarks is one file in `from`, without product and basins")
        return self


class IngestJob(base.IntakeJob, authority=base.INGEST):
    """Ingest data."""

    kind: Literal["ingest"]
    params: IngestParams


UNNAMED_UPLOAD = "the upload"


class UploadParams(RequestModel):
    """The uploaded table to ingest: a file that the service has stored.

    Attributes:
        observations_file: the name of the stored file in the folder of uploads.
        name: the name for people, as the sender named the file.
    """

    product: Name = Field(description="The product under which the weather is stored.")
    observations_file: str
    name: Line = UNNAMED_UPLOAD


class UploadJob(base.IntakeJob, authority=base.UPLOAD, operational=True, time_limit=timedelta(minutes=30)):
    """Ingest a table that was uploaded. Only the service posts it."""

    kind: Literal["upload"] = "upload"
    params: UploadParams


class WeatherParams(RequestModel):
    """The uploaded weather forecast to store: fields as those of `UploadParams`."""

    weather_file: str
    name: Line = UNNAMED_UPLOAD


class WeatherJob(base.IntakeJob, authority=base.WEATHER, operational=True):
    """Store a weather forecast that was uploaded. Only the service posts it."""

    time_limit = timedelta(minutes=10)  # on some files the NetCDF library never returns

    kind: Literal["weather"] = "weather"
    params: WeatherParams


class FetchParams(RequestModel):
    """The feed to ask."""

    feed: Name = Field(description="Its name.", examples=["usgs-flow"])
    basins: Basins = Field([], description="By default all of the feed's.")
    period: PeriodField | None = Field(
        None, description="The days to ask for, to fill a gap or start a record; by default the feed's."
    )


class FetchJob(base.IntakeJob, authority=base.FETCH, operational=True, time_limit=timedelta(hours=2), part_basins=256):
    """Ask a feed for new data. Repeating it stores nothing twice."""

    kind: Literal["fetch"]
    params: FetchParams


class BridgeFit(RequestModel):
    """The products and days to fit a bridge on."""

    from_: Name = Field(alias="from", description="The product whose weather it takes.", examples=["live"])
    to: Name = Field(
        description="The product that it imitates: the one a network learnt from, or the archive that weather "
        "forecasts continue.",
        examples=["maurer_extended"],
    )
    period: PeriodField | None = Field(
        None, description="The days to fit on; by default all that both products have, at least two years."
    )
    model: Name | None = Field(
        None,
        description="The weather model whose forecasts the bridge converts, with past forecasts in `from`. They are "
        "converted when they are used. Without it the bridge is for observed weather.",
        examples=["ecmwf_ifs"],
    )


class BridgeParams(RequestModel):
    """The bridge to apply, or to fit and apply. The weather of the source product is not changed."""

    name: Annotated[Name, AfterValidator(named_own_product)] = Field(
        description="Its name, which is also the product of the resulting weather.", examples=["live_as_maurer"]
    )
    fit: BridgeFit | None = Field(None, description="Without it, the newest fit of this name is applied.")
    basins: Basins = Field([], description="By default all that have its source product.")


class BridgeJob(base.JobRequest, authority=base.BRIDGE, operational=True, time_limit=timedelta(hours=4)):
    """Convert the weather of one product into another. Repeating it stores nothing twice."""

    kind: Literal["bridge"]
    params: BridgeParams


class FuseParams(RequestModel):
    """The product of weather to define, and what it is the mean of."""

    name: Annotated[Name, AfterValidator(named_own_product)] = Field(
        description="The product of the resulting weather.", examples=["maurer_daymet"]
    )
    of: list[Name] = Field(
        min_length=2,
        max_length=MAX_PARTS,
        description="The products that it is the mean of, day by day; where one has no value, of the others. The first "
        "gives the area.",
        examples=[["maurer_extended", "daymet"]],
    )

    @field_validator("of")
    @classmethod
    def _different(cls, of: list[str]) -> list[str]:
        if len({*of}) < len(of):
            raise PydanticCustomError("of", "a product is named twice: name each once")
        return of


class FuseJob(base.JobRequest, authority=base.FUSE, time_limit=timedelta(hours=4)):
    """Derive weather that is the mean of several products, in basins with all of them, now and whenever they change.
    Repeating it stores nothing twice."""

    kind: Literal["fuse"]
    params: FuseParams


class BasinJob(base.IntakeJob, authority=base.BASIN, operational=True, time_limit=timedelta(minutes=30)):
    """Add a basin, or further facts about one. Only the service posts it."""

    kind: Literal["basin"] = "basin"
    params: AddedBasin


class ClimateJob(base.JobRequest, authority=base.CLIMATE, time_limit=timedelta(minutes=10)):
    """Compute the climate indices of a basin from its stored weather."""

    kind: Literal["climate"]
    params: ClimateParams


class CheckParams(RequestModel):
    """The records to check."""

    only_changed: bool = Field(
        False,
        description="Leave out rows that an earlier check found whole and that have not changed since, on PostgreSQL.",
    )


class CheckJob(base.JobRequest, authority=base.CHECK, time_limit=timedelta(hours=4)):
    """Check every page of the database, every reference and every row with a checksum. If something is damaged, the job
    fails and names it."""

    kind: Literal["check"]
    params: CheckParams


class PruneParams(RequestModel):
    """No parameters: the retention rules are settings of the service."""


class PruneJob(base.JobRequest, authority=base.PRUNE, time_limit=timedelta(hours=4)):
    """Delete records past their retention. Repeating it deletes nothing."""

    kind: Literal["prune"]
    params: PruneParams


class DeliveryParams(RequestModel):
    """No parameters: all that is due is decided and sent."""


class DeliveryJob(base.JobRequest, authority=base.DELIVERY, queue="delivery", time_limit=timedelta(minutes=10)):
    """Carry out what forecasters decided on alerts, and send changes to their receivers. Only the service posts it."""

    kind: Literal["delivery"] = "delivery"
    params: DeliveryParams = DeliveryParams()
