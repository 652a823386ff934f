"""`freshet jobs`: jobs of the workers."""

import time
from dataclasses import asdict
from typing import Annotated

import typer

from freshet.cli.context import changing, opened, reading
from freshet.cli.options import argument, option
from freshet.cli.output import Columns, Json, answer, answer_list, inform, table
from freshet.cli.progress import reporting
from hydrology.base.errors import DataProblem
from records.jobs import attempts, events
from records.jobs import jobs as records

app = typer.Typer(no_args_is_help=True)

JobId = Annotated[str, argument("JOB", "Its id.")]


@app.callback()
def jobs() -> None:
    """List, show, watch and cancel the jobs of the workers."""


@app.command("list")
def list_jobs(
    status: Annotated[str | None, option("STATUS", "Only jobs of this status: queued, running, ...")] = None,
    limit: Annotated[int, option("COUNT", "Maximum number of jobs.", min=1)] = 20,
    as_json: Json = False,
) -> None:
    """List the jobs, the newest first."""
    with reading() as session:
        found = records.list_jobs(session, status=status, limit=limit)
    columns: Columns = {"job": "id", "kind": "kind", "status": "status", "attempt": "attempt", "progress": _progress}
    answer_list("jobs", found, columns | {"created": "created_at", "part of": "parent_id"}, as_json)


@app.command("show")
def show(job: JobId, as_json: Json = False) -> None:
    """Show a job: its request, its status and its log."""
    with reading() as session:
        one = records.get(session, job)
        result = events.events_after(session, job, 0, limit=1000)
    rows = [(name, value) for name, value in asdict(one).items() if value is not None]
    rows += [(f"{event.at:%H:%M:%S} {event.type}", event.data) for event in result if event.type != "progress"]
    answer(asdict(one) | {"events": [asdict(event) for event in result]}, as_json, table(("", ""), rows))


@app.command("watch")
def watch(job: JobId) -> None:
    """Show a job's progress until it ends; the exit code is 4 if it failed or was cancelled."""
    with opened(reads=True) as context, reporting() as reporter:
        while True:
            with context.database.reading() as session:
                one = records.get(session, job)
            if one.progress:
                reporter.show(one.kind, one.progress["done"], one.progress["total"], one.progress.get("detail", ""))
            if one.status in records.ENDED:
                break
            time.sleep(0.5)
    if one.status != "succeeded":
        raise DataProblem(f"Job {job} {one.status}: {(one.problem or {}).get('detail', 'somebody asked for it.')}")
    inform(f"Job {job} succeeded.")


@app.command("cancel")
def cancel(job: JobId, as_json: Json = False) -> None:
    """Ask a job to stop; a running one stops when it next reports progress."""
    with changing() as change:
        one = attempts.request_cancel(change.session, job, change.now)
        change.record("job cancelled", job, status=one.status)
    asked = ", and was asked to stop" if one.status == "running" else ""
    answer(asdict(one), as_json, f"Job {job} is {one.status}{asked}.")


def _progress(job: records.Job) -> str | None:
    return None if job.progress is None else f"{job.progress['done']}/{job.progress['total']}"
