"""Dependencies of endpoints: database, read transaction, clock, identifiers, pages of lists, units of discharge."""

import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.dependencies.models import Dependant
from pydantic import AfterValidator, AwareDatetime, BeforeValidator
from pydantic_core import PydanticCustomError
from sqlalchemy.orm import Session

from app.http.conditional import ResponseCache
from app.http.problems import Fault, InvalidRequest, refused
from hydrology.base import units as convert
from jobspec.fields import BASIN_SCHEMA, ID, NAMED, form, full_id
from records.basins import basins
from records.database import checksums
from records.database.engine import Database
from records.forecasts.latest import NoModel
from records.versions.promotions import areas_in_use
from records.versions.versions import UnknownVersion
from runtime.clock import Clock
from runtime.settings import Settings
from workers.queue.enqueue import Sender


def of_app(name: str) -> Any:
    """Return a dependency for a part of the application's state."""

    async def part(request: Request) -> Any:
        return getattr(request.app.state, name)

    return Depends(part)


RenderedAnswers = Annotated[ResponseCache, of_app("rendered")]
OpenDatabase = Annotated[Database, of_app("database")]
ServiceClock = Annotated[Clock, of_app("clock")]
ServiceSettings = Annotated[Settings, of_app("settings")]
JobSender = Annotated[Sender, of_app("sender")]


async def _seen(request: Request, database: OpenDatabase) -> Database:
    return database if getattr(request.state, "sees_all", False) else database.for_public()


# The database as the key of a request may see it.
SeenDatabase = Annotated[Database, Depends(_seen)]


async def _reading(database: SeenDatabase) -> AsyncIterator[Session]:
    with_session = ExitStack()
    session = with_session.enter_context(database.reading())  # takes no connection yet, and so needs no thread
    try:
        yield session
    finally:
        await run_in_threadpool(with_session.__exit__, *sys.exc_info())


# The transaction ends before the answer is sent: a slow reader holds no connection.
Reading = Annotated[Session, Depends(_reading, scope="function")]


def optional_full_id(text: str | None) -> str | None:
    """Return a basin's full identifier, if one is given."""
    return None if text is None else full_id(text)


BasinId = Annotated[
    str,
    AfterValidator(full_id),
    Path(
        json_schema_extra=BASIN_SCHEMA,
        description="A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).",
        examples=["01013500"],
    ),
]


def _known(session: Reading, basin: BasinId) -> str:
    basins.require(session, basin)
    return basin


# A basin that is stored.
KnownBasin = Annotated[str, Depends(_known)]
OptionalBasin = Annotated[
    str | None,
    AfterValidator(optional_full_id),
    Query(description="Only entries of this basin.", json_schema_extra=BASIN_SCHEMA, examples=["01013500"]),
]


def id_path(description: str, example: str) -> Any:
    """Return the parameter for an id in an address."""
    return Path(description=description, pattern=ID, examples=[example])


RunId = Annotated[str, id_path("A run's id.", "011ccb1a3a8003f9c24d1e")]
ChosenRun = Annotated[str | None, Query(description="A run's id; by default the latest forecast's.", pattern=ID)]
Metric = Annotated[str | None, Query(description="Only this metric.", pattern=ID, examples=["nse"])]
VersionId = Annotated[str, id_path("A model version's id.", "011cb6d0d4209b8d7f6a51")]
OptionalVersion = Annotated[str | None, Query(description="Only entries of this model version.", pattern=ID)]
ChosenVersion = Annotated[
    str | None, Query(description="A model version's id; by default the basin's current one.", pattern=ID)
]
OF_VERSION = (basins.UnknownBasin, UnknownVersion, NoModel)
"""Problems of a version, by default a basin's current one."""
JobId = Annotated[str, id_path("A job's id.", "01a1fa2ab3c4d50b5f2e91")]
ScheduleId = Annotated[str, id_path("A schedule's id.", "01a1fa2ab3c4d50b5f2e91")]


def _utc(instant: datetime | None) -> datetime | None:
    try:
        return instant and instant.astimezone(UTC)
    except OverflowError:
        raise PydanticCustomError("instant", "the instant lies outside the years 1 to 9999 in UTC") from None


def _written(result: object) -> object:
    """Refuse a bare number: it would be taken for the seconds since 1970."""
    if isinstance(result, str) and "-" not in result[1:]:
        raise PydanticCustomError("instant", "not an instant: write one such as 2008-04-21T06:00:00Z")
    return result


