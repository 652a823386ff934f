"""Settings of a feed, which each kind of feed extends by its own."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from hydrology.base.products import PATTERN
from jobspec.fields import Basins, Place, RequestModel, named_own_product

MAX_DAYS_BACK = 366

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


class FeedSettings(RequestModel):
    """What a feed asks for. A kind of feed is a class of these, whose `adapter` is the name of the kind."""

    brings: ClassVar[Literal["record", "forecast", "flow", "table"]] = "record"
    """A record of past days, which may have gaps; a weather forecast; the flow now; or a gauge's rating or levels."""
    reads_all: ClassVar[bool] = False
    """Whether every fetch reads all that its source has, so that gaps need not be requested again."""
    namespace: ClassVar[str | None] = None
    """The namespace of the basins that its service knows; None where it may know all."""
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """The feeds of this kind that a new service of gauges starts with: their settings by name."""

    adapter: str
    basins: Basins = Field([], description="By default all stored basins that the service may know.")

    @property
    def origin(self) -> str:
        """Identifies the source of the data; of discharge, its product. A product is filled from one origin only."""
        model = getattr(self, "model", None)
        return self.adapter if model is None else f"{self.adapter} {model}"


class FilesSettings(FeedSettings):
    """Tables of observations in files, in the format of `freshet ingest tables`."""

    reads_all = True

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
