"""`freshet jobs`, `schedules`, `keys` and `audit`: what the service does and who may ask it to."""

import json
import time
from dataclasses import asdict, fields
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from sqlalchemy.orm import Session
from starlette import responses

from app.jobs import endpoints, posting
from app.jobs import schedules as answers
from app.service import metrics
from freshet.cli.context import MayCreateDatabase, opened
from freshet.cli.options import argument, option
from freshet.cli.output import inform, listing, reporting, table
from freshet.cli.reading import Reading, Shown, cut, reads, writes
from freshet.cli.text_files import valid
from hydrology.base.errors import DataProblem, InvalidInput, counted, printable
from jobspec import kinds
from records.access import audit as audit_trail
from records.access import keys
from records.access.audit import Writer
from records.basins import regions
from records.jobs import jobs, schedules
from records.jobs.schedules import next_run

_JOBS = "job: id | kind | status | attempt | progress.done | of: progress.total | created: created_at | part of: parent"
JobId = Annotated[str, argument("JOB", "Its id.")]


@reads
def list_jobs(
    at: Reading,
    status: Annotated[str | None, option("STATUS", "Only jobs of this status: queued, running, ...")] = None,
    limit: Annotated[int, option("COUNT", "Maximum number of jobs.", min=1)] = 20,
) -> Shown:
    """List the jobs, the newest first."""
    rows, following = cut(jobs.list_jobs(at.session, status=status, limit=limit + 1), limit, "/v1/jobs")
    found = posting.JobPage(jobs=[posting.job_answer(job, at.key) for job in rows], next=following)
    return Shown(found, lambda: listing(found.jobs, _JOBS, counted(len(rows), "job")))


@reads
def show_job(at: Reading, job: JobId) -> Shown:
    """Show a job: its request, its status and its log."""
    found = posting.job_answer(jobs.get(at.session, job), at.key)

    def text() -> RenderableType:
        shown = found.model_dump(mode="json", exclude={"missing", "events"})
        rows = [(name, value) for name, value in shown.items() if value is not None]
        happened = jobs.events_after(at.session, job, 0, limit=1000)
        rows += [(f"{event.at:%H:%M:%S} {event.type}", event.data) for event in happened if event.type != "progress"]
        return table(("", ""), rows)

    return Shown(found, text)


def watch_job(job: JobId) -> None:
    """Show a job's progress until it ends; the exit code is 4 if it failed or was cancelled."""
    with opened(reads=True) as context, reporting() as reporter:
        while True:
            with context.database.reading() as session:
                one = jobs.get(session, job)
            if one.progress:
                reporter.show(one.kind, one.progress["done"], one.progress["total"], one.progress.get("detail", ""))
            if one.status in jobs.ENDED:
                break
            time.sleep(0.5)
    if one.status != "succeeded":
        raise DataProblem(f"Job {job} {one.status}: {(one.problem or {}).get('detail', 'somebody asked for it.')}")
    inform(f"Job {job} succeeded.")


@writes
def cancel_job(by: Writer, job: JobId) -> Shown:
    """Ask a job to stop; a running one stops when it next reports progress."""
    found = endpoints.cancel_job(by, job)
    asked = ", and was asked to stop" if found.status == "running" else ""
    return Shown(found, lambda: f"Job {job} is {found.status}{asked}.")


_SCHEDULES = (
    "schedule: name | job: job.kind | cron | time zone: timezone | enabled | next run: next_run_at | "
    "last run: last_run_at | last job: last_job"
)
Name = Annotated[str, argument("SCHEDULE", "Its name or its id.")]


@reads
def list_schedules(at: Reading) -> Shown:
    """List the schedules with their next run."""
    found = answers.Schedules(
        schedules=[answers.schedule_of(one, at.key) for one in schedules.list_schedules(at.session)]
    )
    return Shown(found, lambda: listing(found.schedules, _SCHEDULES, f"{len(found.schedules)} schedules"))


@writes
def add_schedule(
    by: Writer,
    name: Annotated[str, argument("NAME", "A name not used by another schedule.")],
    kind: Annotated[str, option("KIND", f"Of the job: {', '.join(kinds.REQUESTABLE)}.")],
    cron: Annotated[str, option("LINE", "Minute, hour, day, month, weekday: '30 6 * * *'.")],
    timezone: Annotated[str, option("ZONE", "Time zone of the cron line: America/Denver.")] = "UTC",
    params: Annotated[str, option("JSON", "Parameters of the job, as a JSON object.")] = "{}",
) -> Shown:
    """Add a schedule. It is enabled at once."""
    job = kinds.read(kind, _params(params), kinds.REQUESTABLE)
    new = valid(answers.NewSchedule, {"name": name, "job": job, "cron": cron, "timezone": timezone}, "schedule")
    return _scheduled(answers.create_schedule(responses.Response(), by, by.clock, new))


