"""Parameters of EDR requests, and the collection or instance that a request is about."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import Depends, Path, Query, Request
from sqlalchemy.orm import Session

from app.exports.coveragejson import CRS
from app.http.dependencies import Reading, ServiceClock, ServiceSettings
from app.http.problems import refused
from extensions.edr import FORECASTS, collections
from extensions.edr.collections import Collection
from extensions.edr.places import MAX_CHARACTERS, MAX_POSITIONS, NEAR_KM
from jobspec.faults import form
from jobspec.fields import ID

AsJson = Annotated[Literal["json"], Query(alias="f", description="The format, which is JSON.")]
CollectionId = Annotated[
    str,
    Path(
        description="A collection's id.",
        pattern=form("^[0-9A-Za-z_.-]{1,64}$", "a collection's id, such as forecasts"),
        examples=[FORECASTS],
    ),
]
InstanceId = Annotated[str, Path(description="A run's id.", pattern=ID, examples=["011ccb1a3a8003f9c24d1e"])]
Datetime = Annotated[
    str | None,
    Query(
        alias="datetime",
        description="A day, an instant in it, or an interval between two, each end included and `..` where it is open.",
        max_length=100,
        examples=["2008-04-21/2008-04-30"],
    ),
]
ParameterNames = Annotated[
    str | None,
    Query(
        alias="parameter-name",
        description="Parameters of the collection, with commas between; all where none is named.",
        max_length=1000,
    ),
]
AsCoverage = Annotated[Literal["CoverageJSON"], Query(alias="f", description="The format, which is CoverageJSON.")]
InCrs = Annotated[str | None, Query(description=f"The reference system, which is `{CRS}`.", max_length=200)]
Height = Annotated[str | None, Query(alias="z", description="Nothing here has a height: leave it out.", max_length=100)]
PointCoords = Annotated[
    str,
    Query(
        alias="coords",
        description=f"A point in well-known text, longitude first. The nearest gauge within {NEAR_KM:g} km answers.",
        max_length=200,
        examples=["POINT(-68.58 47.24)"],
    ),
]
AreaCoords = Annotated[
    str,
    Query(
        alias="coords",
        description=f"A polygon in well-known text, longitude first, with up to {MAX_POSITIONS} positions of "
        f"{MAX_CHARACTERS} characters on average. The gauges in it answer.",
        max_length=MAX_CHARACTERS * MAX_POSITIONS,
        pattern=form(
            "^[-+., ()0-9A-Za-z]*$",
            "a polygon in well-known text, such as POLYGON((-70 46,-67 46,-67 48,-70 48,-70 46))",
        ),
        examples=["POLYGON((-70 46,-67 46,-67 48,-70 48,-70 46))"],
    ),
]
BoundingBox = Annotated[
    str,
    Query(
        alias="bbox",
        description="A box, `minlon,minlat,maxlon,maxlat`; where minlon is greater, it crosses the 180th meridian.",
        max_length=200,
        examples=["-70,46,-67,48"],
    ),
]


async def _base(request: Request, settings: ServiceSettings) -> str:
    return settings.own_address or str(request.base_url).rstrip("/")


# The address of the service as its reader knows it, without a slash at its end.
ServiceBase = Annotated[str, Depends(_base)]


async def _json(_format: AsJson = "json") -> None:
    """Accept the format that the standard lets clients name."""


async def _coverage(_format: AsCoverage = "CoverageJSON", crs: InCrs = None) -> None:
    """Accept the format and the reference system that the standard lets clients name."""
    if crs not in (None, CRS, "CRS84", "OGC:CRS84"):
        raise refused("crs", f"the only reference system here is {CRS}.")


async def _flat(z: Height = None) -> None:
    """Refuse heights, which the standard lets clients name."""
    if z is not None:
        raise refused("z", "nothing here has a height: leave z out.")


async def _instance(request: Request, instance: InstanceId) -> None:
    request.state.instance = instance


@dataclass(frozen=True, slots=True)
class Subject:
    """The collection that a request names, or the instance of it."""

    session: Session
    at: datetime
    collection: str
    instance: str | None

    def of(self, basins: Sequence[str] | None = None) -> Collection:
        """Return it, of the basins named or of all.

        Raises:
            UnknownCollection, UnknownInstance: it does not exist.
        """
        if self.instance is None:
            return collections.collection(self.session, self.collection, self.at, basins)
        return collections.instance(self.session, self.collection, self.instance, self.at, basins)


def _subject(request: Request, session: Reading, clock: ServiceClock, collection: CollectionId) -> Subject:
    return Subject(session, clock.now(), collection, getattr(request.state, "instance", None))


AskedSubject = Annotated[Subject, Depends(_subject)]
IN_JSON, IN_COVERAGEJSON = [Depends(_json)], [Depends(_coverage)]
FLAT, IN_INSTANCE = [Depends(_flat)], [Depends(_instance)]