OptionalInstant = Annotated[AwareDatetime | None, BeforeValidator(_written), AfterValidator(_utc)]
KnownAt = Annotated[
    OptionalInstant,
    Query(description="The state as known at this instant (RFC 3339, with its offset); by default as known now."),
]


async def _as_known(clock: ServiceClock, known_at: KnownAt = None) -> datetime:
    return min(clock.now(), known_at or clock.now())


# The instant of an answer: `known_at` if it is earlier than now.
AsKnown = Annotated[datetime, Depends(_as_known)]


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuse unknown query parameters, which would otherwise be ignored."""
    known = list(dict.fromkeys(query_parameters(request.scope["route"].dependant)))
    result = f"Unknown here: {'use ' + ', '.join(known) if known else 'this address takes no parameters'}."
    faults = [Fault(location="query", field=name, detail=result) for name in request.query_params if name not in known]
    if faults:
        raise InvalidRequest(faults)


def query_parameters(dependant: Dependant) -> Iterator[str]:
    """Yield the names of an operation's query parameters, its own first."""
    yield from (field.alias for field in dependant.query_params)
    for inner in dependant.dependencies:
        yield from query_parameters(inner)


Row = TypeVar("Row")

LARGEST_NUMBER = 2**31 - 1
IdCursor = Annotated[
    str | None,
    Query(
        description="Start after this id: the last one of the page before.",
        pattern=form(checksums.FORM, "an id of 22 digits and letters from a to f"),
    ),
]
NumberCursor = Annotated[
    int | None, Query(description="Start after this number: the last one of the page before.", ge=0, le=LARGEST_NUMBER)
]
PageLimit = Annotated[int, Query(description="Maximum number of entries a page.", ge=1, le=1000)]


class Page:
    """The requested page of a list.

    Args:
        after: the entry of the page before that this one starts after; None for the first page.
        limit: maximum number of entries.
    """

    def __init__(self, request: Request, response: Response, after: Any, limit: int) -> None:
        self.after, self.limit = after, limit
        self._request, self._response = request, response

    @property
    def sought(self) -> int:
        """The number of rows to read: one more than the page has shows that another follows."""
        return self.limit + 1

    def cut(self, rows: Sequence[Row], cursor: Callable[[Any], object] | None = None) -> tuple[list[Row], str | None]:
        """Return the page's rows, and the next page's address, also a `Link`; `cursor` is by default the row's id."""
        shown = list(rows[: self.limit])
        if len(rows) <= self.limit:
            return shown, None
        last: Any = shown[-1]
        names = query_parameters(self._request.scope["route"].dependant)
        asked: dict[str, Any] = {name: self._request.query_params.getlist(name) for name in names if name != "after"}
        asked |= {"limit": self.limit, "after": last.id if cursor is None else cursor(last)}
        query = urlencode(asked, doseq=True)
        address = f"{self._request.scope['path']}?{query}"
        self._response.headers["Link"] = f'<{address}>; rel="next"'
        return shown, address


def paged(cursor: Any) -> Any:
    """Return a dependency for the requested page, by the type of its cursor."""

    async def page(request: Request, response: Response, after: cursor = None, limit: PageLimit = 100) -> Page:
        return Page(request, response, after, limit)

    return Depends(page)


AreaName = Annotated[
    str | None,
    Query(
        description="The name of the drainage area used for depths (`/v1/basins/{basin}` lists them). By default the "
        "one that the basin's flow is converted with, its `area`.",
        pattern=NAMED,
        examples=["area_gages2"],
    ),
]


def area_between(
    session: Session, basin: str, units: Collection[str], into: str | None, area: str | None, version: str | None = None
) -> convert.Area | None:
    """Return the area to convert discharge with; None if none is needed.

    Args:
        units: stored units of the basin's discharge.
        into: requested unit; None for the stored one.
        area: by default the one that converts the basin's flow (`areas_in_use`).
        version: that computed the discharge; by default the basin's current one.
    """
    apart = [unit for unit in units if into not in (None, unit) and "mm/day" in (into, unit)]
    if not apart and area is not None:
        raise refused("area", "nothing is converted with an area here: leave it out, or ask for units=mm/day.")
    if not apart:
        return None
    if area is not None:
        return convert.Area(area, basins.area_of(session, basin, area))
    stored = basins.get(session, basin)
    used = areas_in_use(session, [stored], version)[basin]
    if used is None:
        names = ", ".join(sorted(stored.areas)) or "the basin has none"
        raise refused(
            "area", f"between {apart[0]} and {into} an area is needed: name one ({names}), or ask for {apart[0]}."
        )
    return used
