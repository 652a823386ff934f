"""Arguments of the tools: strict types, closed objects, no text that could become part of an address."""

from typing import Annotated, Any

from pydantic import Field

from hydrology.base.units import Units
from jobspec.changes import Changes
from jobspec.fields import BASIN, Basin, Id, Line, RequestModel, form

OMITTED: Any = None
"""The default of what may be left out; null itself is refused."""
MAX_WAIT = 50
"""Seconds that a tool waits for a job: assistants give up on a tool after a minute."""
UnitsArgument = Annotated[Units, Field(description="Unit of discharge.")]
BasinArgument = Annotated[
    Basin,
    Field(description="A USGS site number (01013500) or a full identifier (USGS-01013500), as find_basins lists it."),
]


class FindBasins(RequestModel):
    """A part of the list of basins."""

    q: Annotated[Line, Field(max_length=100, description="A part of the identifier or the name.")] = OMITTED
    huc: Annotated[
        str,
        Field(
            pattern=form("^[0-9]{1,12}$", "1 to 12 digits, such as 0101"),
            description="The beginning of the hydrologic unit code.",
        ),
    ] = OMITTED
    bbox: Annotated[
        str,
        Field(
            max_length=100,
            pattern=form("^[-0-9.,]+$", "four numbers with commas between, such as -70,46,-67,48"),
            description="Only gauges within minlon,minlat,maxlon,maxlat.",
        ),
    ] = OMITTED
    after: Annotated[
        Basin, Field(json_schema_extra={"pattern": f"^{BASIN}$"}, description="Start after this basin.")
    ] = OMITTED
    limit: int = Field(20, ge=1, le=100, description="Maximum number of basins.")


class OfBasin(RequestModel):
    """A basin."""

    basin: BasinArgument


class InUnits(OfBasin):
    """A basin, and the unit of the answer."""

    units: UnitsArgument = "m3/s"


class AtLevel(InUnits):
    """A basin, and a discharge in place of its stored levels."""

    discharge: Annotated[
        float, Field(gt=0, le=1e7, description="A discharge in `units`, in place of the basin's stored levels.")
    ] = OMITTED


class WhatIfArguments(Changes, InUnits):
    """The changes to a basin's latest forecast."""

    wait_seconds: int = Field(30, ge=0, le=MAX_WAIT, description="How long to wait for the run.")


class WhatIfResult(InUnits):
    """A what-if run that was not ready in time."""

    job: Annotated[Id, Field(description="The job that what_if returned.")]
