"""`freshet jobs`: jobs of the workers."""

import time
from dataclasses import asdict
from typing import Annotated

import typer

from freshet.cli.context import Context, opened
from freshet.cli.output import Json, answer, inform, table
from freshet.cli.progress import reporting
from hydrology.base.errors import DataProblem
from records.access import audit
from records.jobs import attempts, events
from records.jobs import jobs as records

app = typer.Typer(no_args_is_help=True)

JobId = Annotated[str, typer.Argument(metavar="JOB", help="Its id.")]


@app.callback()
def jobs() -> None:
    """List, show, watch and cancel the jobs of the workers."""


@app.command("list")
def list_jobs(
    status: Annotated[
        str | None, typer.Option(metavar="STATUS", help="Only jobs of this status: queued, running, ...")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="COUNT", min=1, help="Maximum number of jobs.")] = 20,
    as_json: Json = False,
) -> None:
    """List the jobs, the newest first."""
    with opened(reads=True) as context, context.database.reading() as session:
        found = records.list_jobs(session, status=status, limit=limit)
    rows = [(j.id, j.kind, j.status, j.attempt, _progress(j), j.created_at, j.parent_id) for j in found]
    columns = ("job", "kind", "status", "attempt", "progress", "created", "part of")
    answer({"jobs": [asdict(one) for one in found]}, as_json, table(columns, rows, f"{len(found)} jobs"))


@app.command("show")
def show(job: JobId, as_json: Json = False) -> None:
    """Show a job: its request, its status and its log."""
    with opened(reads=True) as context, context.database.reading() as session:
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
            one = _get(context, job)
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
    with opened() as context, context.database.transaction() as session:
        one = attempts.request_cancel(session, job, context.clock.wall())
        audit.record(session, audit.command_line(), "job cancelled", job, context.clock.wall(), status=one.status)
    answer(
        asdict(one),
        as_json,
        f"Job {job} is {one.status}{', and was asked to stop' if one.status == 'running' else ''}.",
    )


def _get(context: Context, job: str) -> records.Job:
    with context.database.reading() as session:
        return records.get(session, job)


def _progress(job: records.Job) -> str | None:
    return None if job.progress is None else f"{job.progress['done']}/{job.progress['total']}"
