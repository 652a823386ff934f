"""`freshet schedules`: jobs at regular times."""

import json
from dataclasses import asdict, fields
from typing import Annotated, Any

import typer
from sqlalchemy.orm import Session

from freshet.cli.context import Context, opened
from freshet.cli.output import Json, answer, table
from hydrology.base.errors import InvalidInput
from jobspec import kinds
from records.access import audit
from records.jobs import schedules as records
from records.jobs.cron import next_run

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="SCHEDULE", help="Its name or its id.")]


@app.callback()
def schedules() -> None:
    """List, add, enable, disable and remove the schedules that start jobs."""


@app.command("list")
def list_schedules(as_json: Json = False) -> None:
    """List the schedules with their next run."""
    with opened(reads=True) as context, context.database.reading() as session:
        found = records.list_schedules(session)
    rows = [(s.name, s.kind, s.cron, s.timezone, s.enabled, s.next_run_at, s.last_run_at, s.last_job_id) for s in found]
    columns = ("schedule", "job", "cron", "time zone", "enabled", "next run", "last run", "last job")
    answer({"schedules": [asdict(one) for one in found]}, as_json, table(columns, rows, f"{len(found)} schedules"))


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name not used by another schedule.")],
    kind: Annotated[str, typer.Option(metavar="KIND", help=f"Of the job: {', '.join(kinds.REQUESTABLE)}.")],
    cron: Annotated[str, typer.Option(metavar="LINE", help="Minute, hour, day, month, weekday: '30 6 * * *'.")],
    timezone: Annotated[str, typer.Option(metavar="ZONE", help="Time zone of the cron line: America/Denver.")] = "UTC",
    params: Annotated[str, typer.Option(metavar="JSON", help="Parameters of the job, as a JSON object.")] = "{}",
    as_json: Json = False,
) -> None:
    """Add a schedule. It is enabled at once."""
    request = kinds.read(kind, _params(params), kinds.REQUESTABLE)
    with opened() as context, context.database.transaction() as session:
        now = context.clock.wall()
        new = records.NewSchedule(
            name=name,
            kind=request.kind,
            params=request.stored(),
            cron=cron,
            timezone=timezone,
            next_run_at=next_run(cron, timezone, now),
        )
        one = records.create(session, new, now)
        audit.record(session, audit.command_line(), "schedule created", one.id, now, name=name)
    _report(one, as_json)


@app.command("enable")
def enable(schedule: Name, as_json: Json = False) -> None:
    """Enable a schedule from now on; missed runs are not repeated."""
    with opened() as context, context.database.transaction() as session:
        one = _switch(context, session, schedule, on=True)
    _report(one, as_json)


@app.command("disable")
def disable(schedule: Name, as_json: Json = False) -> None:
    """Suspend a schedule without deleting it."""
    with opened() as context, context.database.transaction() as session:
        one = _switch(context, session, schedule, on=False)
    _report(one, as_json)


@app.command("remove")
def remove(schedule: Name, as_json: Json = False) -> None:
    """Delete a schedule. The jobs that it started stay."""
    with opened() as context, context.database.transaction() as session:
        one = _find(session, schedule)
        records.delete(session, one.id)
        audit.record(session, audit.command_line(), "schedule deleted", one.id, context.clock.wall(), name=one.name)
    answer({"removed": one.id}, as_json, f"Schedule {one.name} is removed.")


def _switch(context: Context, session: Session, schedule: str, *, on: bool) -> records.Schedule:
    saved, now = _find(session, schedule), context.clock.wall()
    if saved.enabled is on:
        return saved
    result = {field.name: getattr(saved, field.name) for field in fields(records.NewSchedule)}
    result |= {"enabled": on, "next_run_at": next_run(saved.cron, saved.timezone, now) if on else None}
    changed = records.update(session, saved.id, saved.revision, records.NewSchedule(**result), now)
    audit.record(session, audit.command_line(), "schedule changed", saved.id, now, name=saved.name, enabled=on)
    return changed


def _find(session: Session, schedule: str) -> records.Schedule:
    by_name = {one.name: one for one in records.list_schedules(session)}
    return by_name.get(schedule) or records.get(session, schedule)


def _report(one: records.Schedule, as_json: bool) -> None:
    following = (
        "is disabled" if one.next_run_at is None else f"starts its next job at {one.next_run_at:%Y-%m-%d %H:%MZ}"
    )
    answer(asdict(one), as_json, f"Schedule {one.name} {following}.")


def _params(text: str) -> dict[str, Any]:
    try:
        params = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"--params is not JSON ({error}): write an object such as '{{\"horizon\": 10}}'.") from error
    if not isinstance(params, dict):
        raise InvalidInput("--params is not a JSON object: write one such as '{\"horizon\": 10}'.")
    return params
