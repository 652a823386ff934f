"""What endpoints ask for: the database, one reading transaction, the clock, a basin's identifier."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, Path, Query, Request
from fastapi.dependencies.models import Dependant
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from sqlalchemy.orm import Session

from app.problems import Fault, InvalidRequest
from hydrology.basins import basin_id
from hydrology.errors import InvalidInput
from records.clock import Clock
from records.engine import Database


def _database(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


def _clock(request: Request) -> Clock:
    clock: Clock = request.app.state.clock
    return clock


def _reading(database: Annotated[Database, Depends(_database)]) -> Iterator[Session]:
    with database.reading() as session:
        yield session


def _full_id(text: str) -> str:
    try:
        return basin_id(text)
    except InvalidInput as error:
        raise PydanticCustomError("basin", "{sentence}", {"sentence": str(error)}) from None


OpenDatabase = Annotated[Database, Depends(_database)]
ServiceClock = Annotated[Clock, Depends(_clock)]
# The transaction ends before the answer is sent: a slow reader holds no connection.
Reading = Annotated[Session, Depends(_reading, scope="function")]

BasinId = Annotated[
    str,
    AfterValidator(_full_id),
    Path(
        description="A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).",
        examples=["01013500"],
    ),
]
BasinCursor = Annotated[
    str | None,
    AfterValidator(lambda text: text and _full_id(text)),
    Query(description="Start after this basin: the last one of the page before.", examples=["USGS-01013500"]),
]


def refuse_unknown_parameters(request: Request) -> None:
    """Refuse a query parameter that the operation does not have: a misspelt one would else be ignored.

    Raises:
        InvalidRequest: it names the unknown parameters and those that are known.
    """
    known = list(_query_parameters(request.scope["route"].dependant))
    said = f"Unknown here: {'use ' + ', '.join(known) if known else 'this address takes no parameters'}."
    faults = [Fault(location="query", field=name, detail=said) for name in request.query_params if name not in known]
    if faults:
        raise InvalidRequest(faults)


def _query_parameters(dependant: Dependant) -> Iterator[str]:
    yield from (field.alias for field in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _query_parameters(inner)
