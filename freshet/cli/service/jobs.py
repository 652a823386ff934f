"""`freshet jobs`: jobs of the workers."""

import time
from typing import Annotated

import typer
from rich.console import RenderableType

from freshet.cli.answers import Columns, listing
from freshet.cli.context import changing, opened
from freshet.cli.options import argument, option
from freshet.cli.output import Json, answer, inform, table
from freshet.cli.progress import reporting
from freshet.cli.reading import Reading, Shown, command_line_key, cut, reads
from hydrology.base.errors import DataProblem, counted
from records.jobs import attempts, events
from records.jobs import jobs as records

app = typer.Typer(no_args_is_help=True)

_JOBS: Columns = {"job": "id", "kind": "kind", "status": "status", "attempt": "attempt", "done": "progress.done"}
_JOBS |= {"of": "progress.total", "created": "created_at", "part of": "parent"}
JobId = Annotated[str, argument("JOB", "Its id.")]


@app.callback()
def jobs() -> None:
    """List, show, watch and cancel the jobs of the workers."""


@app.command("list")
@reads
def list_jobs(
    at: Reading,
    status: Annotated[str | None, option("STATUS", "Only jobs of this status: queued, running, ...")] = None,
    limit: Annotated[int, option("COUNT", "Maximum number of jobs.", min=1)] = 20,
) -> Shown:
    """List the jobs, the newest first."""
    from app.jobs.schemas import JobPage
    from app.jobs.service import answer

    rows, following = cut(
        records.list_jobs(at.session, status=status, limit=limit + 1), limit, "/v1/jobs", lambda job: job.id
    )
    found = JobPage(jobs=[answer(job, at.key) for job in rows], next=following)
    return Shown(found, lambda: listing(found.jobs, _JOBS, counted(len(rows), "job")))


@app.command("show")
@reads
def show(at: Reading, job: JobId) -> Shown:
    """Show a job: its request, its status and its log."""
    from app.jobs.service import answer

    found = answer(records.get(at.session, job), at.key)

    def text() -> RenderableType:
        shown = found.model_dump(mode="json", exclude={"missing", "events"})
        rows = [(name, value) for name, value in shown.items() if value is not None]
        happened = events.events_after(at.session, job, 0, limit=1000)
        rows += [(f"{event.at:%H:%M:%S} {event.type}", event.data) for event in happened if event.type != "progress"]
        return table(("", ""), rows)

    return Shown(found, text)


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
    from app.jobs.service import answer as answer_of

    with changing() as change:
        one = attempts.request_cancel(change.session, job, change.now)
        change.record("job cancelled", job, status=one.status)
    asked = ", and was asked to stop" if one.status == "running" else ""
    shown = answer_of(one, command_line_key(change.now)).model_dump(mode="json", exclude_unset=True)
    answer(shown, as_json, f"Job {job} is {one.status}{asked}.")