@writes
def enable_schedule(by: Writer, schedule: Name) -> Shown:
    """Enable a schedule from now on; what it missed while it was disabled is not repeated."""
    return _switch(by, schedule, on=True)


@writes
def disable_schedule(by: Writer, schedule: Name) -> Shown:
    """Suspend a schedule without deleting it."""
    return _switch(by, schedule, on=False)


@writes
def remove_schedule(by: Writer, schedule: Name) -> Shown:
    """Delete a schedule. The jobs that it started stay."""
    with by.database.reading() as session:
        one = _find(session, schedule)
    answers.delete_schedule(by, one.id)
    return Shown({"removed": one.id}, lambda: f"Schedule {one.name} is removed.")


def _switch(by: Writer, schedule: str, *, on: bool) -> Shown:
    with by.database.transaction() as session:
        one = _find(session, schedule)
        if one.enabled is not on:
            content = {field.name: getattr(one, field.name) for field in fields(schedules.NewSchedule)}
            content |= {"enabled": on, "next_run_at": next_run(one.cron, one.timezone, by.now) if on else None}
            new = schedules.NewSchedule(**content)
            one = schedules.update(session, one.id, one.revision, new, by.now)
            by.record(session, "schedule changed", one.id, name=one.name, enabled=on)
    return _scheduled(answers.schedule_of(one, by.key))


def _find(session: Session, schedule: str) -> schedules.Schedule:
    by_name = {one.name: one for one in schedules.list_schedules(session)}
    return by_name.get(schedule) or schedules.get(session, schedule)


def _scheduled(one: "answers.Schedule") -> Shown:
    following = one.next_run_at
    then = "is disabled" if following is None else f"starts its next job at {following:%Y-%m-%d %H:%MZ}"
    return Shown(one, lambda: f"Schedule {one.name} {then}.")


def _params(text: str) -> dict[str, Any]:
    try:
        params = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"--params is not JSON ({error}): write an object such as '{{\"horizon\": 10}}'.") from error
    if not isinstance(params, dict):
        raise InvalidInput("--params is not a JSON object: write one such as '{\"horizon\": 10}'.")
    return params


MAX_DAYS = 36_525  # a century
_KEYS = "key: id | name | scope | region | created: created_at | expires: expires_at | revoked: revoked_at"


@partial(writes, begins=MayCreateDatabase.WHERE_EXPECTED)
def make_key(
    by: Writer,
    name: Annotated[str, argument("NAME", "Name of its owner.")],
    scope: Annotated[
        keys.Scope,
        typer.Option(
            help="An operator's jobs have results of its own (docs/look-up/jobs.md); a forecaster also adjusts "
            "forecasts and decides held alerts; an admin may do everything."
        ),
    ] = "operator",
    days: Annotated[int | None, option("DAYS", "Days until it expires.", min=1, max=MAX_DAYS)] = None,
    region: Annotated[str | None, option("REGION", "It changes nothing outside this region.")] = None,
) -> Shown:
    """Create a key. Its token is shown only now, and not stored."""
    if name != printable(name) or not name.strip():
        raise InvalidInput("The name of a key's owner has characters that do not show, or none that do: write another.")
    expires_at = by.now + timedelta(days=days) if days else None
    with by.database.transaction() as session:
        if region is not None:
            regions.get(session, region)
        key, token = keys.make(session, name, scope, expires_at, by.now, region)
        by.record(session, "key created", key.id, name=name, scope=scope, region=region)
    return Shown(asdict(key) | {"token": token}, lambda: token)


@reads
def list_keys(at: Reading) -> Shown:
    """List the keys, without their tokens."""
    found = keys.list_keys(at.session)
    return Shown({"keys": [asdict(key) for key in found]}, lambda: listing(found, _KEYS, f"{len(found)} keys"))


@writes
def revoke_key(by: Writer, key: Annotated[str, argument("KEY", "Its id.")]) -> Shown:
    """Revoke a key: its token is refused from now on."""
    with by.database.transaction() as session:
        revoked = keys.revoke(session, key, by.now)
        by.record(session, "key revoked", key, name=revoked.name)
    return Shown(asdict(revoked), lambda: f"Key {key} of {revoked.name} is no longer accepted.")


_AUDIT = "number: seq | when: at | who | from: address | what: action | of: subject | more: detail"


@reads
def audit(
    at: Reading,
    limit: Annotated[int, option("COUNT", "Maximum number of changes.", min=1)] = 50,
    before: Annotated[int | None, option("NUMBER", "Only changes before this one.", min=0)] = None,
) -> Shown:
    """List the changes, the newest first: who, what, when, from where."""
    sought = audit_trail.page(at.session, before=before, limit=limit + 1)
    rows, following = cut(sought, limit, "/v1/audit", "seq")
    found = metrics.AuditPage(changes=rows, next=following)
    return Shown(found, lambda: listing(found.changes, _AUDIT, counted(len(rows), "change")))
