"""Schemas of the archive."""

from pydantic import Field

from app.http.base_schema import Model


class ArchiveStore(Model):
    """A store of the archive."""

    name: str = Field(examples=["forecasts.zarr"])
    href: str = Field(description="Where it begins.", examples=["/v1/archive/forecasts.zarr"])
    title: str
    issues: int = Field(description="Number of runs in it.")
    basins: int = Field(description="Number of basins in it.")
    has_members: bool = Field(description="Whether it has every member, besides the quantiles.")


class Archive(Model):
    """The stores of the archive."""

    stores: list[ArchiveStore]
