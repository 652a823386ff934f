"""Liveness and readiness, with the codes of what is degraded."""

import threading
import time
from typing import Annotated, Literal

import structlog
from fastapi import APIRouter
from pydantic import Field
from sqlalchemy.exc import SQLAlchemyError

from app.http.base_schema import Model
from app.http.dependencies import OpenDatabase, ServiceClock, ServiceSettings, of_app
from app.http.problems import documented
from app.service import degradations
from records.database.connections import DatabaseProblem
from records.database.engine import Database
from runtime.clock import Clock
from runtime.settings import Settings

router = APIRouter(prefix="/health", tags=["health"])
log = structlog.get_logger()

REMEMBERED_SECONDS = 5.0
"""Readiness has no rate limit, and each check takes the write lock and a broker connection."""


class Hindered:
    """Checks for degradations at most once in some seconds, and caches the result."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        self._looked_at: float | None = None
        self._codes: list[str] = []

    def codes(self, database: Database, clock: Clock, settings: Settings) -> list[str]:
        """Return the sorted codes of `/v1/status` about jobs; if the check fails, the last ones."""
        if self._looking.acquire(blocking=False):
            try:
                if self._looked_at is None or time.monotonic() - self._looked_at >= REMEMBERED_SECONDS:
                    self._looked_at = time.monotonic()  # a failed check counts too
                    self._codes = _found(database, clock, settings)
            except (SQLAlchemyError, ValueError, OSError) as error:
                log.warning("health.hindered", error=type(error).__name__)
            finally:
                self._looking.release()
        return self._codes


def _found(database: Database, clock: Clock, settings: Settings) -> list[str]:
    with database.reading() as session:
        codes = {each.code for each in degradations.of_jobs(session, clock.wall())}
    return sorted(codes | {each.code for each in degradations.of_machine(settings)})


class Alive(Model):
    """The process answers."""

    status: Literal["alive"] = "alive"


class Ready(Model):
    """The database can be used."""

    status: Literal["ready"] = "ready"
    revision: str = Field(description="The revision of the database's tables.", examples=["0002"])
    degraded: list[str] = Field(
        description="Degradations of the service, by the codes of `/v1/status`, which has the descriptions."
    )


@router.get("/live", summary="Whether the service runs", responses=documented())
async def read_liveness() -> Alive:
    """Answers as long as the process does, however busy. It does not look at the database."""
    return Alive()


@router.get("/ready", summary="Whether the service can answer questions", responses=documented())
def read_readiness(
    database: OpenDatabase,
    clock: ServiceClock,
    settings: ServiceSettings,
    hindered: Annotated[Hindered, of_app("hindered")],
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
