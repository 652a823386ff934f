"""/schedules: jobs posted at regular times."""

import json
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.http.api_keys import AnyKey
from app.http.dependencies import Reading
from app.jobs.schedules import service
from app.jobs.schedules.schemas import Schedule
from app.pages.errors import PageRoute
from app.pages.render import render
from records.jobs import schedules

router = APIRouter(route_class=PageRoute)

JOB = {"kind": "forecast", "params": {"horizon": 10}}
"""The job that the form of a new schedule begins with."""


@dataclass(frozen=True, slots=True)
class Schedules:
    """Contents of the page; `example`: job of a new schedule, as JSON."""

    schedules: list[Schedule]
    example: str


@router.get("/schedules", response_class=HTMLResponse)
def read_schedules(request: Request, session: Reading, key: AnyKey) -> HTMLResponse:
    """Show the schedules."""
    listed = [service.answer(schedule, key) for schedule in schedules.list_schedules(session)]
    return render(request, "schedules.html", Schedules(listed, json.dumps(JOB)))
