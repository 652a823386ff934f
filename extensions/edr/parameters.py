"""Parameters of EDR requests: the collection or instance that one is about, its series and its days."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Annotated, Literal

from fastapi import Depends, Path, Query, Request
from sqlalchemy.orm import Session

from app.exports.formats import CRS
from app.exports.table import Column, Table
from app.http.dependencies import Reading, ServiceClock, ServiceSettings
from app.http.problems import refused
from extensions.edr import FORECASTS, collections
from extensions.edr.collections import Collection
from extensions.edr.places import MAX_CHARACTERS, MAX_POSITIONS, NEAR_KM
from jobspec.fields import ID, form

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
    if crs not in (None, CRS, "CRS84", "OGC:CRS84"):
        raise refused("crs", f"the only reference system here is {CRS}.")


async def _flat(z: Height = None) -> None:
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
        """Return it, of the basins named or of all."""
        if self.instance is None:
            return collections.collection(self.session, self.collection, self.at, basins)
        return collections.instance(self.session, self.collection, self.instance, self.at, basins)


def _subject(request: Request, session: Reading, clock: ServiceClock, collection: CollectionId) -> Subject:
    return Subject(session, clock.now(), collection, getattr(request.state, "instance", None))


AskedSubject = Annotated[Subject, Depends(_subject)]
IN_JSON, IN_COVERAGEJSON = [Depends(_json)], [Depends(_coverage)]
FLAT, IN_INSTANCE = [Depends(_flat)], [Depends(_instance)]


_OPEN = ("", "..")
Days = tuple[date | None, date | None]
"""The first and the last day; None where there is no bound."""


def read_days(text: str | None) -> Days:
    """Read `datetime`: a day, an instant, or an interval between two, each end of which may be open (`..`)."""
    if text is None:
        return None, None
    first, *rest = ends = text.split("/")
    if len(ends) > 2 or (not rest and first in _OPEN):
        raise _unreadable(text)
    start, end = (None if part in _OPEN else _day(part) for part in (ends[0], ends[-1]))
    if start is not None and end is not None and end < start:
        raise refused("datetime", "the interval ends before it begins: swap its ends.")
    return start, end


def read_parameters(text: str | None, columns: Sequence[Column]) -> list[str]:
    """Read `parameter-name`: names with commas between; all where none is named."""
    names = [column.name for column in columns]
    chosen = names if text is None else [name.strip() for name in text.split(",")]
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise refused("parameter-name", f"there is no {unknown[0]!r} here: choose from {', '.join(names)}.")
    return chosen


def narrowed(table: Table, names: Sequence[str], between: Days) -> Table:
    """Return a table limited to those days and columns, with the basin's own columns."""
    rows = inside(days_of(table), between)
    columns = [
        replace(column, values=[column.values[row] for row in rows])
        for column in table.columns
        if column.of_basin or column.name in ("time", *names)
    ]
    return replace(table, columns=columns)


def days_of(table: Table) -> Sequence[date]:
    """Return the day of each row of a table."""
    return next(column.values for column in table.columns if column.name == "time")


def inside(days: Sequence[date], between: Days) -> list[int]:
    """Return the positions of the days within bounds."""
    first, last = between[0] or date.min, between[1] or date.max
    return [row for row, day in enumerate(days) if first <= day <= last]


def _day(text: str) -> date:
    try:
        if "T" not in text:
            return date.fromisoformat(text)
        instant = datetime.fromisoformat(text)
        return (instant if instant.tzinfo is None else instant.astimezone(UTC)).date()
    except (ValueError, OverflowError):
        raise _unreadable(text) from None


def _unreadable(text: str) -> Exception:
    return refused("datetime", f"{text!r} is neither a day nor an interval: write 2008-04-21 or 2008-04-21/2008-04-30.")
