"""/v1/schedules"""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import JsonAnswer, body_of, documented_responses
from app.exports.fields import FieldFilter, documented_list, fields_of
from app.http.api_keys import AdminWriter, AnyKey, KeyFirstRoute
from app.http.base_schema import EXPLAINED, Missing, Model
from app.http.conditional import ASK_FIRST, cached
from app.http.dependencies import Reading, ScheduleId, ServiceClock
from app.http.entity_tags import holds
from app.http.problems import Changed, Unauthorized, documented_writing
from app.jobs.posting import require_named
from hydrology.base.doc import Why
from jobspec.fields import Line, RequestModel, examples
from jobspec.kinds import AnyJobRequest
from records.access.audit import Writer
from records.access.keys import Key
from records.jobs import schedules
from records.jobs.schedules import BadCron, ScheduleConflict, UnknownSchedule, next_run


class NewSchedule(RequestModel):
    """A schedule to be stored."""

    model_config = examples(
        {
            "name": "daily forecast",
            "job": {"kind": "forecast", "params": {"horizon": 10}},
            "cron": "30 6 * * *",
            "timezone": "America/Denver",
            "enabled": True,
        }
    )

    name: Line = Field(description="Unique name of the schedule.")
    job: AnyJobRequest = Field(description="The job to post: as in `POST /v1/jobs`.")
    cron: Line = Field(description="Minute, hour, day of the month, month, day of the week.", examples=["30 6 * * *"])
    timezone: Line = Field("UTC", description="Time zone of the cron line.", examples=["America/Denver"])
    enabled: bool = Field(True, description="Whether the schedule is active.")


class ScheduledJob(Model):
    """The job that a schedule posts."""

    kind: str
    params: dict[str, Any] | None = Field(description="Null except for an admin's key: they may name files.")


class Schedule(Model):
    """A stored schedule and its times."""

    id: str
    name: str
    job: ScheduledJob
    cron: str
    timezone: str
    enabled: bool
    next_run_at: Annotated[datetime | None, Why("It is not enabled.")] = Field(
        description="Next time, by the machine's clock."
    )
    last_run_at: Annotated[datetime | None, Why("It has not fired yet.")]
    last_job: Annotated[str | None, Why("It has posted no job that is still stored.")] = Field(
        description="The last job that it posted."
    )
    key: Annotated[
        str | None, Why("It was created on the command line: its jobs run with the permissions of the service.")
    ] = Field(
        description="Id of the key that created or last changed it: its jobs run with the permissions of that key."
    )
    revision: int = Field(description="Grows with every change and every posted job; the basis of the `ETag`.")
    created_at: datetime
    updated_at: datetime = Field(description="When its fields were last changed.")
    missing: Missing = EXPLAINED


class Schedules(Model):
    """All schedules in the order of their names."""

    schedules: list[Schedule]


def due(new: NewSchedule, writer: Writer) -> schedules.NewSchedule:
    """Return a schedule with its next time; cron line and time zone must be readable even if disabled."""
    following = next_run(new.cron, new.timezone, writer.now)
    return schedules.NewSchedule(
        **new.model_dump(exclude={"job"}),
        kind=new.job.kind,
        params=new.job.stored(),
        next_run_at=following if new.enabled else None,
        key_id=writer.actor.key_id,
    )


def seen(session: Session, schedule: str, if_match: str) -> int:
    """Return the revision of a schedule that the client has seen."""
    saved = schedules.get(session, schedule)
    if not holds(if_match, tag(saved.revision)):
        raise Changed(f"Schedule {schedule} is at revision {saved.revision} now: read it again and repeat the change.")
    return saved.revision


def tag(revision: int) -> str:
    return f'"{revision}"'


def schedule_of(schedule: schedules.Schedule, key: Key) -> Schedule:
    """Return the parts of a schedule visible to `key`."""
    params, missing = (schedule.params, {}) if key.is_admin else (None, {"job.params": "Shown to an admin."})
    return Schedule.from_records(schedule, job=ScheduledJob(kind=schedule.kind, params=params), missing=missing)


router = APIRouter(prefix="/schedules", tags=["schedules"], dependencies=[cached(ASK_FIRST)], route_class=KeyFirstRoute)

IfMatch = Annotated[
    str,
    Header(
        description="The `ETag` of the schedule as you have read it, against conflicting changes. `*` is any.",
        examples=['"2"', "*"],
    ),
]


@router.get("", summary="List schedules", **documented_list(Schedules, Unauthorized))
def list_schedules(session: Reading, key: AnyKey, fields: Annotated[FieldFilter, fields_of(Schedules)]) -> Response:
    """All schedules in the order of their names, with the next time of each."""
    found = schedules.list_schedules(session)
    return fields.of(Schedules(schedules=[schedule_of(schedule, key) for schedule in found]))


@router.post("", status_code=201, summary="Create a schedule", responses=documented_writing(ScheduleConflict, BadCron))
def create_schedule(response: Response, writer: AdminWriter, clock: ServiceClock, new: NewSchedule) -> Schedule:
    """Posts an ingest, a forecast, a training, an evaluation or a comparison by a cron line in a time zone. Times
    missed while the service was down are caught up on once, and those at which its last job is unfinished are left out,
    with a line in that job's log. Its jobs run with the permissions of your key at that time: if the key is revoked or
    expired, they fail with that reason."""
    with writer.database.transaction() as session:
        require_named(session, new.job, clock, "job.params")
        created = schedules.create(session, due(new, writer), writer.now)
        writer.record(session, "schedule created", created.id, name=created.name)
    response.headers.update({"Location": f"/v1/schedules/{created.id}", "ETag": tag(created.revision)})
    return schedule_of(created, writer.key)


@router.get("/{schedule}", summary="Read a schedule", **documented_responses(Schedule, Unauthorized, UnknownSchedule))
def read_schedule(session: Reading, key: AnyKey, schedule: ScheduleId, answer: JsonAnswer) -> Response:
    """Its job, its next time, and the last job that it posted. Its `ETag` is needed to change it."""
    current = schedules.get(session, schedule)
    shown = schedule_of(current, key)
    return answer.tagged(tag(current.revision), lambda: body_of(shown), None, cache_control=ASK_FIRST)


@router.put(
    "/{schedule}",
    summary="Change a schedule",
    responses=documented_writing(UnknownSchedule, ScheduleConflict, Changed, BadCron),
)
def replace_schedule(
    response: Response,
    writer: AdminWriter,
    clock: ServiceClock,
    schedule: ScheduleId,
    new: NewSchedule,
    if_match: IfMatch,
) -> Schedule:
    """Replaces all its fields; jobs already posted stay. It is refused if the schedule was changed or has fired since
    you read it: read it again."""
    with writer.database.transaction() as session:
        revision = seen(session, schedule, if_match)
        require_named(session, new.job, clock, "job.params")
        replacement = due(new, writer)
        changed = schedules.update(session, schedule, revision, replacement, writer.now)
        writer.record(session, "schedule changed", schedule, name=changed.name, revision=changed.revision)
    response.headers["ETag"] = tag(changed.revision)
    return schedule_of(changed, writer.key)


@router.delete(
    "/{schedule}", status_code=204, summary="Delete a schedule", responses=documented_writing(UnknownSchedule, Changed)
)
def delete_schedule(writer: AdminWriter, schedule: ScheduleId, if_match: IfMatch = "*") -> None:
    """It posts no more jobs. Jobs already posted stay."""
    with writer.database.transaction() as session:
        seen(session, schedule, if_match)
        schedules.delete(session, schedule)
        writer.record(session, "schedule deleted", schedule)
