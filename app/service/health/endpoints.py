"""Liveness and readiness."""

from typing import Annotated, Literal

import structlog
from fastapi import APIRouter, Depends, Request
from pydantic import Field

from app.http.base_schema import Model
from app.http.dependencies import OpenDatabase, ServiceClock, ServiceSettings
from app.http.problems import documented
from app.service.health.degradations import Hindered
from records.database.engine import DatabaseProblem

router = APIRouter(prefix="/health", tags=["health"])
log = structlog.get_logger()


async def _hindered(request: Request) -> Hindered:
    hindered: Hindered = request.app.state.hindered
    return hindered


class Alive(Model):
    """The process answers."""

    status: Literal["alive"] = "alive"


class Ready(Model):
    """The database can be used."""

    status: Literal["ready"] = "ready"
    revision: str = Field(description="The revision of the database's tables.", examples=["0001"])
    degraded: list[str] = Field(
        description="Degradations of the service, by the codes of `/v1/status`, which has the descriptions."
    )


@router.get("/live", summary="Whether the service runs", responses=documented())
def read_liveness() -> Alive:
    """Answers as long as the process does. It does not look at the database."""
    return Alive()


@router.get("/ready", summary="Whether the service can answer questions", responses=documented())
def read_readiness(
    database: OpenDatabase,
    clock: ServiceClock,
    settings: ServiceSettings,
    hindered: Annotated[Hindered, Depends(_hindered)],
) -> Ready:
    """Answers when the database is reachable and its tables are those that this service works with; else 503.

    A degraded service is ready all the same: it answers with its data, and `degraded` lists the causes, such as
        `no-worker`, `queue-age`, `failed-job`, `failing-schedule`, `disk` or `clock`."""
    found = database.check()
    if found.problem is not None:
        # The error contains the database's address, which only the operator may see.
        log.error("health.not_ready", problem=found.problem)
        if not found.reachable:
            raise DatabaseProblem("The database cannot be reached: start it, and see the service's log.")
        raise DatabaseProblem(
            f"The database's tables are at revision {found.revision or 'none'}, and this service needs {found.head}: "
            "run `freshet migrate`, or the service that fits them."
        )
    return Ready(revision=found.head, degraded=hindered.codes(database, clock, settings))
