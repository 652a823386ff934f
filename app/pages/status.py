"""/status: age of forecasts and inputs, and degradations."""

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.http.dependencies import OpenDatabase, Reading, ServiceClock, ServiceSettings
from app.pages.errors import PageRoute
from app.pages.render import render
from app.service.status import service
from app.service.status.schemas import Status

router = APIRouter(route_class=PageRoute)


@dataclass(frozen=True, slots=True)
class Now:
    """Contents of the page."""

    status: Status


@router.get("/status", response_class=HTMLResponse)
def read_status(
    request: Request, session: Reading, database: OpenDatabase, clock: ServiceClock, settings: ServiceSettings
) -> HTMLResponse:
    """Show the status."""
    return render(request, "status.html", Now(service.status(session, clock, settings, database.check().revision)))
