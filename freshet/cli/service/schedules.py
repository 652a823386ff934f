"""`freshet schedules`: jobs at regular times."""

import json
from dataclasses import fields
from typing import Annotated, Any

import typer
from sqlalchemy.orm import Session

from freshet.cli.answers import Columns, listing
from freshet.cli.context import changing
from freshet.cli.options import argument, option
from freshet.cli.output import Json, answer
from freshet.cli.reading import Reading, Shown, command_line_key, reads
from hydrology.base.errors import InvalidInput
from jobspec import kinds
from records.job_permissions import named_records
from records.jobs import schedules as records
from records.jobs.cron import next_run

app = typer.Typer(no_args_is_help=True)

_COLUMNS: Columns = {"schedule": "name", "job": "job.kind", "cron": "cron", "time zone": "timezone"}
_COLUMNS |= {"enabled": "enabled", "next run": "next_run_at", "last run": "last_run_at", "last job": "last_job"}
Name = Annotated[str, argument("SCHEDULE", "Its name or its id.")]


@app.callback()
def schedules() -> None:
    """List, add, enable, disable and remove the schedules that start jobs."""


@app.command("list")
@reads
def list_schedules(at: Reading) -> Shown:
    """List the schedules with their next run."""
    from app.jobs.schedules import schedule_of
    from app.jobs.schemas import Schedules

    found = Schedules(schedules=[schedule_of(one, at.key) for one in records.list_schedules(at.session)])
    return Shown(found, lambda: listing(found.schedules, _COLUMNS, f"{len(found.schedules)} schedules"))


@app.command("add")
def add(
    name: Annotated[str, argument("NAME", "A name not used by another schedule.")],
    kind: Annotated[str, option("KIND", f"Of the job: {', '.join(kinds.REQUESTABLE)}.")],
    cron: Annotated[str, option("LINE", "Minute, hour, day, month, weekday: '30 6 * * *'.")],
    timezone: Annotated[str, option("ZONE", "Time zone of the cron line: America/Denver.")] = "UTC",
    params: Annotated[str, option("JSON", "Parameters of the job, as a JSON object.")] = "{}",
    as_json: Json = False,
) -> None:
    """Add a schedule. It is enabled at once."""
    request = kinds.read(kind, _params(params), kinds.REQUESTABLE)
    with changing() as change:
        named_records.require(change.session, request, change.service_now)
        new = records.NewSchedule(
            name=name,
            kind=request.kind,
            params=request.stored(),
            cron=cron,
            timezone=timezone,
            next_run_at=next_run(cron, timezone, change.now),
        )
        one = records.create(change.session, new, change.now)
        change.record("schedule created", one.id, name=name)
    _report(one, as_json)


@app.command("enable")
def enable(schedule: Name, as_json: Json = False) -> None:
    """Enable a schedule from now on; missed runs are not repeated."""
    _switch(schedule, as_json, on=True)


@app.command("disable")
def disable(schedule: Name, as_json: Json = False) -> None:
    """Suspend a schedule without deleting it."""
    _switch(schedule, as_json, on=False)


@app.command("remove")
def remove(schedule: Name, as_json: Json = False) -> None:
    """Delete a schedule. The jobs that it started stay."""
    with changing() as change:
        one = _find(change.session, schedule)
        records.delete(change.session, one.id)
        change.record("schedule deleted", one.id, name=one.name)
    answer({"removed": one.id}, as_json, f"Schedule {one.name} is removed.")


def _switch(schedule: str, as_json: bool, *, on: bool) -> None:
    with changing() as change:
        one = _find(change.session, schedule)
        if one.enabled is not on:
            content = {field.name: getattr(one, field.name) for field in fields(records.NewSchedule)}
            content |= {"enabled": on, "next_run_at": next_run(one.cron, one.timezone, change.now) if on else None}
            new = records.NewSchedule(**content)
            one = records.update(change.session, one.id, one.revision, new, change.now)
            change.record("schedule changed", one.id, name=one.name, enabled=on)
    _report(one, as_json)


def _find(session: Session, schedule: str) -> records.Schedule:
    by_name = {one.name: one for one in records.list_schedules(session)}
    return by_name.get(schedule) or records.get(session, schedule)


def _report(one: records.Schedule, as_json: bool) -> None:
    from app.jobs.schedules import schedule_of

    following = (
        "is disabled" if one.next_run_at is None else f"starts its next job at {one.next_run_at:%Y-%m-%d %H:%MZ}"
    )
    shown = schedule_of(one, command_line_key(one.updated_at)).model_dump(mode="json")
    answer(shown, as_json, f"Schedule {one.name} {following}.")


def _params(text: str) -> dict[str, Any]:
    try:
        params = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"--params is not JSON ({error}): write an object such as '{{\"horizon\": 10}}'.") from error
    if not isinstance(params, dict):
        raise InvalidInput("--params is not a JSON object: write one such as '{\"horizon\": 10}'.")
    return params
