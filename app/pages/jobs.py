"""/jobs: list of jobs, and a form to post one. /jobs/{job}: a job and its events. /schedules: jobs at regular times."""

import json
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from app.http.api_keys import AnyKey
from app.http.dependencies import Reading
from app.jobs import service
from app.jobs.schedules import schedule_of
from app.jobs.schemas import Job, Schedule
from app.jobs.service import StoredJob
from app.pages.errors import PageRoute
from app.pages.forms import FormField, form_of
from app.pages.render import render
from jobspec.kinds import REQUESTABLE
from records.jobs import jobs, schedules
from records.jobs.jobs import ENDED

router = APIRouter(route_class=PageRoute)

MAX_LISTED = 100
USUAL_KIND = "forecast"
SCHEDULED_JOB = {"kind": "forecast", "params": {"horizon": 10}}
"""The job that the form of a new schedule begins with."""
Kind = Annotated[str, Query(description="The kind of job that the form is for.", max_length=64)]


@dataclass(frozen=True, slots=True)
class Jobs:
    """Contents of the list, newest first, and the form of a kind of job."""

    jobs: list[Job]
    kinds: dict[str, str]
    kind: str
    form: list[FormField]


@dataclass(frozen=True, slots=True)
class OneJob:
    """Contents of the page of a job."""

    job: Job
    children: list[Job]
    ended: bool

    @property
    def params(self) -> str:
        """Its parameters as JSON."""
        return json.dumps(self.job.params, indent=2)

    @property
    def result(self) -> str:
        """Its result as JSON."""
        return json.dumps(self.job.result, indent=2)


@dataclass(frozen=True, slots=True)
class Schedules:
    """Contents of the page of schedules; `example`: job of a new schedule, as JSON."""

    schedules: list[Schedule]
    example: str


@router.get("/jobs", response_class=HTMLResponse)
def read_jobs(request: Request, session: Reading, key: AnyKey, kind: Kind = USUAL_KIND) -> HTMLResponse:
    """Show the jobs."""
    listed = [service.answer(job, key) for job in jobs.list_jobs(session, limit=MAX_LISTED)]
    chosen = kind if kind in REQUESTABLE else USUAL_KIND
    form = form_of(REQUESTABLE[chosen].model_fields["params"].annotation)  # type: ignore[arg-type]
    kinds = {name: (model.__doc__ or "").strip().splitlines()[0] for name, model in REQUESTABLE.items()}
    return render(request, "work/jobs.html", Jobs(listed, kinds, chosen, form))


@router.get("/jobs/{job}", response_class=HTMLResponse)
def read_job(request: Request, session: Reading, key: AnyKey, job: StoredJob) -> HTMLResponse:
    """Show a job."""
    answer = service.answer(job, key)
    children = [service.answer(child, key) for child in jobs.children(session, job.id)]
    return render(request, "work/job.html", OneJob(answer, children, answer.status in ENDED))


@router.get("/schedules", response_class=HTMLResponse)
def read_schedules(request: Request, session: Reading, key: AnyKey) -> HTMLResponse:
    """Show the schedules."""
    listed = [schedule_of(schedule, key) for schedule in schedules.list_schedules(session)]
    return render(request, "work/schedules.html", Schedules(listed, json.dumps(SCHEDULED_JOB)))
